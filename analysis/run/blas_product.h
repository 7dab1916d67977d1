/* SPDX-License-Identifier: BSD-3-Clause */
/* A product as a program asks for it: of whole matrices, of which some are stored by half
   (BLAS: SYRK and SYMM), computed as a GEMM says. */
#ifndef BITCUT_ANALYSIS_RUN_BLAS_PRODUCT_H
#define BITCUT_ANALYSIS_RUN_BLAS_PRODUCT_H

#include "emu/gemm.h"
#include "lib/base/status.h"

/* What of a square matrix is there: element (i, j) with j >= i, or with j <= i. */
enum half { HALF_BOTH, HALF_UPPER, HALF_LOWER };

/* Sizes, matrices and scalars of a GEMM; its recipe and unit are of no account.  Nothing
   but the half of D is read and written; a symmetric operand, a single one and square,
   has its other half from the one that is there. */
struct product {
    struct bitcut_gemm gemm;
    enum half d, a, b;
};

/* Whether element (i, j) is there. */
static inline bool half_has(enum half half, size_t i, size_t j)
{
    return half == HALF_BOTH || (half == HALF_UPPER ? j >= i : j <= i);
}

/* How many products of two numbers there are, of all GEMMs. */
double product_count(const struct product *p);

/* The recipe, unit and variations of one GEMM with the sizes, matrices and scalars of
   another. */
struct bitcut_gemm product_configured(const struct bitcut_gemm *way,
                                      const struct bitcut_gemm *of);

/* GEMM i of a batch by itself. */
struct product product_nth(const struct product *p, size_t i);

/* Compute D, every element that bitcut_gemm() gives of the whole GEMM, in the way of
   `way`, a GEMM with a recipe and a unit.  D as it was unless BITCUT_OK, or half done.
   BITCUT_BAD_ARGUMENT, BITCUT_UNSUPPORTED as bitcut_gemm(); BITCUT_NO_MEMORY. */
enum bitcut_status product_compute(const struct product *p, const struct bitcut_gemm *way,
                                   const struct gemm_options *options, struct fault *f);

/* Where element (i, j) of a matrix of rows x cols is, in elements from the first. */
size_t product_place(const struct bitcut_matrix *x, size_t rows, size_t cols, size_t i,
                     size_t j);

/* The FP32 encoding of element (i, j) of a matrix of rows x cols, one of whose halves is
   there, and where it is. */
uint32_t product_element(const struct bitcut_matrix *x, size_t rows, size_t cols,
                         size_t i, size_t j, enum half half);

/* A copy of such a matrix, row by row without gaps; NULL: no memory.  To be freed. */
uint32_t *product_copy(const struct bitcut_matrix *x, size_t rows, size_t cols,
                       enum half half);

#endif
