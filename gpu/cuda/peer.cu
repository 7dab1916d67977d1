/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of cuBLAS, with which kernels are compared.  Host code only.  The library, from
   the CUDA version with which the module is built, is opened while the module runs, and
   never linked.  If its header is not installed, there are no peers.

   cuBLAS is column-major, so it computes D^T = B^T A^T.  Parts lie with k ascending, so B
   of a product of parts is transposed for it. */
#include "gpu/cuda/gemm.cuh"

#include <climits>
#include <cmath>
#include <cstdio>

#if __has_include(<cublas_v2.h>)

#include <cublas_v2.h>
#include <dlfcn.h>

namespace
{

/* --- the table -------------------------------------------------------------------- */

enum { CALLS_MAX = 3 };

struct part_pair {
    int a, b;
};

/* A peer as cublasGemmEx() computes it, or for a batch cublasGemmStridedBatchedEx() or
   cublasGemmBatchedEx().  For parts, D is the sum of several calls, each the product of
   parts a and b divided by 2^(scale (a + b)).  alpha and beta have the type of the
   sums. */
struct call_row {
    cudaDataType operands, output;
    cublasComputeType_t compute;
    int calls;
    part_pair call[CALLS_MAX];
};

constexpr call_row sgemm = { CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1, {} };
constexpr call_row sgemm_tf32 = { CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1,
                                  {} };
constexpr call_row hgemm = { CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1, {} };
constexpr call_row ootomo3 = {
    CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 3, { { 1, 0 }, { 0, 1 }, { 0, 0 } }
};
#if CUBLAS_VERSION >= 120900
constexpr call_row bf16x9 = { CUDA_R_32F, CUDA_R_32F,
                              CUBLAS_COMPUTE_32F_EMULATED_16BFX9, 1, {} };
#endif
constexpr call_row single_sums = { CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1, {} };
constexpr call_row half_sums = { CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 1, {} };

} // namespace

#define F32 FORMAT_F32, false
#define F16 FORMAT_F16

const struct gpu_peer peers[] = {
    /* clang-format off */
    { "sgemm",        "cuBLAS, FP32",                               F32,        NULL,       GPU_PEER_SINGLE, &sgemm },
    { "sgemm-tf32",   "cuBLAS, FP32 in and out, FAST_TF32",         F32,        NULL,       GPU_PEER,        &sgemm_tf32 },
#if CUBLAS_VERSION >= 120900
    { "bf16x9",       "cuBLAS, FP32 in and out, EMULATED_16BFX9",   F32,        NULL,       GPU_PEER,        &bf16x9 },
#endif
    { "hgemm",        "cuBLAS, f16 in, FP32 accumulated and out",   F32,        "half",     GPU_PEER_HALF,   &hgemm },
    { "ootomo3",      "cuBLAS, three f16 products of split parts",  F32,        "halfhalf", GPU_PEER,        &ootomo3 },
    { "strided",      "cublasGemmStridedBatchedEx, FP32 sums",      F16, false, NULL,       GPU_PEER,        &single_sums },
    { "pointers",     "cublasGemmBatchedEx, FP32 sums",             F16, true,  NULL,       GPU_PEER,        &single_sums },
    { "strided-f16",  "cublasGemmStridedBatchedEx, f16 sums",       F16, false, NULL,       GPU_PEER,        &half_sums },
    { "pointers-f16", "cublasGemmBatchedEx, f16 sums",              F16, true,  NULL,       GPU_PEER,        &half_sums },
    {}
    /* clang-format on */
};

/* --- the library ------------------------------------------------------------------ */

#define TEXT_OF(x) TEXT(x)
#define TEXT(x)    #x

namespace
{

/* Searched where the dynamic linker looks, and then where NVIDIA's installer puts it. */
#define LIBRARY "libcublas.so." TEXT_OF(CUBLAS_VER_MAJOR)
constexpr const char *library_files[] = { LIBRARY, "/usr/local/cuda/lib64/" LIBRARY };

/* NVIDIA recommends 32 MiB on Hopper. */
constexpr size_t workspace_bytes = (size_t)64 << 20;

/* The header has inline overloads of cublasGemmEx. */
using gemm_function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                     int, int, int, const void *, const void *,
                                     cudaDataType, int, const void *, cudaDataType, int,
                                     const void *, void *, cudaDataType, int,
                                     cublasComputeType_t, cublasGemmAlgo_t);

using gemm_strided_function = cublasStatus_t(cublasHandle_t, cublasOperation_t,
                                             cublasOperation_t, int, int, int,
                                             const void *, const void *, cudaDataType,
                                             int, long long, const void *, cudaDataType,
                                             int, long long, const void *, void *,
                                             cudaDataType, int, long long, int,
                                             cublasComputeType_t, cublasGemmAlgo_t);
using gemm_batched_function = cublasStatus_t(cublasHandle_t, cublasOperation_t,
                                             cublasOperation_t, int, int, int,
                                             const void *, const void *const[],
                                             cudaDataType, int, const void *const[],
                                             cudaDataType, int, const void *,
                                             void *const[], cudaDataType, int, int,
                                             cublasComputeType_t, cublasGemmAlgo_t);

template <class Function> bool find(Function **to, void *library, const char *name)
{
    *to = (Function *)dlsym(library, name);
    return *to != NULL;
}

} // namespace

struct peer_library {
    decltype(cublasCreate_v2) *create;
    decltype(cublasDestroy_v2) *destroy;
    decltype(cublasGetVersion_v2) *version;
    decltype(cublasSetStream_v2) *set_stream;
    decltype(cublasSetWorkspace_v2) *set_workspace;
    decltype(cublasGetStatusString) *status_string;
    gemm_function *gemm;
    gemm_strided_function *gemm_strided;
    gemm_batched_function *gemm_batched;
    cublasHandle_t handle;
    void *workspace;
};

namespace
{

void *open_library(void)
{
    void *found = NULL;
    for (const char *file : library_files)
        if (!found) found = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return found;
}

bool find_all(struct peer_library *x, void *library)
{
    return find(&x->create, library, "cublasCreate_v2") &&
           find(&x->destroy, library, "cublasDestroy_v2") &&
           find(&x->version, library, "cublasGetVersion_v2") &&
           find(&x->set_stream, library, "cublasSetStream_v2") &&
           find(&x->set_workspace, library, "cublasSetWorkspace_v2") &&
           find(&x->status_string, library, "cublasGetStatusString") &&
           find(&x->gemm, library, "cublasGemmEx") &&
           find(&x->gemm_strided, library, "cublasGemmStridedBatchedEx") &&
           find(&x->gemm_batched, library, "cublasGemmBatchedEx");
}

#if CUBLAS_VERSION >= 120900
/* Otherwise cuBLAS emulates only where it expects to be faster. */
void emulate(const struct peer_library *x, void *library)
{
    cublasStatus_t (*set)(cublasHandle_t, cublasEmulationStrategy_t);
    if (find(&set, library, "cublasSetEmulationStrategy"))
        set(x->handle, CUBLAS_EMULATION_STRATEGY_EAGER);
}
#else
void emulate(const struct peer_library *, void *) {}
#endif

/* Create a handle on the stream.  The stream is set first, because setting it removes the
   workspace. */
cublasStatus_t start_library(struct peer_library *x, int *version, cudaStream_t stream)
{
    cublasStatus_t status = x->create(&x->handle);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    status = x->version(x->handle, version);
    if (status == CUBLAS_STATUS_SUCCESS) status = x->set_stream(x->handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS &&
        cudaMalloc(&x->workspace, workspace_bytes) != cudaSuccess)
        status = CUBLAS_STATUS_ALLOC_FAILED;
    if (status == CUBLAS_STATUS_SUCCESS)
        status = x->set_workspace(x->handle, x->workspace, workspace_bytes);
    return status;
}

} // namespace

void peer_open(struct peer_library **to, struct gpu_library *library, cudaStream_t stream)
{
    *to = NULL;
    *library = {};
    void *const file = open_library();
    struct peer_library *const x = new struct peer_library();
    int version = 0;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (!file) snprintf(library->text, GPU_TEXT_MAX, "none: no %s", LIBRARY);
    else if (!find_all(x, file))
        snprintf(library->text, GPU_TEXT_MAX, "none: %s lacks required functions",
                 LIBRARY);
    else if ((status = start_library(x, &version, stream)) != CUBLAS_STATUS_SUCCESS)
        snprintf(library->text, GPU_TEXT_MAX, "none: %.200s", x->status_string(status));
    else library->here = 1;
    if (!library->here) {
        peer_close(x);
        return;
    }
    emulate(x, file);
    snprintf(library->text, GPU_TEXT_MAX, "cuBLAS %d.%d.%d", version / 10000,
             version / 100 % 100, version % 100);
    *to = x;
}

void peer_close(struct peer_library *x)
{
    if (!x) return;
    if (x->handle) x->destroy(x->handle);
    cudaFree(x->workspace);
    delete x;
}

/* --- products --------------------------------------------------------------------- */

namespace
{

/* An operand as cuBLAS takes it: its first element; lines and strides in elements. */
struct factor {
    const void *at, *const *each;
    cublasOperation_t turned;
    int ld;
    long long stride;
};

struct factor factor_of(const struct gpu_work *w, const struct gpu_peer *peer,
                        enum bitcut_operand which, int part)
{
    const struct operand x = operand_of(w, which);
    const struct bitcut_matrix *m = x.matrix;
    const size_t run = parts_row_bytes(FORMAT_F16, x.k) / sizeof(uint16_t);
    if (!peer->split)
        return { m->at, m->each, CUBLAS_OP_N, (int)m->ld, (long long)m->stride };
    return { (const uint16_t *)m->prepared + (size_t)part * x.lines * run, NULL,
             which == BITCUT_B ? CUBLAS_OP_T : CUBLAS_OP_N, (int)run,
             (long long)(m->prepared_stride / sizeof(uint16_t)) };
}

/* A number in the type of the row's sums. */
union scalar {
    float single;
    uint16_t half;
};

union scalar scalar_of(const call_row *row, float x)
{
    union scalar s = {};
    if (row->compute == CUBLAS_COMPUTE_16F) s.half = x == 1 ? 0x3c00 : 0;
    else s.single = x;
    return s;
}

cublasStatus_t start_call(const struct peer_library *x, const struct gpu_peer *peer,
                          const struct gpu_work *w, int i)
{
    const auto *row = (const call_row *)peer->own;
    const struct bitcut_gemm *g = &w->gemm;
    const part_pair parts = row->call[i];
    const struct factor a = factor_of(w, peer, BITCUT_A, parts.a),
                        b = factor_of(w, peer, BITCUT_B, parts.b);
    const int exponent = -w->plan.split_a.scale * (parts.a + parts.b);
    const union scalar alpha = scalar_of(row, ldexpf(1, exponent)),
                       beta = scalar_of(row, i > 0);
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k, count = (int)g->count;
    if (a.each)
        return x->gemm_batched(x->handle, b.turned, a.turned, n, m, k, &alpha, b.each,
                               row->operands, b.ld, a.each, row->operands, a.ld, &beta,
                               g->d.each_to, row->output, n, count, row->compute,
                               CUBLAS_GEMM_DEFAULT);
    if (count == 1 && row->output == CUDA_R_32F)
        return x->gemm(x->handle, b.turned, a.turned, n, m, k, &alpha, b.at,
                       row->operands, b.ld, a.at, row->operands, a.ld, &beta, g->d.to,
                       row->output, n, row->compute, CUBLAS_GEMM_DEFAULT);
    return x->gemm_strided(x->handle, b.turned, a.turned, n, m, k, &alpha, b.at,
                           row->operands, b.ld, b.stride, a.at, row->operands, a.ld,
                           a.stride, &beta, g->d.to, row->output, n,
                           (long long)g->d.stride, count, row->compute,
                           CUBLAS_GEMM_DEFAULT);
}

} // namespace

int peer_start(const struct peer_library *x, const struct gpu_peer *peer,
               const struct gpu_work *w, char *fault)
{
    const auto *row = (const call_row *)peer->own;
    const struct bitcut_gemm *g = &w->gemm;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX - GPU_PARTS_RUN ||
        g->count > INT_MAX)
        status = CUBLAS_STATUS_INVALID_VALUE;
    for (int i = 0; i < row->calls && status == CUBLAS_STATUS_SUCCESS; i++)
        status = start_call(x, peer, w, i);
    if (status != CUBLAS_STATUS_SUCCESS)
        snprintf(fault, GPU_FAULT_MAX, "%s", x->status_string(status));
    return status;
}

#else

const struct gpu_peer peers[] = { {} };

void peer_open(struct peer_library **x, struct gpu_library *library, cudaStream_t)
{
    *x = NULL;
    *library = {};
    snprintf(library->text, GPU_TEXT_MAX, "none: built without cublas_v2.h");
}

void peer_close(struct peer_library *) {}

int peer_start(const struct peer_library *, const struct gpu_peer *,
               const struct gpu_work *, char *fault)
{
    snprintf(fault, GPU_FAULT_MAX, "built without cublas_v2.h");
    return 1;
}

#endif
