/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of one GEMM: drawn from others, computed, judged. */
#ifndef BITCUT_ANALYSIS_ACCURACY_GEMM_DATA_H
#define BITCUT_ANALYSIS_ACCURACY_GEMM_DATA_H

#include "analysis/accuracy/judge.h"

/* A (m x k), B (k x n), C (m x n), whose c.at is NULL if there is none. */
struct gemm_data {
    struct matrix a, b, c;
};

void gemm_data_clear(struct gemm_data *p);

/* The operands of GEMM i of a checked batch.  BITCUT_NO_MEMORY leaves nothing to clear.
 */
enum bitcut_status gemm_data_take(struct gemm_data *to, const struct bitcut_gemm *g,
                                  size_t i, int threads, struct fault *f);

/* So many rows of A and columns of B, at most those there are, drawn by seed and run,
   with k in a random order, the same in both: exact outputs, and their |A||B|, are those
   that they were; with `ordered` the same rows and columns, but k in its order.  Run 0 leaves k in its order, and rows or columns too where it has all
   of them.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_shuffle(struct gemm_data *to, const struct gemm_data *from,
                                     size_t rows, size_t cols, uint64_t seed,
                                     uint64_t run, bool ordered, struct fault *f);

/* The same with product p in place of product at[p], for k numbers `at`, each once.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_order(struct gemm_data *to, const struct gemm_data *from,
                                   const size_t *at, struct fault *f);

/* How many rows and columns of an m x n x k problem have about so many products, in the
   proportion of m to n as far as that goes, but GEMM_DATA_OUTPUTS_MIN outputs, if there
   are as many: fewer take no less time. */
enum { GEMM_DATA_OUTPUTS_MIN = 256 };

void gemm_data_block(size_t *rows, size_t *cols, size_t m, size_t n, size_t k,
                     double products);

/* The exact result that D of g is compared with, on one thread. */
enum bitcut_status gemm_data_judge(struct judge *j, const struct gemm_data *p,
                                   const struct bitcut_gemm *g, struct fault *f);

/* D of g, a GEMM on a unit, on one thread. */
enum bitcut_status gemm_data_run(uint32_t *d, const struct gemm_data *p,
                                 const struct bitcut_gemm *g, struct fault *f);

#endif
