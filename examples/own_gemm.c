/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's GEMM: D = A B in FP32 with four partial sums; product k goes to sum k mod 4.
   Reads A.npy, B.npy, writes D.npy, or $BITCUT_A, $BITCUT_B, $BITCUT_D.  -DFAULT: the
   unrolled loop omits the remainder of k.  cc own_gemm.c -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, HEADER = 128 };

static FILE *file(const char *variable, const char *name, const char *mode)
{
    FILE *f = fopen(getenv(variable) ? getenv(variable) : name, mode);
    if (!f) exit((fprintf(stderr, "own_gemm: cannot open %s\n", name), 3));
    return f;
}

static float *matrix(const char *variable, const char *name, int *rows, int *cols)
{
    char head[HEADER + 1] = "";
    FILE *f = file(variable, name, "rb");
    if (fread(head, 1, HEADER, f) != HEADER ||
        sscanf(head + 10, "%*[^(](%d, %d)", rows, cols) != 2)
        exit(3);
    const size_t count = (size_t)*rows * (size_t)*cols;
    float *x = calloc(count + 1, sizeof *x);
    if (!x || fread(x, sizeof *x, count, f) != count) exit(3);
    return fclose(f), x;
}

#ifndef OWN_DOT /* own_split.c */
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
#endif
int main(void)
{
    int m, n, k;
    const float *a = matrix("BITCUT_A", "A.npy", &m, &k);
    const float *b = matrix("BITCUT_B", "B.npy", &k, &n);
    FILE *f = file("BITCUT_D", "D.npy", "wb");
    char head[HEADER];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    const char *form = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }";
    head[10 + snprintf(head + 10, 100, form, m, n)] = ' ', head[HEADER - 1] = '\n';
    fwrite(head, 1, sizeof head, f);
    for (int i = 0; i < m * n; i++) {
        const float d = dot(a + i / n * k, b + i % n, k, n);
        fwrite(&d, sizeof d, 1, f);
    }
    return fclose(f) != 0;
}
