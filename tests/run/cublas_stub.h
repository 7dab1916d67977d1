/* SPDX-License-Identifier: BSD-3-Clause */
/* A cuBLAS and a cuBLASLt for tests of bitcut run: GEMMs by the simplest loops, on memory
   of tests/model_stream.h, and a record of calls with their arguments.  From NVIDIA's
   headers cublas_api.h and cublasLt.h. */
#ifndef BITCUT_TESTS_RUN_CUBLAS_STUB_H
#define BITCUT_TESTS_RUN_CUBLAS_STUB_H

#include "tests/model_stream.h"

#include <stddef.h>
#include <stdint.h>

/* A handle: what a program sets of one. */
struct stub_handle {
    struct model_stream *stream;
    int pointer_mode, math_mode;
    int status; /* that its routines return */
};

/* Descriptors of cuBLASLt: attributes by their numbers, all others are not known. */
enum { STUB_ATTRIBUTES_MAX = 40 };
struct stub_descriptor {
    bool known[STUB_ATTRIBUTES_MAX];
    int64_t value[STUB_ATTRIBUTES_MAX];
};

/* Routines whose arguments only have to arrive: ROW(parameters, name); and the parameters
   behind the handle: P(type, number) of each. */
typedef const void *Z;
typedef long long W;
#define OTHER_ROUTINES(ROW)                                                              \
    ROW(GEMV, cublasSgemv_v2) ROW(GEMV, cublasDgemv_v2) ROW(GEMV, cublasCgemv_v2)        \
    ROW(GEMV, cublasZgemv_v2) ROW(GEMM, cublasDgemm_v2) ROW(GEMM, cublasCgemm_v2)        \
    ROW(GEMM, cublasZgemm_v2) ROW(GEMM, cublasCgemm3m) ROW(GEMM, cublasZgemm3m)          \
    ROW(GEMM, cublasHgemm) ROW(GEMM_EX, cublasCgemmEx) ROW(GEMM_EX, cublasCgemm3mEx)     \
    ROW(STRIDED, cublasDgemmStridedBatched) ROW(STRIDED, cublasCgemmStridedBatched)      \
    ROW(STRIDED, cublasZgemmStridedBatched) ROW(STRIDED, cublasHgemmStridedBatched)      \
    ROW(STRIDED, cublasCgemm3mStridedBatched) ROW(BATCHED, cublasDgemmBatched)           \
    ROW(BATCHED, cublasCgemmBatched) ROW(BATCHED, cublasZgemmBatched)                    \
    ROW(BATCHED, cublasHgemmBatched) ROW(BATCHED, cublasCgemm3mBatched)                  \
    ROW(GROUPED, cublasSgemmGroupedBatched) ROW(GROUPED, cublasDgemmGroupedBatched)      \
    ROW(GROUPED_EX, cublasGemmGroupedBatchedEx) ROW(SYMM, cublasSsymm_v2)                \
    ROW(SYMM, cublasDsymm_v2) ROW(SYMM, cublasCsymm_v2) ROW(SYMM, cublasZsymm_v2)        \
    ROW(SYMM, cublasChemm_v2) ROW(SYMM, cublasZhemm_v2) ROW(SYRK, cublasSsyrk_v2)        \
    ROW(SYRK, cublasDsyrk_v2) ROW(SYRK, cublasCsyrk_v2) ROW(SYRK, cublasZsyrk_v2)        \
    ROW(SYRK, cublasCherk_v2) ROW(SYRK, cublasZherk_v2) ROW(SYRK_EX, cublasCsyrkEx)      \
    ROW(SYRK_EX, cublasCsyrk3mEx) ROW(SYRK_EX, cublasCherkEx)                            \
    ROW(SYRK_EX, cublasCherk3mEx) ROW(SYR2K, cublasSsyr2k_v2)                            \
    ROW(SYR2K, cublasDsyr2k_v2) ROW(SYR2K, cublasCsyr2k_v2) ROW(SYR2K, cublasZsyr2k_v2)  \
    ROW(SYR2K, cublasCher2k_v2) ROW(SYR2K, cublasZher2k_v2) ROW(SYR2K, cublasSsyrkx)     \
    ROW(SYR2K, cublasDsyrkx) ROW(SYR2K, cublasCsyrkx) ROW(SYR2K, cublasZsyrkx)           \
    ROW(SYR2K, cublasCherkx) ROW(SYR2K, cublasZherkx) ROW(TRMM, cublasStrmm_v2)          \
    ROW(TRMM, cublasDtrmm_v2) ROW(TRMM, cublasCtrmm_v2) ROW(TRMM, cublasZtrmm_v2)        \
    ROW(TRSM, cublasStrsm_v2) ROW(TRSM, cublasDtrsm_v2) ROW(TRSM, cublasCtrsm_v2)        \
    ROW(TRSM, cublasZtrsm_v2) ROW(TRSM_BATCHED, cublasStrsmBatched)                      \
    ROW(TRSM_BATCHED, cublasDtrsmBatched) ROW(TRSM_BATCHED, cublasCtrsmBatched)          \
    ROW(TRSM_BATCHED, cublasZtrsmBatched)

#define OTHER_GEMV(P)                                                                    \
    P(int, 0), P(integer, 1), P(integer, 2), P(Z, 3), P(Z, 4), P(integer, 5),            \
    P(Z, 6), P(integer, 7), P(Z, 8), P(Z, 9), P(integer, 10)
#define OTHER_GEMM(P)                                                                    \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(integer, 4), P(Z, 5),          \
    P(Z, 6), P(integer, 7), P(Z, 8), P(integer, 9), P(Z, 10), P(Z, 11),                  \
    P(integer, 12)
#define OTHER_GEMM_EX(P)                                                                 \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(integer, 4), P(Z, 5),          \
    P(Z, 6), P(int, 7), P(integer, 8), P(Z, 9), P(int, 10), P(integer, 11),              \
    P(Z, 12), P(Z, 13), P(int, 14), P(integer, 15)
#define OTHER_STRIDED(P)                                                                 \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(integer, 4), P(Z, 5),          \
    P(Z, 6), P(integer, 7), P(W, 8), P(Z, 9), P(integer, 10), P(W, 11),                  \
    P(Z, 12), P(Z, 13), P(integer, 14), P(W, 15), P(integer, 16)
#define OTHER_BATCHED(P)                                                                 \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(integer, 4), P(Z, 5),          \
    P(Z, 6), P(integer, 7), P(Z, 8), P(integer, 9), P(Z, 10), P(Z, 11),                  \
    P(integer, 12), P(integer, 13)
#define OTHER_GROUPED(P)                                                                 \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(Z, 7),              \
    P(Z, 8), P(Z, 9), P(Z, 10), P(Z, 11), P(Z, 12), P(integer, 13), P(Z, 14)
#define OTHER_GROUPED_EX(P)                                                              \
    P(Z, 0), P(Z, 1), P(Z, 2), P(Z, 3), P(Z, 4), P(Z, 5), P(Z, 6), P(int, 7),            \
    P(Z, 8), P(Z, 9), P(int, 10), P(Z, 11), P(Z, 12), P(Z, 13), P(int, 14),              \
    P(Z, 15), P(integer, 16), P(Z, 17), P(int, 18)
#define OTHER_SYMM(P)                                                                    \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(Z, 4), P(Z, 5),                \
    P(integer, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(Z, 10), P(integer, 11)
#define OTHER_SYRK(P)                                                                    \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(Z, 4), P(Z, 5),                \
    P(integer, 6), P(Z, 7), P(Z, 8), P(integer, 9)
#define OTHER_SYRK_EX(P)                                                                 \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(Z, 4), P(Z, 5),                \
    P(int, 6), P(integer, 7), P(Z, 8), P(Z, 9), P(int, 10), P(integer, 11)
#define OTHER_SYR2K(P)                                                                   \
    P(int, 0), P(int, 1), P(integer, 2), P(integer, 3), P(Z, 4), P(Z, 5),                \
    P(integer, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(Z, 10), P(integer, 11)
#define OTHER_TRMM(P)                                                                    \
    P(int, 0), P(int, 1), P(int, 2), P(int, 3), P(integer, 4), P(integer, 5),            \
    P(Z, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(integer, 10), P(Z, 11),                  \
    P(integer, 12)
#define OTHER_TRSM(P)                                                                    \
    P(int, 0), P(int, 1), P(int, 2), P(int, 3), P(integer, 4), P(integer, 5),            \
    P(Z, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(integer, 10)
#define OTHER_TRSM_BATCHED(P)                                                            \
    P(int, 0), P(int, 1), P(int, 2), P(int, 3), P(integer, 4), P(integer, 5),            \
    P(Z, 6), P(Z, 7), P(integer, 8), P(Z, 9), P(integer, 10), P(integer, 11)

/* Calls of a routine so far; of all with NULL.  Of setters and getters none is counted. */
long stub_calls(const char *name);

/* The arguments of the last one of those, behind the handle, as numbers. */
enum { STUB_ARGUMENTS_MAX = 24 };
const int64_t *stub_arguments(int *count);

/* The workspace that was set last, of whichever handle. */
void *stub_workspace(void);

#endif
