/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling a GEMM of cuBLAS by its name, on memory that is locked during the call. */
#ifndef BITCUT_TESTS_RUN_CUBLAS_CALL_H
#define BITCUT_TESTS_RUN_CUBLAS_CALL_H

#include "tests/run/cublas_stub.h"

/* What a call says.  Of cublasLtMatmul() matrices may be by rows, and C is not D. */
struct call {
    struct stub_handle *handle;
    int ta, tb; /* CUBLAS_OP_N, _T, _C */
    int64_t m, n, k, lda, ldb, ldc, sa, sb, sc, count;
    const void *alpha, *beta; /* where they are */
    float *a, *b, *c;
    const float **each_a, **each_b; /* on the device */
    float **each_c;
    int type, compute, scale; /* of matrices; of Lt the type of the scalars, too */

    /* Of cublasLtMatmul() alone. */
    int rows_a, rows_b, rows_c, rows_d; /* by rows */
    int64_t ldd, sd;
    float *d;
    const float *bias; /* on the device; NULL: there is none */
    struct {
        int which; /* an attribute of the operation with another value; 0: none */
        int64_t value;
    } other;
    void *workspace;
    size_t workspace_bytes;
};

/* The GEMMs that are taken, ended by a NULL. */
extern const char *const gemm_names[];

/* Call it: the status. */
int call_gemm(const char *name, const struct call *x);

/* A stream with so many bytes of memory, locked. */
struct model_stream stream_make(size_t bytes);

/* So many bytes of it that nobody has yet. */
void *stream_take(struct model_stream *s, size_t bytes);

/* Copy to its memory and from it. */
void stream_put(const struct model_stream *s, void *to, const void *from, size_t bytes);
void stream_get(const struct model_stream *s, void *to, const void *from, size_t bytes);

#endif
