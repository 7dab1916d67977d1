/* SPDX-License-Identifier: BSD-3-Clause */
/* A product as a program requests it, on whole or half-stored matrices (BLAS: SYRK and
   SYMM), computed by a configured GEMM. */
#ifndef BITCUT_ANALYSIS_RUN_BLAS_PRODUCT_H
#define BITCUT_ANALYSIS_RUN_BLAS_PRODUCT_H

#include "emu/gemm.h"
#include "lib/base/status.h"

/* The stored elements (i, j) of a square matrix: j >= i, or j <= i. */
enum half { HALF_BOTH, HALF_UPPER, HALF_LOWER };

/* Sizes, matrices and scalars of a GEMM, in FP32 or in FP64; its recipe and unit are
   ignored.  Only the
   stored half of D is read and written.  A symmetric operand, which is square and not a
   batch, takes its other half from the stored one. */
struct product {
    struct bitcut_gemm gemm;
    enum half d, a, b;
};

/* Whether element (i, j) is stored. */
static inline bool half_has(enum half half, size_t i, size_t j)
{
    return half == HALF_BOTH || (half == HALF_UPPER ? j >= i : j <= i);
}

/* The number of products of two numbers in all GEMMs. */
double product_count(const struct product *p);

/* Whether alpha of a GEMM of a product differs from 1, and beta from 0. */
bool product_is_scaled(const struct bitcut_gemm *g);
bool product_reads_c(const struct bitcut_gemm *g);

/* The recipe, unit and variations of one GEMM, with the sizes, matrices and scalars of
   another. */
struct bitcut_gemm product_configured(const struct bitcut_gemm *configuration,
                                      const struct bitcut_gemm *of);

/* GEMM i of a batch, as a single GEMM. */
struct product product_nth(const struct product *p, size_t i);

/* Compute D, with every element that bitcut_gemm() gives for the whole GEMM, by the
   recipe, unit and variations of `configuration`.  Unless BITCUT_OK is returned, D is
   unchanged or partly written.  Returns BITCUT_BAD_ARGUMENT and BITCUT_UNSUPPORTED as
   bitcut_gemm() does; BITCUT_NO_MEMORY. */
enum bitcut_status product_compute(const struct product *p,
                                   const struct bitcut_gemm *configuration,
                                   const struct gemm_options *options, struct fault *f);

/* Element (i, j) of a matrix of rows x cols, and the bytes of an element. */
void *product_place(const struct bitcut_matrix *x, size_t rows, size_t cols, size_t i,
                    size_t j);
size_t product_bytes(const struct bitcut_matrix *x);

/* The encoding of element (i, j) of a matrix of rows x cols that has one half
   stored. */
uint64_t product_element(const struct bitcut_matrix *x, size_t rows, size_t cols,
                         size_t i, size_t j, enum half half);

/* A copy of such a matrix, row-major and contiguous, which the caller frees.  Returns
   NULL if memory runs out. */
void *product_copy(const struct bitcut_matrix *x, size_t rows, size_t cols,
                   enum half half);

#endif
