/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products in binary64, one tile of the matrix at a time, plain and compensated.
   Products of two FP32 values are exact in binary64, and no sum of them overflows, so the
   order of its additions determines an element.  The order is k ascending for every
   instruction set, fused or not, so all kernels give the same bits. */
#ifndef BITCUT_LIB_EXACT_DGEMM_H
#define BITCUT_LIB_EXACT_DGEMM_H

#include "lib/bitcut.h"

/* The size of the largest tile, and the number of steps of k that are packed at a time:
   768 KiB of A with its magnitudes and 512 KiB of B. */
enum { TILE_ROWS = 192, TILE_COLS = 256, TILE_DEPTH = 256, TILE = TILE_ROWS * TILE_COLS };

/* The sums of a tile.  Element (i, j) is at [i * TILE_COLS + j]. */
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

/* Add `depth` steps to the micro-tile whose first element is `at`.  a and b are
   packed. */
typedef void dgemm_micro(struct dgemm_sums *sums, size_t at, const uint8_t *wanted,
                         size_t depth, const double *a, const double *b);

/* The sums of a tile of binary64 products. */
struct dgemm_sums64 {
    double high[TILE], middle[TILE], low[TILE], size[TILE], magnitude[TILE];
};

/* The same for binary64.  `a` holds no magnitudes. */
typedef void dgemm_micro64(struct dgemm_sums64 *sums, size_t at, size_t depth,
                           const double *a, const double *b);

enum { DGEMM_COLS_MAX = 16 }; /* of a micro-tile */

/* A row of the kernel table: an instruction set. */
struct dgemm_kernel {
    const char *name, *what;
    bool (*supported)(void); /* whether this processor supports it */
    int rows, cols;          /* size of a micro-tile; divides the size of every tile */
    dgemm_micro *sum, *plain_sum, *dot2;
    dgemm_micro64 *dot3;
};

/* Fastest first.  The last row runs everywhere.  Ended by a row whose name is NULL. */
extern const struct dgemm_kernel dgemm_kernels[];

/* The first row that this processor supports. */
const struct dgemm_kernel *dgemm_best(void);

/* The sums, and memory for packing.  The struct is large: allocate it, aligned to
   DGEMM_ALIGNMENT. */
enum { DGEMM_ALIGNMENT = 64 };

struct dgemm {
    _Alignas(DGEMM_ALIGNMENT) struct dgemm_sums sums;
    _Alignas(DGEMM_ALIGNMENT) double a[2 * TILE_ROWS * TILE_DEPTH];
    _Alignas(DGEMM_ALIGNMENT) double b[TILE_COLS * TILE_DEPTH];
};

/* high = sum of a_ik b_kj and size = sum of |a_ik b_kj|, each addition rounded to
   nearest; low is 0.  high is NaN or infinite exactly where the result of
   bitcut_exact_gemm() is, because no sum of finite products overflows.  Call under
   hostfp_enter(). */
void dgemm_plain_sum(struct dgemm *d, const struct dgemm_kernel *kernel,
                     const struct dgemm_operands *x);

/* Compute the same high in half the operations.  low and size are undefined. */
void dgemm_sum(struct dgemm *d, const struct dgemm_kernel *kernel,
               const struct dgemm_operands *x);

/* Compute the same high.  Where wanted[i * TILE_COLS + j] != 0, low is the sum of the
   rounding errors e_k of its additions and size is the sum of |e_k|; other elements of
   low and size are undefined.  If high is finite, high plus the exact sum of e_k is the
   exact result.  Ogita, Rump, Oishi 2005, Algorithm 5.3 (Dot2), without the error of a
   product, which is 0.  Call under hostfp_enter(). */
void dgemm_dot2(struct dgemm *d, const struct dgemm_kernel *kernel,
                const struct dgemm_operands *x, const uint8_t *wanted);

/* One tile of A B for binary64 matrices whose rows and columns are multiplied by powers
   of two first: row i of A by 2^row_shift[i], column j of B by 2^col_shift[j]. */
struct dgemm_operands64 {
    size_t rows, cols, k;
    const double *a, *b;
    size_t lda, ldb;
    const int *row_shift, *col_shift;
};

/* As struct dgemm. */
struct dgemm64 {
    _Alignas(DGEMM_ALIGNMENT) struct dgemm_sums64 sums;
    _Alignas(DGEMM_ALIGNMENT) double a[TILE_ROWS * TILE_DEPTH];
    _Alignas(DGEMM_ALIGNMENT) double b[TILE_COLS * TILE_DEPTH];
};

/* Compensated sums of the products in three parts (Ogita, Rump, Oishi 2005, after
   Algorithm 5.10, DotK with K = 3, in one pass).  The exact sum is high + middle + the
   exact sum of the terms of `low`; each product gives two.  `low` is their sum and `size`
   is the sum of their magnitudes; both are added in binary64 with at most k + 1 roundings
   of each term.  `magnitude` is the sum of the rounded products' magnitudes, k ascending.
   All kernels give the same bits.

   This holds for element (i, j) if the multiplied operands of its row and its column are
   exact and finite, below 2^450, and its products are multiples of 2^-1074; other
   elements are undefined.  Call under hostfp_enter(). */
void dgemm_dot3(struct dgemm64 *d, const struct dgemm_kernel *kernel,
                const struct dgemm_operands64 *x);

#endif
