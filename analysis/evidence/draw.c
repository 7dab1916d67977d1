/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/draw.h"

static uint64_t ones(int bits) { return bits ? UINT64_MAX >> (64 - bits) : 0; }

int draw_between(struct rng *rng, int low, int high)
{
    return low + (int)(rng_bits(rng) % (uint64_t)(high - low + 1));
}

bool draw_one_in(struct rng *rng, int n) { return draw_between(rng, 1, n) == 1; }

uint64_t encoding_signed(const struct bitcut_format *f, uint64_t x, bool negative)
{
    if (!f->has_sign) return x;
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    const uint64_t y = negative ? x | sign : x & ~sign;
    return format_decode(f, y).kind == NUMBER_NAN ? x : y;
}

uint64_t encoding_at(const struct bitcut_format *f, bool negative, int exponent,
                     uint64_t fraction)
{
    const int top = clamp(exponent, format_least_exponent(f), format_emax(f));
    const int emin = format_emin(f);
    uint64_t x = f->fraction_bits ? fraction >> (64 - f->fraction_bits) : 0;
    if (top < emin) x = (x | UINT64_C(1) << f->fraction_bits) >> (emin - top);
    else x |= (uint64_t)(top + f->bias) << f->fraction_bits;
    if (format_decode(f, x << f->pad).kind == NUMBER_NAN) x--;
    return encoding_signed(f, x << f->pad, negative);
}

uint64_t highest_bits(uint64_t x, int bits) { return x & ~ones(64 - bits); }

uint64_t draw_any(const struct bitcut_format *f, struct rng *rng)
{
    return rng_bits(rng) & ones(f->bits);
}

uint64_t encoding_negated(const struct bitcut_format *f, uint64_t x)
{
    return encoding_signed(f, x, !(x >> (f->bits - 1) & 1));
}

uint64_t draw_at(const struct bitcut_format *f, int exponent, struct rng *rng)
{
    const bool negative = rng_bits(rng) & 1;
    return encoding_at(f, negative, exponent, rng_bits(rng));
}

uint64_t draw_zero(const struct bitcut_format *f, struct rng *rng)
{
    return encoding_signed(f, 0, rng_bits(rng) & 1);
}

uint64_t draw_wide(const struct bitcut_format *f, struct rng *rng)
{
    return draw_at(f, draw_between(rng, format_least_exponent(f), format_emax(f)), rng);
}

uint64_t draw_limit(const struct bitcut_format *f, struct rng *rng)
{
    const bool is_unsigned = format_is_integer(f) && !f->has_sign; /* no normal number */
    const uint64_t least_normal =
        is_unsigned ? ones(f->bits) : UINT64_C(1) << (f->fraction_bits + f->pad);
    const uint64_t magnitudes[] = { 0, UINT64_C(1) << f->pad, least_normal - 1,
                                    least_normal, format_largest(f, false) };
    const uint64_t x = magnitudes[draw_between(rng, 0, 4)];
    return encoding_signed(f, x, draw_one_in(rng, 2));
}

uint64_t draw_not_finite(const struct bitcut_format *f, struct rng *rng)
{
    const uint64_t infinity = format_infinity(f, f->has_sign && draw_one_in(rng, 2));
    if (!draw_one_in(rng, 4)) return infinity;
    if (f->special != SPECIAL_IEEE || draw_one_in(rng, 2)) return format_nan(f);
    return infinity | (rng_bits(rng) & ones(f->fraction_bits)) << f->pad;
}

uint64_t draw_edge(const struct bitcut_format *f, struct rng *rng)
{
    const int emin = format_emin(f), emax = format_emax(f);
    const int exponents[] = { emin - 1, emin, emin + 1, emax - 1, emax, -1, 0, 1 };
    const uint64_t last = UINT64_C(1) << (f->fraction_bits ? 64 - f->fraction_bits : 0);
    const uint64_t fractions[] = { 0,        last,     UINT64_C(1) << 63,
                                   ones(63), ones(64), rng_bits(rng) };
    const uint64_t fraction = fractions[draw_between(rng, 0, 5)];
    const int exponent = exponents[draw_between(rng, 0, 7)];
    return encoding_at(f, rng_bits(rng) & 1, exponent, fraction);
}
