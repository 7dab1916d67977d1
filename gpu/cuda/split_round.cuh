/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 values rounded to parts: round_pack() of lib/number/round.c for FP32 values. */
#ifndef BITCUT_GPU_CUDA_SPLIT_ROUND_CUH
#define BITCUT_GPU_CUDA_SPLIT_ROUND_CUH

#include "gpu/cuda/gemm.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace
{

/* Properties of the formats of parts, as in lib/number/format.c. */
template <int> struct format;
template <> struct format<FORMAT_F16> {
    using part = uint16_t;
    static constexpr int bits = 16, pad = 0, fraction = 10, bias = 15;
    static constexpr uint32_t infinity = 0x7c00, nan = 0x7e00;
};
template <> struct format<FORMAT_BF16> {
    using part = uint16_t;
    static constexpr int bits = 16, pad = 0, fraction = 7, bias = 127;
    static constexpr uint32_t infinity = 0x7f80, nan = 0x7fc0;
};
template <> struct format<FORMAT_TF32> {
    using part = uint32_t;
    static constexpr int bits = 32, pad = 13, fraction = 10, bias = 127;
    static constexpr uint32_t infinity = 0x7f800000, nan = 0x7fc00000;
};
template <> struct format<FORMAT_E4M3> {
    using part = uint8_t;
    static constexpr int bits = 8, pad = 0, fraction = 3, bias = 7;
    static constexpr uint32_t infinity = 0x7f, nan = 0x7f; /* it has no infinity: NaN */
};
template <> struct format<FORMAT_S8> {
    using part = uint8_t;
    static constexpr int bits = 8, most = 127;
    static constexpr uint32_t nan = 0;
};

/* Bit 1 to 23 of the fraction field, from the top, which BY_BIT tests. */
__device__ bool fraction_bit(uint32_t magnitude, int bit)
{
    return bit <= 23 && (magnitude >> (23 - bit) & 1);
}

/* The retained significand, increased by one step or not, depending on the bits below:
   step() of lib/number/round.c. */
__device__ uint32_t round_kept(uint32_t significand, int drop, bool negative,
                               const bitcut_rounding &r)
{
    const uint32_t kept = significand >> drop, half = 1u << (drop - 1);
    const uint32_t rest = significand & (2 * half - 1);
    switch (r.direction) {
    case TO_NEAREST_EVEN: return kept + (rest > half || (rest == half && (kept & 1)));
    case TO_NEAREST_AWAY: return kept + (rest >= half);
    case TO_POSITIVE: return kept + (rest && !negative);
    case TO_NEGATIVE: return kept + (rest && negative);
    case TO_ODD: return kept | (rest != 0);
    case BY_BIT: return kept + (rest && fraction_bit(significand, r.bit));
    default: return kept;
    }
}

__device__ bool overflows_to_infinity(bool negative, const bitcut_rounding &r)
{
    if (r.overflow != OVERFLOW_IEEE) return r.overflow == OVERFLOW_INF;
    return r.direction == TO_NEAREST_EVEN || r.direction == TO_NEAREST_AWAY ||
           r.direction == BY_BIT || r.direction == (negative ? TO_NEGATIVE : TO_POSITIVE);
}

/* Round the FP32 encoding x by any rule to an integer that saturates. */
__device__ __noinline__ uint32_t round_integer(uint32_t x, const bitcut_rounding &r)
{
    constexpr uint32_t most = format<FORMAT_S8>::most;
    const uint32_t magnitude = x & 0x7fffffff, field = magnitude >> 23;
    const uint32_t significand = (magnitude & 0x7fffff) | (field ? 1u << 23 : 0);
    if (magnitude > 0x7f800000) return format<FORMAT_S8>::nan;
    uint32_t kept = most;
    if (field < 127 + 7) {
        const int drop = 127 + 23 - (int)field;
        kept = min(most, round_kept(significand, drop < 26 ? drop : 26, x >> 31, r));
    }
    return (x >> 31 ? 0 - kept : kept) & 0xff;
}

/* Round the FP32 encoding x by any rule to a part; the result is the bits of the part.
   Not inlined, because nvcc takes many minutes to compile the copies. */
template <int F>
__device__ __noinline__ uint32_t round_part(uint32_t x, const bitcut_rounding &r)
{
    using f = format<F>;
    constexpr uint32_t step = 1u << f::pad, implicit = 1u << f::fraction;
    const bool negative = x >> 31;
    const uint32_t magnitude = x & 0x7fffffff, sign = (x >> 31) << (f::bits - 1);
    if (magnitude > 0x7f800000) return f::nan;
    if (magnitude == 0x7f800000)
        return sign |
               (r.overflow == OVERFLOW_SATURATE ? f::infinity - step : f::infinity);
    if (magnitude == 0) return sign;
    const int field = (int)(magnitude >> 23);
    const uint32_t significand = (magnitude & 0x7fffff) | (field ? 1u << 23 : 0);
    const int exponent = (field ? field : 1) - 127 + f::bias; /* exponent field of the
                                                                 part              */
    const int below = exponent < 1 ? 1 - exponent : 0;
    const int drop = 23 - f::fraction + below;
    const uint32_t kept = round_kept(significand, drop < 26 ? drop : 26, negative, r);
    const bool before = r.flush == FLUSH_BEFORE && (below || !field);
    if (before || (kept < implicit && r.flush)) return sign;
    const uint32_t base = (uint32_t)(exponent + below - 1) << f::fraction;
    const uint32_t part = (base + kept) << f::pad;
    if (base + kept < f::infinity >> f::pad) return sign | part;
    return sign | (overflows_to_infinity(negative, r) ? f::infinity : f::infinity - step);
}

/* Rules that have a separate expression for a format; ANY takes the caller's rule. */
enum rule { ANY, RN, RNA, RZ, CUT, BIT21, BIT22, RN_SAT };

/* The part of an x that is not NaN. */
template <int F, rule R> __device__ uint32_t make_number(float x)
{
    const uint32_t magnitude = __float_as_uint(x) & 0x7fffffff;
    const uint32_t sign = __float_as_uint(x) & 0x80000000;
    if constexpr (F == FORMAT_F16 && R == RN) {
        return __half_as_ushort(__float2half_rn(x));
    } else if constexpr (F == FORMAT_F16 && R == RZ) {
        return __half_as_ushort(__float2half_rz(x));
    } else if constexpr (F == FORMAT_F16 && R == CUT) {
        const uint32_t normal = (magnitude - ((127 - 15) << 23)) >> 13;
        const uint32_t part = magnitude < 0x38800000   ? 0      /* 2^-14 */
                              : magnitude < 0x47800000 ? normal /* 2^16 */
                                                       : format<F>::infinity;
        return part | sign >> 16;
    } else if constexpr (F == FORMAT_F16 && (R == BIT21 || R == BIT22)) {
        const __half kept = __float2half_rz(x);
        const bool up = __half2float(kept) != x && fraction_bit(magnitude, R == BIT21 ? 21 : 22);
        return magnitude < 0x47800000 ? __half_as_ushort(kept) + up
                                      : format<F>::infinity | sign >> 16;
    } else if constexpr (F == FORMAT_BF16 && R == RN) {
        return __bfloat16_as_ushort(__float2bfloat16_rn(x));
    } else {
        static_assert(F == FORMAT_TF32 && R == RNA);
        return ((magnitude + 0x1000) & ~0x1fffu) | sign;
    }
}

template <int F, rule R>
__device__ uint32_t make_part(float x, const bitcut_rounding &any)
{
    if constexpr (R == ANY && F == FORMAT_S8)
        return round_integer(__float_as_uint(x), any);
    else if constexpr (R == ANY) return round_part<F>(__float_as_uint(x), any);
    else return isnan(x) ? format<F>::nan : make_number<F, R>(x);
}

/* The value of a part, for formats whose parts leave residuals. */
template <int F> __device__ float part_value(uint32_t part)
{
    static_assert(F != FORMAT_E4M3 && F != FORMAT_S8);
    if constexpr (F == FORMAT_F16) return __half2float(__ushort_as_half((uint16_t)part));
    else return __uint_as_float(F == FORMAT_BF16 ? part << 16 : part);
}

} // namespace

#endif
