/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of BLAS's routines, with `integer` as their integer type: F by Fortran's
   conventions, C by those of CBLAS.  From the reference BLAS; batches from oneMKL.
   Routines for products are of type `real`, float, or double with -DFP64: TYPED(gemm) is
   the name, which begins with LETTER.  Arguments of the others, such as OTHER_TYPED(gemm),
   only have to arrive. */
#ifndef BITCUT_TESTS_RUN_BLAS_TYPES_H
#define BITCUT_TESTS_RUN_BLAS_TYPES_H

#include <stddef.h>

#ifdef FP64
typedef double real;
typedef float other_real;
#define TYPED(x)       d##x
#define OTHER_TYPED(x) s##x
#define LETTER         "d"
#else
typedef float real;
typedef double other_real;
#define TYPED(x)       s##x
#define OTHER_TYPED(x) d##x
#define LETTER         "s"
#endif

#define S const char *
#define I const integer *
#define R const real *
typedef size_t L;

#define F_GEMM                                                                           \
    (S ta, S tb, I m, I n, I k, R alpha, R a, I lda, R b, I ldb, R beta, real *c,        \
     I ldc, L la, L lb)
#define F_SYRK                                                                           \
    (S half, S trans, I n, I k, R alpha, R a, I lda, R beta, real *c, I ldc, L la, L lb)
#define F_SYMM                                                                           \
    (S side, S half, I m, I n, R alpha, R a, I lda, R b, I ldb, R beta, real *c, I ldc,  \
     L la, L lb)
#define F_STRIDED                                                                        \
    (S ta, S tb, I m, I n, I k, R alpha, R a, I lda, I sa, R b, I ldb, I sb, R beta,     \
     real *c, I ldc, I sc, I count, L la, L lb)
#define F_BATCH                                                                          \
    (S ta, S tb, I m, I n, I k, R alpha, const real **a, I lda, const real **b, I ldb,   \
     R beta, real **c, I ldc, I groups, I size, L la, L lb)

#define C_GEMM                                                                           \
    (int order, int ta, int tb, integer m, integer n, integer k, real alpha, R a,        \
     integer lda, R b, integer ldb, real beta, real *c, integer ldc)
#define C_SYRK                                                                           \
    (int order, int half, int trans, integer n, integer k, real alpha, R a,              \
     integer lda, real beta, real *c, integer ldc)
#define C_SYMM                                                                           \
    (int order, int side, int half, integer m, integer n, real alpha, R a, integer lda,  \
     R b, integer ldb, real beta, real *c, integer ldc)
#define C_STRIDED                                                                        \
    (int order, int ta, int tb, integer m, integer n, integer k, real alpha, R a,        \
     integer lda, integer sa, R b, integer ldb, integer sb, real beta, real *c,          \
     integer ldc, integer sc, integer count)
#define C_BATCH                                                                          \
    (int order, const int *ta, const int *tb, I m, I n, I k, R alpha, const real **a,    \
     I lda, const real **b, I ldb, R beta, real **c, I ldc, integer groups, I size)

/* Routines whose arguments only have to arrive: ROW(parameters, name, type of alpha, type
   of beta), as CBLAS has them; Z is a pointer. */
typedef void *Z;
#define OTHER_ROW(ROW, parameters, name) ROW(parameters, name, other_real, other_real)
#define OTHER_ROUTINES(ROW)                                                              \
    ROW(GEMV, sgemv, float, float) ROW(GEMV, dgemv, double, double)                      \
    ROW(GEMV, cgemv, Z, Z) ROW(GEMV, zgemv, Z, Z) OTHER_ROW(ROW, GEMM, OTHER_TYPED(gemm)) \
    ROW(GEMM, cgemm, Z, Z) ROW(GEMM, zgemm, Z, Z) ROW(GEMM, cgemm3m, Z, Z)               \
    ROW(GEMM, zgemm3m, Z, Z) ROW(GEMMT, sgemmt, float, float)                            \
    ROW(GEMMT, dgemmt, double, double) ROW(GEMMT, cgemmt, Z, Z) ROW(GEMMT, zgemmt, Z, Z) \
    ROW(GEMMT, sgemmtr, float, float) ROW(GEMMT, dgemmtr, double, double)                \
    ROW(GEMMT, cgemmtr, Z, Z) ROW(GEMMT, zgemmtr, Z, Z)                                  \
    OTHER_ROW(ROW, STRIDED, OTHER_TYPED(gemm_batch_strided))                             \
    ROW(STRIDED, cgemm_batch_strided, Z, Z) ROW(STRIDED, zgemm_batch_strided, Z, Z)      \
    OTHER_ROW(ROW, BATCH, OTHER_TYPED(gemm_batch)) ROW(BATCH, cgemm_batch, Z, Z)         \
    ROW(BATCH, zgemm_batch, Z, Z) OTHER_ROW(ROW, SYMM, OTHER_TYPED(symm))                \
    ROW(SYMM, csymm, Z, Z) ROW(SYMM, zsymm, Z, Z) ROW(SYMM, chemm, Z, Z)                 \
    ROW(SYMM, zhemm, Z, Z) OTHER_ROW(ROW, SYRK, OTHER_TYPED(syrk)) ROW(SYRK, csyrk, Z, Z) \
    ROW(SYRK, zsyrk, Z, Z) ROW(SYRK, cherk, float, float)                                \
    ROW(SYRK, zherk, double, double) ROW(SYR2K, ssyr2k, float, float)                    \
    ROW(SYR2K, dsyr2k, double, double) ROW(SYR2K, csyr2k, Z, Z) ROW(SYR2K, zsyr2k, Z, Z) \
    ROW(SYR2K, cher2k, Z, float) ROW(SYR2K, zher2k, Z, double)                           \
    ROW(TRMM, strmm, float, float) ROW(TRMM, dtrmm, double, double)                      \
    ROW(TRMM, ctrmm, Z, Z) ROW(TRMM, ztrmm, Z, Z) ROW(TRMM, strsm, float, float)         \
    ROW(TRMM, dtrsm, double, double) ROW(TRMM, ctrsm, Z, Z) ROW(TRMM, ztrsm, Z, Z)

/* Their parameters: P(type, number) of each, with X the type of alpha and Y that of beta. */
#define F_OTHER_GEMV(P, X, Y)                                                            \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(L, 11)
#define F_OTHER_GEMM(P, X, Y)                                                            \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(Z, 12), P(L, 13), P(L, 14)
#define F_OTHER_GEMMT(P, X, Y)                                                           \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(Z, 12), P(L, 13), P(L, 14), P(L, 15)
#define F_OTHER_STRIDED(P, X, Y)                                                         \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(Z, 12), P(Z, 13), P(Z, 14),                  \
    P(Z, 15), P(Z, 16), P(L, 17), P(L, 18)
#define F_OTHER_BATCH(P, X, Y)                                                           \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(Z, 12), P(Z, 13), P(Z, 14),                  \
    P(L, 15), P(L, 16)
#define F_OTHER_SYMM(P, X, Y)                                                            \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(L, 12), P(L, 13)
#define F_OTHER_SYRK(P, X, Y)                                                            \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(L, 10), P(L, 11)
#define F_OTHER_SYR2K(P, X, Y)                                                           \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(L, 12), P(L, 13)
#define F_OTHER_TRMM(P, X, Y)                                                            \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(L, 11), P(L, 12), P(L, 13), P(L, 14)
#define C_OTHER_GEMV(P, X, Y)                                                            \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(X, 4), P(Z, 5),                \
    P(integer, 6), P(Z, 7), P(integer, 8), P(Y, 9), P(Z, 10), P(integer, 11)
#define C_OTHER_GEMM(P, X, Y)                                                            \
    P(int, 0), P(int, 1), P(int, 2), P(integer, 3), P(integer, 4),                       \
    P(integer, 5), P(X, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(integer, 10),             \
    P(Y, 11), P(Z, 12), P(integer, 13)
#define C_OTHER_GEMMT(P, X, Y)                                                           \
    P(int, 0), P(int, 1), P(int, 2), P(int, 3), P(integer, 4), P(integer, 5),            \
    P(X, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(integer, 10), P(Y, 11),                  \
    P(Z, 12), P(integer, 13)
#define C_OTHER_STRIDED(P, X, Y)                                                         \
    P(int, 0), P(int, 1), P(int, 2), P(integer, 3), P(integer, 4),                       \
    P(integer, 5), P(X, 6), P(Z, 7), P(integer, 8), P(integer, 9), P(Z, 10),             \
    P(integer, 11), P(integer, 12), P(Y, 13), P(Z, 14), P(integer, 15),                  \
    P(integer, 16), P(integer, 17)
#define C_OTHER_BATCH(P, X, Y)                                                           \
    P(int, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),            \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(Z, 12), P(Z, 13), P(integer, 14),            \
    P(Z, 15)
#define C_OTHER_SYMM(P, X, Y)                                                            \
    P(int, 0), P(int, 1), P(int, 2), P(integer, 3), P(integer, 4), P(X, 5),              \
    P(Z, 6), P(integer, 7), P(Z, 8), P(integer, 9), P(Y, 10), P(Z, 11),                  \
    P(integer, 12)
#define C_OTHER_SYRK(P, X, Y)                                                            \
    P(int, 0), P(int, 1), P(int, 2), P(integer, 3), P(integer, 4), P(X, 5),              \
    P(Z, 6), P(integer, 7), P(Y, 8), P(Z, 9), P(integer, 10)
#define C_OTHER_SYR2K(P, X, Y)                                                           \
    P(int, 0), P(int, 1), P(int, 2), P(integer, 3), P(integer, 4), P(X, 5),              \
    P(Z, 6), P(integer, 7), P(Z, 8), P(integer, 9), P(Y, 10), P(Z, 11),                  \
    P(integer, 12)
#define C_OTHER_TRMM(P, X, Y)                                                            \
    P(int, 0), P(int, 1), P(int, 2), P(int, 3), P(int, 4), P(integer, 5),                \
    P(integer, 6), P(X, 7), P(Z, 8), P(integer, 9), P(Z, 10), P(integer, 11)

/* ... as they are declared. */
#define DECLARED(type, i) type p##i

#endif
