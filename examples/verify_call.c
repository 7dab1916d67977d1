/* SPDX-License-Identifier: BSD-3-Clause */
/* One filled struct, run on a device and on the CPU, and both compared bit for bit: how to
   verify a GEMM call of your own.  nvcc -x cu verify_call.c -lbitcut, or cc for a device
   that reaches the host's memory.  Usage: verify_call [DEVICE]. */
#include <bitcut.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __CUDACC__
static void *both(size_t n) { void *x = NULL; cudaMallocManaged(&x, n); return x; }
#define WAIT() (cudaDeviceSynchronize() == cudaSuccess)
#else
static void *both(size_t n) { return aligned_alloc(256, (n + 256) / 256 * 256); }
#define WAIT() 1
#endif

enum { M = 70, N = 90, K = 500 };

/* Values in [1, 2) with a sign, as FP32 encodings. */
static uint32_t *random_values(size_t count, uint32_t seed)
{
    uint32_t *x = (uint32_t *)both(count * sizeof *x);
    for (size_t i = 0; x && i < count; i++)
        x[i] = ((seed = seed * 1664525u + 1013904223u) & 0x807fffff) | 0x3f800000;
    return x;
}

int main(int argc, char **argv)
{
    char why[BITCUT_TEXT_MAX] = "no memory";
    struct bitcut_device *device = NULL;
    struct bitcut_gemm gemm, ran;
    size_t bytes = 0, differ = 0;
    static uint32_t model[M * N];
    uint32_t *d = random_values(M * N, 3);

    bitcut_gemm_init(&gemm, sizeof gemm);
    bitcut_gemm_init(&ran, sizeof ran);
    gemm.recipe = bitcut_recipe_find("ootomo");
    gemm.promote = 4;                        /* every 4th instruction, not every one */
    gemm.order.slices = 3;                   /* split-K                              */
    gemm.m = M, gemm.n = N, gemm.k = K;
    gemm.a.at = random_values(M * K, 1);
    gemm.a.layout = BITCUT_COLUMN_MAJOR;     /* A is transposed in memory            */
    gemm.b.at = random_values(K * N, 2);
    gemm.d.to = d;
    gemm.d.layout = BITCUT_COLUMN_MAJOR;     /* as BLAS has it                       */
    if (bitcut_device_open(&device, argc > 1 ? argv[1] : "cuda", why) ||
        bitcut_gemm_workspace(&bytes, device, &gemm, why) ||
        bitcut_gemm_start(&ran, device, &gemm, both(bytes), bytes, NULL, why) || !WAIT())
        return fprintf(stderr, "verify_call: %s\n", why), 3;
    printf("%s on %s:", ran.kernel, bitcut_unit_name(ran.unit));
    ran.kernel = NULL; /* the same GEMM, by the emulator       */
    ran.d.to = model;
    if (bitcut_gemm(NULL, &ran, 0, why)) return fprintf(stderr, "%s\n", why), 3;
    for (size_t i = 0; i < M * N; i++) differ += d[i] != model[i];
    printf(" %zu of %d outputs differ\n", differ, M * N);
    return differ != 0;
}
