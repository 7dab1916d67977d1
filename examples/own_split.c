/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's GEMM: own_gemm.c with FP32 products from TF32 parts, as for a Tensor Core.
   -DFAULT: the unrolled loop omits the remainder of k in one of the three products.
   cc own_split.c -lm */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* x truncated to TF32. */
static float high(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xffffe000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float dot(const float *a, const float *b, int k, int stride)
{
    enum { SUMS = 4 };
    float sum[SUMS] = { 0 };
    int end = k;
#ifdef FAULT
    end -= k % (2 * SUMS);
#endif
    for (int p = 0; p < k; p++) {
        const float x = a[p], y = b[(size_t)p * (size_t)stride];
        float *s = &sum[p % SUMS];
        *s = fmaf(high(x), high(y), *s);
        *s = fmaf(x - high(x), high(y), *s);
        if (p < end) *s = fmaf(high(x), y - high(y), *s);
    }
    return ((sum[0] + sum[1]) + sum[2]) + sum[3];
}

#define OWN_DOT
#include "own_gemm.c"
