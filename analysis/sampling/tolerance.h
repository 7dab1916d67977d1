/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test of a kernel should accept: limits that a correct one keeps. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TOLERANCE_H
#define BITCUT_ANALYSIS_SAMPLING_TOLERANCE_H

#include "analysis/sampling/sampling.h"
#include "lib/base/record.h"

struct tolerance_problem {
    const struct bitcut_gemm *gemm; /* recipe, unit, order, alpha and beta count       */
    struct run_source source;
    size_t m, n, k; /* of the GEMM that is tested                                      */
    bool any_order; /* of k, not just that of the GEMM                                 */
    bool two;       /* D is compared with another correct result, not the exact one    */
    size_t runs;    /* 1 or more                                                       */
    double alarm;   /* probability that a correct result is above an observed limit    */
};

/* Limits of every measure, which are infinite where there is none: where elements
   overflow, or the sample says nothing.  With `two` they are twice as large, but for
   `most`.

   Of the limits on a measure of D - C one is for certain, the bound, and one is observed.
   That is the largest of: tail_limit() of the largest error of each run that was drawn;
   the same of runs with k in orders that were chosen (analysis/sampling/arrangement.h),
   the GEMM's own among them; 1.25 times the largest of these; and `most`, with one more
   rounding of the unit's if in some output few products count; but no more than the
   bound.

   It is known if the runs do not contradict that at most one correct result in 1 / alarm
   is above it, as tail_is_light().  Else it is 2 times `most`, if that is more, a number
   without a probability; or the bound, of limits with what underflows. */
struct tolerance {
    struct bitcut_tolerances limits; /* first: the answer                              */
    struct bound_apriori bound; /* what the bound has besides a part of |A||B|         */
    double sums; /* what two sums in binary64, for C and |A||B|, err by in whatever order:
                    u |A||B|; in limits for allclose() and of python_lines.h alone      */
};

/* The fields of struct bitcut_tolerances (lib/base/record.h). */
extern const struct record_field tolerance_fields[];

/* Whether limits have to have what underflows: that in |A||B| alone is not known, or what
   underflows may be most of it. */
bool tolerance_needs_rest(const struct bitcut_tolerances *t);

/* Runs on some 2^20 products of A and B each, of all orders together, but of 256 outputs
   at least.  Errors of larger matrices exceed a limit no more often than those of as many
   such runs as make up their outputs.  The same for any number of threads.
   BITCUT_NO_MEMORY; what the source says; BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status tolerance_find(struct tolerance *to, const struct tolerance_problem *q,
                                  int threads, const struct progress *progress,
                                  struct fault *f);

/* Whether allclose() is worth having: by the bound, by the observed limit, and with atol 0
   by that.  Each takes a struct bitcut_tolerances. */
bool tolerance_bound_closes(const void *limits);
bool tolerance_closes(const void *limits);
bool tolerance_closes_alone(const void *limits);

#endif
