/* SPDX-License-Identifier: BSD-3-Clause */
/* A test of your own GEMM, linked into a program.  The GEMM passes if its bits are the
   model's, or if its error is within bitcut's limits.  cc own_test.c $(pkg-config
   --cflags --libs bitcut) -lm, after PKG_CONFIG_PATH=BUILD/lib for a build in the folder
   BUILD.  Usage: own_test [fault], which drops the last products. */
#include <bitcut.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 40, N = 24, K = 300, LANES = 4 };

static float a[M * K], b[K * N], d[M * N], model[M * N]; /* FP32 encodings to bitcut */

/* The GEMM under test: D = A B with four partial sums; product k goes to sum k mod 4. */
static void own_gemm(int k)
{
    for (int i = 0; i < M * N; i++) {
        float sum[LANES] = { 0 };
        for (int p = 0; p < k; p++)
            sum[p % LANES] = fmaf(a[i / N * K + p], b[p * N + i % N], sum[p % LANES]);
        d[i] = ((sum[0] + sum[1]) + sum[2]) + sum[3];
    }
}

/* Values in [-1, 1). */
static void random_values(float *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / 0x1p23f - 1;
}

int main(int count, char **word)
{
    const int k = count > 1 && !strcmp(word[1], "fault") ? K - LANES : K;
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_tolerances limit = { .size = sizeof limit };
    struct bitcut_gemm gemm;
    double error[64];
    size_t at = 0;
    bitcut_gemm_init(&gemm, sizeof gemm);
    gemm.recipe = bitcut_recipe_find("fp32");
    gemm.unit = bitcut_unit_find("fma/f32", NULL);
    gemm.order.lanes = LANES;
    gemm.m = M, gemm.n = N, gemm.k = K;
    gemm.a.at = a, gemm.b.at = b;
    gemm.d.to = model;
    random_values(a, M * K, 1);
    random_values(b, K * N, 2);
    own_gemm(k);
    if (bitcut_gemm(NULL, &gemm, 0, why)) return fprintf(stderr, "%s\n", why), 3;
    gemm.d.to = d; /* compared, only read */
    while (strcmp(bitcut_metric_name(at), "backward_max")) at++;
    if (bitcut_tolerance(&limit, &gemm, NULL, 0, why) ||
        bitcut_gemm_judge(error, 64, &gemm, 0, 0, why))
        return fprintf(stderr, "%s\n", why), 3;
    puts(memcmp(d, model, sizeof d) ? "other bits than the model" : "the model's bits");
    printf("error %.3g u |A||B|, limit %.3g\n", error[at], limit.limit);
    return !(error[at] <= limit.limit);
}
