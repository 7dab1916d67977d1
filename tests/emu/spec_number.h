/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in the definition of a unit (tests/emu/spec.h): exact numbers, terms of sums,
   and their rounding. */
#ifndef BITCUT_TESTS_EMU_SPEC_NUMBER_H
#define BITCUT_TESTS_EMU_SPEC_NUMBER_H

#include "emu/unit.h"
#include "tests/number/number_oracle.h"

#include <assert.h>
#include <gmp.h>

/* --- exact numbers ---------------------------------------------------------------- */

/* The rational m 2^e. */
struct dyadic {
    mpz_t m;
    long e;
};

/* The exponent of the leading one of a nonzero x. */
static inline long leading(const struct dyadic *x)
{
    return (long)mpz_sizeinbase(x->m, 2) - 1 + x->e;
}

/* The greatest multiple of 2^grid that is not above x. */
static inline void floor_to(struct dyadic *x, long grid)
{
    if (grid <= x->e) return;
    mpz_fdiv_q_2exp(x->m, x->m, (mp_bitcnt_t)(grid - x->e));
    x->e = grid;
}

/* x without the part of its magnitude below 2^grid. */
static inline void truncate_to(struct dyadic *x, long grid)
{
    if (grid <= x->e) return;
    mpz_tdiv_q_2exp(x->m, x->m, (mp_bitcnt_t)(grid - x->e));
    x->e = grid;
}

/* What the unit drops of a term below 2^grid. */
static inline void cut_to(struct dyadic *x, const struct bitcut_unit *u, long grid)
{
    if (u->floor) floor_to(x, grid);
    else truncate_to(x, grid);
}

static inline void add(struct dyadic *sum, const struct dyadic *x)
{
    if (x->e < sum->e) {
        mpz_mul_2exp(sum->m, sum->m, (mp_bitcnt_t)(sum->e - x->e));
        sum->e = x->e;
    }
    mpz_t same;
    mpz_init(same);
    mpz_mul_2exp(same, x->m, (mp_bitcnt_t)(x->e - sum->e));
    mpz_add(sum->m, sum->m, same);
    mpz_clear(same);
}

/* --- terms ------------------------------------------------------------------------ */

enum kind { KIND_ZERO, KIND_FINITE, KIND_INFINITE, KIND_NAN };

/* A factor, product or accumulator. */
struct term {
    enum kind kind;      /* by its encoding; KIND_FINITE is not zero              */
    bool negative;       /* also for zero and infinity                            */
    bool aligns;         /* takes part in the choice of the alignment exponent    */
    long exponent;       /* that of the exponent field; emin for zero, subnormal  */
    struct dyadic value; /* with its sign; meaningless for infinity and NaN       */
    uint64_t nan[2];     /* NaN factors as binary64, or the first alone; 0: none  */
};

static inline uint64_t ones(int bits) { return bits ? UINT64_MAX >> (64 - bits) : 0; }

/* The fields of an encoding. */
struct fields {
    uint64_t fraction, exponent;
    bool negative;
};

static inline struct fields fields_of(const struct bitcut_format *f, uint64_t encoding)
{
    const uint64_t x = encoding >> f->pad;
    return (struct fields){
        .fraction = x & ones(f->fraction_bits),
        .exponent = x >> f->fraction_bits & ones(f->exponent_bits),
        .negative = f->has_sign && x >> (f->fraction_bits + f->exponent_bits) & 1,
    };
}

static inline enum kind kind_of(const struct bitcut_format *f, struct fields x)
{
    const bool top = x.exponent == ones(f->exponent_bits);
    const bool zero = x.exponent == 0 && x.fraction == 0;
    switch (f->special) {
    case SPECIAL_IEEE:
        if (top) return x.fraction ? KIND_NAN : KIND_INFINITE;
        break;
    case SPECIAL_FN:
        if (top && x.fraction == ones(f->fraction_bits)) return KIND_NAN;
        break;
    case SPECIAL_FNUZ:
        if (zero && x.negative) return KIND_NAN;
        break;
    case SPECIAL_FINITE:
    case SPECIAL_INTEGER: break;
    case SPECIAL_E8M0: return top ? KIND_NAN : KIND_FINITE;
    }
    return zero ? KIND_ZERO : KIND_FINITE;
}

/* A NaN with sign and payload kept, as binary64. */
static inline uint64_t wide_nan(const struct bitcut_format *f, struct fields x)
{
    return (uint64_t)x.negative << 63 | UINT64_C(0x7ff) << 52 |
           x.fraction << (52 - f->fraction_bits);
}

/* Two's complement: what a sign bit takes away is twice its place. */
static inline void integer_read(struct term *t, const struct bitcut_format *f,
                                uint64_t encoding)
{
    t->negative = f->has_sign && encoding >> (f->bits - 1);
    t->kind = encoding ? KIND_FINITE : KIND_ZERO;
    t->aligns = t->kind == KIND_FINITE;
    t->exponent = t->value.e = 0;
    mpz_set_ui(t->value.m, encoding);
    if (t->negative) mpz_sub_ui(t->value.m, t->value.m, (uint64_t)1 << f->bits);
}

static inline void term_read(struct term *t, const struct bitcut_format *f,
                             uint64_t encoding)
{
    if (f->special == SPECIAL_INTEGER) {
        integer_read(t, f, encoding);
        return;
    }
    const struct fields x = fields_of(f, encoding);
    const bool hidden_one = x.exponent != 0 || f->special == SPECIAL_E8M0;
    t->kind = kind_of(f, x);
    t->negative = x.negative;
    t->aligns = t->kind == KIND_FINITE;
    t->exponent = (long)(hidden_one ? x.exponent : 1) - f->bias;
    t->value.e = t->exponent - f->fraction_bits;
    t->nan[0] = t->kind == KIND_NAN ? wide_nan(f, x) : 0;
    t->nan[1] = 0;
    mpz_set_ui(t->value.m, x.fraction | (uint64_t)hidden_one << f->fraction_bits);
    if (x.negative) mpz_neg(t->value.m, t->value.m);
}

/* A number that has just been read, of that format: below the normal ones, which integers
   have not, it becomes a zero. */
static inline void flush(struct term *t, bool keeps_sign, const struct bitcut_format *f)
{
    if (f->special == SPECIAL_INTEGER || t->kind != KIND_FINITE ||
        leading(&t->value) >= 1 - f->bias)
        return;
    t->kind = KIND_ZERO;
    t->aligns = false;
    t->negative &= keeps_sign;
    mpz_set_ui(t->value.m, 0);
}

/* The exponent that a value has in another format, which holds it exactly. */
static inline void term_convert(struct term *t, const struct bitcut_format *to)
{
    if (t->kind != KIND_FINITE) return;
    const long emin = 1 - to->bias, top = leading(&t->value);
    t->exponent = top > emin ? top : emin;
    assert(t->value.e + (long)mpz_scan1(t->value.m, 0) >=
           t->exponent - to->fraction_bits);
}

static inline enum kind product_kind(enum kind x, enum kind y)
{
    const enum kind low = x < y ? x : y, high = x < y ? y : x;
    if (high == KIND_INFINITE && low == KIND_ZERO) return KIND_NAN;
    return high == KIND_FINITE ? low : high;
}

static inline void term_multiply(struct term *x, const struct term *y)
{
    x->nan[1] = y->nan[0];
    x->kind = product_kind(x->kind, y->kind);
    x->negative ^= y->negative;
    x->aligns = x->kind == KIND_FINITE;
    x->exponent += y->exponent;
    x->value.e += y->value.e;
    mpz_mul(x->value.m, x->value.m, y->value.m);
}

/* --- rounding --------------------------------------------------------------------- */

/* The encoding of +-q 2^e, not zero and exact in f. */
static inline uint64_t encode(const struct bitcut_format *f, bool negative, const mpz_t q,
                              long e)
{
    const long emin = 1 - f->bias, top = (long)mpz_sizeinbase(q, 2) - 1 + e;
    const long exponent = top > emin ? top : emin;
    const long up = e - (exponent - f->fraction_bits);
    mpz_t scaled;
    mpz_init(scaled);
    if (up >= 0) mpz_mul_2exp(scaled, q, (mp_bitcnt_t)up);
    else mpz_tdiv_q_2exp(scaled, q, (mp_bitcnt_t)-up);
    const uint64_t significand = mpz_get_ui(scaled);
    mpz_clear(scaled);
    const uint64_t field = top < emin ? 0 : (uint64_t)(exponent + f->bias);
    const uint64_t sign = (uint64_t)negative << f->exponent_bits;
    return ((sign | field) << f->fraction_bits | (significand & ones(f->fraction_bits)))
           << f->pad;
}

static inline uint64_t signed_zero(const struct bitcut_format *f, bool negative)
{
    return (uint64_t)negative << (f->bits - 1);
}

static inline uint64_t signed_infinity(const struct bitcut_format *f, bool negative)
{
    const uint64_t exponent = ones(f->exponent_bits) << f->fraction_bits;
    return signed_zero(f, negative) | exponent << f->pad;
}

/* Whether a magnitude between two neighbours goes to the upper one.  `half` is the sign
   of its distance from their middle, `odd` whether the lower one is odd. */
static inline bool goes_up(enum direction direction, bool negative, bool odd, int half)
{
    switch (direction) {
    case TO_NEAREST_EVEN: return half > 0 || (half == 0 && odd);
    case TO_NEAREST_AWAY: return half >= 0;
    case TO_ZERO: return false;
    case TO_POSITIVE: return !negative;
    case TO_NEGATIVE: return negative;
    case TO_ODD: return !odd;
    case BY_BIT:
    case STOCHASTIC: break; /* by_chance() */
    }
    assert(!"a sum has no fraction bit to round by");
    return false;
}

/* Whether the first 64 bits of x, as far as they are below 2^grid, are more than a random
   fraction of 2^grid.  The rule's position is that of this value. */
static inline bool by_chance(const struct bitcut_rounding *r, const struct dyadic *x,
                             long grid)
{
    const long last = leading(x) - 63;
    struct dyadic head = { .e = last };
    mpz_init(head.m);
    mpz_abs(head.m, x->m);
    const long up = x->e - last;
    const bool sticky = up < 0 && mpz_scan1(head.m, 0) < (mp_bitcnt_t)-up;
    if (up >= 0) mpz_mul_2exp(head.m, head.m, (mp_bitcnt_t)up);
    else mpz_tdiv_q_2exp(head.m, head.m, (mp_bitcnt_t)-up);
    const uint64_t bits = oracle_random(r->seed, r->position, mpz_get_ui(head.m), last,
                                    mpz_sgn(x->m) < 0, sticky);
    const long by = last - (grid - 64); /* the fraction in units of 2^-64 */
    if (by >= 0) mpz_mul_2exp(head.m, head.m, (mp_bitcnt_t)by);
    else mpz_tdiv_q_2exp(head.m, head.m, (mp_bitcnt_t)-by);
    mpz_fdiv_r_2exp(head.m, head.m, 64);
    const bool up_it_goes = bits < mpz_get_ui(head.m);
    mpz_clear(head.m);
    return up_it_goes;
}

/* q = |x| in units of 2^grid, rounded to an integer. */
static inline void round_magnitude(mpz_t q, const struct dyadic *x, long grid,
                                   const struct bitcut_rounding *r)
{
    mpz_abs(q, x->m);
    if (grid <= x->e) {
        mpz_mul_2exp(q, q, (mp_bitcnt_t)(x->e - grid));
        return;
    }
    const mp_bitcnt_t lost = (mp_bitcnt_t)(grid - x->e);
    const mp_bitcnt_t lowest = mpz_scan1(q, 0); /* of the ones in q */
    const bool above = mpz_tstbit(q, lost - 1);
    const int half = !above ? -1 : lowest == lost - 1 ? 0 : 1;
    mpz_tdiv_q_2exp(q, q, lost);
    if (lowest >= lost) return;
    if (r->direction == STOCHASTIC
            ? by_chance(r, x, grid)
            : goes_up(r->direction, mpz_sgn(x->m) < 0, mpz_odd_p(q), half))
        mpz_add_ui(q, q, 1);
}

/* Whether a result too large for its format is infinite. */
static inline bool overflows_to_infinity(const struct bitcut_rounding *r, bool negative)
{
    if (r->overflow != OVERFLOW_IEEE) return r->overflow == OVERFLOW_INF;
    switch (r->direction) {
    case TO_NEAREST_EVEN:
    case TO_NEAREST_AWAY:
    case STOCHASTIC: return true;
    case TO_POSITIVE: return !negative;
    case TO_NEGATIVE: return negative;
    default: return false;
    }
}

static inline uint64_t overflow(const struct bitcut_unit *u,
                                const struct bitcut_rounding *r, bool negative)
{
    if (overflows_to_infinity(r, negative)) return signed_infinity(u->c, negative);
    const struct bitcut_format *f = u->result;
    mpz_t q;
    mpz_init(q);
    mpz_set_ui(q, ones(f->fraction_bits + 1));
    const long emax = (long)ones(f->exponent_bits) - 1 - f->bias;
    const uint64_t largest = encode(u->c, negative, q, emax - f->fraction_bits);
    mpz_clear(q);
    return largest;
}

/* Whether x, or `rounded` as f holds it, is so small that the rule makes it zero. */
static inline bool is_flushed(const struct bitcut_format *f,
                              const struct bitcut_rounding *r, const struct dyadic *x,
                              const struct dyadic *rounded)
{
    const long emin = 1 - f->bias;
    struct dyadic all_bits = { .e = leading(x) - f->fraction_bits };
    if (r->flush == FLUSH_BEFORE) return leading(x) < emin;
    if (r->flush != FLUSH_TINY) return r->flush && leading(rounded) < emin;
    mpz_init(all_bits.m);
    round_magnitude(all_bits.m, x, all_bits.e, r);
    const bool tiny = leading(&all_bits) < emin;
    mpz_clear(all_bits.m);
    return tiny;
}

/* An integer without what does not fit: modulo 2^bits, or the nearest that does. */
static inline uint64_t round_integer(const struct bitcut_format *f,
                                     const struct bitcut_rounding *r,
                                     const struct dyadic *x)
{
    struct dyadic kept = { .e = 0 };
    mpz_init(kept.m);
    mpz_mul_2exp(kept.m, x->m, (mp_bitcnt_t)x->e);
    const bool large = mpz_sizeinbase(kept.m, 2) >= (size_t)f->bits;
    if (large && r->overflow != OVERFLOW_WRAP)
        mpz_set_si(kept.m, mpz_sgn(x->m) * (long)ones(f->bits - 1));
    if (large && r->overflow == OVERFLOW_RANGE && mpz_sgn(x->m) < 0)
        mpz_sub_ui(kept.m, kept.m, 1);
    mpz_fdiv_r_2exp(kept.m, kept.m, (mp_bitcnt_t)f->bits);
    const uint64_t d = mpz_get_ui(kept.m);
    mpz_clear(kept.m);
    return d;
}

/* A nonzero x rounded once to u->result, encoded in u->c.  Values that a rule with
   `draws` rounds have one position after the other. */
static inline uint64_t round_value(const struct bitcut_unit *u,
                                   const struct bitcut_rounding *rule,
                                   const struct dyadic *x)
{
    const struct bitcut_format *f = u->result;
    struct bitcut_rounding own = *rule;
    const struct bitcut_rounding *const r = &own;
    if (rule->draws) own.position += (*rule->draws)++;
    if (f->special == SPECIAL_INTEGER) return round_integer(f, r, x);
    assert(f->special == SPECIAL_IEEE);
    const bool negative = mpz_sgn(x->m) < 0;
    const long emin = 1 - f->bias, emax = (long)ones(f->exponent_bits) - 1 - f->bias;
    const long top = leading(x), ulp = (top > emin ? top : emin) - f->fraction_bits;
    struct dyadic rounded = { .e = ulp };
    mpz_init(rounded.m);
    round_magnitude(rounded.m, x, ulp, r);
    uint64_t d;
    if (mpz_sgn(rounded.m) == 0 || is_flushed(f, r, x, &rounded))
        d = signed_zero(u->c, negative && u->zero != ZERO_POSITIVE);
    else if (leading(&rounded) > emax) d = overflow(u, r, negative);
    else d = encode(u->c, negative, rounded.m, ulp);
    mpz_clear(rounded.m);
    return d;
}

#endif
