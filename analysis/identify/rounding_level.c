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

/* clang-format off */
const struct sum_bias sum_biases[BIASES] = {
    [BIAS_TOWARD_ZERO] = { "toward zero", "truncated sums or parts", SUM_TOWARD_ZERO, 1, 1.5, 2, 0.3 },
    [BIAS_UPWARD] = { "upward", "sums that are rounded toward +infinity", SUM_UPWARD, 1, 2.5, 2, 0.3 },
    [BIAS_DOWNWARD] = { "downward", "sums that are rounded toward -infinity", SUM_UPWARD, -1, 2.5, 2, 0.3 },
    [BIAS_AWAY_FROM_ZERO] = { "away from zero", "sums that become a little larger at each step", SUM_TOWARD_ZERO, -1, 6, 0.1, 0 },
};
/* clang-format on */

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

static float upward(double x)
{
    const float near = (float)x;
    return !isfinite(near) || (double)near >= x ? near : nextafterf(near, INFINITY);
}

static float (*const rounded[SUM_DIRECTIONS])(double) = {
    [SUM_TOWARD_ZERO] = toward_zero, [SUM_UPWARD] = upward
};

/* One output in lanes, to nearest, and in one chain in a direction. */
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

static float sum_directed(const float *a, const float *b, size_t k,
                          enum sum_direction way)
{
    float sum = 0;
    for (size_t p = 0; p < k; p++)
        sum = rounded[way]((double)sum + (double)a[p] * (double)b[p]);
    return sum;
}

/* What the draws add up to. */
struct totals {
    double nearest, directed[SUM_DIRECTIONS], agreeing, outputs;
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
    const double near = ((double)chain - exact) / size;
    double by[SUM_DIRECTIONS];
    bool all = isfinite(near);
    for (int i = 0; i < SUM_DIRECTIONS; i++) {
        by[i] = (double)sum_directed(x, y, b->k, (enum sum_direction)i) - exact;
        all &= isfinite(by[i]) != 0;
    }
    if (!all) return;
    t->nearest += near * near;
    for (int i = 0; i < SUM_DIRECTIONS; i++) {
        t->directed[i] += by[i] / size * (by[i] / size);
        l->directed[i].mean[at] += by[i] / DRAWS;
    }
    sizes[at] = size;
    t->outputs++;
}

/* The errors of a direction, from the sum of their squares. */
static void set_directed(struct directed_level *to, const double *size, size_t outputs,
                         double squares, double count)
{
    double of_means = 0;
    for (size_t at = 0; at < outputs; at++)
        if (size[at] > 0)
            of_means += DRAWS * (to->mean[at] / size[at]) * (to->mean[at] / size[at]);
    to->all = sqrt(squares / count);
    to->spread = sqrt(fmax(0, squares - of_means) / count * DRAWS / (DRAWS - 1));
}

enum bitcut_status rounding_level_find(struct rounding_level *to, const struct block *b,
                                       uint64_t seed, struct fault *f)
{
    const size_t outputs = b->rows * b->cols;
    struct totals t = { 0 };
    struct rounding_level l = { 0 };
    double *const size = calloc(outputs + 1, sizeof *size);
    struct shuffled s = { memory_allocate(b->k + 1, sizeof *s.at),
                          memory_allocate(b->rows + 1, (b->k + 1) * sizeof *s.a),
                          memory_allocate(b->cols + 1, (b->k + 1) * sizeof *s.b) };
    bool made = size && s.at && s.a && s.b;
    for (int i = 0; i < SUM_DIRECTIONS; i++)
        made &= (l.directed[i].mean = calloc(outputs + 1, sizeof(double))) != NULL;
    for (int draw = 0; draw < DRAWS && made; draw++) {
        shuffle(&s, b, seed, draw);
        for (size_t at = 0; at < outputs; at++) add_output(&t, &l, size, b, &s, at);
    }
    free(s.at);
    free(s.a);
    free(s.b);
    if (made && t.outputs > 0) {
        l.nearest = sqrt(t.nearest / t.outputs);
        for (int i = 0; i < SUM_DIRECTIONS; i++)
            set_directed(&l.directed[i], size, outputs, t.directed[i], t.outputs);
        l.agreeing = t.agreeing / t.outputs;
    }
    free(size);
    if (!made) {
        rounding_level_clear(&l);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for orders of k");
    }
    *to = l;
    return BITCUT_OK;
}

void rounding_level_clear(struct rounding_level *l)
{
    for (int i = 0; i < SUM_DIRECTIONS; i++) free(l->directed[i].mean);
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
