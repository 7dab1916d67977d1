/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that no table has: kernels that compute something else, and random damage. */
#include "tests/identify/faulty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the product, computed otherwise ------------------------------------------------ */

static float a_at(const struct place *p, size_t k) { return p->q->a[p->i * p->q->k + k]; }
static float b_at(const struct place *p, size_t k) { return p->q->b[k * p->q->n + p->j]; }

static float kahan(const struct place *p)
{
    float sum = 0, lost = 0;
    for (size_t k = 0; k < p->q->k; k++) {
        const float y = a_at(p, k) * b_at(p, k) - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    return sum;
}

/* Ogita, Rump, Oishi 2005, algorithm 5.3. */
static float compensated(const struct place *p)
{
    float sum = 0, errors = 0;
    for (size_t k = 0; k < p->q->k; k++) {
        const float h = a_at(p, k) * b_at(p, k), r = fmaf(a_at(p, k), b_at(p, k), -h);
        const float t = sum + h, z = t - sum;
        errors += r + ((sum - (t - z)) + (h - z));
        sum = t;
    }
    return sum + errors;
}

static float pairwise_from(const struct place *p, size_t k, size_t count)
{
    if (count == 1) return a_at(p, k) * b_at(p, k);
    return pairwise_from(p, k, count / 2) +
           pairwise_from(p, k + count / 2, count - count / 2);
}

static float pairwise(const struct place *p) { return pairwise_from(p, 0, p->q->k); }

static float in_double(const struct place *p)
{
    double sum = 0;
    for (size_t k = 0; k < p->q->k; k++) sum += (double)a_at(p, k) * (double)b_at(p, k);
    return (float)sum;
}

/* A stride that visits every k once: it has no factor in common with count. */
static size_t stride_for(size_t count, uint64_t bits)
{
    for (size_t s = bits % count + 1;; s++) {
        size_t x = s, y = count;
        while (y) {
            const size_t r = x % y;
            x = y;
            y = r;
        }
        if (x == 1) return s;
    }
}

static float any_order(const struct place *p)
{
    const size_t count = p->q->k;
    const uint64_t bits = draw(p->q->seed, 40, p->i * p->q->n + p->j);
    const size_t stride = stride_for(count, bits);
    size_t k = (bits >> 32) % count;
    float sum = 0;
    for (size_t i = 0; i < count; i++, k = (k + stride) % count)
        sum = fmaf(a_at(p, k), b_at(p, k), sum);
    return sum;
}

/* x between FP32 neighbours: up with the probability of how near that is. */
static float stochastic(double x, double u)
{
    const float low = toward_zero(x),
                high = nextafterf(low, x < 0 ? -INFINITY : INFINITY);
    return fabs(x - (double)low) > u * fabs((double)high - (double)low) ? high : low;
}

static float stochastic_sum(const struct place *p)
{
    float sum = 0;
    for (size_t k = 0; k < p->q->k; k++)
        sum = stochastic((double)sum + (double)a_at(p, k) * (double)b_at(p, k),
                         draw_unit(p->q->seed, 41 + p->i * p->q->n + p->j, k));
    return sum;
}

static float products_lost(const struct place *p)
{
    float sum = 0;
    for (size_t k = 0; k < p->q->k; k++)
        if (draw(p->q->seed, 42 + p->i * p->q->n + p->j, k) % 128)
            sum = fmaf(a_at(p, k), b_at(p, k), sum);
    return sum;
}

/* Mitchell 1962: log2(1 + x) is taken for x. */
static float by_logarithms(const struct place *p)
{
    float sum = 0;
    for (size_t k = 0; k < p->q->k; k++) {
        int e, f;
        const double x = frexp(fabs(a_at(p, k)), &e), y = frexp(fabs(b_at(p, k)), &f);
        const double fraction = 2 * x - 1 + 2 * y - 1;
        const double product =
            ldexp(fraction < 1 ? 1 + fraction : 2 * fraction, e + f - 2);
        sum += (float)(a_at(p, k) * b_at(p, k) < 0 ? -product : product);
    }
    return sum;
}

static float fixed_point(const struct place *p)
{
    int64_t sum = 0;
    for (size_t k = 0; k < p->q->k; k++)
        sum += (int64_t)ldexp((double)a_at(p, k) * (double)b_at(p, k), 20);
    return (float)ldexp((double)sum, -20);
}

static float eighths(float x) { return roundf(x * 127) / 127; }

static float in_eight_bits(const struct place *p)
{
    double sum = 0;
    for (size_t k = 0; k < p->q->k; k++)
        sum += (double)eighths(a_at(p, k)) * (double)eighths(b_at(p, k));
    return (float)sum;
}

/* Of each four elements of A the two smallest are taken for 0. */
static float sparse(const struct place *p)
{
    float sum = 0;
    for (size_t k = 0; k < p->q->k; k++) {
        int larger = 0;
        for (size_t l = k / 4 * 4; l < k / 4 * 4 + 4 && l < p->q->k; l++)
            larger += fabsf(a_at(p, l)) > fabsf(a_at(p, k));
        if (larger < 2) sum = fmaf(a_at(p, k), b_at(p, k), sum);
    }
    return sum;
}

static float to_odd(const struct place *p)
{
    float sum = 0;
    for (size_t k = 0; k < p->q->k; k++) {
        const double x = (double)sum + (double)a_at(p, k) * (double)b_at(p, k);
        uint32_t bits;
        sum = toward_zero(x);
        memcpy(&bits, &sum, sizeof bits);
        bits |= (double)sum != x;
        memcpy(&sum, &bits, sizeof bits);
    }
    return sum;
}

/* A little of the element before is in each element of A. */
static float smoothed(const struct place *p)
{
    float sum = 0;
    for (size_t k = 0; k < p->q->k; k++) {
        const float before = a_at(p, k ? k - 1 : k);
        sum = fmaf(0.999f * a_at(p, k) + 0.001f * before, b_at(p, k), sum);
    }
    return sum;
}

/* Positive products apart from negative ones. */
static float by_sign(const struct place *p)
{
    float sum[2] = { 0 };
    for (size_t k = 0; k < p->q->k; k++) {
        const int negative = a_at(p, k) * b_at(p, k) < 0;
        sum[negative] = fmaf(a_at(p, k), b_at(p, k), sum[negative]);
    }
    return sum[0] + sum[1];
}

/* Units of one, two or three bits less, output by output. */
static float units_mixed(const struct place *p)
{
    struct unit unit = *p->q->unit;
    struct kernel q = *p->q;
    unit.fraction -= (int)(draw(q.seed, 39, p->i * q.n + p->j) % 4);
    q.unit = &unit;
    return product_right(&(struct place){ &q, p->i, p->j });
}

/* --- Strassen ----------------------------------------------------------------------- */

/* x[2 r + c]: the factor of block (r, c); d: what each quarter of D has of the product.
 */
static const struct {
    int a[4], b[4], d[4];
} strassen_products[7] = {
    { { 1, 0, 0, 1 }, { 1, 0, 0, 1 }, { 1, 0, 0, 1 } },
    { { 0, 0, 1, 1 }, { 1, 0, 0, 0 }, { 0, 0, 1, -1 } },
    { { 1, 0, 0, 0 }, { 0, 1, 0, -1 }, { 0, 1, 0, 1 } },
    { { 0, 0, 0, 1 }, { -1, 0, 1, 0 }, { 1, 0, 1, 0 } },
    { { 1, 1, 0, 0 }, { 0, 0, 0, 1 }, { -1, 1, 0, 0 } },
    { { -1, 0, 1, 0 }, { 1, 1, 0, 0 }, { 0, 0, 0, 1 } },
    { { 0, 1, 0, -1 }, { 0, 0, 1, 1 }, { 1, 0, 0, 0 } },
};

/* Element (i, j) of a sum of the four blocks of x, which has m rows and n columns. */
static float block_sum(const int factor[4], const float *x, size_t m, size_t n, size_t i,
                       size_t j)
{
    float sum = 0;
    for (int block = 0; block < 4; block++) {
        const size_t r = i + (block / 2 ? (m + 1) / 2 : 0);
        const size_t c = j + (block % 2 ? (n + 1) / 2 : 0);
        if (factor[block] && r < m && c < n) sum += (float)factor[block] * x[r * n + c];
    }
    return sum;
}

static float strassen(const struct place *p)
{
    const struct kernel *q = p->q;
    const size_t down = (q->m + 1) / 2, across = (q->n + 1) / 2;
    const size_t quarter = 2 * (p->i >= down) + (p->j >= across);
    float sum = 0;
    for (int t = 0; t < 7; t++) {
        float v = 0;
        if (!strassen_products[t].d[quarter]) continue;
        for (size_t k = 0; k < (q->k + 1) / 2; k++)
            v = fmaf(
                block_sum(strassen_products[t].a, q->a, q->m, q->k, p->i % down, k),
                block_sum(strassen_products[t].b, q->b, q->k, q->n, k, p->j % across), v);
        sum += (float)strassen_products[t].d[quarter] * v;
    }
    return sum;
}

/* --- inputs and chains, damaged ----------------------------------------------------- */

/* The lowest bit of a third of the values is another. */
static void input_noise(float part[2], const struct kernel *q, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= draw(q->seed, 43, bits) % 3 == 0;
    memcpy(&x, &bits, sizeof bits);
    split_right(part, q, x);
}

static void four_bits(float part[2], const struct kernel *q, float x)
{
    split_right(part, q, round_to(&(struct floating){ 3, -6, 8 }, NEAREST_EVEN, x));
}

static float kept_noisy(const struct place *p, float v)
{
    return nextafterf(v, draw(p->q->seed, 44 + p->i, p->j) % 2 ? INFINITY : -INFINITY);
}

static float kept_biased(const struct place *p, float v)
{
    (void)p;
    return v * 1.0000002f;
}

/* --- results, damaged --------------------------------------------------------------- */

static float flip(float x, int bit)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= UINT32_C(1) << bit;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static float bit_flips(const struct kernel *q, size_t at, float x)
{
    const uint64_t bits = draw(q->seed, 45, at);
    return bits % 100 ? x : flip(x, (int)((bits >> 32) % 23));
}

static float low_bits(const struct kernel *q, size_t at, float x)
{
    for (int bit = 0; bit < 4; bit++)
        if (draw(q->seed, 46, at) >> bit & 1) x = flip(x, bit);
    return x;
}

static float stuck_bit(const struct kernel *q, size_t at, float x)
{
    uint32_t bits;
    (void)q;
    (void)at;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 3 & 1 ? x : flip(x, 3);
}

static float one_flip(const struct kernel *q, size_t at, float x)
{
    return at == draw(q->seed, 47, 0) % (q->m * q->n) ? flip(x, 12) : x;
}

static float scaled(const struct kernel *q, size_t at, float x)
{
    (void)q;
    (void)at;
    return x * (1 + 0x1p-20f);
}

static float scaled_by_row(const struct kernel *q, size_t at, float x)
{
    return x * (1 + (float)(at / q->n + 1) * 0x1p-22f);
}

static float noisy(const struct kernel *q, size_t at, float x)
{
    const int steps = (int)(draw(q->seed, 48, at) % 5) - 2;
    for (int i = 0; i < abs(steps); i++)
        x = nextafterf(x, steps < 0 ? -INFINITY : INFINITY);
    return x;
}

static float one_up(const struct kernel *q, size_t at, float x)
{
    (void)q;
    (void)at;
    return nextafterf(x, copysignf(INFINITY, x));
}

static float decimal(const struct kernel *q, size_t at, float x)
{
    char text[32];
    (void)q;
    (void)at;
    snprintf(text, sizeof text, "%.6g", x);
    return strtof(text, NULL);
}

static float thirds(const struct kernel *q, size_t at, float x)
{
    (void)q;
    (void)at;
    return x * (1.0f / 3) * 3;
}

static float small_zeroed(const struct kernel *q, size_t at, float x)
{
    (void)q;
    (void)at;
    return fabsf(x) < 0.5f ? 0 : x;
}

static float dithered(const struct kernel *q, size_t at, float x)
{
    if (!isfinite(x) || x == 0) return x;
    const float ulp = ldexpf(1, ilogbf(x) - 10);
    return round_to(&f16, TOWARD_ZERO,
                    x + copysignf((float)draw_unit(q->seed, 49, at) * ulp, x));
}

#define EACH(name)                                                                       \
    static void each_##name(float *d, const struct kernel *q, const float *right)        \
    {                                                                                    \
        for (size_t at = 0; at < q->m * q->n; at++) d[at] = name(q, at, right[at]);      \
    }

EACH(bit_flips)
EACH(low_bits)
EACH(stuck_bit)
EACH(one_flip)
EACH(scaled)
EACH(scaled_by_row)
EACH(noisy)
EACH(one_up)
EACH(decimal)
EACH(thirds)
EACH(small_zeroed)
EACH(dithered)

/* Each row begins somewhere else. */
static void rows_rotated(float *d, const struct kernel *q, const float *right)
{
    for (size_t at = 0; at < q->m * q->n; at++) {
        const size_t i = at / q->n, by = draw(q->seed, 38, i) % q->n;
        d[at] = right[i * q->n + (at % q->n + by) % q->n];
    }
}

/* --- the table ---------------------------------------------------------------------- */

#define PRODUCT(function) .stage = { .product = function }

const struct fault faults_outside[] = {
    { "kahan", "outside", "compensated sum of FP32 products", PRODUCT(kahan) },
    { "dot2", "outside", "compensated dot product", PRODUCT(compensated) },
    { "pairwise", "outside", "FP32 products added in pairs", PRODUCT(pairwise) },
    { "double", "outside", "sum in FP64, rounded once", PRODUCT(in_double) },
    { "any-order", "outside", "FP32 in another order for each output",
      PRODUCT(any_order) },
    { "stochastic", "outside", "FP32 with stochastic rounding", PRODUCT(stochastic_sum) },
    { "products-lost", "outside", "one product of 128 is lost", PRODUCT(products_lost) },
    { "logarithms", "outside", "products by Mitchell's logarithms",
      PRODUCT(by_logarithms) },
    { "fixed-point", "outside", "sum in multiples of 2^-20", PRODUCT(fixed_point) },
    { "eight-bits", "outside", "operands of 8 bits", PRODUCT(in_eight_bits) },
    { "sparse", "outside", "two of four elements of A dropped", PRODUCT(sparse) },
    { "to-odd", "outside", "FP32 sum rounded to odd", PRODUCT(to_odd) },
    { "smoothed", "outside", "A mixed with its neighbours", PRODUCT(smoothed) },
    { "by-sign", "outside", "positive and negative products apart", PRODUCT(by_sign) },
    { "units-mixed", "outside", "units of other precision, output by output",
      PRODUCT(units_mixed) },
    { "strassen", "outside", "a step of Strassen's algorithm in FP32",
      PRODUCT(strassen) },
    { "input-noise", "outside", "the lowest bit of a third of the inputs is wrong",
      .stage = { .split = input_noise } },
    { "four-bits", "outside", "inputs rounded to e4m3 first",
      .stage = { .split = four_bits } },
    { "kept-noisy", "outside", "accumulators one ulp off after each instruction",
      .stage = { .keep = kept_noisy } },
    { "kept-biased", "outside", "accumulators drift upwards",
      .stage = { .keep = kept_biased } },
    { "bit-flips", "outside", "a bit flipped in 1 % of the outputs",
      .output = each_bit_flips },
    { "one-flip", "outside", "a bit flipped in one output", .output = each_one_flip },
    { "low-bits", "outside", "the lowest four bits are random", .output = each_low_bits },
    { "stuck-bit", "outside", "one bit is always set", .output = each_stuck_bit },
    { "scaled", "outside", "results times 1 + 2^-20", .output = each_scaled },
    { "scaled-by-row", "outside", "each row times another factor near 1",
      .output = each_scaled_by_row },
    { "noisy", "outside", "results up to two ulp off", .output = each_noisy },
    { "one-up", "outside", "results one ulp further from 0", .output = each_one_up },
    { "decimal", "outside", "results printed with six digits and read again",
      .output = each_decimal },
    { "thirds", "outside", "results divided by 3 and multiplied again",
      .output = each_thirds },
    { "rows-rotated", "outside", "each row rotated by another number of columns",
      .output = rows_rotated },
    { "small-zeroed", "outside", "results below 0.5 are 0", .output = each_small_zeroed },
    { "dithered", "outside", "results in f16 with random rounding",
      .output = each_dithered },
    { 0 }
};
