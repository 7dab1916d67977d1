/* SPDX-License-Identifier: BSD-3-Clause */
/* A result that is given, by what a test should accept. */
#ifndef BITCUT_ANALYSIS_SAMPLING_CHECKED_RESULT_H
#define BITCUT_ANALYSIS_SAMPLING_CHECKED_RESULT_H

#include "analysis/sampling/criterion.h"

/* What D is, beside the exact result. */
struct tolerance_given {
    struct bitcut_tolerance_verdict verdict; /* first: the answer                     */
    bool accepted[CRITERIA];      /* by each test; none if an output is wrong         */
    size_t bins[HISTOGRAM_BINS]; /* ulp_histogram()                                   */
};

/* Its fields: those of the verdict and the others (lib/base/record.h). */
extern const struct record_field given_fields[];

/* Judge the whole D of `data`, m x n x k of the problem, by the limits that were found
   for it; the problem's `two` is false.  BITCUT_NO_MEMORY, BITCUT_UNSUPPORTED if asked
   to stop. */
enum bitcut_status tolerance_judge(struct tolerance_given *to,
                                   const struct bitcut_tolerances *t,
                                   const struct tolerance_problem *q,
                                   const struct gemm_data *data, const uint32_t *d,
                                   int threads, const struct progress *progress,
                                   struct fault *f);

#endif
