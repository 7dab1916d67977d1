/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of BLAS level 3 as products, and whether they are valid for the routine.
   Sources: the standard of the BLAS Technical Forum (2001) and the reference BLAS;
   CBLAS's numbers for Fortran's letters. */
#ifndef BITCUT_ANALYSIS_RUN_BLAS_ARGUMENTS_H
#define BITCUT_ANALYSIS_RUN_BLAS_ARGUMENTS_H

#include "analysis/run/call.h"

/* CBLAS's numbers. */
enum {
    BLAS_ROW_MAJOR = 101,
    BLAS_COLUMN_MAJOR = 102,
    BLAS_NO_TRANS = 111,
    BLAS_TRANS = 112,
    BLAS_CONJ_TRANS = 113,
    BLAS_UPPER = 121,
    BLAS_LOWER = 122,
    BLAS_LEFT = 141,
    BLAS_RIGHT = 142
};

/* The number for a letter; 0: the letter is invalid. */
int blas_trans(char letter);
int blas_half(char letter);
int blas_side(char letter);

/* The arguments of a call, for any routine. */
struct blas_call {
    int order, trans_a,
        trans_b;     /* BLAS_...; for SYRK trans_a is the transposition of A */
    int half, side;  /* for SYRK and SYMM */
    int64_t m, n, k; /* the routine's own arguments; others are 0 */
    enum precision precision;
    const void *alpha, *beta; /* of the precision, as all matrices are */
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    int64_t stride_a, stride_b, stride_c, count; /* for batches; otherwise count is 1 */
    const void *const *each_a, *const *each_b;   /* for batches by pointers, else NULL */
    void *const *each_c;
};

/* C = alpha op(A) op(B) + beta C with C of m x n; batches as well. */
enum legality blas_gemm(struct product *to, const struct blas_call *call);

/* C = alpha A A^T + beta C, or A^T A with trans_a; C is n x n, and one half of it is
   stored. */
enum legality blas_syrk(struct product *to, const struct blas_call *call);

/* C = alpha A B + beta C, or B A with BLAS_RIGHT; A is symmetric, C is m x n. */
enum legality blas_symm(struct product *to, const struct blas_call *call);

#endif
