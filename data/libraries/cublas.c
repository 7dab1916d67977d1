/* SPDX-License-Identifier: BSD-3-Clause */
/* Products by cuBLAS and cuBLASLt, row-major D = A B.

   For gpu.py, and as a BLAS, for sgemm.c and so for `bitcut explain --probe`:
       cc -O2 -shared -fPIC -o cublas.so cublas.c -lcublas -lcublasLt -lcudart
       bitcut explain --probe './sgemm ./cublas.so NT' -m 8 -n 512 -k 4096
   Functions return what cuBLAS or CUDA says, 0 if all went well. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKSPACE = 64 << 20, ALGORITHMS = 32, NO_ALGORITHM = 1000 };

static cublasHandle_t handle;
static cublasLtHandle_t light;
static void *workspace;

int start(void)
{
    int status = cublasCreate(&handle);
    if (!status) status = cublasLtCreate(&light);
    if (!status) status = cudaMalloc(&workspace, WORKSPACE);
    return status;
}

int version(void)
{
    int v = 0;
    cublasGetVersion(handle, &v);
    return v;
}

/* A and B are of type `in`, D of `out`; `ta`: A is stored k x m.  What is row-major here
   is the transpose of what is column-major there: D' = B' A'. */
int multiply(int m, int n, int k, const void *a, const void *b, void *d, int in, int out,
             int compute, int ta, int tb)
{
    const float one = 1, zero = 0;
    const unsigned short one_half = 0x3c00, zero_half = 0;
    const int half = compute == CUBLAS_COMPUTE_16F;
    const int status = cublasGemmEx(
        handle, tb ? CUBLAS_OP_T : CUBLAS_OP_N, ta ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k,
        half ? (const void *)&one_half : &one, b, in, tb ? k : n, a, in, ta ? m : k,
        half ? (const void *)&zero_half : &zero, d, out, n, compute, CUBLAS_GEMM_DEFAULT);
    return status ? status : (int)cudaDeviceSynchronize();
}

static cublasLtMatrixLayout_t layout(int type, int rows, int cols, int turned)
{
    cublasLtMatrixLayout_t l;
    cublasLtMatrixLayoutCreate(&l, type, turned ? cols : rows, turned ? rows : cols,
                               turned ? cols : rows);
    return l;
}

static int attribute(const cublasLtMatmulAlgo_t *algorithm, int which)
{
    int value = -1;
    size_t size;
    cublasLtMatmulAlgoConfigGetAttribute(algorithm, which, &value, sizeof value, &size);
    return value;
}

/* The same by cuBLASLt and the algorithm at place `which` of those that it suggests; with
   slices > 0 in so many, reduced by `scheme`.  info: how many it suggests, then the
   algorithm's number, tile, slices, scheme and stages. */
int multiply_light(int m, int n, int k, const void *a, const void *b, void *d, int in,
                   int out, int compute, int ta, int tb, int which, int slices,
                   int scheme, int fast, int info[6])
{
    static const int told[] = { CUBLASLT_ALGO_CONFIG_ID, CUBLASLT_ALGO_CONFIG_TILE_ID,
                                CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                                CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                CUBLASLT_ALGO_CONFIG_STAGES_ID };
    const float one = 1, zero = 0;
    const int op_a = ta ? CUBLAS_OP_T : CUBLAS_OP_N,
              op_b = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    const signed char is_fast = fast;
    const size_t most = WORKSPACE;
    cublasLtMatmulHeuristicResult_t found[ALGORITHMS], checked;
    cublasLtMatmulDesc_t how;
    cublasLtMatmulPreference_t limits;
    cublasLtMatmulDescCreate(&how, compute, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &op_b, sizeof op_b);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSB, &op_a, sizeof op_a);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &is_fast,
                                   sizeof is_fast);
    cublasLtMatmulPreferenceCreate(&limits);
    cublasLtMatmulPreferenceSetAttribute(limits, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &most, sizeof most);
    const cublasLtMatrixLayout_t of_b = layout(in, n, k, tb), of_a = layout(in, k, m, ta),
                                 of_d = layout(out, n, m, 0);
    info[0] = 0;
    int status = cublasLtMatmulAlgoGetHeuristic(light, how, of_b, of_a, of_d, of_d,
                                                limits, ALGORITHMS, found, info);
    if (!status && which >= info[0]) status = NO_ALGORITHM;
    if (!status && slices > 0) {
        cublasLtMatmulAlgo_t *const x = &found[which].algo;
        cublasLtMatmulAlgoConfigSetAttribute(x, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &slices,
                                             sizeof slices);
        cublasLtMatmulAlgoConfigSetAttribute(x, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                             &scheme, sizeof scheme);
        status = cublasLtMatmulAlgoCheck(light, how, of_b, of_a, of_d, of_d, x, &checked);
        if (!status && checked.workspaceSize > most) status = NO_ALGORITHM;
    }
    for (int i = 0; i < 5 && !status; i++)
        info[1 + i] = attribute(&found[which].algo, told[i]);
    if (!status)
        status = cublasLtMatmul(light, how, &one, b, of_b, a, of_a, &zero, d, of_d, d,
                                of_d, &found[which].algo, workspace, WORKSPACE, 0);
    if (!status) status = (int)cudaDeviceSynchronize();
    cublasLtMatrixLayoutDestroy(of_a);
    cublasLtMatrixLayoutDestroy(of_b);
    cublasLtMatrixLayoutDestroy(of_d);
    cublasLtMatmulPreferenceDestroy(limits);
    cublasLtMatmulDescDestroy(how);
    return status;
}

/* --- as a BLAS -------------------------------------------------------------------- */

static float *on_device(const float *x, size_t count)
{
    float *to = NULL;
    if (cudaMalloc((void **)&to, count * sizeof *to) ||
        (x && cudaMemcpy(to, x, count * sizeof *to, cudaMemcpyHostToDevice))) {
        fprintf(stderr, "cublas: no memory on the device\n");
        exit(3);
    }
    return to;
}

/* The Fortran interface of the BLAS, on matrices of the host without gaps; column-major.
 */
void sgemm_(const char *trans_a, const char *trans_b, const int *m, const int *n,
            const int *k, const float *alpha, const float *a, const int *lda,
            const float *b, const int *ldb, const float *beta, float *c, const int *ldc)
{
    const size_t of_a = (size_t)*m * (size_t)*k, of_b = (size_t)*k * (size_t)*n,
                 of_c = (size_t)*ldc * (size_t)*n;
    int status = start();
    float *const x = on_device(a, of_a), *const y = on_device(b, of_b),
                 *const z = on_device(c, of_c);
    if (!status)
        status = cublasSgemm(handle, *trans_a == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N,
                             *trans_b == 'T' ? CUBLAS_OP_T : CUBLAS_OP_N, *m, *n, *k,
                             alpha, x, *lda, y, *ldb, beta, z, *ldc);
    if (!status) status = (int)cudaMemcpy(c, z, of_c * sizeof *c, cudaMemcpyDeviceToHost);
    if (status) {
        fprintf(stderr, "cublas: status %d\n", status);
        exit(3);
    }
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
}
