/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_statement_float.h"

#include "tests/gfx9/gfx9_statement.h"

const struct layout single = { 8, 23 }, half = { 5, 10 };

static uint32_t all(const struct layout *x) { return (1u << x->exponent) - 1; }
static uint32_t biased_of(const struct layout *x, uint32_t bits)
{
    return bits >> x->fraction & all(x);
}
static uint32_t fraction_of(const struct layout *x, uint32_t bits)
{
    return bits & ((1u << x->fraction) - 1);
}
static int least_of(const struct layout *x) /* exponent of the least subnormal number */
{
    return 2 - (1 << (x->exponent - 1)) - x->fraction;
}

bool layout_is_nan(const struct layout *x, uint32_t bits)
{
    return biased_of(x, bits) == all(x) && fraction_of(x, bits) != 0;
}

bool layout_is_signalling(const struct layout *x, uint32_t bits)
{
    return layout_is_nan(x, bits) && !(bits >> (x->fraction - 1) & 1);
}

bool layout_is_infinite(const struct layout *x, uint32_t bits)
{
    return biased_of(x, bits) == all(x) && fraction_of(x, bits) == 0;
}

bool layout_is_negative(const struct layout *x, uint32_t bits)
{
    return bits >> (x->exponent + x->fraction) & 1;
}

uint32_t layout_quiet(const struct layout *x, uint32_t bits)
{
    return bits | 1u << (x->fraction - 1);
}

uint32_t layout_infinity(const struct layout *x, bool negative)
{
    return (negative ? 1u << (x->exponent + x->fraction) : 0) | all(x) << x->fraction;
}

void layout_value(mpfr_t to, const struct layout *x, uint32_t bits)
{
    const uint32_t e = biased_of(x, bits);
    const uint32_t hidden = e ? 1u << x->fraction : 0;
    const int exponent = least_of(x) + (e ? (int)e - 1 : 0);
    mpfr_set_ui_2exp(to, hidden | fraction_of(x, bits), exponent, MPFR_RNDN);
    if (layout_is_negative(x, bits)) mpfr_neg(to, to, MPFR_RNDN);
}

/* The significand is an integer of quanta: of the value's exponent, or of the least. */
uint32_t layout_round(const struct layout *x, mpfr_srcptr value, mpfr_rnd_t direction,
                      bool negative)
{
    const uint32_t sign = layout_infinity(x, negative) ^ layout_infinity(x, false);
    const uint32_t infinite = layout_infinity(x, false);
    if (mpfr_zero_p(value)) return sign;
    long quantum = mpfr_get_exp(value) - 1 - x->fraction;
    if (quantum < least_of(x)) quantum = least_of(x);
    mpfr_t m;
    mpfr_init2(m, VALUE_BITS);
    mpfr_abs(m, value, MPFR_RNDN);
    mpfr_div_2si(m, m, quantum, MPFR_RNDN);
    mpfr_rint(m, m, direction);
    const uint64_t significand = mpfr_get_ui(m, MPFR_RNDZ);
    mpfr_clear(m);
    /* A carry into the exponent is one of the encoding. */
    const uint64_t bits =
        ((uint64_t)(quantum - least_of(x)) << x->fraction) + significand;
    if (bits >= infinite)
        return sign | (direction == MPFR_RNDZ ? infinite - 1 : infinite);
    return sign | (uint32_t)bits;
}

static bool is_zero(const struct layout *x, uint32_t bits)
{
    return biased_of(x, bits) == 0 && fraction_of(x, bits) == 0;
}

/* A NaN or an infinity, if an operand is one; false: none is. */
static bool special_fma(uint32_t *d, const struct layout *x, const uint32_t s[3])
{
    const bool negative = layout_is_negative(x, s[0]) != layout_is_negative(x, s[1]);
    const bool infinite = layout_is_infinite(x, s[0]) || layout_is_infinite(x, s[1]);
    for (int n = 0; n < 3; n++)
        if (layout_is_nan(x, s[n])) {
            *d = layout_quiet(x, s[n]);
            return true;
        }
    *d = layout_quiet(x, layout_infinity(x, true));
    if (infinite && (is_zero(x, s[0]) || is_zero(x, s[1]))) return true;
    if (infinite && layout_is_infinite(x, s[2]) &&
        layout_is_negative(x, s[2]) != negative)
        return true;
    *d = infinite ? layout_infinity(x, negative) : s[2];
    return infinite || layout_is_infinite(x, s[2]);
}

uint32_t layout_fma(const struct layout *x, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t s[] = { a, b, c };
    uint32_t d;
    mpfr_t p, q;
    if (special_fma(&d, x, s)) return d;
    mpfr_inits2(VALUE_BITS, p, q, NULL);
    layout_value(p, x, a);
    layout_value(q, x, b);
    mpfr_mul(p, p, q, MPFR_RNDN);
    layout_value(q, x, c);
    mpfr_add(p, p, q, MPFR_RNDN);
    /* A sum of zero is negative if both addends are. */
    const bool product = layout_is_negative(x, a) != layout_is_negative(x, b);
    const bool zero = product && layout_is_negative(x, c);
    d = layout_round(x, p, MPFR_RNDN, mpfr_zero_p(p) ? zero : mpfr_signbit(p));
    mpfr_clears(p, q, NULL);
    return d;
}

/* --- operations -------------------------------------------------------------------- */

uint32_t statement_fma32(uint32_t a, uint32_t b, uint32_t c)
{
    return layout_fma(&single, a, b, c);
}
uint32_t statement_fma16(uint32_t a, uint32_t b, uint32_t c)
{
    return layout_fma(&half, a, b, c);
}
/* 1 a + b, and a b - 0 of a sign that changes nothing. */
uint32_t statement_add32(uint32_t a, uint32_t b)
{
    return layout_fma(&single, a, 0x3f800000, b);
}
uint32_t statement_add16(uint32_t a, uint32_t b)
{
    return layout_fma(&half, a, 0x3c00, b);
}
uint32_t statement_multiply32(uint32_t a, uint32_t b)
{
    return layout_fma(&single, a, b, (a ^ b) & SIGN);
}
uint32_t statement_multiply16(uint32_t a, uint32_t b)
{
    return layout_fma(&half, a, b, (a ^ b) & 0x8000);
}

/* From one layout to another; NaNs keep the highest bits of their payload, quiet. */
static uint32_t convert(const struct layout *to, const struct layout *from, uint32_t x,
                        mpfr_rnd_t direction)
{
    const bool negative = layout_is_negative(from, x);
    const int more = to->fraction - from->fraction;
    if (layout_is_nan(from, x)) {
        const uint32_t payload = x & ((1u << from->fraction) - 1);
        return layout_quiet(to, layout_infinity(to, negative)) |
               (more > 0 ? payload << more : payload >> -more);
    }
    if (layout_is_infinite(from, x)) return layout_infinity(to, negative);
    mpfr_t value;
    mpfr_init2(value, VALUE_BITS);
    layout_value(value, from, x);
    const uint32_t d = layout_round(to, value, direction, negative);
    mpfr_clear(value);
    return d;
}

uint32_t statement_narrow(uint32_t x) { return convert(&half, &single, x, MPFR_RNDN); }
uint32_t statement_widen(uint32_t x) { return convert(&single, &half, x, MPFR_RNDN); }

uint32_t pack_toward_zero(uint32_t a, uint32_t b)
{
    return convert(&half, &single, a, MPFR_RNDZ) | convert(&half, &single, b, MPFR_RNDZ)
                                                       << 16;
}

/* An integer, rounded to f32. */
uint32_t of_integer(int64_t x)
{
    mpfr_t value;
    mpfr_init2(value, VALUE_BITS);
    mpfr_set_si(value, x, MPFR_RNDN);
    const uint32_t d = layout_round(&single, value, MPFR_RNDN, x < 0);
    mpfr_clear(value);
    return d;
}

/* The integer below toward zero, from `least` to `most`; 0 for NaNs. */
uint32_t to_integer(uint32_t x, int64_t least, int64_t most)
{
    const bool negative = layout_is_negative(&single, x);
    if (layout_is_nan(&single, x)) return 0;
    if (layout_is_infinite(&single, x)) return (uint32_t)(negative ? least : most);
    mpfr_t value;
    mpfr_init2(value, VALUE_BITS);
    layout_value(value, &single, x);
    mpfr_trunc(value, value);
    const bool below = mpfr_cmp_si(value, (long)least) < 0;
    const bool above = mpfr_cmp_si(value, (long)most) > 0;
    const int64_t d = below ? least : above ? most : mpfr_get_si(value, MPFR_RNDZ);
    mpfr_clear(value);
    return (uint32_t)d;
}

/* Whether x is finite; then its value, to be given back. */
static bool take(mpfr_t value, uint32_t x)
{
    if (layout_is_nan(&single, x) || layout_is_infinite(&single, x)) return false;
    mpfr_init2(value, VALUE_BITS);
    layout_value(value, &single, x);
    return true;
}

/* A changed value of x, rounded, with its sign. */
static uint32_t give(mpfr_t value, uint32_t x)
{
    const uint32_t d = layout_round(&single, value, MPFR_RNDN, x & SIGN);
    mpfr_clear(value);
    return d;
}

/* What is not finite, of an operation that changes no infinity. */
static uint32_t kept(uint32_t x)
{
    return layout_is_nan(&single, x) ? layout_quiet(&single, x) : x;
}

uint32_t to_whole(uint32_t x, mpfr_rnd_t direction)
{
    mpfr_t value;
    if (!take(value, x)) return kept(x);
    mpfr_rint(value, value, direction);
    return give(value, x);
}

uint32_t scaled(uint32_t x, int32_t by)
{
    mpfr_t value;
    if (!take(value, x)) return kept(x);
    mpfr_mul_2si(value, value, by > 1000 ? 1000 : by < -1000 ? -1000 : by, MPFR_RNDN);
    return give(value, x);
}

/* x = significand 2^exponent, from 1/2 to 1; of what is not finite, or 0: 0 and x. */
static void apart(uint32_t *significand, int *exponent, uint32_t x)
{
    mpfr_t value;
    *exponent = 0;
    *significand = kept(x);
    if (!(x & ~SIGN) || !take(value, x)) return;
    *exponent = (int)mpfr_get_exp(value);
    mpfr_set_exp(value, 0);
    *significand = give(value, x);
}

uint32_t reciprocal_of(uint32_t x)
{
    const bool negative = layout_is_negative(&single, x);
    if (layout_is_nan(&single, x)) return layout_quiet(&single, x);
    if (layout_is_infinite(&single, x)) return x & SIGN;
    if (is_zero(&single, x)) return layout_infinity(&single, negative);
    mpfr_t value;
    mpfr_init2(value, VALUE_BITS);
    layout_value(value, &single, x);
    mpfr_ui_div(value, 1, value, MPFR_RNDN);
    const uint32_t d = layout_round(&single, value, MPFR_RNDN, negative);
    mpfr_clear(value);
    return d;
}

uint32_t significand_of(uint32_t x)
{
    uint32_t significand;
    int exponent;
    apart(&significand, &exponent, x);
    return significand;
}

uint32_t exponent_of(uint32_t x)
{
    uint32_t significand;
    int exponent;
    apart(&significand, &exponent, x);
    return (uint32_t)exponent;
}
