/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of one FP64 GEMM, dense and row-major. */
#ifndef BITCUT_ANALYSIS_FP64_DENSE_H
#define BITCUT_ANALYSIS_FP64_DENSE_H

#include "analysis/accuracy/judge.h"
#include "emu/fp64/fp64_gemm.h"

/* A is m x k, B is k x n, C and D are m x n; b_lines has the columns of B one after the
   other.  c is NULL if it is not read. */
struct dense {
    size_t m, n, k;
    double *a, *b, *b_lines, *c, *d;
};

/* Allocate all matrices; C with `reads_c`.  False: no memory.  dense_clear() releases
   them after any result. */
bool dense_init(struct dense *x, size_t m, size_t n, size_t k, bool reads_c);

/* Set b_lines from b. */
void dense_set_lines(struct dense *x);

/* Set sizes, A, B and C of g, and D to be written. */
void dense_set(struct bitcut_gemm *g, const struct dense *x);

/* Set A, the columns of B, and C of a job of the same sizes. */
void dense_set_job(struct fp64_job *job, const struct dense *x);

/* The sample of gemm_data_shuffle() (analysis/accuracy/gemm_data.h); D is not set. */
enum bitcut_status dense_shuffle(struct dense *to, const struct dense *from, size_t rows,
                                 size_t cols, uint64_t seed, uint64_t run, bool ordered,
                                 struct fault *f);

/* The same matrices with product at[p] at position p. */
enum bitcut_status dense_order(struct dense *to, const struct dense *from,
                               const size_t *at, struct fault *f);

/* Copy the matrices of g; of a g without D, D is not set.  False: no memory.
   dense_clear() releases them after any result. */
bool dense_make(struct dense *x, const struct bitcut_gemm *g, int threads);
void dense_clear(struct dense *x);

/* The exact result of g, to which the comparison compares D.  The matrices must outlive
 * it. */
enum bitcut_status dense_judge(struct judge *j, const struct dense *x,
                               const struct bitcut_gemm *g,
                               const struct reference *reference,
                               const struct gemm_options *options, struct fault *f);

#endif
