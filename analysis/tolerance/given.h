/* SPDX-License-Identifier: BSD-3-Clause */
/* A result that is given, by what a test should accept. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_GIVEN_H
#define BITCUT_ANALYSIS_TOLERANCE_GIVEN_H

#include "analysis/tolerance/criterion.h"

/* What D is, beside the exact result. */
struct tolerance_given {
    bool accepted[CRITERIA]; /* none if an output is wrong                            */
    bool zeros; /* D = 0 is accepted by CRITERION_BOTH, as well as D = 2 C             */
    double component; /* the largest |D - C| / |A||B| of all outputs, in u = 2^-24    */
    double rest;      /* the same, less what underflows (tolerance.h)                 */
    double norm;      /* ||D - C||_F / (||A||_F ||B||_F), in u                        */
    double relative;  /* ||D - C||_F / ||C||_F                                        */
    size_t bins[HISTOGRAM_BINS]; /* ulp_histogram()                                     */
    size_t worst;  /* the output of that largest error, i n + j                    */
    size_t above;  /* outputs above an observed componentwise limit that is known  */
    size_t beyond; /* ... above the one that holds for certain                     */
    size_t wrong;  /* ... NaN or infinite where C is not, or the other way round   */
};

/* Judge the whole D of `data`, m x n x k of the question, by the limits that were found
   for it; the question's `two` is false.  BITCUT_NO_MEMORY, BITCUT_CANNOT if asked to
   stop. */
enum bitcut_status tolerance_judge(struct tolerance_given *to, const struct tolerance *t,
                                   const struct tolerance_question *q,
                                   const struct gemm_data *data, const uint32_t *d,
                                   int threads, const struct progress *progress,
                                   struct fault *f);

#endif
