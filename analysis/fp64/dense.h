/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of one FP64 GEMM, dense and row-major. */
#ifndef BITCUT_ANALYSIS_FP64_DENSE_H
#define BITCUT_ANALYSIS_FP64_DENSE_H

#include "analysis/accuracy/judge.h"
#include "emu/fp64/fp64_gemm.h"

/* A is m x k, B is k x n, C and D are m x n; b_lines has the columns of B one after the
   other.  c is NULL if it is not read. */
struct dense {
    double *a, *b, *b_lines, *c, *d;
};

/* Copy the matrices of g.  False: no memory.  dense_clear() releases them after any
   result. */
bool dense_make(struct dense *x, const struct bitcut_gemm *g, int threads);
void dense_clear(struct dense *x);

/* The exact result of g, to which the comparison compares D.  The matrices must outlive
 * it. */
enum bitcut_status dense_judge(struct judge *j, const struct dense *x,
                               const struct bitcut_gemm *g,
                               const struct reference *reference,
                               const struct gemm_options *options, struct fault *f);

#endif
