/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion of values between formats, for devices: the operations of
   lib/number/format.c, lib/number/round.c, lib/number/split.c and
   lib/number/equilibrate.c, for numbers that FP32 can represent, as FP32 encodings.  All
   values of the formats are FP32 values.  Rows may be copies, so only their fields are
   read.

   C, for tests and models, whose caller rounds to nearest and preserves subnormals; and
   CUDA.  Everything is exact, or rounded once as its comment says.  Unless a comment says
   otherwise, a NaN is any NaN. */
#ifndef BITCUT_GPU_EMULATE_VALUE_H
#define BITCUT_GPU_EMULATE_VALUE_H

#include "gpu/emulate/rule.h"

#include <math.h>
#include <string.h>

#ifdef __CUDACC__
#define EMULATE       static __device__ __forceinline__
#define EMULATE_LARGE static __device__ __noinline__
#else
#define EMULATE       static inline
#define EMULATE_LARGE static inline
#endif

/* FP32: infinity, the NaN of conversions, the sign, and the exponent bias. */
#define EMULATE_INFINITY 0x7f800000u
#define EMULATE_NAN      0x7fc00000u
#define EMULATE_SIGN     0x80000000u
#define EMULATE_BIAS     127

/* --- FP32 encodings ----------------------------------------------------------------- */

EMULATE float emulate_float(uint32_t x)
{
    float f;
    memcpy(&f, &x, sizeof f);
    return f;
}

EMULATE uint32_t emulate_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

EMULATE uint32_t emulate_magnitude(uint32_t x) { return x & ~EMULATE_SIGN; }

EMULATE uint32_t emulate_sign(bool negative) { return negative ? EMULATE_SIGN : 0; }

EMULATE bool emulate_is_nan(uint32_t x)
{
    return emulate_magnitude(x) > EMULATE_INFINITY;
}

EMULATE bool emulate_is_infinite(uint32_t x)
{
    return emulate_magnitude(x) == EMULATE_INFINITY;
}

/* A finite x is (-1)^sign significand 2^(exponent - 23); a subnormal x has the exponent
   -126. */
EMULATE uint32_t emulate_significand(uint32_t x)
{
    return (x & 0x7fffff) | (uint32_t)((x & EMULATE_INFINITY) != 0) << 23;
}

EMULATE int emulate_exponent_of(uint32_t x)
{
    const int field = (int)(x >> 23 & 255);
    return (field ? field : 1) - EMULATE_BIAS;
}

/* The position, 0 to 63, of the highest bit of x, which is not 0. */
EMULATE int emulate_top(uint64_t x)
{
#ifdef __CUDA_ARCH__
    return 63 - __clzll((long long)x);
#else
    return 63 - __builtin_clzll(x);
#endif
}

/* kept 2^last, which FP32 can represent, as a magnitude. */
EMULATE uint32_t emulate_value(uint64_t kept, int last)
{
    if (kept == 0) return 0;
    const int highest = emulate_top(kept), top = highest + last, shift = 23 - highest;
    if (top < -126) return (uint32_t)(kept << (last + 149));
    const uint64_t significand = shift >= 0 ? kept << shift : kept >> -shift;
    return ((uint32_t)(top + EMULATE_BIAS) << 23) | (uint32_t)(significand & 0x7fffff);
}

/* --- arithmetic --------------------------------------------------------------------- */

/* a b + c, rounded once to nearest even, or `nan`: job_fma() of emu/job.h. */
EMULATE uint32_t emulate_fma(uint32_t nan, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t d =
        emulate_bits(fmaf(emulate_float(a), emulate_float(b), emulate_float(c)));
    return emulate_is_nan(d) ? nan : d;
}

/* a b and a + b, to nearest even. */
EMULATE uint32_t emulate_multiply(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return emulate_bits(__fmul_rn(emulate_float(a), emulate_float(b)));
#else
    return emulate_bits(emulate_float(a) * emulate_float(b));
#endif
}

EMULATE uint32_t emulate_add(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return emulate_bits(__fadd_rn(emulate_float(a), emulate_float(b)));
#else
    return emulate_bits(emulate_float(a) + emulate_float(b));
#endif
}

/* 2^e, -126 <= e <= 127. */
EMULATE uint32_t emulate_power(int e) { return (uint32_t)(e + EMULATE_BIAS) << 23; }

/* --- formats ------------------------------------------------------------------------ */

EMULATE bool emulate_is_f32(const struct bitcut_format *f)
{
    return f->exponent_bits == 8 && f->fraction_bits == 23;
}

/* The exponents of the smallest normal and of the largest finite value: format_emin(),
   format_emax(). */
EMULATE int emulate_emin(const struct bitcut_format *f)
{
    return (f->special != SPECIAL_E8M0) - f->bias;
}

EMULATE int emulate_emax(const struct bitcut_format *f)
{
    const bool reserved = f->special == SPECIAL_IEEE || f->special == SPECIAL_E8M0;
    return (1 << f->exponent_bits) - 1 - f->bias - reserved;
}

/* Whether x is not zero and below the format's normal values. */
EMULATE bool emulate_is_subnormal(const struct bitcut_format *f, uint32_t x)
{
    return emulate_magnitude(x) != 0 &&
           (int)(x >> 23 & 255) - EMULATE_BIAS < emulate_emin(f);
}

/* The special values of the format: format_largest(), format_infinity(), format_nan(),
   format_zero(). */
EMULATE uint32_t emulate_largest(const struct bitcut_format *f, bool negative)
{
    const uint64_t ones = ((uint64_t)2 << f->fraction_bits) - 1;
    return emulate_sign(negative) | emulate_value(ones - (f->special == SPECIAL_FN),
                                                  emulate_emax(f) - f->fraction_bits);
}

EMULATE uint32_t emulate_infinity(const struct bitcut_format *f, bool negative)
{
    if (f->special == SPECIAL_IEEE) return EMULATE_INFINITY | emulate_sign(negative);
    return f->nan ? EMULATE_NAN : emulate_largest(f, negative);
}

EMULATE uint32_t emulate_nan(const struct bitcut_format *f)
{
    return f->nan ? EMULATE_NAN : emulate_largest(f, false);
}

EMULATE uint32_t emulate_zero(const struct bitcut_format *f, bool negative)
{
    if (f->special == SPECIAL_E8M0) return emulate_value(1, emulate_emin(f));
    return emulate_sign(negative && f->has_sign && f->special != SPECIAL_FNUZ);
}

/* --- rounding ----------------------------------------------------------------------- */

/* significand 2^exponent in units of 2^drop, drop >= 1, increased by one step or not,
   depending on the bits below. */
EMULATE uint64_t emulate_step(const struct bitcut_rounding *r, uint64_t significand,
                              int exponent, bool negative, int drop)
{
    const uint64_t kept = drop < 64 ? significand >> drop : 0;
    const uint64_t rest = drop < 64 ? significand - (kept << drop) : significand;
    const uint64_t half = drop <= 64 ? (uint64_t)1 << (drop - 1) : 0;
    const bool lost = rest != 0, above = half && rest > half, tie = half && rest == half;
    switch (r->direction) {
    case TO_NEAREST_EVEN: return kept + (above || (tie && (kept & 1)));
    case TO_NEAREST_AWAY: return kept + (above || tie);
    case TO_POSITIVE: return kept + (lost && !negative);
    case TO_NEGATIVE: return kept + (lost && negative);
    case TO_ODD: return kept | lost;
    case BY_BIT: {
        const int top = emulate_top(significand) + exponent;
        const int at = (top < -126 ? -126 : top) - r->bit - exponent;
        return kept + (lost && at >= 0 && at < 64 && (significand >> at & 1));
    }
    default: return kept;
    }
}

EMULATE uint32_t emulate_overflow(const struct bitcut_format *f,
                                  const struct bitcut_rounding *r, bool negative)
{
    const bool away = r->direction == TO_NEAREST_EVEN ||
                      r->direction == TO_NEAREST_AWAY || r->direction == BY_BIT ||
                      r->direction == (negative ? TO_NEGATIVE : TO_POSITIVE);
    const bool infinite =
        r->overflow == OVERFLOW_IEEE ? away : r->overflow == OVERFLOW_INF;
    return infinite ? emulate_infinity(f, negative) : emulate_largest(f, negative);
}

/* (-1)^negative significand 2^exponent rounded to the format: round_pack(), as FP32.  A
   significand may represent more bits than it has, if it was rounded to odd and has two
   more bits than the format. */
EMULATE_LARGE uint32_t emulate_pack(const struct bitcut_format *f,
                                    const struct bitcut_rounding *r, uint64_t significand,
                                    int exponent, bool negative)
{
    if (significand == 0) return emulate_zero(f, negative);
    if (negative && !f->has_sign) return emulate_nan(f);
    const int emin = emulate_emin(f), top = emulate_top(significand) + exponent;
    const int last = (top < emin ? emin : top) - f->fraction_bits, drop = last - exponent;
    const uint64_t implicit = (uint64_t)1 << f->fraction_bits;
    const uint64_t kept = drop <= 0
                              ? significand << -drop
                              : emulate_step(r, significand, exponent, negative, drop);
    const bool flushed =
        r->flush == FLUSH_BEFORE ? top < emin : r->flush && kept < implicit;
    if (kept == 0 || flushed) return emulate_zero(f, negative);
    const int rounded = last + f->fraction_bits + (kept == 2 * implicit);
    if (rounded > emulate_emax(f)) return emulate_overflow(f, r, negative);
    const uint32_t value = emulate_value(kept, last);
    if (value > emulate_largest(f, false)) return emulate_overflow(f, r, negative);
    return value | emulate_sign(negative);
}

/* Whether x is a normal value of the format, which has fraction bits, below its largest
   binade, as most values are. */
EMULATE bool emulate_is_typical(const struct bitcut_format *f, uint32_t x)
{
    const int field = (int)(x >> 23 & 255), e = field - EMULATE_BIAS;
    return field != 0 && e >= emulate_emin(f) && e < emulate_emax(f) &&
           f->fraction_bits > 0 && (f->has_sign || !(x >> 31));
}

/* Round such an x in its encoding, where the fraction carries into the exponent. */
EMULATE uint32_t emulate_round_typical(const struct bitcut_format *f,
                                       const struct bitcut_rounding *r, uint32_t x)
{
    const int drop = 23 - f->fraction_bits, at = 23 - r->bit;
    const uint32_t kept = x >> drop, rest = x - (kept << drop),
                   half = drop ? 1u << (drop - 1) : 0;
    if (r->direction == TO_NEAREST_EVEN)
        return half ? (x + (half - 1) + (kept & 1)) >> drop << drop : x;
    if (rest == 0) return x;
    bool up = false;
    switch (r->direction) {
    case TO_NEAREST_AWAY: up = rest >= half; break;
    case TO_POSITIVE: up = !(x >> 31); break;
    case TO_NEGATIVE: up = x >> 31; break;
    case TO_ODD: up = !(kept & 1); break;
    case BY_BIT: up = at >= 0 && emulate_significand(x) >> at & 1; break;
    default: break;
    }
    return (kept + up) << drop;
}

EMULATE_LARGE uint32_t emulate_round_rare(const struct bitcut_format *f,
                                          const struct bitcut_rounding *r, uint32_t x)
{
    const bool negative = x >> 31;
    if (emulate_is_nan(x)) return emulate_nan(f);
    if (!emulate_is_infinite(x))
        return emulate_pack(f, r, emulate_significand(x), emulate_exponent_of(x) - 23,
                            negative);
    if (negative && !f->has_sign) return emulate_nan(f);
    return r->overflow == OVERFLOW_SATURATE ? emulate_largest(f, negative)
                                            : emulate_infinity(f, negative);
}

/* x rounded to the format and read back: bitcut_format_convert() to the format and to
   FP32. */
EMULATE uint32_t emulate_round(const struct bitcut_format *f,
                               const struct bitcut_rounding *r, uint32_t x)
{
    return emulate_is_typical(f, x) ? emulate_round_typical(f, r, x)
                                    : emulate_round_rare(f, r, x);
}

/* To nearest even. */
EMULATE struct bitcut_rounding emulate_nearest(void)
{
    struct bitcut_rounding r;
    memset(&r, 0, sizeof r);
    r.direction = TO_NEAREST_EVEN;
    r.overflow = OVERFLOW_IEEE;
    return r;
}

/* --- parts -------------------------------------------------------------------------- */

/* Part w of x: split_apply() of lib/number/split.h, as FP32.  Residuals are rounded to
   nearest by an FP32 subtraction, and scaled by an FP32 product. */
EMULATE uint32_t emulate_part(const struct split_rule *s, uint32_t x, int w)
{
    uint32_t residual = x, part = 0;
    for (int i = 0, level = 0; i <= w; i++) {
        const bool copy = s->part[i].copy;
        const int up =
            i ? s->scale * (copy ? s->part[i].level : s->part[i].level - level) : 0;
        if (copy && i < w) continue;
        const uint32_t of = copy ? x : residual;
        const uint32_t from = up ? emulate_multiply(of, emulate_power(up)) : of;
        part = emulate_round(&s->part[i].format, &s->part[i].rounding, from);
        residual = emulate_add(from, part ^ EMULATE_SIGN);
        level = s->part[i].level;
    }
    return part;
}

/* The value as which a unit reads a part of A, or of B: unit_read() of emu/engine.h.
   Exact, except that a unit that flushes its inputs reads a subnormal part as +0. */
EMULATE uint32_t emulate_read(const struct unit_rule *r, bool is_b, uint32_t x)
{
    return r->flush_inputs && emulate_is_subnormal(&r->operand[is_b], x) ? 0 : x;
}

/* --- elements of matrices ----------------------------------------------------------- */

/* The integer has fewer bits than FP32's significand. */
EMULATE uint32_t emulate_decode_integer(const struct bitcut_format *f, uint64_t encoding)
{
    const bool negative = f->has_sign && encoding >> (f->bits - 1) & 1;
    const uint64_t all = (uint64_t)1 << f->bits;
    if (encoding == 0) return 0;
    return emulate_sign(negative) |
           emulate_value(negative ? all - encoding : encoding, 0);
}

EMULATE_LARGE uint32_t emulate_decode_rare(const struct bitcut_format *f,
                                           uint64_t encoding)
{
    if (f->special == SPECIAL_INTEGER) return emulate_decode_integer(f, encoding);
    const uint64_t magnitude = encoding >> f->pad,
                   ones = ((uint64_t)1 << f->fraction_bits) - 1;
    const uint64_t fraction = magnitude & ones;
    const int most = (1 << f->exponent_bits) - 1;
    const int field = (int)(magnitude >> f->fraction_bits & (uint64_t)most);
    const bool negative = f->has_sign && encoding >> (f->bits - 1) & 1;
    const bool normal = field != 0 || f->special == SPECIAL_E8M0;
    bool nan = false;
    switch (f->special) {
    case SPECIAL_IEEE:
        if (field == most && fraction == 0)
            return EMULATE_INFINITY | emulate_sign(negative);
        nan = field == most;
        break;
    case SPECIAL_FN: nan = field == most && fraction == ones; break;
    case SPECIAL_FNUZ: nan = negative && field == 0 && fraction == 0; break;
    case SPECIAL_E8M0: nan = field == most; break;
    default: break;
    }
    if (nan) return EMULATE_NAN;
    return emulate_sign(negative) |
           emulate_value(fraction | (uint64_t)normal << f->fraction_bits,
                         (normal ? field - f->bias : emulate_emin(f)) - f->fraction_bits);
}

/* The value of an encoding: view_gather() of lib/gemm/view.h.  Exact; an FP32 NaN is
   unchanged, and a NaN of another format becomes 0x7fc00000. */
EMULATE uint32_t emulate_decode(const struct bitcut_format *f, uint32_t encoding)
{
    if (emulate_is_f32(f)) return encoding;
    const uint32_t magnitude = encoding >> f->pad;
    const int most = (1 << f->exponent_bits) - 1,
              field = (int)(magnitude >> f->fraction_bits) & most;
    if (field == 0 || field == most) return emulate_decode_rare(f, encoding);
    return emulate_sign(f->has_sign && encoding >> (f->bits - 1) & 1) |
           (uint32_t)(field - f->bias + EMULATE_BIAS) << 23 |
           (magnitude & ((1u << f->fraction_bits) - 1)) << (23 - f->fraction_bits);
}

/* The encoding of a finite value of the format. */
EMULATE uint64_t emulate_encoding(const struct bitcut_format *f, uint32_t x)
{
    const uint64_t implicit = (uint64_t)1 << f->fraction_bits;
    const uint32_t significand = emulate_significand(x);
    const uint64_t sign = (uint64_t)(x >> 31) << (f->bits - 1);
    if (significand == 0) return sign;
    const int emin = emulate_emin(f), own = emulate_exponent_of(x) - 23;
    const int top = emulate_top(significand) + own;
    const int shift = own - ((top < emin ? emin : top) - f->fraction_bits);
    const uint64_t kept =
        shift >= 0 ? (uint64_t)significand << shift : (uint64_t)significand >> -shift;
    const uint64_t field = kept < implicit ? 0 : (uint64_t)(top + f->bias);
    return (field << f->fraction_bits | (kept & (implicit - 1))) << f->pad | sign;
}

EMULATE_LARGE uint64_t emulate_encode_rare(const struct bitcut_format *f, uint32_t x)
{
    const struct bitcut_rounding nearest = emulate_nearest();
    const uint64_t sign = (uint64_t)(f->has_sign && x >> 31) << (f->bits - 1),
                   infinity = (((uint64_t)1 << f->exponent_bits) - 1)
                              << (f->fraction_bits + f->pad);
    if (emulate_is_nan(x) && f->special == SPECIAL_IEEE)
        return sign | infinity |
               (uint64_t)((x & 0x7fffff) >> (23 - f->fraction_bits)) << f->pad;
    const uint32_t v = emulate_round(f, &nearest, x);
    if (emulate_is_infinite(v)) return sign | infinity;
    if (!emulate_is_nan(v)) return emulate_encoding(f, v);
    return emulate_is_nan(x) ? f->nan : f->nan | sign;
}

/* The encoding of x in a format of D: view_set() of lib/gemm/view.h.  Rounded to nearest
   even; a NaN has its leading bits in the format, or is the format's only NaN. */
EMULATE uint64_t emulate_encode(const struct bitcut_format *f, uint32_t x)
{
    return emulate_is_f32(f) ? x : emulate_encode_rare(f, x);
}

/* --- equilibration ------------------------------------------------------------------ */

/* equilibrate_exponent() of lib/number/equilibrate.h, for a split of this target. */
EMULATE int emulate_exponent(int target, uint32_t largest)
{
    if (largest == 0) return 0;
    return target - (emulate_top(emulate_significand(largest)) - 23 +
                     emulate_exponent_of(largest));
}

/* equilibrate_scale(): 2^exponent x, rounded once to nearest even, -512 <= exponent <=
   512.  The product is exact in binary64. */
EMULATE uint32_t emulate_scale(uint32_t x, int exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
#ifdef __CUDA_ARCH__
    return emulate_bits(__double2float_rn(__dmul_rn((double)emulate_float(x), power)));
#else
    return emulate_bits((float)((double)emulate_float(x) * power));
#endif
}

#endif
