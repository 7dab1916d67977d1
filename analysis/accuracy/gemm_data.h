/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of one GEMM: sampled from larger ones, computed, compared. */
#ifndef BITCUT_ANALYSIS_ACCURACY_GEMM_DATA_H
#define BITCUT_ANALYSIS_ACCURACY_GEMM_DATA_H

#include "analysis/accuracy/judge.h"

/* A (m x k), B (k x n) and C (m x n), and what epilogue and scaling read: the bias, and
   the factors of each row of A, m x blocks of k, and of each column of B, blocks of k x
   n. `at` is NULL if the GEMM does not have the matrix.  A sparse A has the positions of
   its kept elements. */
struct gemm_data {
    struct matrix a, b, c, bias, scale_a, scale_b;
    size_t depth_a, depth_b; /* k that share a factor; 0: all */
    bool bias_rows;          /* the bias is m numbers, not n  */
};

void gemm_data_clear(struct gemm_data *p);

/* What epilogue and scaling of GEMM i of a checked batch read, for the sizes of A and B
   of `to`.  BITCUT_NO_MEMORY leaves nothing of it to clear.  gemm_data_clear_extra()
   frees this part alone. */
enum bitcut_status gemm_data_take_extra(struct gemm_data *to, const struct bitcut_gemm *g,
                                        size_t i, int threads, struct fault *f);
void gemm_data_clear_extra(struct gemm_data *p);

/* The operands of GEMM i of a checked batch.  BITCUT_NO_MEMORY leaves nothing to clear.
 */
enum bitcut_status gemm_data_take(struct gemm_data *to, const struct bitcut_gemm *g,
                                  size_t i, int threads, struct fault *f);

/* The operands of GEMM i of a batch, and its D, whose FP32 elements have no gaps.  The
   elements stay the batch's; *own, which the caller clears, has copies where A of a group
   of k has gaps.  False: no memory, and there is nothing to clear. */
bool gemm_data_of(struct gemm_data *to, struct matrix *d, struct matrix *own,
                  const struct bitcut_gemm *all, size_t i);

/* Sample at most `rows` rows of A and `cols` columns of B, with their bias and factors,
   drawn by seed and run, with k in a random order, the same for both.  Exact outputs and
   their |A||B| stay the same: products that share factors stay together, in blocks that
   are moved as a whole.  Fours of a sparse A are moved as a whole, too.
   With `ordered` the same rows and columns are taken, and k stays in order.  Run 0 leaves
   k in order; it also leaves rows or columns in order if it has all of them.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_shuffle(struct gemm_data *to, const struct gemm_data *from,
                                     size_t rows, size_t cols, uint64_t seed,
                                     uint64_t run, bool ordered, struct fault *f);

/* The rows, columns and products of such a sample: at most `rows` of row[], of m numbers,
   `cols` of col[], of n numbers, and k numbers of at[].  Of `from` the sizes and the
   depths of the factors are read. */
void gemm_data_draw(size_t *row, size_t *col, size_t *at, const struct gemm_data *from,
                    size_t rows, size_t cols, uint64_t seed, uint64_t run, bool ordered);

/* These rows of A and columns of B, in this order, with their C, bias and factors, and k
   in order.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_pick(struct gemm_data *to, const struct gemm_data *from,
                                  const size_t *row, size_t rows, const size_t *col,
                                  size_t cols, struct fault *f);

/* All of it.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_copy(struct gemm_data *to, const struct gemm_data *from,
                                  struct fault *f);

/* What epilogue and scaling read for that many rows of A and columns of B, which other
   matrices take the place of: of `from`, whose A and B are m x k and k x n, lines drawn
   by seed and run.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_draw_extra(struct gemm_data *to,
                                        const struct gemm_data *from, size_t rows,
                                        size_t cols, uint64_t seed, uint64_t run,
                                        struct fault *f);

/* The same matrices with product at[p] at position p: `at` has k numbers, each once.
   Products that share factors of a block of k stay in it, in this order.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status gemm_data_order(struct gemm_data *to, const struct gemm_data *from,
                                   const size_t *at, struct fault *f);

/* The number of rows and columns of an m x n x k problem that have about `products`
   products, in the proportion of m to n where possible.  There are at least
   GEMM_DATA_OUTPUTS_MIN outputs, if the problem has that many: fewer outputs take no less
   time. */
enum { GEMM_DATA_OUTPUTS_MIN = 256 };

void gemm_data_block(size_t *rows, size_t *cols, size_t m, size_t n, size_t k,
                     double products);

/* Set sizes and matrices of a GEMM, D as gemm_set_dense() does, and what its epilogue and
   scaling read.  Its factors are FP32 then. */
void gemm_data_set(struct bitcut_gemm *to, const struct gemm_data *p, uint32_t *d);

/* The exact result with which D of g, in its format, is compared. */
enum bitcut_status gemm_data_judge(struct judge *j, const struct gemm_data *p,
                                   const struct bitcut_gemm *g,
                                   const struct gemm_options *options, struct fault *f);

/* The same by a reference, which is exact if the GEMM has a bias, factors, a start or
   other steps. */
enum bitcut_status gemm_data_judge_by(struct judge *j, const struct reference *reference,
                                      const struct gemm_data *p,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_options *options,
                                      struct fault *f);

/* D of g, a GEMM on a unit, on one thread: FP32 encodings, rounded to the format of g's
   D; or before this rounding, which is the last one. */
enum bitcut_status gemm_data_run(uint32_t *d, const struct gemm_data *p,
                                 const struct bitcut_gemm *g, struct fault *f);
enum bitcut_status gemm_data_run_unrounded(uint32_t *d, const struct gemm_data *p,
                                           const struct bitcut_gemm *g, struct fault *f);

#endif
