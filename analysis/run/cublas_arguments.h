/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of cuBLAS's GEMMs as products.  Source: NVIDIA, cuBLAS Library 13.0 ("cuBLAS
   Datatypes Reference", "cuBLAS Helper Function Reference", "cublas<t>gemm()", "BLAS-like
   Extension", "Using the cuBLASLt API"), and its headers cublas_api.h, cublasLt.h and
   library_types.h, whose numbers are below: this library is built without them. */
#ifndef BITCUT_ANALYSIS_RUN_CUBLAS_ARGUMENTS_H
#define BITCUT_ANALYSIS_RUN_CUBLAS_ARGUMENTS_H

#include "analysis/run/blas_arguments.h"

enum {
    /* clang-format off */
    CUBLAS_SUCCESS             = 0,  /* CUBLAS_STATUS_SUCCESS */
    CUBLAS_REAL_32             = 0,  /* CUDA_R_32F */
    CUBLAS_COMPUTE_32          = 68, /* CUBLAS_COMPUTE_32F; before cuBLAS 11 CUDA_R_32F */
    CUBLAS_SCALARS_OF_HOST     = 0,  /* CUBLAS_POINTER_MODE_HOST */
    CUBLAS_MODE_NO_REDUCTION   = 16, /* CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION */
    CUBLAS_MODE_FIXED_POINT_64 = 8,  /* CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH */
    CUBLAS_LT_BY_COLUMNS       = 0,  /* CUBLASLT_ORDER_COL */
    CUBLAS_LT_BY_ROWS          = 1,  /* CUBLASLT_ORDER_ROW */
    CUBLAS_LT_NO_EPILOGUE      = 1,  /* CUBLASLT_EPILOGUE_DEFAULT */
    CUBLAS_LT_BIAS             = 4,  /* CUBLASLT_EPILOGUE_BIAS */
    CUBLAS_LT_WHOLE            = 2   /* CUBLAS_FILL_MODE_FULL */
    /* clang-format on */
};

/* The arguments of a call with a handle. */
struct cublas_call {
    struct blas_call blas;    /* in BLAS's column-major form; trans_a and trans_b have
                                 cuBLAS's numbers, and alpha and beta are not set */
    const void *alpha, *beta; /* addresses of the scalars */
    void *handle;
    int type[3], compute; /* types of A, B, C */
};

/* C = alpha op(A) op(B) + beta C; batches as well.  For LEGAL_LEFT `to` has the sizes and
   `there` the reason.  `caller` is code in the library to which the handle belongs. */
enum legality cublas_gemm(struct product *to, struct stream_call *there,
                          const struct cublas_call *call, const void *caller);

/* The arguments of cublasLtMatmul(); descriptors are its own. */
struct cublas_lt_call {
    void *operation, *of_a, *of_b, *of_c, *of_d;
    const void *alpha, *beta, *a, *b, *c;
    void *d, *workspace;
    size_t workspace_bytes;
    void *stream;
};

/* D = alpha op(A) op(B) + beta C.  A bias for the rows of a single column-major D with
   beta 0 becomes a C with the bias in every column, and beta 1. */
enum legality cublas_lt_matmul(struct product *to, struct stream_call *there,
                               const struct cublas_lt_call *call, const void *caller);

/* Leave a call to its library, and record the reason. */
static inline enum legality cublas_leave(struct stream_call *there, enum left_reason why)
{
    there->left = why;
    return LEGAL_LEFT;
}

/* BLAS's number for a cublasOperation_t; 0: invalid, or CUBLAS_OP_CONJG. */
int cublas_trans(int operation);

/* The workspace that the program gave to a handle; NULL: none, or it was removed. */
void cublas_workspace_note(void *handle, void *at, size_t bytes);
void *cublas_workspace(size_t *bytes, const void *handle);

#endif
