/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 and FP16 of vector instructions on encodings: IEEE 754, to nearest even unless
   stated otherwise, subnormals preserved.  A NaN result is the first operand that is a
   NaN, made quiet.  If no operand is a NaN, it is 0xffc00000; this is the model's choice,
   because no document defines it.  The calling thread is in the mode of
   hostfp_enter(). */
#ifndef BITCUT_EMU_GFX9_FLOAT_H
#define BITCUT_EMU_GFX9_FLOAT_H

#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>

#define FLOAT_SIGN  0x80000000u
#define FLOAT_QUIET 0x00400000u
#define FLOAT_NAN   0xffc00000u
#define HALF_SIGN   0x8000u
#define HALF_ONE    0x3c00u

/* `d`, or the NaN of an operand. */
static inline uint32_t float_result(float d, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t nan = f32_is_nan(a)   ? a | FLOAT_QUIET
                         : f32_is_nan(b) ? b | FLOAT_QUIET
                         : f32_is_nan(c) ? c | FLOAT_QUIET
                                         : FLOAT_NAN;
    return d == d ? bits_of_float(d) : nan;
}

static inline uint32_t float_add(uint32_t a, uint32_t b)
{
    return float_result(float_of_bits(a) + float_of_bits(b), a, b, 0);
}

static inline uint32_t float_multiply(uint32_t a, uint32_t b)
{
    return float_result(float_of_bits(a) * float_of_bits(b), a, b, 0);
}

/* Rounded to nearest.  The hardware's result is within 1 ulp, which compilers allow for
   when they divide integers by it ("CDNA3 ISA", V_RCP_IFLAG_F32). */
static inline uint32_t float_reciprocal(uint32_t a)
{
    return float_result(1.0f / float_of_bits(a), a, 0, 0);
}

static inline uint32_t float_fma(uint32_t a, uint32_t b, uint32_t c)
{
    return float_result(fmaf(float_of_bits(a), float_of_bits(b), float_of_bits(c)), a, b,
                        c);
}

/* A signalling NaN, made quiet; otherwise the operand that is not a NaN; -0 is below +0.
   This is IEEE mode, which the kernel's descriptor must request ("CDNA3 ISA", V_MIN_F32,
   V_MAX_F32). */
static inline uint32_t float_either(uint32_t a, uint32_t b, bool second)
{
    if (f32_is_nan(a) && !(a & FLOAT_QUIET)) return a | FLOAT_QUIET;
    if (f32_is_nan(b) && !(b & FLOAT_QUIET)) return b | FLOAT_QUIET;
    if (f32_is_nan(a)) return b;
    return second && !f32_is_nan(b) ? b : a;
}

static inline uint32_t float_least(uint32_t a, uint32_t b)
{
    const float x = float_of_bits(a), y = float_of_bits(b);
    return float_either(a, b, y < x || (x == y && b & FLOAT_SIGN));
}

static inline uint32_t float_most(uint32_t a, uint32_t b)
{
    const float x = float_of_bits(a), y = float_of_bits(b);
    return float_either(a, b, y > x || (x == y && a & FLOAT_SIGN));
}

/* The larger of the two operands that remain without the largest ("CDNA3 ISA",
   V_MED3_F32). */
static inline uint32_t float_middle(uint32_t a, uint32_t b, uint32_t c)
{
    if (f32_is_nan(a) || f32_is_nan(b) || f32_is_nan(c))
        return float_least(float_least(a, b), c);
    const float most = float_of_bits(float_most(float_most(a, b), c));
    if (most == float_of_bits(a)) return float_most(b, c);
    return most == float_of_bits(b) ? float_most(a, c) : float_most(a, b);
}

/* a 2^b, rounded once. */
static inline uint32_t float_scale(uint32_t a, int32_t b)
{
    return float_result(ldexpf(float_of_bits(a), b), a, 0, 0);
}

/* x rounded to an integer. */
uint32_t float_whole(uint32_t x, enum direction direction);

/* e and m of x = m 2^e, 1/2 <= |m| < 1; for zeros, infinities and NaNs 0 and x. */
int float_exponent(uint32_t x);
uint32_t float_significand(uint32_t x);

/* x rounded toward zero.  A value out of range becomes the nearest limit, and a NaN
   becomes 0. */
uint32_t float_to_unsigned(uint32_t x);
uint32_t float_to_signed(uint32_t x);

/* The bit of x in a class mask: 0 and 1 signalling and quiet NaN, 2 to 9 from -infinity
   to infinity. */
int float_class(uint32_t x);

/* Convert to f16 by a row of the table of roundings, and back.  NaNs retain their sign
   and the high bits of their fraction, and become quiet. */
uint32_t float_to_half(uint32_t x, int rounding);
uint32_t float_of_half(uint32_t x);

uint32_t half_fma(uint32_t a, uint32_t b, uint32_t c);
uint32_t half_multiply(uint32_t a, uint32_t b);
float half_value(uint32_t x);

/* v_perm_b32: each selector picks one of eight bytes, or a constant.  The second function
   does the same for bytes only; constants give 0. */
uint32_t permuted(uint64_t bytes, uint32_t selectors);
uint32_t permuted_from(uint64_t bytes, uint32_t selectors);

uint32_t reversed(uint32_t x);

#endif
