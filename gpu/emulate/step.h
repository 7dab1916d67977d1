/* SPDX-License-Identifier: BSD-3-Clause */
/* How a unit adds, for devices: the definition of emu/engine.c and emu/sum_*.c again, for
   the units on which GEMMs run, and for values that FP32 can represent.  Operands come
   from emulate_read(), in the order in which they enter the blocks (rule->order).  An
   accumulator is an f32 or f16 value as an FP32 encoding.  Every bit equals the engine's,
   zero signs included, for all operands and accumulators; a NaN is rule->nan.

   Not all rules of the engine are accepted: sums that drop no bits must have blocks of at
   most STEP_EXACT_MAX, and serial sums must retain at most STEP_KEEP_MAX bits.  All rows
   of the table of units are accepted.  C and CUDA, as gpu/emulate/value.h. */
#ifndef BITCUT_GPU_EMULATE_STEP_H
#define BITCUT_GPU_EMULATE_STEP_H

#include "gpu/emulate/value.h"

enum { STEP_EXACT_MAX = 4, STEP_KEEP_MAX = 52 };

/* --- numbers ------------------------------------------------------------------------ */

/* The exponent of a zero: a product with it has an exponent below any other. */
enum { STEP_NONE = -20000 };

/* (-1)^negative significand 2^place, which aligns by `exponent`: for a product, the sum
   of its operands' exponents, or the exponent of its leading bit. */
struct step_term {
    uint64_t significand;
    int place, exponent;
    bool negative;
};

/* A value in a format whose smallest exponent is emin. */
EMULATE struct step_term step_value(uint32_t x, int emin)
{
    const int exponent = emulate_exponent_of(x);
    struct step_term t;
    t.significand = emulate_significand(x);
    t.place = exponent - 23;
    t.exponent = t.significand == 0 ? (int)STEP_NONE : exponent < emin ? emin : exponent;
    t.negative = x >> 31;
    return t;
}

EMULATE struct step_term step_accumulator(const struct unit_rule *r, uint32_t c)
{
    return step_value(c, emulate_emin(&r->c));
}

/* The exponent of the leading bit of a nonzero term. */
EMULATE int step_top(const struct step_term *t)
{
    return emulate_top(t->significand) + t->place;
}

EMULATE struct step_term step_product(const struct unit_rule *r, uint32_t a, uint32_t b)
{
    const struct step_term x = step_value(a, emulate_emin(&r->operand[0])),
                           y = step_value(b, emulate_emin(&r->operand[1]));
    struct step_term t;
    t.significand = x.significand * y.significand;
    t.place = x.place + y.place;
    t.negative = x.negative != y.negative;
    t.exponent = r->normalise && t.significand ? step_top(&t) : x.exponent + y.exponent;
    return t;
}

/* x 2^up, floored. */
EMULATE int64_t step_floor(int64_t x, int up)
{
    if (up >= 0) return (int64_t)((uint64_t)x << up);
    return x >> (up < -63 ? 63 : -up); /* >> of a negative number rounds down:
                                          lib/base/assume.h */
}

/* A term in units of 2^unit.  Lower bits are dropped from its magnitude or, with
   rule->floor, from the signed value: aligned() of emu/sum.h. */
EMULATE int64_t step_aligned(const struct unit_rule *r, const struct step_term *t,
                             int unit)
{
    const int up = t->place - unit;
    uint64_t m = 0;
    if (t->significand == 0) return 0;
    if (up >= 0) m = t->significand << up;
    else {
        if (up > -64) m = t->significand >> -up;
        if (r->floor && t->negative && (up <= -64 || t->significand != m << -up)) m++;
    }
    return t->negative ? -(int64_t)m : (int64_t)m;
}

/* --- special values ----------------------------------------------------------------- */

/* NaN and infinities in a set of terms, found before any finite arithmetic:
   emu/special.h. */
struct step_special {
    bool nan, positive, negative;
};

EMULATE void step_add_special(struct step_special *s, uint32_t x)
{
    s->nan |= emulate_is_nan(x);
    s->positive |= x == EMULATE_INFINITY;
    s->negative |= x == (EMULATE_INFINITY | EMULATE_SIGN);
}

/* Whether a nonzero product is too large for the result, if this makes it infinite. */
EMULATE bool step_overflows(const struct unit_rule *r, uint32_t a, uint32_t b)
{
    if (r->sum != RULE_TWO_STAGE) return false;
    const struct step_term t = step_product(r, a, b);
    return step_top(&t) > emulate_emax(&r->result);
}

EMULATE void step_add_special_product(struct step_special *s, const struct unit_rule *r,
                                      uint32_t a, uint32_t b)
{
    const bool infinite = emulate_is_infinite(a) || emulate_is_infinite(b);
    const bool zero = emulate_magnitude(a) == 0 || emulate_magnitude(b) == 0;
    if (emulate_is_nan(a) || emulate_is_nan(b) || (infinite && zero)) s->nan = true;
    else if (infinite || (!zero && step_overflows(r, a, b)))
        step_add_special(s, EMULATE_INFINITY | ((a ^ b) & EMULATE_SIGN));
}

EMULATE struct step_special step_ordinary(void)
{
    struct step_special s;
    s.nan = s.positive = s.negative = false;
    return s;
}

/* Whether the sum is NaN or infinite; if so, it is *d. */
EMULATE bool step_decided(uint32_t *d, const struct unit_rule *r, struct step_special s)
{
    if (s.nan || (s.positive && s.negative)) *d = r->nan;
    else *d = EMULATE_INFINITY | emulate_sign(s.negative);
    return s.nan || s.positive || s.negative;
}

/* Whether NaN or infinities determine the result of the step; if so, *d is the result. */
EMULATE bool step_is_special(uint32_t *d, const struct unit_rule *r, const uint32_t *a,
                             const uint32_t *b, uint32_t c)
{
    struct step_special s = step_ordinary();
    step_add_special(&s, c);
    for (int i = 0; i < r->block; i++) step_add_special_product(&s, r, a[i], b[i]);
    return step_decided(d, r, s);
}

/* --- the end of a sum --------------------------------------------------------------- */

/* Whether all terms are -0. */
EMULATE bool step_negative_zeros(const struct unit_rule *r, const uint32_t *a,
                                 const uint32_t *b, uint32_t c)
{
    bool all = c == EMULATE_SIGN;
    for (int i = 0; i < r->block && all; i++)
        all = (emulate_magnitude(a[i]) == 0 || emulate_magnitude(b[i]) == 0) &&
              (a[i] ^ b[i]) >> 31;
    return all;
}

/* Round (-1)^negative significand 2^exponent, with lower bits as for emulate_pack(), by
   the rule's rounding and its rule for zeros: sum_round() of emu/sum.h.  `zero` is the
   sign of an exact zero, for rules that need it. */
EMULATE uint32_t step_round(const struct unit_rule *r, uint64_t significand, int exponent,
                            bool negative, bool zero)
{
    if (significand == 0) negative = zero && r->zero == RULE_ZERO_IEEE;
    const uint32_t d =
        emulate_pack(&r->result, &r->rounding, significand, exponent, negative);
    return d == EMULATE_SIGN && r->zero == RULE_ZERO_POSITIVE ? 0 : d;
}

EMULATE uint32_t step_round_integer(const struct unit_rule *r, int64_t sum, int exponent,
                                    bool zero)
{
    const uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    return step_round(r, magnitude, exponent, sum < 0, zero);
}

/* --- fused, bits dropped ------------------------------------------------------------ */

/* emu/sum_fused.c, in 64-bit integers. */
EMULATE uint32_t step_fused(const struct unit_rule *r, const uint32_t *a,
                            const uint32_t *b, uint32_t c)
{
    const struct step_term z = step_accumulator(r, c);
    int exponent = z.exponent > r->align_min ? z.exponent : r->align_min;
    for (int i = 0; i < r->block; i++) {
        const int e = step_product(r, a[i], b[i]).exponent;
        if (e > exponent) exponent = e;
    }
    const int unit = exponent - r->fraction;
    int64_t sum = step_aligned(r, &z, unit);
    for (int i = 0; i < r->block; i++) {
        const struct step_term t = step_product(r, a[i], b[i]);
        sum += step_aligned(r, &t, unit);
    }
    return step_round_integer(r, sum, unit, step_negative_zeros(r, a, b, c));
}

/* --- sums in binary64 --------------------------------------------------------------- */

/* The values here are products of FP32 values, and sums of them: no operation is
   subnormal or overflows.  Each operation is rounded separately; no compiler may fuse
   them. */
EMULATE double step_plus(double x, double y)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(x, y);
#else
    return x + y;
#endif
}

/* Exact. */
EMULATE double step_wide_product(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    return __dmul_rn((double)emulate_float(a), (double)emulate_float(b));
#else
    return (double)emulate_float(a) * (double)emulate_float(b);
#endif
}

EMULATE uint64_t step_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

EMULATE double step_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x + y rounded to nearest, and its error (TwoSum: Knuth, TAOCP volume 2, section 4.2.2,
   theorem B). */
EMULATE double step_two_sum(double *error, double x, double y)
{
    const double sum = step_plus(x, y), back = step_plus(sum, -x);
    *error = step_plus(step_plus(x, -step_plus(sum, -back)), step_plus(y, -back));
    return sum;
}

/* x + y rounded to odd. */
EMULATE double step_odd_sum(double x, double y)
{
    double error;
    const double sum = step_two_sum(&error, x, y);
    const uint64_t bits = step_bits(sum);
    if (error == 0 || (bits & 1)) return sum;
    return step_double((sum < 0) == (error < 0) ? bits + 1 : bits - 1);
}

/* A sum that was rounded to odd, or is exact, rounded by the rule. */
EMULATE uint32_t step_round_double(const struct unit_rule *r, double x, bool zero)
{
    const uint64_t bits = step_bits(x), fraction = bits & 0xfffffffffffffull;
    const int field = (int)(bits >> 52 & 2047);
    return step_round(r, field ? fraction | (uint64_t)1 << 52 : 0, field - 1023 - 52,
                      bits >> 63, zero);
}

/* --- fused, nothing dropped --------------------------------------------------------- */

/* emu/sum_fused.c without dropped bits.  Terms are added to an expansion: doubles that do
   not overlap and are not adjacent, in increasing order (Shewchuk 1997, theorem 10).  So
   everything below a double can be rounded to odd, because rounding to odd twice equals
   rounding to odd once (Boldo and Melquiond 2008). */
EMULATE uint32_t step_exact(const struct unit_rule *r, const uint32_t *a,
                            const uint32_t *b, uint32_t c)
{
    double part[STEP_EXACT_MAX + 1], sum = 0;
    for (int i = 0; i <= STEP_EXACT_MAX; i++) {
        double rest = (double)emulate_float(c); /* the last term */
        if (i < STEP_EXACT_MAX) rest = i < r->block ? step_wide_product(a[i], b[i]) : 0;
        for (int j = 0; j < i; j++) rest = step_two_sum(&part[j], rest, part[j]);
        part[i] = rest;
    }
    for (int i = 0; i <= STEP_EXACT_MAX; i++) sum = step_odd_sum(part[i], sum);
    return step_round_double(r, sum, step_negative_zeros(r, a, b, c));
}

/* --- serial ------------------------------------------------------------------------- */

/* The next sum of emu/sum_serial.c: rounded to its carrier; or, if it is exact, rounded
   to odd. */
EMULATE double step_serial_sum(const struct unit_rule *r, double x, double y)
{
    return r->carried ? step_plus(x, y) : step_odd_sum(x, y);
}

EMULATE uint32_t step_serial(const struct unit_rule *r, const uint32_t *a,
                             const uint32_t *b, uint32_t c)
{
    const uint64_t below = ((uint64_t)1 << (53 - r->keep)) - 1;
    double sum = 0;
    for (int i = 0; i < r->block; i++) {
        sum = step_serial_sum(r, sum, step_wide_product(a[i], b[i]));
        sum = step_double(step_bits(sum) & ~below);
    }
    return step_round_double(r, step_serial_sum(r, sum, (double)emulate_float(c)),
                             step_negative_zeros(r, a, b, c));
}

/* --- pairs -------------------------------------------------------------------------- */

/* One product, rounded to the result's format: emu/sum_pairs.c. */
EMULATE uint32_t step_rounded_product(const struct unit_rule *r, uint32_t a, uint32_t b)
{
    struct step_special s = step_ordinary();
    uint32_t d;
    step_add_special_product(&s, r, a, b);
    if (step_decided(&d, r, s)) return d;
    const struct step_term t = step_product(r, a, b);
    return emulate_pack(&r->result, &r->rounding, t.significand, t.place, t.negative);
}

EMULATE uint32_t step_rounded_sum(const struct unit_rule *r, uint32_t x, uint32_t y)
{
    struct step_special s = step_ordinary();
    uint32_t d;
    step_add_special(&s, x);
    step_add_special(&s, y);
    if (step_decided(&d, r, s)) return d;
    const double sum = step_odd_sum((double)emulate_float(x), (double)emulate_float(y));
    return step_round_double(r, sum, x >> 31 && y >> 31);
}

/* Sums of 1, 2, 4 and so on products wait for another sum of the same size.  The bits of
   the count so far show which sums are waiting. */
EMULATE uint32_t step_pairs(const struct unit_rule *r, const uint32_t *a,
                            const uint32_t *b, uint32_t c)
{
    enum { LEVELS = 6 };
    uint32_t waiting[LEVELS] = { 0 }, sum = 0;
    for (int i = 0; i < r->block; i++) {
        sum = step_rounded_product(r, a[i], b[i]);
        int level = 0;
        for (; i >> level & 1; level++) sum = step_rounded_sum(r, waiting[level], sum);
        if (level < LEVELS) waiting[level] = sum;
    }
    return step_rounded_sum(r, c, sum);
}

/* --- two stages --------------------------------------------------------------------- */

/* sum 2^(exponent - fraction). */
struct step_stage {
    int64_t sum;
    int exponent;
};

/* Products `from`, from + stride and so on. */
EMULATE struct step_stage step_products(const struct unit_rule *r, const uint32_t *a,
                                        const uint32_t *b, int from, int stride)
{
    struct step_stage s;
    s.sum = 0;
    s.exponent = STEP_NONE;
    for (int i = from; i < r->block; i += stride) {
        const int e = step_product(r, a[i], b[i]).exponent;
        if (e > s.exponent) s.exponent = e;
    }
    for (int i = from; i < r->block; i += stride) {
        const struct step_term t = step_product(r, a[i], b[i]);
        s.sum += step_aligned(r, &t, s.exponent - r->fraction);
    }
    return s;
}

/* The sums of even and of odd k, added at the larger of their exponents. */
EMULATE struct step_stage step_parities(const struct unit_rule *r, const uint32_t *a,
                                        const uint32_t *b)
{
    const struct step_stage even = step_products(r, a, b, 0, 2),
                            odd = step_products(r, a, b, 1, 2);
    struct step_stage s;
    s.exponent = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    s.sum = step_floor(even.sum, even.exponent - s.exponent) +
            step_floor(odd.sum, odd.exponent - s.exponent);
    return s;
}

/* c floored to `fraction` bits below the exponent, in units of sum_fraction bits; with
   parity 0 if its exponent is far below. */
EMULATE int64_t step_floored_c(const struct unit_rule *r, const struct step_term *z,
                               int own, int exponent)
{
    const int64_t x = z->negative ? -(int64_t)z->significand : (int64_t)z->significand;
    if (r->parity && own < exponent - (r->fraction + 1)) return 0;
    return step_floor(step_floor(x, z->place - (exponent - r->fraction)),
                      r->sum_fraction - r->fraction);
}

/* emu/sum_two_stage.c, in 64-bit integers: none reaches 2^61. */
EMULATE uint32_t step_two_stage(const struct unit_rule *r, const uint32_t *a,
                                const uint32_t *b, uint32_t c)
{
    const struct step_stage p =
        r->parity ? step_parities(r, a, b) : step_products(r, a, b, 0, 1);
    const struct step_term z = step_accumulator(r, c);
    const int own = z.significand ? z.exponent : emulate_emin(&r->c);
    const int exponent = p.exponent > own ? p.exponent : own;
    const int unit = exponent - r->sum_fraction;
    const int64_t sum = step_floor(p.sum, p.exponent - r->fraction - unit) +
                        step_floored_c(r, &z, own, exponent);
    const uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    const int leading = magnitude ? emulate_top(magnitude) : 0;
    const int top = leading > r->keep_min - unit ? leading : r->keep_min - unit;
    const int drop = top > r->keep ? top - r->keep : 0;
    return step_round_integer(r, step_floor(sum, -drop), unit + drop,
                              step_negative_zeros(r, a, b, c));
}

/* --- steps and instructions --------------------------------------------------------- */

/* The accumulator after c and rule->block products: the step of struct summation,
   including special values. */
EMULATE_LARGE uint32_t step_add(const struct unit_rule *r, const uint32_t *a,
                                const uint32_t *b, uint32_t c)
{
    uint32_t d;
    if (r->sum == RULE_PAIRS)
        return step_pairs(r, a, b, c); /* each of its sums handles special values */
    if (step_is_special(&d, r, a, b, c)) return d;
    switch (r->sum) {
    case RULE_TWO_STAGE: return step_two_stage(r, a, b, c);
    case RULE_SERIAL: return step_serial(r, a, b, c);
    default: break;
    }
    return r->fraction == RULE_EXACT ? step_exact(r, a, b, c) : step_fused(r, a, b, c);
}

/* x + c to nearest even in the accumulator's format.  For f16 the sum is computed in
   FP32, which has more than twice as many bits plus two, so that two roundings equal one
   (Figueroa 1995). */
EMULATE uint32_t step_last(const struct unit_rule *r, uint32_t x, uint32_t c)
{
    const struct bitcut_rounding nearest = emulate_nearest();
    const uint32_t d = emulate_add(x, c);
    if (emulate_is_nan(d)) return r->nan;
    return emulate_is_f32(&r->c) ? d : emulate_round(&r->c, &nearest, d);
}

/* The accumulator after c and the rule->k products of an instruction: unit_dot() of
   emu/engine.h. */
EMULATE uint32_t step_instruction(const struct unit_rule *r, const uint32_t *a,
                                  const uint32_t *b, uint32_t c)
{
    if (r->flush_inputs && emulate_is_subnormal(&r->c, c)) c = 0;
    uint32_t d = r->c_last ? 0 : c;
    for (int k = 0; k < r->k; k += r->block) d = step_add(r, a + k, b + k, d);
    return r->c_last ? step_last(r, d, c) : d;
}

#endif
