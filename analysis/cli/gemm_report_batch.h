/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about a batch: the error of each D, and the GEMM that the page shows. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_BATCH_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_BATCH_H

#include "analysis/cli/matrix_option.h"
#include "lib/gemm/matrix.h"

#include <jansson.h>

struct gemm_answers;

/* The error of a D against the exact result. */
struct gemm_report_error {
    size_t gemm, wrong; /* wrong: outputs that are NaN or infinite where C is not, or the
                           reverse */
    double error, relres; /* max |D - C| / |A||B|, in u, and ||D - C|| / ||C|| */
};

/* A batch; all zeros: there is none. */
struct gemm_report_batch {
    struct matrix all[MATRICES]; /* of all GEMMs */
    struct gemm_report_error *of; /* of each GEMM, the largest error first */
    size_t count;
    struct bitcut_gemm gemms; /* the GEMMs with their matrices, once one is selected */
};

/* Take the GEMM of --index from the matrices of a.  Without it, a batch requires a D, and
   nothing but A, B, C, alpha and beta; then a gets the matrices of the GEMM whose D has
   the largest error.  Prints messages and returns an exit status. */
int gemm_report_batch_take(struct gemm_answers *a);
void gemm_report_batch_clear(struct gemm_report_batch *x);

/* The GEMM that the page shows. */
static inline size_t gemm_report_batch_shown(const struct gemm_report_batch *x)
{
    return x->of->gemm;
}

/* The rows of section `batch`: the GEMMs with the largest errors. */
void gemm_report_batch_rows(json_t *to, const struct gemm_answers *a);

#endif
