/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */

#include "emu/fast/simd.h"

#include "emu/fast/fast.h"
#include "lib/base/assume.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

/* Loops over a micro-tile are unrolled so that it stays in registers. */
#define UNROLL _Pragma("GCC unroll 12")

/* --- the kernels ------------------------------------------------------------------ */

#ifdef HAVE_X86
#define KERNEL(name)    name##_avx512
#define TARGET          __attribute__((target("avx512f,avx512bw,avx512dq")))
#define BYTES           64
#define LARGER_8(x, y)  (bytes_avx512) _mm512_max_epi8((__m512i)(x), (__m512i)(y))
#define ADD_8(x, y)     (bytes_avx512) _mm512_adds_epi8((__m512i)(x), (__m512i)(y))
#define LARGER_32(x, y) (ints_avx512) _mm512_max_epi32((__m512i)(x), (__m512i)(y))
#define ANY_NEGATIVE(x) (_mm512_movepi32_mask((__m512i)(x)) != 0)
#define ROUND_F16(x)                                                                     \
    (floats_avx512) _mm512_cvtph_ps(                                                     \
        _mm512_cvtps_ph((__m512)(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
#define OF_FLOATS(x) (doubles_avx512) _mm512_cvtps_pd((__m256)(x))
#define OF_INTS(x)   (doubles_avx512) _mm512_cvtepi32_pd((__m256i)(x))
#define LONGER(x)    (longs_avx512) _mm512_cvtepi32_epi64((__m256i)(x))
#define ANY_64(x)    (_mm512_test_epi64_mask((__m512i)(x), (__m512i)(x)) != 0)
#define PAIRS(x, y)  (ints_avx512) _mm512_madd_epi16((__m512i)(x), (__m512i)(y))
#define FUSED(x, y, z)                                                                   \
    (floats_avx512) _mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z))
#define FUSED_64(x, y, z)                                                                \
    (doubles_avx512) _mm512_fmadd_pd((__m512d)(x), _mm512_set1_pd(y), (__m512d)(z))
#include "emu/fast/fast_kernel.inc"

#define KERNEL(name)    name##_avx2
#define TARGET          __attribute__((target("avx2,f16c,fma")))
#define BYTES           32
#define LARGER_8(x, y)  (bytes_avx2) _mm256_max_epi8((__m256i)(x), (__m256i)(y))
#define ADD_8(x, y)     (bytes_avx2) _mm256_adds_epi8((__m256i)(x), (__m256i)(y))
#define LARGER_32(x, y) (ints_avx2) _mm256_max_epi32((__m256i)(x), (__m256i)(y))
#define ANY_NEGATIVE(x) (_mm256_movemask_ps((__m256)(x)) != 0)
#define ROUND_F16(x)                                                                     \
    (floats_avx2) _mm256_cvtph_ps(                                                       \
        _mm256_cvtps_ph((__m256)(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
#define OF_FLOATS(x) (doubles_avx2) _mm256_cvtps_pd((__m128)(x))
#define OF_INTS(x)   (doubles_avx2) _mm256_cvtepi32_pd((__m128i)(x))
#define LONGER(x)    (longs_avx2) _mm256_cvtepi32_epi64((__m128i)(x))
#define ANY_64(x)    (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#define PAIRS(x, y)  (ints_avx2) _mm256_madd_epi16((__m256i)(x), (__m256i)(y))
#define FUSED(x, y, z)                                                                   \
    (floats_avx2) _mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z))
#define FUSED_64(x, y, z)                                                                \
    (doubles_avx2) _mm256_fmadd_pd((__m256d)(x), _mm256_set1_pd(y), (__m256d)(z))
#include "emu/fast/fast_kernel.inc"

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
}

static bool has_avx2(void)
{
    /* Not every compiler can test for F16C; all processors with AVX2 have it. */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

typedef int8_t plain_bytes __attribute__((vector_size(16), may_alias));
typedef int32_t plain_ints __attribute__((vector_size(16), may_alias));
typedef float plain_floats __attribute__((vector_size(16), may_alias));

static inline plain_bytes plain_larger_8(plain_bytes x, plain_bytes y)
{
    const plain_bytes mask = x > y;
    return (x & mask) | (y & ~mask);
}

static inline plain_ints plain_larger_32(plain_ints x, plain_ints y)
{
    const plain_ints mask = x > y;
    return (x & mask) | (y & ~mask);
}

/* Only sums with the exponent of a zero, -128, leave the range, and only at its lower
   end. */
static inline plain_bytes plain_add_8(plain_bytes x, plain_bytes y)
{
    typedef uint8_t wrapping __attribute__((vector_size(16)));
    const plain_bytes sum = (plain_bytes)((wrapping)x + (wrapping)y);
    const plain_bytes below = (x & y & ~sum) < 0;
    return (sum & ~below) | (below & -128);
}

static inline bool plain_any_negative(plain_ints x)
{
    return (x[0] | x[1] | x[2] | x[3]) < 0;
}

static inline bool plain_any(plain_ints x) { return (x[0] | x[1] | x[2] | x[3]) != 0; }

/* In integers, so that the rounding mode does not matter. */
static inline plain_floats plain_round_f16(plain_floats x)
{
    const plain_ints bits = (plain_ints)x & INT32_MAX, sign = (plain_ints)x & INT32_MIN;
    const plain_ints normal = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fff;
    /* Below 2^-14: in units of 2^-24, and the remainder of a unit. */
    const plain_floats scaled = (plain_floats)bits * 0x1p24f;
    const plain_ints whole = __builtin_convertvector(scaled, plain_ints);
    const plain_floats rest = scaled - __builtin_convertvector(whole, plain_floats);
    const plain_ints up = (rest > 0.5f) | ((rest == 0.5f) & -(whole & 1));
    const plain_ints subnormal =
        (plain_ints)(__builtin_convertvector(whole - up, plain_floats) * 0x1p-24f);
    const plain_ints small = bits < (127 - 14) << 23, large = normal >= (127 + 16) << 23;
    const plain_ints finite = (small & subnormal) | (~small & normal);
    const plain_ints d = (large & 0x7f800000) | (~large & finite);
    const plain_ints nan = bits > 0x7f800000;
    return (plain_floats)((nan & bits) | (~nan & d) | sign);
}

/* Sums of products fit 32 bits, except that of four -32768. */
static inline plain_ints plain_pairs(plain_ints x, plain_ints y)
{
    typedef uint32_t wrapping __attribute__((vector_size(16)));
    const plain_ints even = ((plain_ints)((wrapping)x << 16) >> 16) *
                            ((plain_ints)((wrapping)y << 16) >> 16),
                     odd = (x >> 16) * (y >> 16);
    return (plain_ints)((wrapping)even + (wrapping)odd);
}

#define KERNEL(name) name##_plain
#define TARGET
#define BYTES             16
#define LARGER_8(x, y)    plain_larger_8(x, y)
#define ADD_8(x, y)       plain_add_8(x, y)
#define LARGER_32(x, y)   plain_larger_32(x, y)
#define ANY_NEGATIVE(x)   plain_any_negative(x)
#define ROUND_F16(x)      plain_round_f16(x)
#define OF_FLOATS(x)      __builtin_convertvector(x, doubles_plain)
#define OF_INTS(x)        __builtin_convertvector(x, doubles_plain)
#define LONGER(x)         __builtin_convertvector(x, longs_plain)
#define ANY_64(x)         plain_any((plain_ints)(x))
#define PAIRS(x, y)       plain_pairs(x, y)
#define FUSED_64(x, y, z) ((x) * (y) + (z))
#include "emu/fast/fast_kernel.inc"

/* --- the levels ------------------------------------------------------------------- */

static bool always(void) { return true; }

const struct simd_level simd_levels[] = {
/* clang-format off */
    /* name, what, supported, kernels */
#ifdef HAVE_X86
    { "avx512", "AVX-512 F, BW and DQ",          has_avx512, &kernels_avx512 },
    { "avx2",   "AVX2, FMA and F16C",            has_avx2,   &kernels_avx2 },
#endif
    { "plain",  "vectors of 16 bytes, in C",     always,     &kernels_plain },
    { "none",   "the engine, one output a time", always,     NULL },
    { 0 }
    /* clang-format on */
};

const struct simd_level *simd_best(void)
{
    const struct simd_level *level = simd_levels;
    while (!level->supported()) level++;
    return level;
}

static char simd_asked[64]; /* BITCUT_SIMD, or "" */

__attribute__((constructor)) void simd_read_environment(void)
{
    const char *const name = secure_getenv("BITCUT_SIMD");
    (void)threads_for(0, 2); /* clang's runtime reads its variables at its first use */
    snprintf(simd_asked, sizeof simd_asked, "%s", name ? name : "");
}

enum bitcut_status simd_choose(const struct simd_level **level, struct fault *f)
{
    if (!*simd_asked) {
        *level = simd_best();
        return BITCUT_OK;
    }
    const struct simd_level *found = table_find(TABLE(simd_levels), simd_asked);
    if (!found)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "BITCUT_SIMD must be avx512, avx2, plain or none, found \"%.*s\"",
            text_fit(simd_asked, 40), simd_asked);
    if (!found->supported())
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "BITCUT_SIMD: this processor does not support %s", found->name);
    *level = found;
    return BITCUT_OK;
}
