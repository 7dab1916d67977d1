/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_sums.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The functions of a level with vectors of so many bytes. */
#define LEVEL(level, target_of, bytes)                                                   \
    typedef double level##_vector                                                        \
        __attribute__((vector_size(bytes), aligned(8), may_alias));                      \
    typedef int64_t level##_bits                                                         \
        __attribute__((vector_size(bytes), aligned(8), may_alias));                      \
    target_of static void level##_scores(double *score, double *size, double x,          \
                                         const double *k, size_t count)                  \
    {                                                                                    \
        enum { LANES = (bytes) / 8 };                                                    \
        size_t j = 0;                                                                    \
        for (; j + LANES <= count; j += LANES) {                                         \
            const level##_vector y = *(const level##_vector *)(k + j) * x;               \
            *(level##_vector *)(score + j) += y;                                         \
            *(level##_vector *)(size + j) +=                                             \
                (level##_vector)((level##_bits)y & INT64_MAX);                           \
        }                                                                                \
        for (; j < count; j++) {                                                         \
            score[j] += x * k[j];                                                        \
            size[j] += fabs(x * k[j]);                                                   \
        }                                                                                \
    }                                                                                    \
    target_of static void level##_values(double *sum, double w, const double *v,         \
                                         size_t count)                                   \
    {                                                                                    \
        enum { LANES = (bytes) / 8 };                                                    \
        size_t p = 0;                                                                    \
        for (; p + LANES <= count; p += LANES)                                           \
            *(level##_vector *)(sum + p) += *(const level##_vector *)(v + p) * w;        \
        for (; p < count; p++) sum[p] += w * v[p];                                       \
    }

LEVEL(plain, , 16)
#if defined(__x86_64__) || defined(__i386__)
LEVEL(avx512, __attribute__((target("avx512f"))), 64)
LEVEL(avx2, __attribute__((target("avx2"))), 32)
#endif

const struct attention_sums attention_sums[] = {
#if defined(__x86_64__) || defined(__i386__)
    { "avx512", "vectors of 512 bits", avx512_scores, avx512_values },
    { "avx2", "vectors of 256 bits", avx2_scores, avx2_values },
#endif
    { "plain", "vectors of 128 bits", plain_scores, plain_values },
    { 0 }
};

const struct attention_sums *attention_sums_best(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f")) return &attention_sums[0];
    return &attention_sums[__builtin_cpu_supports("avx2") ? 1 : 2];
#else
    return &attention_sums[0];
#endif
}
