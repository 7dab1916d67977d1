/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that uses a BLAS: when a program calls it, and when it is loaded. */
#define integer int
#include <stddef.h>
#include "tests/run/blas_types.h"

void sgemm_ F_GEMM;
int user_multiply(float *c, const float *a, const float *b, int n, float alpha);

/* C = alpha A B + 2 C, column-major. */
int user_multiply(float *c, const float *a, const float *b, int n, float alpha)
{
    const float beta = 2;
    sgemm_("N", "N", &n, &n, &n, &alpha, a, &n, b, &n, &beta, c, &n, 1, 1);
    return 0;
}

enum { SIDE = 130 };
static float first[SIDE * SIDE];

float user_first(void);

/* A small product, and a large one, before the program begins. */
__attribute__((constructor)) static void loaded(void)
{
    static float ones[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) ones[i] = 1;
    user_multiply(first, ones, ones, 3, 1);
    user_multiply(first, ones, ones, SIDE, 1);
}

float user_first(void) { return first[SIDE * SIDE - 1]; }
