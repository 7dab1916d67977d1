/* SPDX-License-Identifier: BSD-3-Clause */
/* The BLAS products: a table of those that are only counted and passed on, and the
   parameters of all by the conventions of CBLAS and of Fortran.  `integer` is the type of
   integers, and matrices have any type.  Sources: the reference BLAS of LAPACK 3.12.1,
   where GEMMT is named GEMMTR; batches from oneMKL, GEMM3M from OpenBLAS. */
#ifndef BITCUT_ANALYSIS_RUN_ROUTINES_PARAMETERS_H
#define BITCUT_ANALYSIS_RUN_ROUTINES_PARAMETERS_H

/* Complex scalars of CBLAS. */
typedef const void *complex;

/* A row for each routine and type that is not computed: ROW(parameters, name, type of
   alpha, type of beta), with CBLAS's parameters. */
#define COUNTED_ROUTINES(ROW)                                                            \
    COUNTED_ALL(ROW, GEMV, gemv)                                                         \
    COUNTED_COMPLEX(ROW, GEMM, gemm)                                                     \
    COUNTED_COMPLEX(ROW, GEMM, gemm3m)                                                   \
    COUNTED_ALL(ROW, GEMMT, gemmt)                                                       \
    COUNTED_ALL(ROW, GEMMT, gemmtr)                                                      \
    COUNTED_COMPLEX(ROW, STRIDED, gemm_batch_strided)                                    \
    COUNTED_COMPLEX(ROW, BATCH, gemm_batch)                                              \
    COUNTED_COMPLEX(ROW, SYMM, symm)                                                     \
    COUNTED_COMPLEX(ROW, SYMM, hemm)                                                     \
    COUNTED_COMPLEX(ROW, SYRK, syrk)                                                     \
    ROW(SYRK, cherk, float, float)                                                       \
    ROW(SYRK, zherk, double, double)                                                     \
    COUNTED_ALL(ROW, SYR2K, syr2k)                                                       \
    ROW(SYR2K, cher2k, complex, float)                                                   \
    ROW(SYR2K, zher2k, complex, double)                                                  \
    COUNTED_ALL(ROW, TRMM, trmm)                                                         \
    COUNTED_ALL(ROW, TRMM, trsm)

#define COUNTED_ALL(ROW, parameters, base)                                               \
    ROW(parameters, s##base, float, float)                                               \
    ROW(parameters, d##base, double, double)                                             \
    COUNTED_COMPLEX(ROW, parameters, base)
#define COUNTED_COMPLEX(ROW, parameters, base)                                           \
    ROW(parameters, c##base, complex, complex)                                           \
    ROW(parameters, z##base, complex, complex)

/* --- CBLAS ------------------------------------------------------------------------ */

/* clang-format off */
#define CBLAS_GEMV(scalar, other)                                                        \
    (int order, int trans, integer m, integer n, scalar alpha, const void *a,            \
     integer lda, const void *x, integer incx, other beta, void *y, integer incy)
#define CBLAS_GEMV_ARGUMENTS order, trans, m, n, alpha, a, lda, x, incx, beta, y, incy
#define CBLAS_GEMM(scalar, other)                                                        \
    (int order, int ta, int tb, integer m, integer n, integer k, scalar alpha,           \
     const void *a, integer lda, const void *b, integer ldb, other beta, void *c,        \
     integer ldc)
#define CBLAS_GEMM_ARGUMENTS order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_GEMMT(scalar, other)                                                       \
    (int order, int half, int ta, int tb, integer n, integer k, scalar alpha,            \
     const void *a, integer lda, const void *b, integer ldb, other beta, void *c,        \
     integer ldc)
#define CBLAS_GEMMT_ARGUMENTS                                                            \
    order, half, ta, tb, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_STRIDED(scalar, other)                                                     \
    (int order, int ta, int tb, integer m, integer n, integer k, scalar alpha,           \
     const void *a, integer lda, integer sa, const void *b, integer ldb, integer sb,     \
     other beta, void *c, integer ldc, integer sc, integer count)
#define CBLAS_STRIDED_ARGUMENTS                                                          \
    order, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count
#define CBLAS_BATCH(scalar, other)                                                       \
    (int order, const int *ta, const int *tb, const integer *m, const integer *n,        \
     const integer *k, const void *alpha, const void **a, const integer *lda,            \
     const void **b, const integer *ldb, const void *beta, void **c, const integer *ldc, \
     integer groups, const integer *size)
#define CBLAS_BATCH_ARGUMENTS                                                            \
    order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, size
#define CBLAS_SYMM(scalar, other)                                                        \
    (int order, int side, int half, integer m, integer n, scalar alpha, const void *a,   \
     integer lda, const void *b, integer ldb, other beta, void *c, integer ldc)
#define CBLAS_SYMM_ARGUMENTS order, side, half, m, n, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_SYRK(scalar, other)                                                        \
    (int order, int half, int trans, integer n, integer k, scalar alpha, const void *a,  \
     integer lda, other beta, void *c, integer ldc)
#define CBLAS_SYRK_ARGUMENTS order, half, trans, n, k, alpha, a, lda, beta, c, ldc
#define CBLAS_SYR2K(scalar, other)                                                       \
    (int order, int half, int trans, integer n, integer k, scalar alpha, const void *a,  \
     integer lda, const void *b, integer ldb, other beta, void *c, integer ldc)
#define CBLAS_SYR2K_ARGUMENTS                                                            \
    order, half, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_TRMM(scalar, other)                                                        \
    (int order, int side, int half, int trans, int unit, integer m, integer n,           \
     scalar alpha, const void *a, integer lda, void *b, integer ldb)
#define CBLAS_TRMM_ARGUMENTS order, side, half, trans, unit, m, n, alpha, a, lda, b, ldb

/* --- Fortran: every argument is a pointer, then come the lengths of letters ------- */

#define FORTRAN_GEMV(scalar, other)                                                      \
    (const char *trans, const integer *m, const integer *n, const void *alpha,           \
     const void *a, const integer *lda, const void *x, const integer *incx,              \
     const void *beta, void *y, const integer *incy, size_t lt)
#define FORTRAN_GEMV_ARGUMENTS trans, m, n, alpha, a, lda, x, incx, beta, y, incy, lt
#define FORTRAN_GEMM(scalar, other)                                                      \
    (const char *ta, const char *tb, const integer *m, const integer *n,                 \
     const integer *k, const void *alpha, const void *a, const integer *lda,             \
     const void *b, const integer *ldb, const void *beta, void *c, const integer *ldc,   \
     size_t la, size_t lb)
#define FORTRAN_GEMM_ARGUMENTS                                                           \
    ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, la, lb
#define FORTRAN_GEMMT(scalar, other)                                                     \
    (const char *half, const char *ta, const char *tb, const integer *n,                 \
     const integer *k, const void *alpha, const void *a, const integer *lda,             \
     const void *b, const integer *ldb, const void *beta, void *c, const integer *ldc,   \
     size_t lh, size_t la, size_t lb)
#define FORTRAN_GEMMT_ARGUMENTS                                                          \
    half, ta, tb, n, k, alpha, a, lda, b, ldb, beta, c, ldc, lh, la, lb
#define FORTRAN_STRIDED(scalar, other)                                                   \
    (const char *ta, const char *tb, const integer *m, const integer *n,                 \
     const integer *k, const void *alpha, const void *a, const integer *lda,             \
     const integer *sa, const void *b, const integer *ldb, const integer *sb,            \
     const void *beta, void *c, const integer *ldc, const integer *sc,                   \
     const integer *count, size_t la, size_t lb)
#define FORTRAN_STRIDED_ARGUMENTS                                                        \
    ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count, la, lb
#define FORTRAN_BATCH(scalar, other)                                                     \
    (const char *ta, const char *tb, const integer *m, const integer *n,                 \
     const integer *k, const void *alpha, const void **a, const integer *lda,            \
     const void **b, const integer *ldb, const void *beta, void **c, const integer *ldc, \
     const integer *groups, const integer *size, size_t la, size_t lb)
#define FORTRAN_BATCH_ARGUMENTS                                                          \
    ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, size, la, lb
#define FORTRAN_SYMM(scalar, other)                                                      \
    (const char *side, const char *half, const integer *m, const integer *n,             \
     const void *alpha, const void *a, const integer *lda, const void *b,                \
     const integer *ldb, const void *beta, void *c, const integer *ldc, size_t ls,       \
     size_t lh)
#define FORTRAN_SYMM_ARGUMENTS                                                           \
    side, half, m, n, alpha, a, lda, b, ldb, beta, c, ldc, ls, lh
#define FORTRAN_SYRK(scalar, other)                                                      \
    (const char *half, const char *trans, const integer *n, const integer *k,            \
     const void *alpha, const void *a, const integer *lda, const void *beta, void *c,    \
     const integer *ldc, size_t lh, size_t lt)
#define FORTRAN_SYRK_ARGUMENTS half, trans, n, k, alpha, a, lda, beta, c, ldc, lh, lt
#define FORTRAN_SYR2K(scalar, other)                                                     \
    (const char *half, const char *trans, const integer *n, const integer *k,            \
     const void *alpha, const void *a, const integer *lda, const void *b,                \
     const integer *ldb, const void *beta, void *c, const integer *ldc, size_t lh,       \
     size_t lt)
#define FORTRAN_SYR2K_ARGUMENTS                                                          \
    half, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc, lh, lt
#define FORTRAN_TRMM(scalar, other)                                                      \
    (const char *side, const char *half, const char *trans, const char *unit,            \
     const integer *m, const integer *n, const void *alpha, const void *a,               \
     const integer *lda, void *b, const integer *ldb, size_t ls, size_t lh, size_t lt,   \
     size_t lu)
#define FORTRAN_TRMM_ARGUMENTS                                                           \
    side, half, trans, unit, m, n, alpha, a, lda, b, ldb, ls, lh, lt, lu
/* clang-format on */

#endif
