/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/fma.h"

#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/wide.h"

#include <assert.h>

/* The sign of an exact zero sum of a product and c, to nearest. */
static bool zero_is_negative(bool product_negative, struct number c)
{
    return product_negative && c.negative;
}

uint64_t fma_round(const struct bitcut_format *f, const struct bitcut_rounding *r,
                   uint64_t nan, uint64_t a, uint64_t b, uint64_t c)
{
    const struct number x = format_decode(f, a), y = format_decode(f, b);
    const struct number z = format_decode(f, c);
    const bool negative = x.negative != y.negative;
    if (x.kind == NUMBER_NAN || y.kind == NUMBER_NAN || z.kind == NUMBER_NAN)
        return nan;
    if (x.kind == NUMBER_INF || y.kind == NUMBER_INF) {
        if (x.kind == NUMBER_ZERO || y.kind == NUMBER_ZERO) return nan;
        if (z.kind == NUMBER_INF && z.negative != negative) return nan;
        return format_infinity(f, negative);
    }
    if (z.kind == NUMBER_INF) return format_infinity(f, z.negative);

    const struct term terms[2] = {
        { (bitcut_uint128)x.significand * y.significand,
          x.exponent + y.exponent - 2 * f->fraction_bits, negative },
        { z.significand, z.exponent - f->fraction_bits, z.negative },
    };
    struct unrounded sum = wide_sum(terms, 2);
    if (sum.significand == 0) sum.negative = zero_is_negative(negative, z);
    return round_pack(f, r, sum);
}

uint32_t f32_fma(uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)fma_round(&formats[FORMAT_F32], &roundings[ROUND_RN], F32_NAN, a, b,
                               c);
}

/* The exponent field and the significand of an FP32 encoding that is a normal number. */
static int field_of(uint32_t x) { return x >> 23 & 0xff; }
static bool is_normal(uint32_t x) { return field_of(x) % 255 != 0; }
static uint64_t significand_of(uint32_t x) { return (x & 0x7fffff) | 1u << 23; }

static uint32_t f32_pack(uint64_t significand, int exponent, bool negative)
{
    const struct unrounded x = { .significand = significand,
                                 .exponent = exponent,
                                 .negative = negative };
    return (uint32_t)round_pack(&formats[FORMAT_F32], &roundings[ROUND_RN], x);
}

/* The sum of normal numbers at most 2^SPAN apart, which has at most 63 bits. */
static uint32_t add_normal(uint32_t a, uint32_t b)
{
    const int down = field_of(a) - field_of(b);
    const int64_t x = (int64_t)(significand_of(a) << (down > 0 ? down : 0)),
                  y = (int64_t)(significand_of(b) << (down < 0 ? -down : 0));
    const int64_t sum = (a >> 31 ? -x : x) + (b >> 31 ? -y : y);
    const int least = down < 0 ? field_of(a) : field_of(b);
    return f32_pack((uint64_t)(sum < 0 ? -sum : sum), least - 127 - 23, sum < 0);
}

uint32_t f32_add(uint32_t a, uint32_t b)
{
    enum { SPAN = 38 };
    const int down = field_of(a) - field_of(b);
    return is_normal(a) && is_normal(b) && down <= SPAN && -down <= SPAN
               ? add_normal(a, b)
               : f32_fma(a, F32_ONE, b);
}

uint32_t f32_multiply(uint32_t a, uint32_t b)
{
    if (is_normal(a) && is_normal(b))
        return f32_pack(significand_of(a) * significand_of(b),
                        field_of(a) + field_of(b) - 2 * (127 + 23), (a ^ b) >> 31);
    /* Adding a zero with the sign of the product preserves the sign of a zero product. */
    return f32_fma(a, b, (a ^ b) & 0x80000000u);
}

uint32_t f32_sum(double x, double y)
{
    const struct two_sum s = two_sum(x, y);
    uint64_t bits = bits_of_double(s.sum);
    if (s.error != 0 && (bits & 1) == 0)
        bits = (s.error > 0) == (s.sum > 0) ? bits + 1 : bits - 1;
    return bits_of_float((float)double_of_bits(bits));
}

/* a b is exact in binary64. */
uint32_t f32_fused(uint32_t nan, uint32_t a, uint32_t b, uint32_t c)
{
    const double product = value_of_float(a) * value_of_float(b), z = value_of_float(c);
    const double sum = product + z;
    if (sum - sum == 0) return f32_sum(product, z);
    return (uint32_t)fma_round(&formats[FORMAT_F32], &roundings[ROUND_RN], nan, a, b,
                               c); /* NaN and Inf */
}

uint32_t f32_power_of_two(int exponent)
{
    assert(exponent >= -149 && exponent <= 127);
    return exponent >= -126 ? (uint32_t)(exponent + 127) << 23 : 1u << (exponent + 149);
}
