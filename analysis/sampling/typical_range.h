/* SPDX-License-Identifier: BSD-3-Clause */
/* The typical error of a recipe on a unit, on data like the given data. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TYPICAL_RANGE_H
#define BITCUT_ANALYSIS_SAMPLING_TYPICAL_RANGE_H

#include "analysis/accuracy/gemm_data.h"
#include "lib/base/progress.h"

/* The range of backward_max (metric.h) of most runs: at least 96.1 % of 1000 runs for
   each of seven combinations of recipe, unit and input, where the model predicts 98 %. */
struct typical_range {
    double low, high; /* in u; infinite where runs overflow */
    size_t outputs;   /* number of outputs on which the range is based; 0: none, as k is
                         above 2^17 */
};

/* The range for D of g, a GEMM on a unit with the matrices p.  It is computed from runs
   on some rows and columns with k in other orders (gemm_data_shuffle()), about 2^22
   products of A and B in total.  The largest error of all m n outputs is estimated from
   the largest errors of groups, as if their squares had exponential tails, as normal
   errors have.  The range is from its 1 % to its 99 % quantile; the upper one includes
   the uncertainty of the tail (tail_limit()).  The result does not depend on the number
   of threads.  Returns BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status typical_range_find(struct typical_range *to,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_data *p, uint64_t seed,
                                      int threads, const struct progress *progress,
                                      struct fault *f);

/* Append a range of errors and the error of a result; append nothing if no range is
   known. */
void describe_typical(char *text, size_t size, const struct typical_range *usual,
                      double error);

/* The grade of a result relative to the bound and to the typical range of its recipe on
   its unit. */
struct grade {
    const char *name, *what;
};

/* The rows, by position. */
enum { GRADE_BEYOND, GRADE_ABOVE, GRADE_TYPICAL, GRADE_BELOW, GRADE_WITHIN };

extern const struct grade grades[]; /* ended by a row whose name is NULL */

/* The row for a result with that backward_max and that number of outputs beyond their
   bound.  GRADE_WITHIN: no output is beyond, and the typical range is unknown or not
   finite. */
int grade_of(const struct typical_range *usual, double backward_max, size_t beyond);

#endif
