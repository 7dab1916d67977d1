/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of one GEMM: sampled from larger ones, computed, compared. */
#ifndef BITCUT_ANALYSIS_ACCURACY_GEMM_DATA_H
#define BITCUT_ANALYSIS_ACCURACY_GEMM_DATA_H

#include "analysis/accuracy/judge.h"

/* A (m x k), B (k x n) and C (m x n). c.at is NULL if there is no C. */
struct gemm_data {
    struct matrix a, b, c;
};

void gemm_data_clear(struct gemm_data *p);

/* The operands of GEMM i of a checked batch.  BITCUT_NO_MEMORY leaves nothing to clear.
 */
enum bitcut_status gemm_data_take(struct gemm_data *to, const struct bitcut_gemm *g,
                                  size_t i, int threads, struct fault *f);

/* The operands of GEMM i of a batch, and its D, whose FP32 elements have no gaps.  The
   elements stay the batch's: there is nothing to clear. */
void gemm_data_of(struct gemm_data *to, struct matrix *d, const struct bitcut_gemm *all,
                  size_t i);

/* Sample at most `rows` rows of A and `cols` columns of B, drawn by seed and run, with k
   in a random order, the same for both.  Exact outputs and their |A||B| stay the same.
   With `ordered` the same rows and columns are taken, and k stays in order.  Run 0 leaves
   k in order; it also leaves rows or columns in order if it has all of them.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_shuffle(struct gemm_data *to, const struct gemm_data *from,
                                     size_t rows, size_t cols, uint64_t seed,
                                     uint64_t run, bool ordered, struct fault *f);

/* The same matrices with product p moved to position at[p]: `at` has k numbers, each
   once.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_order(struct gemm_data *to, const struct gemm_data *from,
                                   const size_t *at, struct fault *f);

/* The number of rows and columns of an m x n x k problem that have about `products`
   products, in the proportion of m to n where possible.  There are at least
   GEMM_DATA_OUTPUTS_MIN outputs, if the problem has that many: fewer outputs take no less
   time. */
enum { GEMM_DATA_OUTPUTS_MIN = 256 };

void gemm_data_block(size_t *rows, size_t *cols, size_t m, size_t n, size_t k,
                     double products);

/* The exact result with which D of g, in its format, is compared, on one thread. */
enum bitcut_status gemm_data_judge(struct judge *j, const struct gemm_data *p,
                                   const struct bitcut_gemm *g, struct fault *f);

/* D of g, a GEMM on a unit, on one thread: FP32 encodings, rounded to the format of g's
   D. */
enum bitcut_status gemm_data_run(uint32_t *d, const struct gemm_data *p,
                                 const struct bitcut_gemm *g, struct fault *f);

#endif
