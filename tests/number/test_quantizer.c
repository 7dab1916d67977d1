/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantizers against a second definition: the element is the nearest of all values of the
   format, found by trying each, and powers of two are found by multiplication. */
#include "lib/number/quantizer.h"

#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 130, DEPTH = 150, COUNT = LINES * DEPTH };

static uint32_t x[COUNT], element[COUNT], scale[COUNT];

/* The value of a format that is nearest to v; of two the one with an even encoding. */
static double nearest(const struct bitcut_format *f, double v)
{
    double best = NAN;
    bool is_even = false;
    const unsigned bits = (unsigned)f->bits;
    for (unsigned e = 0; e < 1u << bits; e++) {
        const double y = format_to_double(f, e);
        const bool even = !(e & 1);
        if (!isfinite(y)) continue;
        if (y == 0 && f->special != SPECIAL_INTEGER && signbit(y) != signbit(v)) continue;
        const double distance = fabs(y - v), least = fabs(best - v);
        if (isnan(best) || distance < least || (distance == least && even && !is_even))
            best = y, is_even = even;
    }
    return best;
}

static double largest(const struct bitcut_format *f)
{
    double most = 0;
    for (unsigned e = 0; e < 1u << f->bits; e++)
        if (isfinite(format_to_double(f, e))) most = fmax(most, format_to_double(f, e));
    return most;
}

/* The middle between the largest value and the next one with more exponents. */
static double overflow(const struct bitcut_format *f)
{
    double below = 0;
    const double most = largest(f);
    for (unsigned e = 0; e < 1u << f->bits; e++) {
        const double y = format_to_double(f, e);
        if (isfinite(y) && y < most) below = fmax(below, y);
    }
    return most + (most - below) / 2;
}

/* The largest power of two that is at most v. */
static double power_below(double v)
{
    double p = 1;
    while (p > v) p /= 2;
    while (2 * p <= v) p *= 2;
    return p;
}

static double wanted_scale(const struct bitcut_quantizer *q, double amax, double t)
{
    const double most = largest(q->element), unit = power_below(most);
    if (amax == 0) return 1;
    double s;
    switch (q->rule) {
    case SCALE_FLOOR: s = power_below(amax) / unit; break;
    case SCALE_CEIL:
        s = power_below(amax) / unit;
        while (s * most < amax) s *= 2;
        while (s / 2 * most >= amax) s /= 2;
        break;
    case SCALE_EVEN: {
        const double step = power_below(amax) / 2; /* e2m1: one fraction bit */
        double low = floor(amax / step) * step;
        const double rest = amax - low;
        if (rest > step / 2 || (rest == step / 2 && fmod(low / step, 2) == 1)) low += step;
        s = power_below(low) / unit;
        break;
    }
    case SCALE_TWO_LEVEL: {
        const float block = (float)(float)amax / (float)most;
        s = nearest(q->scale, (double)(block / (float)t));
        return s > 0 ? s : format_to_double(q->scale, 1);
    }
    default: {
        const float f = (float)amax / (float)most;
        return f > 0 ? (double)f : 0x1p-149;
    }
    }
    if (q->scale->bits == 8) s = fmin(fmax(s, 0x1p-127), 0x1p127);
    return fmax(s, 0x1p-149);
}

static double amax_of(size_t from, size_t to, size_t at, size_t end, size_t k)
{
    double most = 0;
    for (size_t i = from; i < to; i++)
        for (size_t p = at; p < end; p++)
            most = fmax(most, fabs(value_of_float(x[i * k + p])));
    return most;
}

/* Bits of 24 that v retains if it became w: halving until the error is at most an ulp. */
static int bits_of(double v, double w)
{
    const double ulp = fmax(power_below(fabs(v)), 0x1p-126) * 0x1p-23;
    double error = fabs(v - w);
    int bits = 24;
    if (error == 0) return 24;
    for (; error >= ulp && bits; error /= 2) bits--;
    if (error < ulp && bits == 24)
        for (bits = 23; error < ulp; error *= 2) bits++;
    return bits < 0 ? 0 : bits;
}

/* What a test finds that is kept. */
struct want {
    size_t zeros, saturated, subnormal, values;
    double bits, square, error, most, low, high;
};

static void want_add(struct want *to, const struct bitcut_quantizer *q, float value,
                     float quotient, double became, double by)
{
    const double v = (double)value, w = became * by;
    to->saturated += fabs((double)quotient) > overflow(q->element);
    to->zeros += value != 0 && became == 0;
    to->subnormal += q->element->special != SPECIAL_INTEGER && became != 0 &&
                     fabs(became) < ldexp(1, 1 - q->element->bias);
    to->square += v * v;
    to->error += (v - w) * (v - w);
    if (value == 0) return;
    to->values++;
    to->bits += bits_of(v, w);
    to->most = fmax(to->most, fabs(v - w) / fabs(v));
}

static void check_kept(const struct bitcut_quantization *kept, const struct want *want,
                       const char *name, size_t count, double matrix_scale)
{
    const double error = want->square > 0 ? sqrt(want->error / want->square) : 0;
    ck_assert_uint_eq(kept->elements, count);
    ck_assert_uint_eq(kept->zeros, want->zeros);
    ck_assert_uint_eq(kept->saturated, want->saturated);
    ck_assert_msg(kept->subnormal == want->subnormal, "%s: %zu subnormal, not %zu", name,
                  kept->subnormal, want->subnormal);
    ck_assert(fabs(kept->error - error) <= 1e-12 * error);
    ck_assert(error == 0 ? isinf(kept->bits) : fabs(kept->bits + log2(error)) <= 1e-9);
    ck_assert_msg(fabs(kept->max_error - want->most) <= 1e-15 * want->most,
                  "%s: largest error %a, not %a", name, kept->max_error, want->most);
    if (want->values)
        ck_assert_msg(fabs(kept->retained - want->bits / (double)want->values) <= 1e-9,
                      "%s: %g bits, not %g", name, kept->retained,
                      want->bits / (double)want->values);
    else ck_assert(isnan(kept->retained));
    ck_assert(count ? kept->scale_min == want->low && kept->scale_max == want->high
                    : isnan(kept->scale_min) && isnan(kept->scale_max));
    ck_assert(kept->matrix_scale == matrix_scale);
}

static void check(const struct bitcut_quantizer *q, size_t lines, size_t k)
{
    struct fault f;
    struct quantized found;
    uint32_t tensor;
    static uint32_t before[COUNT];
    struct want kept = { .low = INFINITY, .high = -INFINITY };
    size_t across, along;
    const size_t height = q->lines ? q->lines : lines, depth = q->depth ? q->depth : k;
    memcpy(before, x, sizeof x);
    ck_assert_int_eq(quantize(element, scale, &tensor, &found, q, x, lines, k, &f),
                     BITCUT_OK);
    bitcut_quantizer_blocks(&across, &along, q, lines, k);
    ck_assert_uint_eq(across, (lines + height - 1) / height);
    ck_assert_uint_eq(along, (k + depth - 1) / depth);
    float t = 1;
    if (q->rule == SCALE_TWO_LEVEL) {
        t = (float)amax_of(0, lines, 0, k, k) / (float)(largest(q->element) * largest(q->scale));
        if (amax_of(0, lines, 0, k, k) == 0) t = 1;
        if (t == 0) t = 0x1p-149f;
    }
    ck_assert_uint_eq(tensor, bits_of_float(t));
    for (size_t i = 0; i < lines; i++)
        for (size_t p = 0; p < k; p++) {
            const size_t l = i / height, b = p / depth;
            const double amax =
                amax_of(l * height, (l + 1) * height < lines ? (l + 1) * height : lines,
                        b * depth, (b + 1) * depth < k ? (b + 1) * depth : k, k);
            const double s = wanted_scale(q, amax, t);
            const float value = float_of_bits(x[i * k + p]);
            float both = (float)s * t;
            if (both == 0) both = 0x1p-149f;
            const double want = nearest(q->element, (double)(value / both));
            ck_assert_msg(scale[l * along + b] == bits_of_float((float)s),
                          "%s: block (%zu, %zu): scale %a, not %a (amax %a)", q->name, l, b,
                          value_of_float(scale[l * along + b]), s, amax);
            ck_assert_msg(element[i * k + p] == bits_of_float((float)want),
                          "%s: element (%zu, %zu) of %a with scale %a: %a, not %a", q->name,
                          i, p, (double)value, s, value_of_float(element[i * k + p]), want);
            want_add(&kept, q, value, value / both, want, s * (double)t);
            kept.low = fmin(kept.low, s);
            kept.high = fmax(kept.high, s);
        }
    check_kept(&found.kept, &kept, q->name, lines * k, (double)t);
    ck_assert(!memcmp(before, x, sizeof x));
}

/* Values of a range of exponents, with blocks of zeros. */
static void draw(uint64_t *rng, size_t count, int low, int high)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t sign = (uint32_t)(test_bits(rng) >> 63) << 31,
                       exponent = (uint32_t)test_between(rng, low, high) << 23;
        x[i] = sign | exponent | ((uint32_t)test_bits(rng) & 0x7fffff);
        if (!test_between(rng, 0, 9)) x[i] = sign;
    }
    if (!test_between(rng, 0, 3)) memset(x, 0, count / 2 * sizeof *x);
}

START_TEST(rules)
{
    static const int range[][2] = { { 120, 130 }, { 0, 20 }, { 0, 254 }, { 240, 254 } };
    uint64_t rng = test_seed();
    for (const struct bitcut_quantizer *q = quantizers; q->name; q++)
        for (int r = 0; r < 4; r++)
            for (int i = test_cases(3, 20); i; i--) {
                const size_t lines = (size_t)test_between(&rng, 1, q->lines > 1 ? LINES : 4),
                             k = (size_t)test_between(&rng, 1, lines > 4 ? 9 : DEPTH);
                draw(&rng, lines * k, range[r][0], range[r][1]);
                check(q, lines, k);
            }
}
END_TEST

/* Maxima at which a rule changes: powers of two, the largest value times one, and the values
   next to them. */
START_TEST(edges)
{
    for (const struct bitcut_quantizer *q = quantizers; q->name; q++)
        for (int e = -130; e < 120; e += 5 * test_step(7)) {
            const double at[] = { ldexp(1, e), ldexp(largest(q->element), e), ldexp(1.25, e),
                                  ldexp(1.75, e), ldexp(1.875, e) };
            for (size_t i = 0; i < sizeof at / sizeof *at; i++)
                for (int step = -1; step <= 1; step++) {
                    const float v = (float)at[i];
                    if (isinf(v)) continue;
                    memset(x, 0, 40 * sizeof *x);
                    x[0] = bits_of_float(v) + (uint32_t)step;
                    x[1] = bits_of_float(-v / 3);
                    check(q, 1, 40);
                }
        }
}
END_TEST

/* Any rounding mode of the caller gives the same bits. */
START_TEST(modes)
{
    static uint32_t first[COUNT], scales[COUNT];
    uint64_t rng = test_seed() + 1;
    for (const struct bitcut_quantizer *q = quantizers; q->name; q++) {
        static const int mode[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
        draw(&rng, 600, 100, 130);
        for (int i = 0; i < 4; i++) {
            uint32_t t;
            fesetround(mode[i]);
            const enum bitcut_status status = bitcut_quantize(element, scale, &t, NULL, q, x, 4, 150, NULL);
            fesetround(FE_TONEAREST);
            ck_assert_int_eq(status, BITCUT_OK);
            if (i) ck_assert(!memcmp(first, element, 600 * sizeof *x));
            if (i) ck_assert(!memcmp(scales, scale, 4 * sizeof *x));
            memcpy(first, element, sizeof first);
            memcpy(scales, scale, sizeof scales);
        }
    }
}
END_TEST

/* Infinities and NaNs are refused, and nothing is written; x itself may be the result. */
START_TEST(refused)
{
    uint32_t t = 7;
    struct bitcut_quantization kept = { .size = sizeof kept, .zeros = 9 };
    char why[BITCUT_TEXT_MAX] = "";
    const struct bitcut_quantizer *const q = bitcut_quantizer_find("mxfp8");
    ck_assert(q && !bitcut_quantizer_find("mxfp9") && !bitcut_quantizer_find(NULL));
    for (size_t i = 0; i < 64; i++) x[i] = bits_of_float((float)i), element[i] = 5;
    x[33] = 0x7f800000;
    ck_assert_int_eq(bitcut_quantize(element, scale, &t, &kept, q, x, 2, 32, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "element (1, 1) is not finite: it cannot be quantized");
    ck_assert(t == 7 && element[0] == 5 && element[63] == 5 && kept.zeros == 9);
    x[33] = 0;
    kept.size--;
    ck_assert_int_eq(bitcut_quantize(element, scale, &t, &kept, q, x, 2, 32, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert(t == 7 && element[0] == 5 && strstr(why, "quantization"));
    kept.size++;
    ck_assert_int_eq(bitcut_quantize(element, scale, &t, NULL, q, x, 2, 32, NULL), BITCUT_OK);
    ck_assert_int_eq(bitcut_quantize(NULL, NULL, NULL, &kept, q, x, 2, 32, NULL), BITCUT_OK);
    ck_assert(kept.elements == 64 && kept.zeros == 0);
    ck_assert_int_eq(bitcut_quantize(x, scale, &t, NULL, q, x, 2, 32, NULL), BITCUT_OK);
    ck_assert(!memcmp(x, element, 64 * sizeof *x));
}
END_TEST

TEST_MAIN("quantizer", rules, edges, modes, refused)
