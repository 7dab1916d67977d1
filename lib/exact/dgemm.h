/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products in binary64, a tile of the matrix at a time: plain and compensated.

   Products of two FP32 values are exact in binary64, and no sum of them leaves its range,
   so an element is fixed by the order of its additions.  Here that is ascending k for
   every instruction set, fused or not: all kernels give the same bits. */
#ifndef BITCUT_LIB_EXACT_DGEMM_H
#define BITCUT_LIB_EXACT_DGEMM_H

#include "lib/bitcut.h"

/* The largest tile, and how many steps of k are packed at a time: 768 KiB of A with its
   magnitudes and 512 KiB of B. */
enum { TILE_ROWS = 192, TILE_COLS = 256, TILE_DEPTH = 256, TILE = TILE_ROWS * TILE_COLS };

/* The sums of a tile, element (i, j) at [i * TILE_COLS + j]. */
struct dgemm_sums {
    double high[TILE], low[TILE], size[TILE];
};

/* One tile of A B: rows x cols elements, rows <= TILE_ROWS, cols <= TILE_COLS.  `a` is at
   its first row and `b` at its first column, FP32 encodings, both row-major. */
struct dgemm_operands {
    size_t rows, cols, k;
    const uint32_t *a, *b;
    size_t lda, ldb;
};

/* Add `depth` steps to the micro-tile whose first element is `at`; a and b are packed. */
typedef void dgemm_micro(struct dgemm_sums *sums, size_t at, const uint8_t *wanted,
                         size_t depth, const double *a, const double *b);

/* A row of the kernel table: an instruction set. */
struct dgemm_kernel {
    const char *name, *what;
    bool (*supported)(void); /* by this processor */
    int rows, cols;          /* of a micro-tile: they divide those of every tile */
    dgemm_micro *sum, *plain_sum, *dot2;
};

/* Fastest first; the last one runs everywhere.  Ended by a row whose name is NULL. */
extern const struct dgemm_kernel dgemm_kernels[];

/* The first row that this processor supports. */
const struct dgemm_kernel *dgemm_best(void);

/* The sums and memory for packing: large, so allocate it, aligned to DGEMM_ALIGNMENT. */
enum { DGEMM_ALIGNMENT = 64 };

struct dgemm {
    _Alignas(DGEMM_ALIGNMENT) struct dgemm_sums sums;
    _Alignas(DGEMM_ALIGNMENT) double a[2 * TILE_ROWS * TILE_DEPTH];
    _Alignas(DGEMM_ALIGNMENT) double b[TILE_COLS * TILE_DEPTH];
};

/* high = sum of a_ik b_kj and size = sum of |a_ik b_kj|, each addition rounded to
   nearest; low is 0.  high is NaN or infinite exactly where bitcut_exact_gemm() says so:
   no sum of finite products overflows.  Call under hostfp_enter(). */
void dgemm_plain_sum(struct dgemm *d, const struct dgemm_kernel *kernel,
                     const struct dgemm_operands *x);

/* The same high, in half the operations; low and size mean nothing. */
void dgemm_sum(struct dgemm *d, const struct dgemm_kernel *kernel,
               const struct dgemm_operands *x);

/* The same high, low = the sum of the rounding errors e_k of its additions and size = the
   sum of |e_k|, where wanted[i * TILE_COLS + j] != 0; other elements mean nothing.  If
   high is finite, high plus the exact sum of e_k is the exact result.  Ogita, Rump, Oishi
   2005, Algorithm 5.3 (Dot2), without the error of a product, which is 0.  Call under
   hostfp_enter(). */
void dgemm_dot2(struct dgemm *d, const struct dgemm_kernel *kernel,
                const struct dgemm_operands *x, const uint8_t *wanted);

#endif
