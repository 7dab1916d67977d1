/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact result of one FP64 GEMM, with which D of several schemes are compared. */
#ifndef BITCUT_ANALYSIS_FP64_FP64_COMPARISON_H
#define BITCUT_ANALYSIS_FP64_FP64_COMPARISON_H

#include "analysis/fp64/dense.h"
#include "analysis/fp64/fp64_answer.h"

/* A comparison in progress.  All zeros may be cleared. */
struct fp64_comparison {
    const struct reference *reference;
    struct bitcut_gemm gemm;
    struct dense matrices; /* d: the D to compare                     */
    double *plain;         /* D of FP64 multiply-adds, k ascending    */
    double *limit;         /* bounds of the outputs of matrices.d     */
    struct judge judge;
    bool judged;
    double dgemm; /* backward_max of plain */
};

/* Copy the matrices of g, a GEMM that is no batch, D too if it has one, and compute their
   exact result and the error of multiply-adds.  The scheme, the unit and the parts of g
   are not read. BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop.  After a
   failure fp64_comparison_clear() has to be called, too. */
enum bitcut_status fp64_comparison_init(struct fp64_comparison *c,
                                        const struct bitcut_gemm *g,
                                        const struct reference *reference,
                                        const struct gemm_options *options,
                                        struct fault *f);
void fp64_comparison_clear(struct fp64_comparison *c);

/* The GEMM on these matrices with the scheme, the unit and the parts of an answer. */
struct fp64_job fp64_comparison_job(const struct fp64_comparison *c,
                                    const struct fp64_answer *of,
                                    const struct gemm_options *options);

/* Compare c->matrices.d with the exact result: set the errors of *to, and its bounds,
   which are those of its scheme, unit and parts.  Statuses as for scheme_bound(). */
enum bitcut_status fp64_comparison_measure(struct fp64_answer *to,
                                           struct fp64_comparison *c,
                                           const struct gemm_options *options,
                                           struct fault *f);

#endif
