/* SPDX-License-Identifier: BSD-3-Clause */
/* What error is usual for a recipe on a unit, on data like those at hand. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TYPICAL_RANGE_H
#define BITCUT_ANALYSIS_SAMPLING_TYPICAL_RANGE_H

#include "analysis/accuracy/gemm_data.h"
#include "lib/base/progress.h"

/* Between which numbers most runs have their backward_max (metric.h): at least 96.1 %
   of 1000 runs each of seven recipes, units and inputs, where the model says 98. */
struct typical_range {
    double low, high; /* u; infinite where runs overflow                         */
    size_t outputs;   /* from which this comes; 0: from none, as k is above 2^17 */
};

/* The range for D of g, a GEMM on a unit with the matrices p: out of runs of it on some
   rows and columns, with k in other orders (gemm_data_shuffle()), of some 2^22 products
   of A and B in all.  The largest error of all m n outputs is guessed from the largest of
   groups, as if squares of these had exponential tails, as of normal errors they have:
   its quantiles of 1 and of 99 %, the upper one with what the groups do not tell of the
   tail (tail_limit()).
   The same for any number of threads.  BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED
   if asked to stop. */
enum bitcut_status typical_range_find(struct typical_range *to,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_data *p, uint64_t seed,
                                      int threads, const struct progress *progress,
                                      struct fault *f);

/* Append a range of errors and the error that a result has; nothing if none is known. */
void describe_typical(char *text, size_t size, const struct typical_range *usual,
                      double error);

/* How a result stands to what its recipe may err by on its unit, and to what is usual. */
struct grade {
    const char *name, *what;
};

/* The rows, by position. */
enum { GRADE_BEYOND, GRADE_ABOVE, GRADE_TYPICAL, GRADE_BELOW, GRADE_WITHIN };

extern const struct grade grades[]; /* ended by a row whose name is NULL */

/* The row for a result with that backward_max, of which so many outputs lie beyond their
   bound.  GRADE_WITHIN: none does, and what is usual is not known or not finite. */
int grade_of(const struct typical_range *usual, double backward_max, size_t beyond);

#endif
