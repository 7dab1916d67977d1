/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/emu/spec.h"

#include "emu/summation.h"

#include <assert.h>
#include <gmp.h>
#include <string.h>

/* --- exact numbers ---------------------------------------------------------------- */

/* The rational m 2^e. */
struct dyadic {
    mpz_t m;
    long e;
};

/* The exponent of the leading one of a nonzero x. */
static long leading(const struct dyadic *x)
{
    return (long)mpz_sizeinbase(x->m, 2) - 1 + x->e;
}

/* The greatest multiple of 2^grid that is not above x. */
static void floor_to(struct dyadic *x, long grid)
{
    if (grid <= x->e) return;
    mpz_fdiv_q_2exp(x->m, x->m, (mp_bitcnt_t)(grid - x->e));
    x->e = grid;
}

/* x without the part of its magnitude below 2^grid. */
static void truncate_to(struct dyadic *x, long grid)
{
    if (grid <= x->e) return;
    mpz_tdiv_q_2exp(x->m, x->m, (mp_bitcnt_t)(grid - x->e));
    x->e = grid;
}

/* What the unit drops of a term below 2^grid. */
static void cut_to(struct dyadic *x, const struct bitcut_unit *u, long grid)
{
    if (u->floor) floor_to(x, grid);
    else truncate_to(x, grid);
}

static void add(struct dyadic *sum, const struct dyadic *x)
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

static uint64_t ones(int bits) { return bits ? UINT64_MAX >> (64 - bits) : 0; }

/* The fields of an encoding. */
struct fields {
    uint64_t fraction, exponent;
    bool negative;
};

static struct fields fields_of(const struct bitcut_format *f, uint64_t encoding)
{
    const uint64_t x = encoding >> f->pad;
    return (struct fields){
        .fraction = x & ones(f->fraction_bits),
        .exponent = x >> f->fraction_bits & ones(f->exponent_bits),
        .negative = f->has_sign && x >> (f->fraction_bits + f->exponent_bits) & 1,
    };
}

static enum kind kind_of(const struct bitcut_format *f, struct fields x)
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
    case SPECIAL_E8M0:
        return top ? KIND_NAN : KIND_FINITE;
    }
    return zero ? KIND_ZERO : KIND_FINITE;
}

/* A NaN with sign and payload kept, as binary64. */
static uint64_t wide_nan(const struct bitcut_format *f, struct fields x)
{
    return (uint64_t)x.negative << 63 | UINT64_C(0x7ff) << 52 |
           x.fraction << (52 - f->fraction_bits);
}

/* Two's complement: what a sign bit takes away is twice its place. */
static void integer_read(struct term *t, const struct bitcut_format *f, uint64_t encoding)
{
    t->negative = encoding >> (f->bits - 1);
    t->kind = encoding ? KIND_FINITE : KIND_ZERO;
    t->aligns = t->kind == KIND_FINITE;
    t->exponent = t->value.e = 0;
    mpz_set_ui(t->value.m, encoding);
    if (t->negative) mpz_sub_ui(t->value.m, t->value.m, (uint64_t)1 << f->bits);
}

static void term_read(struct term *t, const struct bitcut_format *f, uint64_t encoding)
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
static void flush(struct term *t, bool keeps_sign, const struct bitcut_format *f)
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
static void term_convert(struct term *t, const struct bitcut_format *to)
{
    if (t->kind != KIND_FINITE) return;
    const long emin = 1 - to->bias, top = leading(&t->value);
    t->exponent = top > emin ? top : emin;
    assert(t->value.e + (long)mpz_scan1(t->value.m, 0) >=
           t->exponent - to->fraction_bits);
}

static enum kind product_kind(enum kind x, enum kind y)
{
    const enum kind low = x < y ? x : y, high = x < y ? y : x;
    if (high == KIND_INFINITE && low == KIND_ZERO) return KIND_NAN;
    return high == KIND_FINITE ? low : high;
}

static void term_multiply(struct term *x, const struct term *y)
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
static uint64_t encode(const struct bitcut_format *f, bool negative, const mpz_t q,
                       long e)
{
    const long emin = 1 - f->bias, top = (long)mpz_sizeinbase(q, 2) - 1 + e;
    const long exponent = top > emin ? top : emin;
    const long up = e - (exponent - f->fraction_bits);
    mpz_t scaled;
    mpz_init(scaled);
    if (up >= 0)
        mpz_mul_2exp(scaled, q, (mp_bitcnt_t)up);
    else
        mpz_tdiv_q_2exp(scaled, q, (mp_bitcnt_t)-up);
    const uint64_t significand = mpz_get_ui(scaled);
    mpz_clear(scaled);
    const uint64_t field = top < emin ? 0 : (uint64_t)(exponent + f->bias);
    const uint64_t sign = (uint64_t)negative << f->exponent_bits;
    return ((sign | field) << f->fraction_bits | (significand & ones(f->fraction_bits)))
           << f->pad;
}

static uint64_t signed_zero(const struct bitcut_format *f, bool negative)
{
    return (uint64_t)negative << (f->bits - 1);
}

static uint64_t signed_infinity(const struct bitcut_format *f, bool negative)
{
    const uint64_t exponent = ones(f->exponent_bits) << f->fraction_bits;
    return signed_zero(f, negative) | exponent << f->pad;
}

/* Whether a magnitude between two neighbours goes to the upper one.  `half` is the sign
   of its distance from their middle, `odd` whether the lower one is odd. */
static bool goes_up(enum direction direction, bool negative, bool odd, int half)
{
    switch (direction) {
    case TO_NEAREST_EVEN:
        return half > 0 || (half == 0 && odd);
    case TO_NEAREST_AWAY:
        return half >= 0;
    case TO_ZERO:
        return false;
    case TO_POSITIVE:
        return !negative;
    case TO_NEGATIVE:
        return negative;
    case TO_ODD:
        return !odd;
    case BY_BIT:
        break;
    }
    assert(!"a sum has no fraction bit to round by");
    return false;
}

/* q = |x| in units of 2^grid, rounded to an integer. */
static void round_magnitude(mpz_t q, const struct dyadic *x, long grid,
                            enum direction direction)
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
    if (lowest < lost && goes_up(direction, mpz_sgn(x->m) < 0, mpz_odd_p(q), half))
        mpz_add_ui(q, q, 1);
}

/* Whether a result too large for its format is infinite. */
static bool overflows_to_infinity(const struct bitcut_rounding *r, bool negative)
{
    if (r->overflow != OVERFLOW_IEEE) return r->overflow == OVERFLOW_INF;
    switch (r->direction) {
    case TO_NEAREST_EVEN:
    case TO_NEAREST_AWAY:
        return true;
    case TO_POSITIVE:
        return !negative;
    case TO_NEGATIVE:
        return negative;
    default:
        return false;
    }
}

static uint64_t overflow(const struct bitcut_unit *u, const struct bitcut_rounding *r,
                         bool negative)
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
static bool is_flushed(const struct bitcut_format *f, const struct bitcut_rounding *r,
                       const struct dyadic *x, const struct dyadic *rounded)
{
    const long emin = 1 - f->bias;
    struct dyadic all_bits = { .e = leading(x) - f->fraction_bits };
    if (r->flush == FLUSH_BEFORE) return leading(x) < emin;
    if (r->flush != FLUSH_TINY) return r->flush && leading(rounded) < emin;
    mpz_init(all_bits.m);
    round_magnitude(all_bits.m, x, all_bits.e, r->direction);
    const bool tiny = leading(&all_bits) < emin;
    mpz_clear(all_bits.m);
    return tiny;
}

/* An integer without what does not fit: modulo 2^bits, or the nearest that does. */
static uint64_t round_integer(const struct bitcut_format *f,
                              const struct bitcut_rounding *r, const struct dyadic *x)
{
    struct dyadic kept = { .e = 0 };
    mpz_init(kept.m);
    mpz_mul_2exp(kept.m, x->m, (mp_bitcnt_t)x->e);
    const bool large = mpz_sizeinbase(kept.m, 2) >= (size_t)f->bits;
    if (large && r->overflow != OVERFLOW_WRAP)
        mpz_set_si(kept.m, mpz_sgn(x->m) * (long)ones(f->bits - 1));
    mpz_fdiv_r_2exp(kept.m, kept.m, (mp_bitcnt_t)f->bits);
    const uint64_t d = mpz_get_ui(kept.m);
    mpz_clear(kept.m);
    return d;
}

/* A nonzero x rounded once to u->result, encoded in u->c. */
static uint64_t round_value(const struct bitcut_unit *u, const struct bitcut_rounding *r,
                            const struct dyadic *x)
{
    const struct bitcut_format *f = u->result;
    if (f->special == SPECIAL_INTEGER) return round_integer(f, r, x);
    assert(f->special == SPECIAL_IEEE);
    const bool negative = mpz_sgn(x->m) < 0;
    const long emin = 1 - f->bias, emax = (long)ones(f->exponent_bits) - 1 - f->bias;
    const long top = leading(x), ulp = (top > emin ? top : emin) - f->fraction_bits;
    struct dyadic rounded = { .e = ulp };
    mpz_init(rounded.m);
    round_magnitude(rounded.m, x, ulp, r->direction);
    uint64_t d;
    if (mpz_sgn(rounded.m) == 0 || is_flushed(f, r, x, &rounded))
        d = signed_zero(u->c, negative && u->zero != ZERO_POSITIVE);
    else if (leading(&rounded) > emax)
        d = overflow(u, r, negative);
    else
        d = encode(u->c, negative, rounded.m, ulp);
    mpz_clear(rounded.m);
    return d;
}

/* --- sums ------------------------------------------------------------------------- */

/* What the specials among n terms make of their sum: KIND_NAN, KIND_INFINITE (then
 *negative is its sign), or KIND_FINITE if there are none. */
static enum kind sum_kind(bool *negative, const struct term *terms, int n)
{
    bool infinite[2] = { false, false };
    for (int i = 0; i < n; i++) {
        if (terms[i].kind == KIND_NAN) return KIND_NAN;
        if (terms[i].kind == KIND_INFINITE) infinite[terms[i].negative] = true;
    }
    if (infinite[0] && infinite[1]) return KIND_NAN;
    *negative = infinite[1];
    return infinite[0] || infinite[1] ? KIND_INFINITE : KIND_FINITE;
}

/* Whether the specials among n terms decide the sum; if so, *d is the result. */
static bool special_sum(uint64_t *d, const struct bitcut_unit *u,
                        const struct term *terms, int n)
{
    bool negative;
    const enum kind kind = sum_kind(&negative, terms, n);
    if (kind == KIND_NAN) *d = u->nan;
    if (kind == KIND_INFINITE) *d = signed_infinity(u->c, negative);
    return kind != KIND_FINITE;
}

/* The sum x of n finite terms, after whatever it lost, rounded; a zero gets its sign. */
static uint64_t round_sum(const struct bitcut_unit *u, const struct bitcut_rounding *r,
                          const struct dyadic *x, const struct term *terms, int n)
{
    if (mpz_sgn(x->m) != 0) return round_value(u, r, x);
    bool negative_zeros = true;
    for (int i = 0; i < n; i++)
        if (terms[i].kind != KIND_ZERO || !terms[i].negative) negative_zeros = false;
    return signed_zero(u->c, u->zero == ZERO_IEEE && negative_zeros);
}

/* The values of n terms added exactly and rounded once. */
static uint64_t exact_sum(const struct bitcut_unit *u, const struct bitcut_rounding *r,
                          const struct term *terms, int n)
{
    uint64_t d;
    if (special_sum(&d, u, terms, n)) return d;
    struct dyadic sum = { .e = 0 };
    mpz_init(sum.m);
    for (int i = 0; i < n; i++) add(&sum, &terms[i].value);
    d = round_sum(u, r, &sum, terms, n);
    mpz_clear(sum.m);
    return d;
}

/* The largest exponent among the terms that align, at least `least`. */
static long align_exponent(const struct term *terms, int n, long least)
{
    for (int i = 0; i < n; i++)
        if (terms[i].aligns && terms[i].exponent > least) least = terms[i].exponent;
    return least;
}

/* Each sum below has `block` products in terms[0], terms[1], ... and c in terms[block],
   and may change them. */

/* Whether the first of three NaNs that is one is the result. */
static bool first_nan(uint64_t *d, const struct bitcut_unit *u, uint64_t x, uint64_t y,
                      uint64_t z)
{
    const uint64_t nan = x ? x : y ? y : z;
    if (u->nan_rule == NAN_FIXED || !nan) return false;
    const uint64_t quiet = UINT64_C(1) << (u->c->fraction_bits - 1);
    const uint64_t fraction = (nan & ones(52)) >> (52 - u->c->fraction_bits);
    *d = signed_infinity(u->c, nan >> 63) | (fraction | quiet) << u->c->pad;
    return true;
}

/* A product plus c in one operation. */
static bool operand_nan(uint64_t *d, const struct bitcut_unit *u, const struct term *p,
                        const struct term *c)
{
    return u->nan_rule == NAN_FIRST ? first_nan(d, u, p->nan[0], p->nan[1], c->nan[0])
                                    : first_nan(d, u, p->nan[1], c->nan[0], p->nan[0]);
}

static uint64_t fused_sum(const struct bitcut_unit *u, struct term *terms,
                          const struct term *scales, int block)
{
    (void)scales;
    const int n = block + 1;
    uint64_t d;
    if (operand_nan(&d, u, &terms[0], &terms[1])) return d;
    const long top = align_exponent(terms, n, u->align_min);
    if (u->fraction != FRACTION_EXACT)
        for (int i = 0; i < n; i++) cut_to(&terms[i].value, u, top - u->fraction);
    return exact_sum(u, &u->rounding, terms, n);
}

/* Every product that is not zero and has another sign than c is one unit of the last
   kept place larger than it is cut. */
static uint64_t complement_sum(const struct bitcut_unit *u, struct term *terms,
                               const struct term *scales, int block)
{
    (void)scales;
    const int n = block + 1;
    uint64_t d;
    if (special_sum(&d, u, terms, n)) return d;
    const long last = align_exponent(terms, n, -1000) - u->fraction;
    for (int i = 0; i < n; i++) {
        const bool against = i < block && terms[i].kind == KIND_FINITE &&
                             terms[i].negative != terms[block].negative;
        struct dyadic one = { .e = last };
        cut_to(&terms[i].value, u, last);
        mpz_init_set_si(one.m, terms[i].negative ? -1 : 1);
        if (against) add(&terms[i].value, &one);
        mpz_clear(one.m);
    }
    return exact_sum(u, &u->rounding, terms, n);
}

/* terms[0] becomes the sum of n products times `scale`, with the scale's exponent. */
static void group_scale(struct term *terms, int n, const struct term *scale)
{
    bool negative = false;
    terms[0].kind = sum_kind(&negative, terms, n);
    terms[0].negative = negative;
    for (int i = 1; i < n; i++) add(&terms[0].value, &terms[i].value);
    terms[0].exponent = 0;
    term_multiply(&terms[0], scale);
    terms[0].aligns = scale->aligns;
}

static void term_swap(struct term *x, struct term *y)
{
    const struct term kept = *x;
    *x = *y;
    *y = kept;
}

/* As fused_sum(), after groups of products have become terms.  scales[i] belongs to
   product i. */
static uint64_t grouped_sum(const struct bitcut_unit *u, struct term *terms,
                            const struct term *scales, int block)
{
    const int groups = block / u->group;
    assert(block % u->group == 0 && u->scale_block % u->group == 0);
    for (int g = 0; g < groups; g++) {
        group_scale(&terms[g * u->group], u->group, &scales[g * u->group]);
        term_swap(&terms[g], &terms[g * u->group]);
    }
    term_swap(&terms[groups], &terms[block]);
    return fused_sum(u, terms, scales, groups);
}

static uint64_t pairs_sum(const struct bitcut_unit *u, struct term *terms,
                          const struct term *scales, int block)
{
    (void)scales;
    for (int i = 0; i < block; i++)
        term_read(&terms[i], u->c, exact_sum(u, &u->rounding, &terms[i], 1));
    for (int n = block; n > 1; n /= 2) {
        assert(n % 2 == 0);
        for (int i = 0; i < n / 2; i++)
            term_read(&terms[i], u->c, exact_sum(u, &u->rounding, &terms[2 * i], 2));
    }
    term_swap(&terms[0], &terms[block - 1]);
    return exact_sum(u, &u->rounding, &terms[block - 1], 2);
}

/* A product, or a sum, and the encoding y, in one rounded operation. */
static uint64_t rounded_add(const struct bitcut_unit *u, const struct term *x,
                            bool product, uint64_t y)
{
    struct term pair[2] = { *x };
    uint64_t d;
    mpz_init(pair[1].value.m);
    term_read(&pair[1], u->c, y);
    if (!(product ? operand_nan(&d, u, x, &pair[1])
                  : first_nan(&d, u, x->nan[0], pair[1].nan[0], 0)))
        d = exact_sum(u, &u->rounding, pair, 2);
    mpz_clear(pair[1].value.m);
    return d;
}

static uint64_t chains_sum(const struct bitcut_unit *u, struct term *terms,
                           const struct term *scales, int block)
{
    (void)scales;
    const int chains = u->parity ? 2 : 1;
    uint64_t sum[2] = { 0, 0 };
    for (int chain = 0; chain < chains; chain++)
        for (int i = chain; i < block; i += chains)
            sum[chain] = rounded_add(u, &terms[i], true, sum[chain]);
    term_read(&terms[0], u->c, sum[0]);
    if (chains == 2) sum[0] = rounded_add(u, &terms[0], false, sum[1]);
    return rounded_add(u, &terms[block], false, sum[0]);
}

static uint64_t dot_sum(const struct bitcut_unit *u, struct term *terms,
                        const struct term *scales, int block)
{
    (void)scales;
    term_read(&terms[0], u->c, exact_sum(u, &u->rounding, terms, block));
    term_swap(&terms[1], &terms[block]);
    return exact_sum(u, &u->rounding, terms, 2);
}

/* Below every exponent, and far enough from the limits of long. */
static const long NO_EXPONENT = -1000000;

/* The sum of products first, first + step, ... below n, each truncated to u->fraction
   bits below the largest exponent among them, which is returned. */
static long half_sum(struct dyadic *sum, const struct bitcut_unit *u,
                     const struct term *terms, int first, int step, int n)
{
    long top = NO_EXPONENT;
    for (int i = first; i < n; i += step) top = align_exponent(&terms[i], 1, top);
    struct dyadic x;
    mpz_init(x.m);
    for (int i = first; i < n; i += step) {
        mpz_set(x.m, terms[i].value.m);
        x.e = terms[i].value.e;
        cut_to(&x, u, top - u->fraction);
        add(sum, &x);
    }
    mpz_clear(x.m);
    return top;
}

/* The first stage: the sum of the products and its alignment exponent. */
static long product_sum(struct dyadic *sum, const struct bitcut_unit *u,
                        const struct term *terms, int block)
{
    if (!u->parity) return half_sum(sum, u, terms, 0, 1, block);
    struct dyadic odd = { .e = 0 };
    mpz_init(odd.m);
    const long even_top = half_sum(sum, u, terms, 0, 2, block);
    const long odd_top = half_sum(&odd, u, terms, 1, 2, block);
    const long top = even_top > odd_top ? even_top : odd_top;
    floor_to(sum, top - u->fraction);
    floor_to(&odd, top - u->fraction);
    add(sum, &odd);
    mpz_clear(odd.m);
    return top;
}

/* Products too large for the result format become infinities. */
static void products_overflow(const struct bitcut_unit *u, struct term *terms, int block)
{
    const long emax = (long)ones(u->result->exponent_bits) - 1 - u->result->bias;
    for (int i = 0; i < block; i++)
        if (terms[i].kind == KIND_FINITE && leading(&terms[i].value) > emax)
            terms[i].kind = KIND_INFINITE;
}

static uint64_t two_stage_sum(const struct bitcut_unit *u, struct term *terms,
                              const struct term *scales, int block)
{
    (void)scales;
    uint64_t d;
    products_overflow(u, terms, block);
    if (special_sum(&d, u, terms, block + 1)) return d;
    struct dyadic sum = { .e = 0 };
    mpz_init(sum.m);
    const long products_top = product_sum(&sum, u, terms, block);
    struct term *c = &terms[block];
    const long top = products_top > c->exponent ? products_top : c->exponent;
    floor_to(&sum, top - u->sum_fraction);
    floor_to(&c->value, top - u->fraction);
    if (!u->parity || c->exponent >= top - (u->fraction + 1)) add(&sum, &c->value);
    if (mpz_sgn(sum.m) != 0) {
        const long most = leading(&sum) > u->keep_min ? leading(&sum) : u->keep_min;
        floor_to(&sum, most - u->keep);
    }
    d = round_sum(u, &u->rounding, &sum, terms, block + 1);
    mpz_clear(sum.m);
    return d;
}

/* x rounded to nearest even as u->carrier holds it, if there is one.  Its range is never
   left. */
static void carry(struct dyadic *x, const struct bitcut_unit *u)
{
    if (!u->carrier || mpz_sgn(x->m) == 0) return;
    const long emin = 1 - u->carrier->bias, top = leading(x) > emin ? leading(x) : emin;
    const long grid = top - u->carrier->fraction_bits;
    const int sign = mpz_sgn(x->m);
    mpz_t q;
    mpz_init(q);
    round_magnitude(q, x, grid, TO_NEAREST_EVEN);
    if (sign < 0) mpz_neg(q, q);
    mpz_set(x->m, q);
    x->e = grid;
    mpz_clear(q);
}

static uint64_t serial_sum(const struct bitcut_unit *u, struct term *terms,
                           const struct term *scales, int block)
{
    (void)scales;
    uint64_t d;
    if (special_sum(&d, u, terms, block + 1)) return d;
    struct dyadic sum = { .e = 0 };
    mpz_init(sum.m);
    for (int i = 0; i < block; i++) {
        add(&sum, &terms[i].value);
        carry(&sum, u);
        if (mpz_sgn(sum.m) != 0) truncate_to(&sum, leading(&sum) - u->keep + 1);
    }
    add(&sum, &terms[block].value);
    carry(&sum, u);
    d = round_sum(u, &u->rounding, &sum, terms, block + 1);
    mpz_clear(sum.m);
    return d;
}

/* --- the summations --------------------------------------------------------------- */

/* By the name of the summation. */
static const struct sum {
    const char *name;
    uint64_t (*add)(const struct bitcut_unit *u, struct term *terms,
                    const struct term *scales, int block);
    bool scales_groups; /* scales[i] is that of product i; if not, they are multiplied */
} sums[] = {
    { "fused", fused_sum, false },   { "grouped", grouped_sum, true },
    { "pairs", pairs_sum, false },   { "two-stage", two_stage_sum, false },
    { "serial", serial_sum, false }, { "chains", chains_sum, false },
    { "dot", dot_sum, false },       { "complement", complement_sum, false },
    { 0 },
};

static const struct sum *find_sum(const char *name)
{
    const struct sum *sum = sums;
    while (sum->name && strcmp(sum->name, name)) sum++;
    return sum->name ? sum : NULL;
}

bool spec_adds(const char *summation) { return find_sum(summation) != NULL; }

/* --- the instruction -------------------------------------------------------------- */

/* The numbers of one step: products and c, the scale of each product, and a factor. */
struct workspace {
    struct term terms[SPEC_K_MOST + 1], scales[SPEC_K_MOST], factor;
};

static void workspace_init(struct workspace *w, int block)
{
    for (int i = 0; i <= block; i++) mpz_init(w->terms[i].value.m);
    for (int i = 0; i < block; i++) mpz_init(w->scales[i].value.m);
    mpz_init(w->factor.value.m);
}

static void workspace_clear(struct workspace *w, int block)
{
    mpz_clear(w->factor.value.m);
    for (int i = 0; i < block; i++) mpz_clear(w->scales[i].value.m);
    for (int i = 0; i <= block; i++) mpz_clear(w->terms[i].value.m);
}

static void operand_read(struct term *t, const struct bitcut_unit *u,
                         const struct bitcut_format *f, uint64_t encoding)
{
    term_read(t, f, encoding);
    if (u->flush_inputs == INPUT_POSITIVE) flush(t, false, f);
    if (u->flush_inputs == INPUT_SIGNED) flush(t, true, f);
    if (u->via) term_convert(t, u->via);
}

/* product = a b */
static void product_read(struct term *product, struct term *factor,
                         const struct bitcut_unit *u, uint64_t a, uint64_t b)
{
    operand_read(product, u, u->a, a);
    operand_read(factor, u, u->b, b);
    term_multiply(product, factor);
    if (u->normalise && product->kind == KIND_FINITE)
        product->exponent = leading(&product->value);
}

/* scale = scale_a scale_b */
static void scale_read(struct term *scale, struct term *factor,
                       const struct bitcut_unit *u, uint64_t scale_a, uint64_t scale_b)
{
    term_read(scale, u->scale, scale_a);
    term_read(factor, u->scale, scale_b);
    term_multiply(scale, factor);
}

/* Fill k[0], k[1], ... with 0 to u->k - 1 in the order in which they enter the blocks. */
static void order_fill(int *k, const struct bitcut_unit *u)
{
    const int bit[] = { [K_BIT0] = 0, [K_BIT1] = 1, [K_BIT2] = 2 };
    int n = 0;
    for (int i = 0; i < u->k && u->order == K_ASCENDING; i++) k[n++] = i;
    for (int i = u->k; i > 0 && u->order == K_DESCENDING; i--) k[n++] = i - 1;
    if (n > 0) return;
    for (int i = 0; i < u->k; i++)
        if (!(i & 1 << bit[u->order])) k[n++] = i;
    for (int i = 0; i < u->k; i++)
        if (i & 1 << bit[u->order]) k[n++] = i;
}

/* C as the unit reads it. */
static uint64_t c_read(struct term *t, const struct bitcut_unit *u, uint64_t c)
{
    term_read(t, u->c, c);
    if (t->kind != KIND_FINITE || u->flush_inputs == INPUT_KEPT) return c;
    flush(t, u->flush_inputs != INPUT_POSITIVE, u->c);
    return t->kind == KIND_ZERO ? signed_zero(u->c, t->negative) : c;
}

static const struct bitcut_rounding to_nearest = { .direction = TO_NEAREST_EVEN,
                                                   .overflow = OVERFLOW_IEEE };

/* The operands as given to spec_dot(). */
struct operands {
    const uint64_t *a, *b, *scale_a, *scale_b;
};

/* One step of the chain: the products at k[0], k[1], ... and d. */
static uint64_t step(struct workspace *w, const struct bitcut_unit *u,
                     const struct operands *x, const int *k, uint64_t d)
{
    const struct sum *sum = find_sum(u->summation->name);
    assert(sum);
    for (int i = 0; i < u->block; i++) {
        product_read(&w->terms[i], &w->factor, u, x->a[k[i]], x->b[k[i]]);
        if (!u->scale) continue;
        const int at = k[i] / u->scale_block;
        scale_read(&w->scales[i], &w->factor, u, x->scale_a[at], x->scale_b[at]);
        if (!sum->scales_groups) term_multiply(&w->terms[i], &w->scales[i]);
    }
    term_read(&w->terms[u->block], u->c, d);
    return sum->add(u, w->terms, w->scales, u->block);
}

uint64_t spec_dot(const struct bitcut_unit *u, const uint64_t *a, const uint64_t *b,
                  const uint64_t *scale_a, const uint64_t *scale_b, uint64_t c)
{
    assert(u->k <= SPEC_K_MOST && u->k % u->block == 0);
    const struct operands x = { a, b, scale_a, scale_b };
    struct workspace w;
    int k[SPEC_K_MOST];
    workspace_init(&w, u->block);
    const uint64_t c_in = c_read(&w.factor, u, c);
    uint64_t d = u->c_last ? 0 : c_in;
    order_fill(k, u);
    for (int i = 0; i < u->k; i += u->block) d = step(&w, u, &x, k + i, d);
    if (u->c_last) {
        term_read(&w.terms[0], u->c, d);
        term_read(&w.terms[1], u->c, c_in);
        struct bitcut_unit whole = *u;
        whole.result = u->c;
        whole.zero = ZERO_IEEE;
        d = exact_sum(&whole, &to_nearest, w.terms, 2);
    }
    workspace_clear(&w, u->block);
    return d;
}
