/* SPDX-License-Identifier: BSD-3-Clause */
/* A given result, checked by the limits of a test. */
#ifndef BITCUT_ANALYSIS_SAMPLING_CHECKED_RESULT_H
#define BITCUT_ANALYSIS_SAMPLING_CHECKED_RESULT_H

#include "analysis/sampling/criterion.h"

/* D compared with the exact result. */
struct tolerance_given {
    struct bitcut_tolerance_verdict verdict; /* must be first: the answer */
    bool accepted[CRITERIA];     /* by each test; false if an output is wrong */
    size_t bins[HISTOGRAM_BINS]; /* ulp_histogram()                                   */
    bool of_batch;
};

/* The fields: those of the verdict and the other members (lib/base/record.h). */
extern const struct record_field given_fields[];

/* Check the whole D of `data`, m x n x k of the problem, by the limits found for it.  The
   problem's `two` must be false.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if
   asked to stop. */
enum bitcut_status tolerance_judge(struct tolerance_given *to,
                                   const struct bitcut_tolerances *t,
                                   const struct tolerance_problem *q,
                                   const struct gemm_data *data, const uint32_t *d,
                                   int threads, const struct progress *progress,
                                   struct fault *f);

/* The same for D of g, one FP64 GEMM by a scheme. */
enum bitcut_status tolerance_judge64(struct tolerance_given *to,
                                     const struct bitcut_tolerances *t,
                                     const struct bitcut_gemm *g, int threads,
                                     const struct progress *progress, struct fault *f);

/* The same for every D of q->batch, whose D is read, by the limits of the batch.  A D
   that is rejected rejects the batch; errors are the largest ones, and `worst` belongs to
   the GEMM that the verdict names; numbers of outputs are those of all GEMMs. */
enum bitcut_status tolerance_judge_batch(struct tolerance_given *to,
                                         const struct bitcut_tolerances *t,
                                         const struct tolerance_problem *q, int threads,
                                         const struct progress *progress,
                                         struct fault *f);

#endif
