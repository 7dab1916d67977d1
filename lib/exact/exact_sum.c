/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers that settle every element, by its exact sum. */
#include "lib/exact/exact_tile.h"
#include "lib/number/fma.h"
#include "lib/number/round.h"

#include <math.h>

/* A sum with a NaN or infinite term, by the rules. */
static double infinite_sum(size_t k, const uint32_t *a, const uint32_t *b)
{
    bool nan = false, infinite[2] = { false, false };
    for (size_t p = 0; p < k; p++) {
        const struct number x = format_decode(&formats[FORMAT_F32], a[p]);
        const struct number y = format_decode(&formats[FORMAT_F32], b[p]);
        const bool either = x.kind == NUMBER_INF || y.kind == NUMBER_INF;
        nan |= x.kind == NUMBER_NAN || y.kind == NUMBER_NAN;
        nan |= either && (x.kind == NUMBER_ZERO || y.kind == NUMBER_ZERO);
        infinite[x.negative != y.negative] |= either;
    }
    if (nan || (infinite[0] && infinite[1])) return (double)NAN;
    return infinite[1] ? -(double)INFINITY : (double)INFINITY;
}

/* The factor for exact multiplication: alpha; or, where the rules need only the sign of
   the sum because alpha is zero or not finite, 1 with the sign of alpha. */
static uint32_t factor_of(const struct exact_job *job)
{
    const uint32_t alpha = job->update ? job->update->alpha : F32_ONE;
    const double x = (double)float_of_bits(alpha);
    return x != 0 && isfinite(x) ? alpha : F32_ONE | (alpha & 0x80000000u);
}

/* The class of the sum of row a and column b, which is left in the bins multiplied by
   factor_of(): NaN, an infinity, a zero, or 1 with the sign of the sum. */
static double class_of_sum(const struct exact_tile *t, size_t i, size_t j,
                           const uint32_t *a, const uint32_t *b)
{
    struct bins *bins = &t->worker->bins;
    const uint32_t factor = factor_of(t->job);
    if (!bins_dot(bins, factor, t->job->k, a, b)) return infinite_sum(t->job->k, a, b);
    const struct unrounded sum = bins_value(bins);
    const bool zero = sum.significand == 0;
    const bool negative =
        zero ? tile_is_negative_zero(t, i, j) : sum.negative != factor >> 31;
    return copysign(zero ? 0 : 1, negative ? -1 : 1);
}

/* The class of the update of such a sum; 1 stands for any finite number except zeros. */
static double class_of_update(const struct exact_tile *t, size_t i, size_t j, double sum)
{
    if (!t->job->update) return sum;
    const double product = (double)float_of_bits(t->job->update->alpha) * sum;
    return adds_c(t->job) ? product + beta_c(t, i, j) : product;
}

static void settle_bins(struct exact_tile *t, size_t i, size_t j, const uint32_t *a,
                        const uint32_t *b)
{
    const struct exact_job *job = t->job;
    struct bins *bins = &t->worker->bins;
    const double sum = class_of_sum(t, i, j, a, b), class = class_of_update(t, i, j, sum);
    if (!isfinite(class)) {
        tile_settle_special(t, i, j, isnan(class) ? NUMBER_NAN : NUMBER_INF, class < 0);
        return;
    }
    const bool none = job->update && job->update->alpha << 1 == 0;
    if (none) bins_dot(bins, F32_ONE, 0, NULL, NULL);
    if (adds_c(job)) bins_add_product(bins, job->update->beta, c_at(t, i, j));
    const struct unrounded value = bins_value(bins);
    if (value.significand == 0) {
        /* the sign of an added zero counts; a sum that cancels is +0 */
        tile_settle_special(t, i, j, NUMBER_ZERO, (none || sum == 0) && signbit(class));
        return;
    }
    for (int target = 0; target < EXACT_TARGETS; target++)
        if (lacks(t, i, j, target))
            settle(t, i, j, target,
                   round_pack(exact_formats[target], &roundings[ROUND_RN], value));
}

static uint64_t oracle_of(const struct exact_tile *t, size_t i, size_t j,
                          const struct bitcut_format *f, const uint32_t *a,
                          const uint32_t *b)
{
    const struct exact_job *job = t->job;
    struct oracle *o = &t->worker->oracle;
    if (!job->update) return oracle_dot(o, f, job->k, a, b);
    return oracle_update(o, f, job->k, a, b, job->update->alpha, job->update->beta,
                         adds_c(job) ? c_at(t, i, j) : 0);
}

static void settle_mpfr(struct exact_tile *t, size_t i, size_t j, const uint32_t *a,
                        const uint32_t *b)
{
    for (int target = 0; target < EXACT_TARGETS; target++)
        if (lacks(t, i, j, target))
            settle(t, i, j, target, oracle_of(t, i, j, exact_formats[target], a, b));
}

static bool column_pending(const struct exact_tile *t, size_t j)
{
    bool any = false;
    for (size_t i = 0; i < t->rows; i++) any |= *pending(t, i, j) != 0;
    return any;
}

/* Settle every element that lacks something, from its row of A and column of B, until the
   work is stopped, because one tile of this work can take minutes. */
static void settle_each(struct exact_tile *t,
                        void (*settle_one)(struct exact_tile *, size_t i, size_t j,
                                           const uint32_t *a, const uint32_t *b))
{
    const struct exact_job *job = t->job;
    uint32_t *column = t->worker->column;
    for (size_t j = 0; j < t->cols; j++) {
        if (!column_pending(t, j)) continue;
        for (size_t p = 0; p < job->k; p++) column[p] = job->b[p * job->n + t->col + j];
        for (size_t i = 0; i < t->rows; i++) {
            if (progress_stopped(job->progress)) return;
            if (*pending(t, i, j))
                settle_one(t, i, j, job->a + (t->row + i) * job->k, column);
        }
    }
}

void layer_bins(struct exact_tile *t) { settle_each(t, settle_bins); }

void layer_mpfr(struct exact_tile *t) { settle_each(t, settle_mpfr); }
