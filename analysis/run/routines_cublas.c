/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines of cuBLAS and cuBLASLt that this library replaces, with 32-bit integers
   and, under the names with _64 of cuBLAS 12, with 64-bit integers.  CUDA types that are
   opaque pointers are void *, enumerations are int. */
#include "analysis/run/cublas_arguments.h"
#include "analysis/run/routines.h"

#define ROUTINE   __attribute__((visibility("default"))) int
#define PRECISION PRECISION_F32

/* Count a call of the function's own `routine`, and pass it on. */
#define PASS(base, ...)                                                                  \
    const char *const here = __builtin_frame_address(0);                                 \
    any_function *const original = call_count(&routine, CALLER, here);                   \
    const int status = ((NAME(base##_type) *)original)(__VA_ARGS__);                     \
    call_counted(here);                                                                  \
    return status;

/* A call of a routine that is computed here: `call` has the arguments, `legal` converts
   them to a product; the others are the arguments. */
#define TAKE(base, legal, ...)                                                           \
    OWN(base);                                                                           \
    if (!run_settings()->takes[PRECISION]) { PASS(base, __VA_ARGS__) }                   \
    struct product product;                                                              \
    struct stream_call there;                                                            \
    struct call turn;                                                                    \
    int status = CUBLAS_SUCCESS;                                                         \
    const enum legality legality = legal(&product, &there, &call, CALLER);               \
    call_begin_there(&turn, &routine, CALLER, &product, legality, &there);               \
    if (turn.original) status = ((NAME(base##_type) *)turn.original)(__VA_ARGS__);       \
    call_end(&turn);                                                                     \
    return status;

/* A routine that is counted and passed on. */
#define COUNTED(base, parameters, ...)                                                   \
    typedef int NAME(base##_type) parameters;                                            \
    ROUTINE NAME(base) parameters                                                        \
    {                                                                                    \
        OWN(base);                                                                       \
        PASS(base, __VA_ARGS__)                                                          \
    }

/* The cuBLAS products that are counted and passed on, each for the types that are not
   computed: ROW(parameters, name).  Source: NVIDIA's cublas_api.h of cuBLAS 13. */
#define COUNTED_ROUTINES(ROW)                                                            \
    COUNTED_ALL(ROW, GEMV, gemv_v2)                                                      \
    COUNTED_OTHERS(ROW, GEMM, gemm_v2)                                                   \
    COUNTED_COMPLEX(ROW, GEMM, gemm3m)                                                   \
    ROW(GEMM, cublasHgemm)                                                               \
    ROW(GEMM_EX, cublasCgemmEx)                                                          \
    ROW(GEMM_EX, cublasCgemm3mEx)                                                        \
    COUNTED_OTHERS(ROW, STRIDED, gemmStridedBatched)                                     \
    ROW(STRIDED, cublasCgemm3mStridedBatched)                                            \
    ROW(STRIDED, cublasHgemmStridedBatched)                                              \
    COUNTED_OTHERS(ROW, BATCHED, gemmBatched)                                            \
    ROW(BATCHED, cublasCgemm3mBatched)                                                   \
    ROW(BATCHED, cublasHgemmBatched)                                                     \
    ROW(GROUPED, cublasSgemmGroupedBatched)                                              \
    ROW(GROUPED, cublasDgemmGroupedBatched)                                              \
    ROW(GROUPED_EX, cublasGemmGroupedBatchedEx)                                          \
    COUNTED_ALL(ROW, SYMM, symm_v2)                                                      \
    COUNTED_COMPLEX(ROW, SYMM, hemm_v2)                                                  \
    COUNTED_ALL(ROW, SYRK, syrk_v2)                                                      \
    COUNTED_COMPLEX(ROW, SYRK, herk_v2)                                                  \
    ROW(SYRK_EX, cublasCsyrkEx)                                                          \
    ROW(SYRK_EX, cublasCsyrk3mEx)                                                        \
    ROW(SYRK_EX, cublasCherkEx)                                                          \
    ROW(SYRK_EX, cublasCherk3mEx)                                                        \
    COUNTED_ALL(ROW, SYR2K, syr2k_v2)                                                    \
    COUNTED_COMPLEX(ROW, SYR2K, her2k_v2)                                                \
    COUNTED_ALL(ROW, SYR2K, syrkx)                                                       \
    COUNTED_COMPLEX(ROW, SYR2K, herkx)                                                   \
    COUNTED_ALL(ROW, TRMM, trmm_v2)                                                      \
    COUNTED_ALL(ROW, TRSM, trsm_v2)                                                      \
    COUNTED_ALL(ROW, TRSM_BATCHED, trsmBatched)

#define COUNTED_ALL(ROW, parameters, base)                                               \
    ROW(parameters, cublasS##base)                                                       \
    COUNTED_OTHERS(ROW, parameters, base)
#define COUNTED_OTHERS(ROW, parameters, base)                                            \
    ROW(parameters, cublasD##base)                                                       \
    COUNTED_COMPLEX(ROW, parameters, base)
#define COUNTED_COMPLEX(ROW, parameters, base)                                           \
    ROW(parameters, cublasC##base)                                                       \
    ROW(parameters, cublasZ##base)

/* Their parameters; matrices and scalars have any type. */
/* clang-format off */
#define CUBLAS_GEMV                                                                      \
    (void *handle, int trans, integer m, integer n, const void *alpha, const void        \
     *a, integer lda, const void *x, integer incx, const void *beta, void *y,            \
     integer incy)
#define CUBLAS_GEMV_ARGUMENTS handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy
#define CUBLAS_GEMM                                                                      \
    (void *handle, int ta, int tb, integer m, integer n, integer k, const void           \
     *alpha, const void *a, integer lda, const void *b, integer ldb, const void          \
     *beta, void *c, integer ldc)
#define CUBLAS_GEMM_ARGUMENTS                                                            \
    handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CUBLAS_GEMM_EX                                                                   \
    (void *handle, int ta, int tb, integer m, integer n, integer k, const void           \
     *alpha, const void *a, int type_a, integer lda, const void *b, int type_b,          \
     integer ldb, const void *beta, void *c, int type_c, integer ldc)
#define CUBLAS_GEMM_EX_ARGUMENTS                                                         \
    handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,     \
    ldc
#define CUBLAS_STRIDED                                                                   \
    (void *handle, int ta, int tb, integer m, integer n, integer k, const void           \
     *alpha, const void *a, integer lda, long long sa, const void *b, integer ldb,       \
     long long sb, const void *beta, void *c, integer ldc, long long sc, integer         \
     count)
#define CUBLAS_STRIDED_ARGUMENTS                                                         \
    handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count
#define CUBLAS_BATCHED                                                                   \
    (void *handle, int ta, int tb, integer m, integer n, integer k, const void           \
     *alpha, const void *const *a, integer lda, const void *const *b, integer ldb,       \
     const void *beta, void *const *c, integer ldc, integer count)
#define CUBLAS_BATCHED_ARGUMENTS                                                         \
    handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count
#define CUBLAS_GROUPED                                                                   \
    (void *handle, const int *ta, const int *tb, const integer *m, const integer *n,     \
     const integer *k, const void *alpha, const void *const *a, const integer *lda,      \
     const void *const *b, const integer *ldb, const void *beta, void *const *c,         \
     const integer *ldc, integer groups, const integer *size)
#define CUBLAS_GROUPED_ARGUMENTS                                                         \
    handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, size
#define CUBLAS_GROUPED_EX                                                                \
    (void *handle, const int *ta, const int *tb, const integer *m, const integer *n,     \
     const integer *k, const void *alpha, const void *const *a, int type_a, const        \
     integer *lda, const void *const *b, int type_b, const integer *ldb, const void      \
     *beta, void *const *c, int type_c, const integer *ldc, integer groups, const        \
     integer *size, int compute)
#define CUBLAS_GROUPED_EX_ARGUMENTS                                                      \
    handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,     \
    ldc, groups, size, compute
#define CUBLAS_SYMM                                                                      \
    (void *handle, int side, int half, integer m, integer n, const void *alpha,          \
     const void *a, integer lda, const void *b, integer ldb, const void *beta, void      \
     *c, integer ldc)
#define CUBLAS_SYMM_ARGUMENTS                                                            \
    handle, side, half, m, n, alpha, a, lda, b, ldb, beta, c, ldc
#define CUBLAS_SYRK                                                                      \
    (void *handle, int half, int trans, integer n, integer k, const void *alpha,         \
     const void *a, integer lda, const void *beta, void *c, integer ldc)
#define CUBLAS_SYRK_ARGUMENTS handle, half, trans, n, k, alpha, a, lda, beta, c, ldc
#define CUBLAS_SYRK_EX                                                                   \
    (void *handle, int half, int trans, integer n, integer k, const void *alpha,         \
     const void *a, int type_a, integer lda, const void *beta, void *c, int type_c,      \
     integer ldc)
#define CUBLAS_SYRK_EX_ARGUMENTS                                                         \
    handle, half, trans, n, k, alpha, a, type_a, lda, beta, c, type_c, ldc
#define CUBLAS_SYR2K                                                                     \
    (void *handle, int half, int trans, integer n, integer k, const void *alpha,         \
     const void *a, integer lda, const void *b, integer ldb, const void *beta, void      \
     *c, integer ldc)
#define CUBLAS_SYR2K_ARGUMENTS                                                           \
    handle, half, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CUBLAS_TRMM                                                                      \
    (void *handle, int side, int half, int trans, int diagonal, integer m, integer       \
     n, const void *alpha, const void *a, integer lda, const void *b, integer ldb,       \
     void *c, integer ldc)
#define CUBLAS_TRMM_ARGUMENTS                                                            \
    handle, side, half, trans, diagonal, m, n, alpha, a, lda, b, ldb, c, ldc
#define CUBLAS_TRSM                                                                      \
    (void *handle, int side, int half, int trans, int diagonal, integer m, integer       \
     n, const void *alpha, const void *a, integer lda, void *b, integer ldb)
#define CUBLAS_TRSM_ARGUMENTS                                                            \
    handle, side, half, trans, diagonal, m, n, alpha, a, lda, b, ldb
#define CUBLAS_TRSM_BATCHED                                                              \
    (void *handle, int side, int half, int trans, int diagonal, integer m, integer       \
     n, const void *alpha, const void *const *a, integer lda, void *const *b,            \
     integer ldb, integer count)
#define CUBLAS_TRSM_BATCHED_ARGUMENTS                                                    \
    handle, side, half, trans, diagonal, m, n, alpha, a, lda, b, ldb, count
/* clang-format on */

#define integer int32_t
#define NAME(x) x
#include "analysis/run/routines_cublas.inc"
#undef NAME
#undef integer

#define integer int64_t
#define NAME(x) x##_64
#include "analysis/run/routines_cublas.inc"
#undef NAME
#undef integer

/* --- routines without integers ---------------------------------------------------- */

#define NAME(x) x

typedef int NAME(cublasLtMatmul_type)(void *, void *, const void *, const void *, void *,
                                      const void *, void *, const void *, const void *,
                                      void *, void *, void *, const void *, void *,
                                      size_t, void *);

ROUTINE NAME(cublasLtMatmul)(void *handle, void *operation, const void *alpha,
                             const void *a, void *of_a, const void *b, void *of_b,
                             const void *beta, const void *c, void *of_c, void *d,
                             void *of_d, const void *algorithm, void *workspace,
                             size_t workspace_bytes, void *stream)
{
    const struct cublas_lt_call call = {
        operation, of_a, of_b, of_c, of_d,      alpha,           beta,
        a,         b,    c,    d,    workspace, workspace_bytes, stream
    };
    TAKE(cublasLtMatmul, cublas_lt_matmul, handle, operation, alpha, a, of_a, b, of_b,
         beta, c, of_c, d, of_d, algorithm, workspace, workspace_bytes, stream)
}

/* Calls about a handle's workspace, which are recorded and passed on. */

ROUTINE NAME(cublasSetWorkspace_v2)(void *handle, void *at, size_t bytes)
{
    OWN(cublasSetWorkspace_v2);
    typedef int set(void *, void *, size_t);
    const int status = ((set *)call_original(&routine, CALLER))(handle, at, bytes);
    if (status == CUBLAS_SUCCESS) cublas_workspace_note(handle, at, bytes);
    return status;
}

/* It removes the workspace from the handle (cuBLAS Library, "cublasSetStream()"). */
ROUTINE NAME(cublasSetStream_v2)(void *handle, void *stream)
{
    OWN(cublasSetStream_v2);
    typedef int set(void *, void *);
    cublas_workspace_note(handle, NULL, 0);
    return ((set *)call_original(&routine, CALLER))(handle, stream);
}

ROUTINE NAME(cublasDestroy_v2)(void *handle)
{
    OWN(cublasDestroy_v2);
    typedef int destroy(void *);
    cublas_workspace_note(handle, NULL, 0);
    return ((destroy *)call_original(&routine, CALLER))(handle);
}
