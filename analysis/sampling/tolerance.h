/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a test of a kernel, which a correct kernel does not exceed. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TOLERANCE_H
#define BITCUT_ANALYSIS_SAMPLING_TOLERANCE_H

#include "analysis/sampling/sampling.h"
#include "lib/base/record.h"
#include "lib/io/listing.h"

struct tolerance_problem {
    const struct bitcut_gemm *gemm; /* recipe, unit, order, alpha and beta are read; or
                                       the scheme, its parts, alpha_f64 and beta_f64 */
    struct run_source source;
    size_t m, n, k; /* of the tested GEMM; of a batch, of its GEMM with the fewest rows */
    const struct bitcut_gemm *batch; /* the tested batch, with its matrices; NULL: one
                                        GEMM.  A limit is exceeded if any D exceeds it. */
    bool any_order; /* k may be in any order, not only the GEMM's order */
    bool quantized; /* A or B of the GEMM are results of a quantizer */
    bool two;    /* D is compared with another correct result in place of the exact one */
    size_t runs; /* at least 1 */
    double alarm; /* probability that a correct result exceeds an observed limit */
};

/* Limits for every measure.  A limit is infinite if there is none: elements overflow, or
   the sample gives no information.  With `two` limits are doubled, except `most`.  Each
   measure of D - C has two limits: a worst-case one, the bound, and an observed one.

   The observed limit is the largest of the following numbers, but not above the bound:
   - tail_limit() of the largest errors of the runs that were drawn;
   - tail_limit() of runs with chosen orders of k (analysis/sampling/arrangement.h), the
     GEMM's own order among them;
   - 1.25 times the largest of these errors;
   - `most`, with one more rounding of the unit if some output has few effective products;
   - with `any_order`, the same numbers for the GEMM's own order alone.

   The limit is known if the runs do not contradict that at most one correct result in 1 /
   alarm exceeds it, by tail_is_light().  If it is not known, it is 2 times `most`, if
   that is larger, a number without a probability; or the bound, for limits that include
   underflow. */
struct tolerance {
    struct bitcut_tolerances limits; /* must be first: the answer */
    struct bound_apriori bound; /* the terms of the bound other than the part of |A||B| */
    double sums; /* error of two binary64 sums, for C and |A||B|, in any order: u |A||B|;
                    used in limits for allclose() and of python_lines.h only; in FP64,
                    of C rounded once */
};

/* The fields of struct bitcut_tolerances (lib/base/record.h). */
extern const struct record_field tolerance_fields[];

/* Whether limits must include underflow: the limit in |A||B| alone is not known, or
   underflow may be most of it. */
bool tolerance_needs_rest(const struct bitcut_tolerances *t);

/* Of an FP64 GEMM by a scheme, u is 2^-53, nothing underflows, and the bound is the
   largest bound of an output of the runs (analysis/fp64/scheme_bound.h).  A scheme whose
   scales depend on all rows and columns has whole matrices in each run.

   Compute the limits.  Runs have about 2^20 products of A and B each, in each order, but
   at least 256 outputs.  Errors of larger matrices exceed a limit no more often than
   those of as many runs as give their outputs.  The result does not depend on the number
   of threads.  Returns BITCUT_NO_MEMORY, a status of the source, or BITCUT_UNSUPPORTED if
   asked to stop. */
enum bitcut_status tolerance_find(struct tolerance *to, const struct tolerance_problem *q,
                                  int threads, const struct progress *progress,
                                  struct fault *f);

/* A limit in the text of a test: rounded up to three digits, by at most 1 %. */
void limit_text(char text[REAL_TEXT_MAX], double x);

/* Whether allclose() is useful: by the bound, by the observed limit, and by the observed
   limit with atol 0.  Each takes a struct bitcut_tolerances. */
bool tolerance_bound_closes(const void *limits);
bool tolerance_closes(const void *limits);
bool tolerance_closes_alone(const void *limits);

#endif
