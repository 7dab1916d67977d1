/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/attention/softmax.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/elementary32.h"

#include <string.h>

static const float minus_infinity = -(float)INFINITY;

/* x, or a zero with its sign if x is subnormal and the row flushes. */
static inline float flushed(float x, bool flush)
{
    return flush && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static inline float multiply(float x, float y, bool flush)
{
    return flushed(flushed(x, flush) * flushed(y, flush), flush);
}

static inline float add(float x, float y, bool flush)
{
    return flushed(flushed(x, flush) + flushed(y, flush), flush);
}

static inline float fused(float x, float y, float z, bool flush)
{
    return flushed(attention_fma(flushed(x, flush), flushed(y, flush), flushed(z, flush)),
                   flush);
}

/* x y + z, fused or with x y rounded. */
static inline float multiply_add(float x, float y, float z, bool fuses, bool flush)
{
    return fuses ? fused(x, y, z, flush) : add(multiply(x, y, flush), z, flush);
}

void softmax_start(struct softmax_row *row)
{
    memset(row, 0, sizeof *row);
    row->max = minus_infinity;
    row->rescale = 1;
}

/* --- scores and their maximum ---------------------------------------------------------
 */

/* The factor of score j: that of the exponent, times those of INT8. */
static inline float factor_of(const struct attention_plan *plan,
                              const struct softmax_scores *x, size_t j)
{
    const float pair = x->k_factor ? x->q_factor * x->k_factor[j] : 1;
    return plan->row.scaling == SCALED_FUSED ? plan->t * pair : pair;
}

/* Whether the maximum is of scaled scores: each key block of INT8 has its own factor. */
static bool scales_maximum(const struct attention_plan *plan)
{
    return plan->row.q_block && plan->row.scaling == SCALED_FUSED;
}

/* Score j as the maximum and the exponent read it. */
static inline float score(const struct attention_plan *plan,
                          const struct softmax_scores *x, size_t j)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const bool flush = r->flush;
    if (r->scaling == SCALED_SCORES && !x->k_factor)
        return multiply(x->s[j], plan->t, flush);
    if (!x->k_factor) return x->s[j];
    if (r->scaling == SCALED_FUSED)
        return fused(x->s[j], factor_of(plan, x, j), -float_of_bits(r->offset), flush);
    return multiply(multiply(x->s[j], x->q_factor, flush), x->k_factor[j], flush);
}

/* The larger, ignoring NaN, as FMNMX. */
static inline float larger_of(float x, float y) { return y > x || x != x ? y : x; }

static float maximum(const struct attention_plan *plan, const struct softmax_scores *x)
{
    float max = minus_infinity;
    for (size_t j = x->from; j < x->to; j++) max = larger_of(max, score(plan, x, j));
    return max;
}

/* --- exponentials
 * ----------------------------------------------------------------------- */

/* What is subtracted from scaled scores. */
static float shift_of(const struct attention_plan *plan, float max)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const float offset = float_of_bits(r->offset);
    if (max == minus_infinity) return scales_maximum(plan) ? 0 : 0 - offset;
    if (scales_maximum(plan)) return max;
    if (r->scaling < SCALED_SCORES)
        return offset != 0 ? multiply_add(max, plan->t, -offset, r->fused, r->flush)
                           : multiply(max, plan->t, r->flush);
    return offset != 0 ? add(max, -offset, r->flush) : max;
}

/* The exponent of score j, minus the shift. */
static inline float exponent(const struct attention_plan *plan,
                             const struct softmax_scores *x, size_t j, float shift)
{
    const struct bitcut_attention_row *const r = &plan->row;
    if (r->scaling == SCALED_FUSED)
        return fused(x->s[j], factor_of(plan, x, j), -shift, r->flush);
    if (r->scaling == SCALED_APART && !x->k_factor)
        return add(multiply(x->s[j], plan->t, r->flush), -shift, r->flush);
    return add(score(plan, x, j), -shift, r->flush);
}

/* The factor of O and of the sum for a new maximum, which stays as it is unless the
   threshold is exceeded. */
static float rescale(float *max, float before, const struct attention_plan *plan,
                     size_t step)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const float threshold = float_of_bits(r->threshold);
    const bool scaled = scales_maximum(plan) || r->scaling >= SCALED_SCORES;
    const float now = *max == minus_infinity && step < plan->guarded ? 0 : *max;
    float x = add(before, -now, r->flush);
    if (!scaled) x = multiply(x, plan->t, r->flush);
    if (threshold > 0 && x >= -threshold) {
        *max = before;
        return 1;
    }
    return r->exp->of(x);
}

/* --- sums
 * ------------------------------------------------------------------------------- */

/* Add values of P to the sums of the threads.  A sum is first multiplied by the factor,
   unless it is the first. */
static void add_lanes(float *sum, const float *p, size_t count, float factor, bool first,
                      const struct bitcut_attention_row *r)
{
    const size_t lanes = (size_t)r->lanes, chunk = (size_t)r->chunk;
    const bool flush = r->flush;
    size_t j = 0;
    for (size_t lane = 0; lane < lanes; lane++) {
        const float x = lane * chunk < count ? p[lane * chunk] : 0;
        sum[lane] = first ? flushed(x, flush)
                          : multiply_add(sum[lane], factor, x, r->fused, flush);
    }
    for (size_t lane = 0; j < count; lane = (lane + 1) & (lanes - 1))
        for (const size_t end = smaller(j + chunk, count); j < end; j++)
            if (j >= lanes * chunk || j % chunk) sum[lane] = add(sum[lane], p[j], flush);
}

/* The sum over the threads: lanes at distance lanes / 2, ..., 1, or 1, 2, ... */
static float reduce(const float *sum, const struct bitcut_attention_row *r)
{
    float x[SOFTMAX_LANES_MAX], y[SOFTMAX_LANES_MAX];
    const int lanes = r->lanes;
    memcpy(x, sum, (size_t)lanes * sizeof *x);
    for (int step = 1; step < lanes; step *= 2) {
        const int distance = r->reduction == BITCUT_TREE ? step : lanes / 2 / step;
        for (int i = 0; i < lanes; i++) y[i] = add(x[i], x[i ^ distance], r->flush);
        memcpy(x, y, (size_t)lanes * sizeof *x);
    }
    return x[0];
}

/* Add a tile of P to the sums of the row. */
static void add_tile(struct softmax_row *row, const float *p, size_t count, bool first,
                     const struct attention_plan *plan)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const float factor = plan->slips.keeps_sum ? 1 : row->rescale;
    float own[SOFTMAX_LANES_MAX] = { 0 };
    if (!r->each_tile && !r->apart) {
        add_lanes(row->sum, p, count, factor, first, r);
        return;
    }
    add_lanes(own, p, count, 1, true, r);
    if (r->each_tile) own[0] = reduce(own, r);
    for (int i = 0; i < (r->each_tile ? 1 : r->lanes); i++)
        row->sum[i] = first
                          ? own[i]
                          : multiply_add(row->sum[i], factor, own[i], r->fused, r->flush);
}

float softmax_sum(const struct softmax_row *row, const struct attention_plan *plan)
{
    return plan->row.each_tile ? row->sum[0] : reduce(row->sum, &plan->row);
}

/* --- tiles
 * ------------------------------------------------------------------------------ */

void softmax_tile(float *p, struct softmax_row *row, const struct attention_plan *plan,
                  const struct softmax_scores *x, size_t step)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const float before = row->max;
    float max = larger_of(before, maximum(plan, x));
    row->rescale = step ? rescale(&max, before, plan, step) : 1;
    row->max = max;
    row->shift = shift_of(plan, max);
    memset(p, 0, x->count * sizeof *p);
    for (size_t j = x->from; j < x->to; j++) {
        const float y = exponent(plan, x, j, row->shift);
        if (x->exponent) x->exponent[j] = y;
        p[j] = r->exp->of(y);
    }
    add_tile(row, p, x->count, !step, plan);
}

void softmax_rescale(float *o, size_t count, const struct softmax_row *row,
                     const struct attention_plan *plan)
{
    const bool flush = plan->row.flush;
    if ((row->rescale == 1 && !flush) || plan->slips.keeps_o) return;
    for (size_t i = 0; i < count; i++) o[i] = multiply(o[i], row->rescale, flush);
}

void softmax_add(float *o, const float *y, size_t count, const struct softmax_row *row,
                 const struct attention_plan *plan, bool rescales)
{
    const struct bitcut_attention_row *const r = &plan->row;
    for (size_t i = 0; i < count; i++)
        o[i] = rescales && !plan->slips.keeps_o
                   ? multiply_add(o[i], row->rescale, y[i], r->fused, r->flush)
                   : add(o[i], y[i], r->flush);
}

/* --- the end
 * ---------------------------------------------------------------------------- */

static bool is_empty(float sum) { return sum == 0 || sum != sum; }

void softmax_divide(float *o, size_t count, float sum, const struct attention_plan *plan)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const float inverse = is_empty(sum)       ? 1
                          : r->reciprocal->of ? r->reciprocal->of(sum)
                                              : sum;
    const bool divides = !r->reciprocal->of && !is_empty(sum);
    for (size_t i = 0; i < count; i++)
        o[i] = divides ? flushed(o[i] / inverse, r->flush)
                       : multiply(o[i], inverse, r->flush);
}

float softmax_lse(const struct softmax_row *row, float sum, float none,
                  const struct attention_plan *plan)
{
    const struct bitcut_attention_row *const r = &plan->row;
    const float ln2 = 0x1.62e43p-1f, offset = float_of_bits(r->offset);
    const float unit = scales_maximum(plan) || r->scaling >= SCALED_SCORES
                           ? (r->exp->natural ? 1 : ln2)
                           : plan->scale;
    if (sum != sum && r->lse_nan) return sum;
    if (is_empty(sum)) return none;
    if (offset != 0) sum = multiply(sum, elementary32_exp2(-offset), r->flush);
    return fused(row->max, unit, multiply(r->merge->split_log(sum), ln2, r->flush),
                 r->flush);
}
