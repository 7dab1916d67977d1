/* SPDX-License-Identifier: BSD-3-Clause */
/* D = A B by the recipe ootomo, on the GPU with prepared parts of B, and on the CPU. */
#include <bitcut.h>
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

enum { M = 300, N = 200, K = 100 };

static float a[M * K], b[K * N];
static uint32_t a_bits[M * K], b_bits[K * N], d[M * N], model[M * N];
static char why[BITCUT_TEXT_MAX];

/* Device memory, with a copy of `from` unless that is NULL. */
static void *device(size_t bytes, const void *from)
{
    void *at = NULL;
    if (cudaMalloc(&at, bytes) != cudaSuccess) return NULL;
    if (from) cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice);
    return at;
}

/* Prepare B, run the GEMM, and copy D back.  *ran becomes the GEMM that ran. */
static enum bitcut_status run(struct bitcut_gemm *ran, const struct bitcut_device *cuda,
                              struct bitcut_gemm *g)
{
    size_t parts_bytes, bytes;
    enum bitcut_status s =
        bitcut_gemm_prepared_size(&parts_bytes, cuda, g, BITCUT_B, why);
    if (s != BITCUT_OK) return s;
    void *parts = device(parts_bytes, NULL);
    s = bitcut_gemm_prepare(parts, cuda, g, BITCUT_B, NULL, why);
    g->b.prepared = parts;
    if (s == BITCUT_OK) s = bitcut_gemm_workspace(&bytes, cuda, g, why);
    if (s != BITCUT_OK) return s;
    void *workspace = device(bytes, NULL);
    s = bitcut_gemm_start(ran, cuda, g, workspace, bytes, NULL, why);
    if (s == BITCUT_OK) cudaMemcpy(d, g->d.to, sizeof d, cudaMemcpyDeviceToHost);
    cudaFree(workspace);
    cudaFree(parts);
    return s;
}

int main(void)
{
    struct bitcut_device *cuda;
    struct bitcut_gemm g, ran;
    for (int i = 0; i < M * K; i++) a[i] = 1 / (1 + (float)i);
    for (int i = 0; i < K * N; i++) b[i] = 1 / (2 + (float)i);
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&ran, sizeof ran);
    if (bitcut_device_open(&cuda, "cuda", why) != BITCUT_OK) return puts(why), 1;
    g.recipe = bitcut_recipe_find("ootomo");
    g.m = M;
    g.n = N;
    g.k = K;
    g.a.at = device(sizeof a, a);
    g.b.at = device(sizeof b, b);
    g.d.to = device(sizeof d, NULL);
    if (run(&ran, cuda, &g) != BITCUT_OK) return puts(why), 1;
    printf("%s\n%s\n%s\n", bitcut_device_name(cuda), ran.kernel,
           bitcut_unit_name(ran.unit));
    memcpy(a_bits, a, sizeof a);
    memcpy(b_bits, b, sizeof b);
    ran.kernel = NULL;
    ran.a = ran.b = ran.d = (struct bitcut_matrix){ .at = NULL };
    ran.a.at = a_bits;
    ran.b.at = b_bits;
    ran.d.to = model;
    if (bitcut_gemm(NULL, &ran, 0, why) != BITCUT_OK) return puts(why), 1;
    puts(memcmp(d, model, sizeof d) ? "D differs" : "D is the emulator's");
    bitcut_device_close(cuda);
    return 0;
}
