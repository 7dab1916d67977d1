/* SPDX-License-Identifier: BSD-3-Clause */
/* Record results of cublasDgemm(), native and emulated in fixed point:

       nvcc -O2 -o dgemm data/libraries/dgemm.cu -ldl
       ./dgemm > records

   For each shape and kind of values it writes A, B and C, and D of each mode, all
   column-major: one line with the name, then the elements.  The values of element i, in
   memory, are draw(seed, i, kind) below, with the seeds 101, 102 and 103; C is of kind
   urand, and B of the kind subnormal as well. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cmath>
#include <dlfcn.h>
#include <vector>

enum kind { URAND, POSITIVE, WIDE, SPECIAL, SUBNORMAL, KINDS };
static const char *const names[] = { "urand", "positive", "wide", "special", "subnormal" };

/* SplitMix64. */
static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static double draw(uint64_t seed, uint64_t i, enum kind kind)
{
    static const double few[] = { 0, -0.0, 1, -1, 0x1.fffffffffffffp0, 0x1p-60 };
    const uint64_t h = mix(mix(seed) ^ i), more = mix(h);
    const double u = (double)(h >> 11) * 0x1p-53, centred = 2 * u - 1;
    const int far = (int)(mix(h + 1) % 40);
    switch (kind) {
    case POSITIVE: return u;
    case WIDE: return ldexp(centred, (int)(more % 61) - 30);
    case SPECIAL:
        return more % 16 < 6 ? few[more % 16]
                             : ldexp(centred, (int)(mix(h + 1) % 21) - 10);
    case SUBNORMAL:
        return more % 64 < 20   ? ldexp(centred, -1022)
               : more % 64 < 63 ? ldexp(centred, -1022 + far)
                                : 0x1p-1022;
    default: return centred;
    }
}

static const struct mode {
    int bits; /* 0: native, -1: dynamic */
    double alpha, beta;
} modes[] = { { 0, 1, 0 },      { 55, 1, 0 }, { 55, 1.3, 0 }, { 55, 0.7, -1.1 },
              { 55, 1, 1 },     { 39, 1, 0 }, { 47, 1, 0 },   { 63, 1, 0 },
              { 71, 1, 0 },     { 79, 1, 0 }, { -1, 1, 0 },   { 0, 0.7, -1.1 } };

static void *library;
static cublasHandle_t handle;

static void check(int status, const char *what)
{
    if (!status) return;
    fprintf(stderr, "dgemm: %s: status %d\n", what, status);
    exit(1);
}

template <class... Argument> static void call(const char *name, Argument... argument)
{
    const auto function = (cublasStatus_t(*)(Argument...))dlsym(library, name);
    check(function ? function(argument...) : -1, name);
}

static void set_mode(int bits, int *retained)
{
    call("cublasSetMathMode", handle,
         bits ? CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH : CUBLAS_DEFAULT_MATH);
    if (!bits) return;
    call("cublasSetEmulationStrategy", handle, CUBLAS_EMULATION_STRATEGY_EAGER);
    call("cublasSetFixedPointEmulationMantissaControl", handle,
         bits > 0 ? CUDA_EMULATION_MANTISSA_CONTROL_FIXED
                  : CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC);
    call("cublasSetFixedPointEmulationMaxMantissaBitCount", handle, bits > 0 ? bits : 0);
    call("cublasSetFixedPointEmulationMantissaBitCountPointer", handle, retained);
}

struct matrix {
    std::vector<double> here;
    double *there;

    matrix(size_t count, uint64_t seed, enum kind kind) : here(count)
    {
        for (size_t i = 0; i < count; i++) here[i] = draw(seed, i, kind);
        check(cudaMalloc(&there, count * sizeof *there), "memory");
        copy(cudaMemcpyHostToDevice);
    }
    void copy(cudaMemcpyKind kind)
    {
        const bool out = kind == cudaMemcpyHostToDevice;
        check(cudaMemcpy(out ? there : here.data(), out ? here.data() : there,
                         here.size() * sizeof *there, kind),
              "copy");
    }
    void write(const char *name) const
    {
        printf("%s\n", name);
        fwrite(here.data(), sizeof(double), here.size(), stdout);
    }
};

static void record(int m, int n, int k, enum kind kind, int *retained)
{
    const matrix a((size_t)m * k, 101, kind),
        b((size_t)k * n, 102, kind == SUBNORMAL ? URAND : kind),
        c((size_t)m * n, 103, URAND);
    char name[200];
    a.write("A"), b.write("B"), c.write("C");
    for (const struct mode &mode : modes) {
        matrix d((size_t)m * n, 103, URAND);
        int bits = -99;
        check(cudaMemcpy(retained, &bits, sizeof bits, cudaMemcpyHostToDevice), "copy");
        set_mode(mode.bits, retained);
        call("cublasDgemm_v2", handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k,
             (const double *)&mode.alpha, (const double *)a.there, m,
             (const double *)b.there, k, (const double *)&mode.beta, d.there, m);
        check(cudaDeviceSynchronize(), "cublasDgemm");
        check(cudaMemcpy(&bits, retained, sizeof bits, cudaMemcpyDeviceToHost), "copy");
        d.copy(cudaMemcpyDeviceToHost);
        snprintf(name, sizeof name, "D %dx%dx%d-%s bits %d alpha %g beta %g retained %d",
                 m, n, k, names[kind], mode.bits, mode.alpha, mode.beta, bits);
        d.write(name);
    }
}

int main()
{
    static const int shapes[][3] = { { 16, 24, 64 }, { 33, 40, 200 }, { 64, 64, 1000 } };
    int *retained;
    library = dlopen("libcublas.so.13", RTLD_NOW);
    if (!library) library = dlopen("/usr/local/cuda/lib64/libcublas.so.13", RTLD_NOW);
    check(!library, "no libcublas.so.13");
    call("cublasCreate_v2", &handle);
    check(cudaMalloc(&retained, sizeof *retained), "memory");
    for (const auto &s : shapes)
        for (int kind = URAND; kind < (s[2] > 64 ? POSITIVE : KINDS); kind++)
            record(s[0], s[1], s[2], (enum kind)kind, retained);
    return 0;
}
