/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM of one's own, for the tutorial of the manual: D = A B in FP32 by four sums that
   take turns, as an unrolled loop has.  It reads $BITCUT_A (M x K) and $BITCUT_B (K x N)
   and writes $BITCUT_D, .npy files of float32, the sizes in $BITCUT_M, $BITCUT_N and
   $BITCUT_K: so `bitcut explain --probe` calls programs.  cc own_gemm.c -lm.  With
   -DFAULT it leaves out what is behind the last whole turn of k. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, HEADER = 128 };

static int size_of(const char *name) { return getenv(name) ? atoi(getenv(name)) : 0; }

static FILE *file(const char *name, const char *mode)
{
    FILE *f = getenv(name) ? fopen(getenv(name), mode) : NULL;
    if (!f) exit((fprintf(stderr, "own_gemm: cannot open $%s\n", name), 3));
    return f;
}

static float *matrix(const char *name, int rows, int cols)
{
    const size_t count = (size_t)rows * (size_t)cols;
    float *x = calloc(count + 1, sizeof *x);
    FILE *f = file(name, "rb");
    if (!x || fseek(f, HEADER, SEEK_SET) || fread(x, sizeof *x, count, f) != count)
        exit(3);
    return fclose(f), x;
}

static float dot(const float *a, const float *b, int k, int stride)
{
    float sum[LANES] = { 0 };
#ifdef FAULT
    k -= k % (2 * LANES);
#endif
    for (int p = 0; p < k; p++)
        sum[p % LANES] = fmaf(a[p], b[(size_t)p * (size_t)stride], sum[p % LANES]);
    return ((sum[0] + sum[1]) + sum[2]) + sum[3];
}

int main(void)
{
    const int m = size_of("BITCUT_M"), n = size_of("BITCUT_N"), k = size_of("BITCUT_K");
    const float *a = matrix("BITCUT_A", m, k), *b = matrix("BITCUT_B", k, n);
    FILE *f = file("BITCUT_D", "wb");
    char head[HEADER];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    const char *form = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }";
    const int length = snprintf(head + 10, 100, form, m, n);
    head[10 + length] = ' ', head[HEADER - 1] = '\n';
    fwrite(head, 1, sizeof head, f);
    for (int i = 0; i < m * n; i++) {
        const float d = dot(a + i / n * k, b + i % n, k, n);
        fwrite(&d, sizeof d, 1, f);
    }
    return fclose(f) != 0;
}
