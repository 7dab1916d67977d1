/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/rounding_level.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>

/* Floating point of the host: the level decides what is likely, never a bit of a
   model. */

enum { DRAWS = 4, STREAM = 71 };

/* The numbers of lanes of the drawn orders, which are compared in pairs. */
static const size_t lanes_of[] = { 1, 4, 8, 16 };

enum { LANES_MAX = 16, ORDERS = sizeof lanes_of / sizeof *lanes_of };

/* Operands of the block in a drawn order of k; lines have k elements each. */
struct shuffled {
    size_t *at;
    float *a, *b;
};

static void shuffle(struct shuffled *s, const struct block *b, uint64_t seed, int draw)
{
    struct rng r = rng_start(seed, STREAM + (uint64_t)draw);
    for (size_t p = 0; p < b->k; p++) {
        const size_t q = (size_t)rand_below(rng_bits(&r), p + 1);
        if (q < p) s->at[p] = s->at[q];
        s->at[q] = p;
    }
    for (size_t i = 0; i < b->rows; i++)
        for (size_t p = 0; p < b->k; p++)
            s->a[i * b->k + p] = float_of_bits(b->a[i * b->k + s->at[p]]);
    for (size_t j = 0; j < b->cols; j++)
        for (size_t p = 0; p < b->k; p++)
            s->b[j * b->k + p] = float_of_bits(b->b[s->at[p] * b->cols + j]);
}

static float toward_zero(double x)
{
    const float near = (float)x;
    if (!isfinite(near) || fabs((double)near) <= fabs(x)) return near;
    return float_of_bits(bits_of_float(near) - 1);
}

/* One output in lanes, to nearest, and in one chain toward zero. */
static float sum_lanes(const float *a, const float *b, size_t k, size_t lanes)
{
    float lane[LANES_MAX] = { 0 }, sum;
    for (size_t p = 0; p < k; p += lanes)
        for (size_t l = 0; l < smaller(lanes, k - p); l++)
            lane[l] = (float)((double)lane[l] + (double)a[p + l] * (double)b[p + l]);
    sum = lane[0];
    for (size_t l = 1; l < lanes; l++) sum += lane[l];
    return sum;
}

static float sum_truncated(const float *a, const float *b, size_t k)
{
    float sum = 0;
    for (size_t p = 0; p < k; p++)
        sum = toward_zero((double)sum + (double)a[p] * (double)b[p]);
    return sum;
}

/* What the draws add up to. */
struct totals {
    double nearest, toward_zero, of_mean, agreeing, outputs;
};

static uint32_t stored(const struct block *b, float sum, size_t at)
{
    const double c = b->c ? value_of_float(b->q->beta) * value_of_float(b->c[at]) : 0;
    const float d = (float)(value_of_float(b->q->alpha) * (double)sum + c);
    return f32_through(b->q->format, &roundings[ROUND_RN], bits_of_float(d));
}

static void add_output(struct totals *t, struct rounding_level *l, double *sizes,
                       const struct block *b, const struct shuffled *s, size_t at)
{
    const float *const x = s->a + at / b->cols * b->k, *const y =
                                                           s->b + at % b->cols * b->k;
    double exact = 0, size = 0;
    uint32_t d[ORDERS];
    float chain = 0;
    for (size_t p = 0; p < b->k; p++) {
        exact += (double)x[p] * (double)y[p];
        size += fabs((double)x[p] * (double)y[p]);
    }
    if (!(size > 0) || !isfinite(size)) return;
    for (size_t o = 0; o < ORDERS; o++) {
        const float sum = sum_lanes(x, y, b->k, lanes_of[o]);
        d[o] = stored(b, sum, at);
        if (!o) chain = sum;
    }
    for (size_t o = 0; o < ORDERS; o++)
        for (size_t other = 0; other < o; other++)
            t->agreeing += (double)(d[o] == d[other]) / (ORDERS * (ORDERS - 1) / 2);
    const double near = ((double)chain - exact) / size,
                 cut = (double)sum_truncated(x, y, b->k) - exact;
    if (!isfinite(near) || !isfinite(cut)) return;
    t->nearest += near * near;
    t->toward_zero += cut / size * (cut / size);
    l->truncated[at] += cut / DRAWS;
    sizes[at] = size;
    t->outputs++;
}

enum bitcut_status rounding_level_find(struct rounding_level *to, const struct block *b,
                                       uint64_t seed, struct fault *f)
{
    const size_t outputs = b->rows * b->cols;
    struct totals t = { 0 };
    struct rounding_level l = { .truncated = calloc(outputs + 1, sizeof(double)) };
    double *const size = calloc(outputs + 1, sizeof *size);
    struct shuffled s = { memory_allocate(b->k + 1, sizeof *s.at),
                          memory_allocate(b->rows + 1, (b->k + 1) * sizeof *s.a),
                          memory_allocate(b->cols + 1, (b->k + 1) * sizeof *s.b) };
    const bool made = l.truncated && size && s.at && s.a && s.b;
    for (int draw = 0; draw < DRAWS && made; draw++) {
        shuffle(&s, b, seed, draw);
        for (size_t at = 0; at < outputs; at++) add_output(&t, &l, size, b, &s, at);
    }
    free(s.at);
    free(s.a);
    free(s.b);
    double of_means = 0;
    for (size_t at = 0; at < outputs && made; at++)
        if (size[at] > 0)
            of_means +=
                DRAWS * (l.truncated[at] / size[at]) * (l.truncated[at] / size[at]);
    free(size);
    if (!made) {
        free(l.truncated);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for orders of k");
    }
    if (t.outputs > 0) {
        l.nearest = sqrt(t.nearest / t.outputs);
        l.toward_zero = sqrt(t.toward_zero / t.outputs);
        l.toward_zero_spread =
            sqrt(fmax(0, t.toward_zero - of_means) / t.outputs * DRAWS / (DRAWS - 1));
        l.agreeing = t.agreeing / t.outputs;
    }
    *to = l;
    return BITCUT_OK;
}

void rounding_level_clear(struct rounding_level *l)
{
    free(l->truncated);
    *l = (struct rounding_level){ 0 };
}

/* --- outputs ---------------------------------------------------------------------- */

double number_spacing(const struct bitcut_format *f, double x)
{
    const int least = 1 - f->bias;
    const int exponent = x == 0 ? least : ilogb(x);
    return ldexp(1, (exponent < least ? least : exponent) - f->fraction_bits);
}

double output_magnitude(const struct block *b, size_t i, size_t j)
{
    double size = 0;
    if (b->own) return block_exact(b, i, j).magnitude;
    for (size_t p = 0; p < b->k; p++)
        size += fabs(value_of_float(b->a[i * b->k + p]) *
                     value_of_float(b->b[p * b->cols + j]));
    return fabs(value_of_float(b->q->alpha)) * size +
           (b->c
                ? fabs(value_of_float(b->q->beta) * value_of_float(b->c[i * b->cols + j]))
                : 0);
}

double output_level(const struct block *b, double value, double magnitude, double sum)
{
    return hypot(sum * magnitude, number_spacing(b->q->format, value) / sqrt(12));
}
