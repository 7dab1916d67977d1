/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/gfx9/float.h"

#include "lib/number/bits.h"

uint32_t float_whole(uint32_t x, enum direction direction)
{
    const float value = float_of_bits(x);
    switch (direction) {
    case TO_ZERO: return float_result(truncf(value), x, 0, 0);
    case TO_POSITIVE: return float_result(ceilf(value), x, 0, 0);
    case TO_NEGATIVE: return float_result(floorf(value), x, 0, 0);
    default: return float_result(rintf(value), x, 0, 0);
    }
}

static bool is_ordinary(uint32_t x)
{
    const float value = float_of_bits(x);
    return isfinite(value) && (x & ~FLOAT_SIGN);
}

int float_exponent(uint32_t x)
{
    int exponent = 0;
    if (is_ordinary(x)) frexpf(float_of_bits(x), &exponent);
    return exponent;
}

uint32_t float_significand(uint32_t x)
{
    int exponent;
    if (f32_is_nan(x)) return x | FLOAT_QUIET;
    return is_ordinary(x) ? bits_of_float(frexpf(float_of_bits(x), &exponent)) : x;
}

uint32_t float_to_unsigned(uint32_t x)
{
    const float value = float_of_bits(x);
    if (!(value > 0)) return 0;
    return value >= 0x1p32f ? UINT32_MAX : (uint32_t)value;
}

uint32_t float_to_signed(uint32_t x)
{
    const float value = float_of_bits(x);
    if (value != value) return 0;
    if (value >= 0x1p31f) return INT32_MAX;
    return value <= -0x1p31f ? FLOAT_SIGN : (uint32_t)(int32_t)value;
}

int float_class(uint32_t x)
{
    const float value = float_of_bits(x);
    const bool negative = x & FLOAT_SIGN;
    if (f32_is_nan(x)) return x & FLOAT_QUIET ? 1 : 0;
    switch (fpclassify(value)) {
    case FP_INFINITE: return negative ? 2 : 9;
    case FP_NORMAL: return negative ? 3 : 8;
    case FP_SUBNORMAL: return negative ? 4 : 7;
    default: return negative ? 5 : 6;
    }
}

/* --- f16 -------------------------------------------------------------------------- */

uint32_t float_to_half(uint32_t x, int rounding)
{
    const struct bitcut_format *f16 = &formats[FORMAT_F16], *f32 = &formats[FORMAT_F32];
    const struct number n = format_decode(f32, x);
    const uint32_t sign = x >> 16 & HALF_SIGN;
    if (n.kind == NUMBER_NAN) return sign | 0x7e00 | (x >> 13 & 0x1ff);
    if (n.kind == NUMBER_INF) return sign | 0x7c00;
    if (n.kind == NUMBER_ZERO) return sign;
    return (uint32_t)round_pack(f16, &roundings[rounding], number_unrounded(f32, n));
}

uint32_t float_of_half(uint32_t x)
{
    const uint32_t sign = (x & HALF_SIGN) << 16, rest = x & 0x7fff;
    if (rest > 0x7c00) return sign | 0x7fc00000 | (rest & 0x1ff) << 13;
    if (rest == 0x7c00) return sign | 0x7f800000;
    return sign | bits_of_float(ldexpf(float_of_bits(rest << 13), 112));
}

float half_value(uint32_t x) { return float_of_bits(float_of_half(x)); }

/* The NaN of an operand, or the result of fma_round(). */
uint32_t half_fma(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t each[] = { a & 0xffff, b & 0xffff, c & 0xffff };
    for (int i = 0; i < 3; i++)
        if ((each[i] & 0x7fff) > 0x7c00) return each[i] | 0x200;
    return (uint32_t)fma_round(&formats[FORMAT_F16], &roundings[ROUND_RN], 0xfe00,
                               each[0], each[1], each[2]);
}

/* -0 is added, because it changes no product. */
uint32_t half_multiply(uint32_t a, uint32_t b)
{
    const uint32_t sign = (a ^ b) & HALF_SIGN;
    return half_fma(a, b, sign);
}

/* --- bytes ------------------------------------------------------------------------ */

uint32_t permuted_from(uint64_t bytes, uint32_t selectors)
{
    uint32_t d = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t s = selectors >> 8 * i & 255;
        const bool signs = 8 <= s && s < 12; /* for words 0 to 3, in every bit */
        if (s < 8) d |= (uint32_t)(bytes >> 8 * s & 255) << 8 * i;
        else if (signs && bytes >> (16 * (s - 8) + 15) & 1) d |= 255u << 8 * i;
    }
    return d;
}

uint32_t permuted(uint64_t bytes, uint32_t selectors)
{
    uint32_t d = permuted_from(bytes, selectors);
    for (int i = 0; i < 4; i++)
        if ((selectors >> 8 * i & 255) > 12) d |= 255u << 8 * i;
    return d;
}

uint32_t reversed(uint32_t x)
{
    uint32_t d = 0;
    for (int i = 0; i < 32; i++) d |= (x >> i & 1) << (31 - i);
    return d;
}
