/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/number/number_oracle.h"

#include <math.h>
#include <stdlib.h>

/* --- values ------------------------------------------------------------------------ */

static uint64_t bit(int n) { return (uint64_t)1 << n; }

static uint64_t sign_of(const struct bitcut_format *f, bool negative)
{
    return negative && f->has_sign ? bit(f->bits - 1) : 0;
}

/* The number of codes of all kinds. */
static uint64_t code_count(const struct bitcut_format *f)
{
    return bit(f->exponent_bits + f->fraction_bits);
}

uint64_t oracle_finite(const struct bitcut_format *f)
{
    switch (f->special) {
    case SPECIAL_IEEE: return code_count(f) - bit(f->fraction_bits);
    case SPECIAL_FN:
    case SPECIAL_E8M0: return code_count(f) - 1;
    default: return code_count(f);
    }
}

double oracle_magnitude(const struct bitcut_format *f, uint64_t code)
{
    const uint64_t field = code / bit(f->fraction_bits);
    const uint64_t fraction = code % bit(f->fraction_bits);
    if (f->special == SPECIAL_E8M0) return ldexp(1, (int)code - f->bias);
    const uint64_t significand = field ? bit(f->fraction_bits) + fraction : fraction;
    return ldexp((double)significand,
                 (int)(field ? field : 1) - f->bias - f->fraction_bits);
}

uint64_t oracle_code(const struct bitcut_format *f, double magnitude)
{
    if (magnitude == 0) return 0;
    const int emin = 1 - f->bias;
    int exponent = ilogb(magnitude);
    if (exponent < emin) exponent = emin;
    const double significand = ldexp(magnitude, f->fraction_bits - exponent);
    return (uint64_t)(exponent - emin) * bit(f->fraction_bits) + (uint64_t)significand;
}

/* Two's complement: the first bit counts -2^(bits - 1); all count positive without a
   sign. */
static struct value integer_value(const struct bitcut_format *f, uint64_t encoding)
{
    double x = 0;
    for (int i = 0; i < f->bits; i++)
        if (encoding & bit(i)) x += f->has_sign && i + 1 == f->bits ? -ldexp(1, i) : ldexp(1, i);
    return (struct value){ x == 0 ? NUMBER_ZERO : NUMBER_FINITE, x < 0, fabs(x) };
}

struct value oracle_value(const struct bitcut_format *f, uint64_t encoding)
{
    if (f->special == SPECIAL_INTEGER) return integer_value(f, encoding);
    const uint64_t code = (encoding >> f->pad) % code_count(f);
    const bool negative = f->has_sign && encoding >= bit(f->bits - 1);
    const bool nan = f->special == SPECIAL_FNUZ   ? negative && code == 0
                     : f->special == SPECIAL_IEEE ? code > oracle_finite(f)
                                                  : code >= oracle_finite(f);
    struct value x = { .kind = NUMBER_FINITE, .negative = negative };
    if (nan) x.kind = NUMBER_NAN;
    else if (code >= oracle_finite(f)) x.kind = NUMBER_INF;
    else x.magnitude = oracle_magnitude(f, code);
    if (x.kind == NUMBER_FINITE && x.magnitude == 0) x.kind = NUMBER_ZERO;
    return x;
}

bool oracle_bit(const struct bitcut_format *f, uint64_t encoding, int place)
{
    const double magnitude = oracle_value(f, encoding).magnitude;
    const int e = magnitude < 0x1p-126 ? -126 : ilogb(magnitude);
    return fmod(floor(ldexp(magnitude, place - e)), 2) == 1;
}

struct place oracle_integer_place(const struct bitcut_format *f, double magnitude)
{
    const double below = floor(magnitude), rest = magnitude - below;
    if (magnitude >= (double)oracle_finite(f))
        return (struct place){ .code = oracle_finite(f), .side = SIDE_ON };
    return (struct place){ .code = (uint64_t)below,
                           .side = rest == 0     ? SIDE_ON
                                   : rest < 0.5  ? SIDE_LOW
                                   : rest == 0.5 ? SIDE_MIDDLE
                                                 : SIDE_HIGH };
}

/* --- roundings --------------------------------------------------------------------- */

static uint64_t encoding_of(const struct bitcut_format *f, bool negative, uint64_t code)
{
    if (code == 0 && f->special == SPECIAL_FNUZ) return 0;
    if (f->special == SPECIAL_INTEGER && negative && !f->has_sign) return 0;
    if (f->special == SPECIAL_INTEGER)
        return (negative ? bit(f->bits) - code : code) % bit(f->bits);
    return sign_of(f, negative) | code << f->pad;
}

static uint64_t infinity_of(const struct bitcut_format *f, bool negative)
{
    switch (f->special) {
    case SPECIAL_IEEE: return encoding_of(f, negative, oracle_finite(f));
    case SPECIAL_INTEGER:
    case SPECIAL_FINITE: return encoding_of(f, negative, oracle_finite(f) - 1);
    default: return f->nan | sign_of(f, negative);
    }
}

uint64_t oracle_special(const struct bitcut_format *f, const struct bitcut_rounding *r,
                        struct value x)
{
    const uint64_t largest = oracle_finite(f) - 1;
    if (x.kind == NUMBER_NAN)
        return f->nan || f->special == SPECIAL_INTEGER ? f->nan
                                                       : encoding_of(f, false, largest);
    if (r->overflow == OVERFLOW_SATURATE) return encoding_of(f, x.negative, largest);
    return infinity_of(f, x.negative);
}

/* Overflow to infinity under OVERFLOW_IEEE, for a positive and for a negative number. */
static const bool overflow_infinite[][2] = {
    [TO_NEAREST_EVEN] = { true, true }, [TO_NEAREST_AWAY] = { true, true },
    [TO_ZERO] = { false, false },       [TO_POSITIVE] = { true, false },
    [TO_NEGATIVE] = { false, true },    [TO_ODD] = { false, false },
    [BY_BIT] = { true, true },
};

/* Whether the rule makes zero of what is below the least normal number. */
static bool flushes_before(const struct bitcut_format *f, const struct bitcut_rounding *r)
{
    return r->flush == FLUSH_BEFORE && f->special != SPECIAL_INTEGER;
}

/* The encoding of a code that may lie beyond the largest, or be subnormal. */
static uint64_t encode(const struct bitcut_format *f, const struct bitcut_rounding *r,
                       bool negative, uint64_t code)
{
    const uint64_t finite = oracle_finite(f);
    if (r->flush && f->special != SPECIAL_INTEGER && code < bit(f->fraction_bits))
        code = 0;
    if (code < finite) return encoding_of(f, negative, code);
    const bool infinite = r->overflow == OVERFLOW_IEEE
                              ? overflow_infinite[r->direction][negative]
                              : r->overflow == OVERFLOW_INF;
    return infinite ? infinity_of(f, negative) : encoding_of(f, negative, finite - 1);
}

static bool goes_up(enum direction direction, bool negative, struct place p)
{
    if (p.side == SIDE_ON) return false;
    switch (direction) {
    case TO_NEAREST_EVEN:
        return p.side == SIDE_HIGH || (p.side == SIDE_MIDDLE && p.code % 2 == 1);
    case TO_NEAREST_AWAY: return p.side != SIDE_LOW;
    case TO_POSITIVE: return !negative;
    case TO_NEGATIVE: return negative;
    case TO_ODD: return p.code % 2 == 0;
    case BY_BIT: return p.bit;
    case STOCHASTIC: /* tests/number/test_stochastic.c */
    case TO_ZERO: break;
    }
    return false;
}

uint64_t oracle_choose(const struct bitcut_format *f, const struct bitcut_rounding *r,
                       bool negative, struct place p)
{
    if (flushes_before(f, r) && p.code < bit(f->fraction_bits))
        return encode(f, r, negative, 0);
    return encode(f, r, negative, p.code + goes_up(r->direction, negative, p));
}

/* --- by MPFR ----------------------------------------------------------------------- */

/* |y|, a value of the format with any exponent, as a code. */
static uint64_t code_of_mpfr(const struct bitcut_format *f, mpfr_srcptr y)
{
    if (mpfr_zero_p(y)) return 0;
    const long emin = 1 - f->bias;
    const long exponent = mpfr_get_exp(y) > emin ? mpfr_get_exp(y) - 1 : emin;
    mpfr_t significand;
    mpfr_init2(significand, mpfr_get_prec(y));
    mpfr_abs(significand, y, MPFR_RNDZ);
    mpfr_mul_2si(significand, significand, f->fraction_bits - exponent, MPFR_RNDZ);
    const uint64_t code = (uint64_t)(exponent - emin) * bit(f->fraction_bits) +
                          mpfr_get_uj(significand, MPFR_RNDZ);
    mpfr_clear(significand);
    return code;
}

/* The largest exponent that MPFR may use: that of the format where overflow is that of
   IEEE 754; elsewhere more, and encode() decides about what the format does not hold. */
static long mpfr_top(const struct bitcut_format *f, const struct bitcut_rounding *r)
{
    const long field_max = (1l << f->exponent_bits) - 1;
    const bool ieee = f->special == SPECIAL_IEEE && r->overflow == OVERFLOW_IEEE;
    return field_max - f->bias + (ieee ? 0 : 2);
}

/* How MPFR rounds for a direction; `derived` ones go through toward zero. */
static const struct {
    mpfr_rnd_t rnd;
    bool derived;
} mpfr_directions[] = {
    [TO_NEAREST_EVEN] = { MPFR_RNDN, false }, [TO_NEAREST_AWAY] = { MPFR_RNDZ, true },
    [TO_ZERO] = { MPFR_RNDZ, false },         [TO_POSITIVE] = { MPFR_RNDU, false },
    [TO_NEGATIVE] = { MPFR_RNDD, false },     [TO_ODD] = { MPFR_RNDZ, true },
};

/* y = x rounded by MPFR as if the format were MPFR's own. */
static void round_mpfr(mpfr_ptr y, const struct bitcut_format *f,
                       const struct bitcut_rounding *r, mpfr_srcptr x)
{
    const mpfr_rnd_t rnd = mpfr_directions[r->direction].rnd;
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    const mpfr_flags_t flags = mpfr_flags_save();
    int ternary = mpfr_set(y, x, rnd);
    mpfr_set_emin(2 - f->bias - f->fraction_bits);
    mpfr_set_emax(mpfr_top(f, r));
    ternary = mpfr_check_range(y, ternary, rnd);
    mpfr_subnormalize(y, ternary, rnd);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_flags_restore(flags, MPFR_FLAGS_ALL);
}

/* The place of |x|, y being x rounded toward zero. */
static struct place place_mpfr(const struct bitcut_format *f, mpfr_srcptr x,
                               mpfr_srcptr y)
{
    struct place p = { .code = code_of_mpfr(f, y), .side = SIDE_ON };
    if (mpfr_cmpabs(x, y) == 0) return p;
    const uint64_t field = p.code / bit(f->fraction_bits);
    const uint64_t fraction = p.code % bit(f->fraction_bits);
    mpfr_t middle;
    mpfr_init2(middle, 64);
    mpfr_set_uj_2exp(
        middle, 2 * (field ? bit(f->fraction_bits) + fraction : fraction) + 1,
        (field ? (long)field : 1) - f->bias - f->fraction_bits - 1, MPFR_RNDZ);
    const int order = mpfr_cmpabs(x, middle);
    p.side = order < 0 ? SIDE_LOW : order == 0 ? SIDE_MIDDLE : SIDE_HIGH;
    mpfr_clear(middle);
    return p;
}

/* Whether x is below the least normal number as a format without a least exponent rounds
   it. Just below, a middle goes up to the even one, as it does away from zero. */
static bool is_tiny(const struct bitcut_format *f, const struct bitcut_rounding *r,
                    mpfr_srcptr x)
{
    const int bits = flushes_before(f, r) ? (int)mpfr_get_prec(x) : f->fraction_bits + 1;
    const bool away = r->direction == TO_NEAREST_AWAY;
    const mpfr_flags_t flags = mpfr_flags_save();
    mpfr_t y, least;
    mpfr_init2(y, bits);
    mpfr_init2(least, 2);
    mpfr_set(y, x, away ? MPFR_RNDN : mpfr_directions[r->direction].rnd);
    mpfr_set_ui_2exp(least, 1, 1 - f->bias, MPFR_RNDN);
    const bool tiny = mpfr_cmpabs(y, least) < 0;
    mpfr_clear(y);
    mpfr_clear(least);
    mpfr_flags_restore(flags, MPFR_FLAGS_ALL);
    return tiny;
}

uint64_t oracle_round(const struct bitcut_format *f, const struct bitcut_rounding *r,
                      mpfr_srcptr x)
{
    const bool negative = mpfr_signbit(x) != 0;
    mpfr_t y;
    if (r->flush >= FLUSH_TINY && f->special != SPECIAL_INTEGER && is_tiny(f, r, x))
        return encode(f, r, negative, 0);
    mpfr_init2(y, f->fraction_bits + 1);
    round_mpfr(y, f, r, x);
    uint64_t encoding;
    if (mpfr_directions[r->direction].derived)
        encoding = oracle_choose(f, r, negative, place_mpfr(f, x, y));
    else if (mpfr_inf_p(y))
        encoding = oracle_special(f, r, (struct value){ NUMBER_INF, negative, 0 });
    else encoding = encode(f, r, negative, code_of_mpfr(f, y));
    mpfr_clear(y);
    return encoding;
}

/* --- ladders ----------------------------------------------------------------------- */

void ladder_init(struct ladder *l, const struct bitcut_format *f)
{
    l->format = f;
    l->finite = oracle_finite(f);
    l->magnitude = calloc(l->finite + 1, sizeof l->magnitude[0]);
    if (!l->magnitude) abort();
    for (uint64_t i = 0; i <= l->finite; i++) l->magnitude[i] = oracle_magnitude(f, i);
}

void ladder_clear(struct ladder *l) { free(l->magnitude); }

/* Sums and doubles of neighbours are exact: at most 15 bits and 2^-149 to 2^129. */
static struct place place_above(const struct ladder *l, double x, uint64_t code)
{
    const double low = l->magnitude[code];
    if (x == low || code == l->finite)
        return (struct place){ .code = code, .side = SIDE_ON };
    const double middle = low + (l->magnitude[code + 1] - low) / 2;
    return (struct place){ .code = code,
                           .side = x < middle    ? SIDE_LOW
                                   : x == middle ? SIDE_MIDDLE
                                                 : SIDE_HIGH };
}

struct place ladder_climb(const struct ladder *l, double x, uint64_t code)
{
    while (code < l->finite && l->magnitude[code + 1] <= x) code++;
    return place_above(l, x, code);
}

struct place ladder_find(const struct ladder *l, double x)
{
    uint64_t low = 0, high = l->finite + 1;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (l->magnitude[middle] <= x) low = middle;
        else high = middle;
    }
    return place_above(l, x, low);
}

/* --- stochastic rounding ----------------------------------------------------------- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t oracle_random(uint64_t seed, uint64_t position, uint64_t significand,
                       long exponent, bool negative, bool sticky)
{
    const uint64_t other =
        mix(((uint64_t)(uint32_t)exponent * 4 + 2 * negative + sticky) + 1);
    const uint64_t hash = mix(significand ^ other);
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    const uint32_t counter[4] = { (uint32_t)hash, (uint32_t)(hash >> 32),
                                  (uint32_t)position, (uint32_t)(position >> 32) };
    uint32_t out[4];
    bitcut_philox(out, counter, key);
    return (uint64_t)out[1] << 32 | out[0];
}
