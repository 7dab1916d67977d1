/* SPDX-License-Identifier: BSD-3-Clause */
/* The layers that settle an element if a sum in binary64, together with a bound on its
   error, proves how the exact sum is rounded. */
#include "lib/exact/error_bound.h"
#include "lib/exact/exact_tile.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>

/* --- rounding x + y, exactly given, once -------------------------------------------- */

static uint64_t round_to_32(double x, double y) { return f32_sum(x, y); }
static uint64_t round_to_64(double x, double y) { return bits_of_double(x + y); }

static uint64_t (*const rounded[EXACT_TARGETS])(double x, double y) = {
    [EXACT_F32] = round_to_32,
    [EXACT_F64] = round_to_64,
};

/* --- proofs in binary64 ------------------------------------------------------------- */

/* The sums of (i, j), and the known facts about them. */
struct proof {
    double high, low, error; /* the exact sum is within `error` of high + low */
};

/* The proof for alpha S + beta c from the proof for S.  High times alpha is p + q, and p
   plus beta c is sum.sum + sum.error, all exactly.  The three small parts are added with
   two roundings, and alpha low has one rounding: together less than 2^-50 of their
   magnitudes.  No product of three FP32 values leaves the range of binary64, and neither
   do the rounding errors. */
static struct proof proof_update(const struct exact_tile *t, size_t i, size_t j,
                                 struct proof s)
{
    const double alpha = (double)float_of_bits(t->job->update->alpha);
    const double p = alpha * s.high, q = fma(alpha, s.high, -p), low = alpha * s.low;
    const struct two_sum sum = two_sum(p, beta_c(t, i, j));
    const double small = fabs(sum.error) + fabs(q) + fabs(low);
    const double error = fabs(alpha) * s.error * (1 + 0x1p-50) + 0x1p-50 * small;
    return (struct proof){ sum.sum, sum.error + q + low, error };
}

/* An upper bound on the sum of the magnitudes of the errors of k additions.  `size` is
   the sum of the magnitudes of the terms, also added to nearest.  Rounding is monotone,
   so no sum is above `size`, and no error is above 2^-53 of it.  2^-50 covers the
   rounding of this product. */
static double errors_size(size_t k, double size, double unit)
{
    return size < 0x1p53 * unit ? 0 : (double)k * 0x1p-53 * (1 + 0x1p-50) * size;
}

/* An upper bound on the sum of the magnitudes of the terms of (i, j), of its sum or of
   the errors of its sum.  The magnitudes are summed if a caller asks for them.  Otherwise
   the norms bound their sum: the sum of |a_i| |b_i| is at most the product of the 2-norms
   (Cauchy and Schwarz).  Sums from elsewhere come without the sums of the magnitudes. */
static double size_of(const struct exact_tile *t, size_t i, size_t j, double unit,
                      bool dot2)
{
    const struct exact_job *job = t->job;
    const double size = t->worker->dgemm.sums.size[i * TILE_COLS + j];
    if (dot2 && job->sums) return errors_size(job->k, size, unit);
    return dot2 || has_sizes(job)
               ? size
               : job->row_norm[t->row + i] * job->col_norm[t->col + j];
}

static inline struct proof proof_of(const struct exact_tile *t, size_t i, size_t j,
                                    bool dot2)
{
    const struct exact_job *job = t->job;
    const struct dgemm_sums *sums = &t->worker->dgemm.sums;
    const size_t at = i * TILE_COLS + j;
    const double unit = job->row_unit[t->row + i] * job->col_unit[t->col + j];
    const double size = size_of(t, i, j, unit, dot2);
    return (struct proof){ .high = sums->high[at],
                           .low = dot2 ? sums->low[at] : 0,
                           .error = error_bound(job->k, size, unit) };
}

/* Settle what (i, j) lacks if both ends of the interval around the sum round to the same
   number: rounding is monotone.  Ends on two sides of a tie, or of zero, differ. */
static void certify(struct exact_tile *t, size_t i, size_t j, struct proof p)
{
    if (t->job->update) p = proof_update(t, i, j, p);
    const struct two_sum s = two_sum(p.high, p.low);
    if (t->job->update && (!isfinite(p.high) || s.sum == 0)) return; /* left to bins */
    if (!isfinite(p.high)) {
        tile_settle_special(t, i, j, isnan(p.high) ? NUMBER_NAN : NUMBER_INF, p.high < 0);
        return;
    }
    if (s.sum == 0 && p.error == 0) {
        tile_settle_special(t, i, j, NUMBER_ZERO, tile_is_negative_zero(t, i, j));
        return;
    }
    for (int target = 0; target < EXACT_TARGETS; target++) {
        if (!lacks(t, i, j, target)) continue;
        const uint64_t lower = rounded[target](s.sum, s.error - p.error);
        const uint64_t upper = rounded[target](s.sum, s.error + p.error);
        if (lower == upper) settle(t, i, j, target, lower);
    }
}

/* The same, faster, for FP32 and a sum in one part.  Binary64 is settled only if the sum
   is exact. */
static void certify_double(struct exact_tile *t, size_t i, size_t j)
{
    const struct proof p = proof_of(t, i, j, false);
    const uint32_t lower = bits_of_float((float)(p.high - p.error));
    const uint32_t upper = bits_of_float((float)(p.high + p.error));
    if (t->job->update || !isfinite(p.high) ||
        (p.error == 0 && (p.high == 0 || lacks(t, i, j, EXACT_F64))))
        certify(t, i, j, p);
    else if (lower == upper) settle(t, i, j, EXACT_F32, lower);
}

/* --- layers ------------------------------------------------------------------------- */

/* tile_sum() left the sums. */
void layer_double(struct exact_tile *t)
{
    for (size_t i = 0; t->job->c32 && i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) certify_double(t, i, j);
}

void layer_dot2(struct exact_tile *t)
{
    const struct dgemm_operands x = tile_operands(t);
    if (!t->job->sums)
        dgemm_dot2(&t->worker->dgemm, t->job->kernel, &x, t->worker->pending);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (*pending(t, i, j)) certify(t, i, j, proof_of(t, i, j, true));
}
