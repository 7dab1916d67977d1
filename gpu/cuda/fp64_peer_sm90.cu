/* SPDX-License-Identifier: BSD-3-Clause */
/* The FP64 GEMMs of cuBLAS, with which kernels are compared.  Host code only.  The library
   is opened while the module runs, as in gpu/cuda/peer.cu.  Its fixed-point numbers exist
   from the version of CUDA 13.0, update 2, on. */
#include "gpu/cuda/fp64_sm90.cuh"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

#if defined(CUBLAS_VERSION) && CUBLAS_VERSION >= 130100
#include <dlfcn.h>

const struct gpu_fp64_peer fp64_peers[] = {
    { "dgemm", "cuBLAS, FP64", 0 },
    { "dgemm-fixed", "cuBLAS, FP64 emulated in fixed point, 55 bits", 55 },
    {}
};

struct fp64_library {
    cublasHandle_t handle;
    decltype(cublasDestroy_v2) *destroy;
    decltype(cublasDgemm_v2) *dgemm;
};

namespace
{

/* Calls a function of the library by its name; a missing one is an error. */
template <class... Argument>
cublasStatus_t call(void *library, const char *name, Argument... argument)
{
    const auto function = (cublasStatus_t(*)(Argument...))dlsym(library, name);
    return function ? function(argument...) : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* Without EAGER cuBLAS emulates only where it expects to be faster. */
cublasStatus_t emulate(cublasHandle_t handle, void *library, int bits)
{
    cublasStatus_t status = call(library, "cublasSetMathMode", handle,
                                 CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
    if (!status)
        status = call(library, "cublasSetEmulationStrategy", handle,
                      CUBLAS_EMULATION_STRATEGY_EAGER);
    if (!status)
        status = call(library, "cublasSetFixedPointEmulationMantissaControl", handle,
                      CUDA_EMULATION_MANTISSA_CONTROL_FIXED);
    if (!status)
        status = call(library, "cublasSetFixedPointEmulationMaxMantissaBitCount", handle,
                      bits);
    return status;
}

cublasStatus_t open_all(struct fp64_library *x, void *library, int bits)
{
    x->destroy = (decltype(x->destroy))dlsym(library, "cublasDestroy_v2");
    x->dgemm = (decltype(x->dgemm))dlsym(library, "cublasDgemm_v2");
    if (!x->destroy || !x->dgemm) return CUBLAS_STATUS_NOT_SUPPORTED;
    const cublasStatus_t status = call(library, "cublasCreate_v2", &x->handle);
    return !status && bits ? emulate(x->handle, library, bits) : status;
}

} // namespace

#define TEXT_OF(x) TEXT(x)
#define TEXT(x)    #x
#define LIBRARY    "libcublas.so." TEXT_OF(CUBLAS_VER_MAJOR)

int fp64_library_open(struct fp64_library **to, const struct gpu_fp64_peer *peer,
                      char *fault)
{
    void *found = NULL;
    for (const char *file : { LIBRARY, "/usr/local/cuda/lib64/" LIBRARY })
        if (!found) found = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *to = new struct fp64_library();
    const cublasStatus_t status =
        found ? open_all(*to, found, peer->bits) : CUBLAS_STATUS_NOT_INITIALIZED;
    if (!status) return 0;
    snprintf(fault, GPU_FAULT_MAX, "%s: %s", peer->name,
             found ? "cuBLAS lacks this GEMM" : "no " LIBRARY);
    return 1;
}

void fp64_library_close(struct fp64_library *x)
{
    if (x && x->handle) x->destroy(x->handle);
    delete x;
}

/* cuBLAS is column-major, so it computes D^T = B^T A^T. */
int fp64_library_start(const struct fp64_library *x, const struct fp64_product *p)
{
    const double one = 1, zero = 0;
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    return x->dgemm(x->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, p->b.at, n,
                    p->a.at, k, &zero, p->d.at, n)
               ? cudaErrorUnknown
               : cudaSuccess;
}

#else

const struct gpu_fp64_peer fp64_peers[] = { {} };

int fp64_library_open(struct fp64_library **, const struct gpu_fp64_peer *, char *fault)
{
    snprintf(fault, GPU_FAULT_MAX, "built without a cuBLAS that has this GEMM");
    return 1;
}

void fp64_library_close(struct fp64_library *) {}

int fp64_library_start(const struct fp64_library *, const struct fp64_product *)
{
    return cudaErrorNotSupported;
}

#endif
