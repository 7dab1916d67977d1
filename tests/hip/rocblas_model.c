/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with the calls of rocBLAS that gpu/hip/rocblas.c makes, for
   tests/hip_runtime.sh: products by loops in FP64, on matrices of the simulated HIP
   runtime, which maps them to CPU memory.  Written from rocBLAS's reference:
   column-major, D = alpha A B + beta C.  Types of sums are not distinguished. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { F16 = 150, F32 = 151, AS_IT_IS = 111, TRANSPOSED = 112 };
enum { GOOD = 0, INVALID_HANDLE = 1, INVALID_VALUE = 11 };

static int handle;

int rocblas_create_handle(void **to) { return *to = &handle, GOOD; }
int rocblas_destroy_handle(void *x) { return x == &handle ? GOOD : INVALID_HANDLE; }
int rocblas_set_stream(void *x, void *stream)
{
    return x == &handle && stream ? GOOD : INVALID_HANDLE;
}
int rocblas_get_version_string(char *text, size_t bytes)
{
    static const char version[] = "0.0.0-model";
    if (bytes < sizeof version) return INVALID_VALUE;
    memcpy(text, version, sizeof version);
    return GOOD;
}
const char *rocblas_status_to_string(int status)
{
    return status == INVALID_VALUE ? "rocblas_status_invalid_value" : "another status";
}

static double value(const void *at, int type, int64_t i)
{
    return type == F16 ? (double)((const _Float16 *)at)[i]
                       : (double)((const float *)at)[i];
}

/* A matrix, and what element (i, j) of it, turned or not, is. */
struct operand {
    const void *at;
    int turned, type, ld;
};

static double element(const struct operand *x, int64_t i, int64_t j)
{
    return value(x->at, x->type, x->turned == TRANSPOSED ? j + i * x->ld : i + j * x->ld);
}

static void multiply(int m, int n, int k, double alpha, struct operand a,
                     struct operand b, double beta, struct operand c, void *d, int type,
                     int ld)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int p = 0; p < k; p++) sum += element(&a, i, p) * element(&b, p, j);
            sum = alpha * sum + (beta == 0 ? 0 : beta * element(&c, i, j));
            if (type == F16) ((_Float16 *)d)[i + (int64_t)j * ld] = (_Float16)sum;
            else ((float *)d)[i + (int64_t)j * ld] = (float)sum;
        }
}

static void *host(const void *at)
{
    static void *(*find)(const void *at);
    void *stand_in = dlopen("libamdhip64.so", RTLD_NOW | RTLD_NOLOAD);
    void *const call = stand_in ? dlsym(stand_in, "hipStandInMemory") : NULL;
    memcpy(&find, &call, sizeof find);
    return find ? find(at) : NULL;
}

static void *moved(const void *at, int type, int64_t elements)
{
    return host((const char *)at + elements * (type == F16 ? 2 : 4));
}

int rocblas_gemm_strided_batched_ex(
    void *x, int call_a, int call_b, int32_t m, int32_t n, int32_t k, const void *alpha,
    const void *a, int type_a, int32_t ld_a, int64_t stride_a, const void *b, int type_b,
    int32_t ld_b, int64_t stride_b, const void *beta, const void *c, int type_c,
    int32_t ld_c, int64_t stride_c, void *d, int type_d, int32_t ld_d, int64_t stride_d,
    int32_t count, int compute, int algorithm, int32_t solution, uint32_t flags)
{
    if (x != &handle) return INVALID_HANDLE;
    if (algorithm || solution || flags || ld_d < m || ld_c < m) return INVALID_VALUE;
    for (int i = 0; i < count; i++)
        multiply(
            m, n, k, value(alpha, compute, 0),
            (struct operand){ moved(a, type_a, i * stride_a), call_a, type_a, ld_a },
            (struct operand){ moved(b, type_b, i * stride_b), call_b, type_b, ld_b },
            value(beta, compute, 0),
            (struct operand){ moved(c, type_c, i * stride_c), AS_IT_IS, type_c, ld_c },
            moved(d, type_d, i * stride_d), type_d, ld_d);
    return GOOD;
}

int rocblas_gemm_batched_ex(void *x, int call_a, int call_b, int32_t m, int32_t n,
                            int32_t k, const void *alpha, const void *a, int type_a,
                            int32_t ld_a, const void *b, int type_b, int32_t ld_b,
                            const void *beta, const void *c, int type_c, int32_t ld_c,
                            void *d, int type_d, int32_t ld_d, int32_t count, int compute,
                            int algorithm, int32_t solution, uint32_t flags)
{
    const void *const *each_a = host(a), *const *each_b = host(b),
                      *const *each_c = host(c);
    void *const *each_d = host(d);
    int status = GOOD;
    for (int i = 0; i < count && status == GOOD; i++)
        status = rocblas_gemm_strided_batched_ex(
            x, call_a, call_b, m, n, k, alpha, each_a[i], type_a, ld_a, 0, each_b[i],
            type_b, ld_b, 0, beta, each_c[i], type_c, ld_c, 0, each_d[i], type_d, ld_d, 0,
            1, compute, algorithm, solution, flags);
    return status;
}
