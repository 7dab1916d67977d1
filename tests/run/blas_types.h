/* The parameters of BLAS's routines, with `integer` its integers: F by Fortran's
   conventions, C by those of CBLAS.  From the reference BLAS, and of batches from oneMKL.
 */
#ifndef BITCUT_TESTS_RUN_BLAS_TYPES_H
#define BITCUT_TESTS_RUN_BLAS_TYPES_H

#define S const char *
#define I const integer *
#define R const float *
#define L size_t

#define F_SGEMM                                                                          \
    (S ta, S tb, I m, I n, I k, R alpha, R a, I lda, R b, I ldb, R beta, float *c,       \
     I ldc, L la, L lb)
#define F_SSYRK                                                                          \
    (S half, S trans, I n, I k, R alpha, R a, I lda, R beta, float *c, I ldc, L la, L lb)
#define F_SSYMM                                                                          \
    (S side, S half, I m, I n, R alpha, R a, I lda, R b, I ldb, R beta, float *c, I ldc, \
     L la, L lb)
#define F_STRIDED                                                                        \
    (S ta, S tb, I m, I n, I k, R alpha, R a, I lda, I sa, R b, I ldb, I sb, R beta,     \
     float *c, I ldc, I sc, I count, L la, L lb)
#define F_BATCH                                                                          \
    (S ta, S tb, I m, I n, I k, R alpha, const float **a, I lda, const float **b, I ldb, \
     R beta, float **c, I ldc, I groups, I size, L la, L lb)

#define C_SGEMM                                                                          \
    (int order, int ta, int tb, integer m, integer n, integer k, float alpha, R a,       \
     integer lda, R b, integer ldb, float beta, float *c, integer ldc)
#define C_SSYRK                                                                          \
    (int order, int half, int trans, integer n, integer k, float alpha, R a,             \
     integer lda, float beta, float *c, integer ldc)
#define C_SSYMM                                                                          \
    (int order, int side, int half, integer m, integer n, float alpha, R a, integer lda, \
     R b, integer ldb, float beta, float *c, integer ldc)
#define C_STRIDED                                                                        \
    (int order, int ta, int tb, integer m, integer n, integer k, float alpha, R a,       \
     integer lda, integer sa, R b, integer ldb, integer sb, float beta, float *c,        \
     integer ldc, integer sc, integer count)
#define C_BATCH                                                                          \
    (int order, const int *ta, const int *tb, I m, I n, I k, R alpha, const float **a,   \
     I lda, const float **b, I ldb, R beta, float **c, I ldc, integer groups, I size)

/* Routines whose arguments only have to arrive. */
#define Z void *
#define F_GEMM                                                                           \
    (Z p0, Z p1, Z p2, Z p3, Z p4, Z p5, Z p6, Z p7, Z p8, Z p9, Z p10, Z p11, Z p12,    \
     L p13, L p14)
#define F_SGEMV (Z p0, Z p1, Z p2, Z p3, Z p4, Z p5, Z p6, Z p7, Z p8, Z p9, Z p10, L p11)
#define F_SGEMMT                                                                         \
    (Z p0, Z p1, Z p2, Z p3, Z p4, Z p5, Z p6, Z p7, Z p8, Z p9, Z p10, Z p11, Z p12,    \
     L p13, L p14, L p15)
#define F_SSYR2K                                                                         \
    (Z p0, Z p1, Z p2, Z p3, Z p4, Z p5, Z p6, Z p7, Z p8, Z p9, Z p10, Z p11, L p12,    \
     L p13)
#define F_STRXM                                                                          \
    (Z p0, Z p1, Z p2, Z p3, Z p4, Z p5, Z p6, Z p7, Z p8, Z p9, Z p10, L p11, L p12,    \
     L p13, L p14)

#define C_DGEMM                                                                          \
    (int p0, int p1, int p2, integer p3, integer p4, integer p5, double p6, Z p7,        \
     integer p8, Z p9, integer p10, double p11, Z p12, integer p13)
#define C_CGEMM                                                                          \
    (int p0, int p1, int p2, integer p3, integer p4, integer p5, Z p6, Z p7, integer p8, \
     Z p9, integer p10, Z p11, Z p12, integer p13)
#define C_SGEMV                                                                          \
    (int p0, int p1, integer p2, integer p3, float p4, Z p5, integer p6, Z p7,           \
     integer p8, float p9, Z p10, integer p11)
#define C_SGEMMT                                                                         \
    (int p0, int p1, int p2, int p3, integer p4, integer p5, float p6, Z p7, integer p8, \
     Z p9, integer p10, float p11, Z p12, integer p13)
#define C_SSYR2K                                                                         \
    (int p0, int p1, int p2, integer p3, integer p4, float p5, Z p6, integer p7, Z p8,   \
     integer p9, float p10, Z p11, integer p12)
#define C_STRXM                                                                          \
    (int p0, int p1, int p2, int p3, int p4, integer p5, integer p6, float p7, Z p8,     \
     integer p9, Z p10, integer p11)

#endif
