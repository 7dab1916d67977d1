/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds on |O - exact| of attention, where O is finite.

   u = 2^-24.  All roundings are written (1 + e) with |e| at most u, or the constant of
   the unit or the function.  s_j are the exact scores, e_j = scale s_j, W_j their
   softmax, and |V| = sum W_j |v_j|.

   1. Weights.  The kernel's weight of key j, with all later rescales and with the exact
   power of its last shift, is C exp(e_j + d_j), where C is the same for all keys, and

     |d_j| <= scale (a |q||k_j| + b)     the unit's sum: a, b as for a GEMM
            + o u scale |q||k_j|         Q and K multiplied by sqrt(t): o = 6, else 0
            + 4 u e                      t, and at most three roundings of the scaled
   score
            + u (e + m + w)              the subtraction of the shift
            + x (1 + r)                  the exponential, and those of r rescales
            + 8 u (m + w)                arguments of rescales: roundings of the shifts
                                         telescope, and the maxima rise by at most 2 m

   with e = |e_j| + scale (a |q||k_j| + b), m the largest e of the keys, w the offset
   times ln 2, and x the relative error of the exponential.  With E_j = exp(|d_j|) - 1, S
   = sum W_j E_j < 1 and O' the mean of V by these weights,

     |O' - O| <= (sum W_j E_j |v_j| + |V| S) / (1 - S),

   because O' - O = sum W_j (exp(d_j) - 1) (v_j - O) / sum W_j exp(d_j).  The same holds
   for |V|' in place of |V|.  Results of the exponential below 2^-126 have an absolute
   error instead; with P of the largest key at least 2^offset exp(-d), it is in `least`.

   2. Sums.  P is rounded (c, or half of the smallest subnormal number), multiplied with V
   and added with an error of g relative to the magnitudes of its products: a tile adds
   the unit's error t, and later tiles multiply sums by (1 + start)(1 + u), the unit's
   error of its accumulator and the rescale; products from zero are added with two
   roundings instead.  The sum of P has a relative error of l: additions of a thread,
   their reduction, two roundings a tile.  The division has the error r of the reciprocal
   and u. With k = (1 + r)(1 + u) / (1 - l),

     |O'' - O'| <= k (c + g + c g) |V|' + (k - 1) |V|' + k least.

   3. Splits.  A split's log-sum-exp has the error of the logarithm, of l, and a rounding;
   its weight exp(lse - all) has a relative error h by these and by the exponential.
   Adding n splits: |O''' - O''| <= (exp(h + n u) - 1) (|V|' + the bound so far).

   4. Rounding to the format of O: half an ulp at |O| plus the bound.

   "weighted" takes W_j, |q||k_j| and e_j of each query and key in binary64, with a factor
   for the errors of this.  "apriori" knows the norms of rows only: |q||k_j| and |e_j| /
   scale are at most ||q|| max ||k||, |V| and |v_j| the largest |V| of the column, and S
   is exp(d) - 1.  Where Q and K are multiplied by sqrt(t), no product may underflow. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_BOUND_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_BOUND_H

#include "emu/attention/attention_plan.h"
#include "lib/base/progress.h"
#include "lib/base/record.h"

struct attention_bound_row {
    const char *name, *what;
    bool by_norms; /* whether norms of rows take the place of scores and weights */
};

enum { ATTENTION_APRIORI, ATTENTION_WEIGHTED, ATTENTION_BOUNDS };

extern const struct attention_bound_row attention_bounds[]; /* ended by a NULL name */

/* The limits of all outputs, [head][query][value_dim], rounded upward; NaN where
   something is infinite or NaN, or the rounding may overflow.  BITCUT_UNSUPPORTED: the
   row of the algorithm quantizes operands, or rounds them to other formats.
   BITCUT_NO_MEMORY. */
enum bitcut_status attention_bound_limits(double *limit,
                                          const struct attention_bound_row *bound,
                                          const struct bitcut_attention *a, int threads,
                                          const struct progress *progress,
                                          struct fault *f);

/* The same of these queries alone, [head][count][value_dim]. */
enum bitcut_status attention_bound_limits_of(double *limit,
                                             const struct attention_bound_row *bound,
                                             const struct bitcut_attention *a,
                                             const size_t *query, size_t count,
                                             int threads, const struct progress *progress,
                                             struct fault *f);

/* A bound compared with the errors of O. */
struct attention_bound_result {
    const struct attention_bound_row *row;
    bool applies;
    char why[200];              /* why it does not apply */
    size_t outputs, violations; /* finite outputs with a limit, and those beyond it */
    double ratio;               /* largest error / limit                            */
    double limit_ulp;           /* median of the limits, in ulps of the exact output */
    double error_ulp;           /* median of the errors                             */
};

/* Compare `count` outputs, without gaps, with the exact results and their limits. */
enum bitcut_status attention_bound_compare(struct attention_bound_result *to,
                                           const struct bitcut_format *format,
                                           const void *o, const double *exact,
                                           const double *limit, size_t count,
                                           struct fault *f);

/* Compare O of the attention, which is read, with all bounds. */
enum bitcut_status
attention_bound_run(struct attention_bound_result result[ATTENTION_BOUNDS],
                    const struct bitcut_attention *attention, int threads,
                    const struct progress *progress, struct fault *f);

extern const struct record_field attention_bound_fields[];

void attention_bound_describe(char *text, size_t size,
                              const struct attention_bound_result *r);

#endif
