/* SPDX-License-Identifier: BSD-3-Clause */
/* Explain a result whose computation is unknown, and check that the explanation, run
   again, gives the result to the bit.  cc explain_call.c -lbitcut.  Usage: explain_call
   [flip], which changes one bit of the result first. */
#include <bitcut.h>

#include <stdio.h>
#include <string.h>

enum { M = 48, N = 40, K = 200 };

static uint32_t a[M * K], b[K * N], d[M * N], again[M * N];

/* Values in [1, 2) with a sign, as FP32 encodings. */
static void random_values(uint32_t *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        x[i] = ((seed = seed * 1664525u + 1013904223u) & 0x807fffff) | 0x3f800000;
}

/* The result to explain, computed here as an example. */
static enum bitcut_status compute(struct bitcut_gemm gemm, char *why)
{
    gemm.recipe = bitcut_recipe_find("ootomo");
    gemm.unit = bitcut_unit_find("a100", bitcut_format_find("f16"));
    gemm.promote = 4;
    return bitcut_gemm(NULL, &gemm, 0, why);
}

int main(int argc, char **argv)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_explanation report = { .size = sizeof report };
    const struct bitcut_explain_options options = { .size = sizeof options,
                                                    .seconds = 60 };
    struct bitcut_gemm gemm, found;

    random_values(a, M * K, 1);
    random_values(b, K * N, 2);
    bitcut_gemm_init(&gemm, sizeof gemm);
    bitcut_gemm_init(&found, sizeof found);
    gemm.m = M, gemm.n = N, gemm.k = K;
    gemm.a.at = a;
    gemm.b.at = b;
    gemm.d.to = d;
    if (compute(gemm, why)) return fprintf(stderr, "%s\n", why), 3;
    if (argc > 1 && !strcmp(argv[1], "flip")) d[M * N / 2] ^= 1;

    if (bitcut_explain(&report, &found, &gemm, &options, 0, why))
        return fprintf(stderr, "%s\n", why), 3;
    puts(report.text);
    if (!report.runs) return 1;
    found.d.to = again; /* the explanation, run by the emulator */
    if (bitcut_gemm(NULL, &found, 0, why)) return fprintf(stderr, "%s\n", why), 3;
    return memcmp(again, d, sizeof d) != 0;
}
