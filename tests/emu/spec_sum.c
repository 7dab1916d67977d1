/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/emu/spec_sum.h"

#include <string.h>

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

uint64_t spec_exact_sum(const struct bitcut_unit *u, const struct bitcut_rounding *r,
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
    return spec_exact_sum(u, &u->rounding, terms, n);
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
    return spec_exact_sum(u, &u->rounding, terms, n);
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
        term_read(&terms[i], u->c, spec_exact_sum(u, &u->rounding, &terms[i], 1));
    for (int n = block; n > 1; n /= 2) {
        assert(n % 2 == 0);
        for (int i = 0; i < n / 2; i++)
            term_read(&terms[i], u->c, spec_exact_sum(u, &u->rounding, &terms[2 * i], 2));
    }
    term_swap(&terms[0], &terms[block - 1]);
    return spec_exact_sum(u, &u->rounding, &terms[block - 1], 2);
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
        d = spec_exact_sum(u, &u->rounding, pair, 2);
    mpz_clear(pair[1].value.m);
    return d;
}

static uint64_t chains_sum(const struct bitcut_unit *u, struct term *terms,
                           const struct term *scales, int block)
{
    (void)scales;
    const int chains = u->parity ? 2 : 1;
    uint64_t sum[2] = { 0, 0 };
    for (int i = 0; i < block; i++)
        sum[i % chains] = rounded_add(u, &terms[i], true, sum[i % chains]);
    term_read(&terms[0], u->c, sum[0]);
    if (chains == 2) sum[0] = rounded_add(u, &terms[0], false, sum[1]);
    return rounded_add(u, &terms[block], false, sum[0]);
}

static uint64_t dot_sum(const struct bitcut_unit *u, struct term *terms,
                        const struct term *scales, int block)
{
    (void)scales;
    term_read(&terms[0], u->c, spec_exact_sum(u, &u->rounding, terms, block));
    term_swap(&terms[1], &terms[block]);
    return spec_exact_sum(u, &u->rounding, terms, 2);
}

/* Sums of two integers stay within the carrier, whose values begin one below the negated
   largest. */
static uint64_t saturated_sum(const struct bitcut_unit *u, struct term *terms,
                              const struct term *scales, int block)
{
    (void)scales;
    mpz_t low, high;
    mpz_init(low);
    mpz_init(high);
    mpz_ui_pow_ui(high, 2, (unsigned long)u->carrier->bits - 1);
    mpz_neg(low, high);
    mpz_sub_ui(high, high, 1);
    for (int i = 0; i < block; i += 2) {
        struct dyadic *const x = &terms[i].value;
        add(x, &terms[i + 1].value);
        mpz_mul_2exp(x->m, x->m, (unsigned long)x->e);
        x->e = 0;
        if (mpz_cmp(x->m, high) > 0) mpz_set(x->m, high);
        if (mpz_cmp(x->m, low) < 0) mpz_set(x->m, low);
        mpz_set_ui(terms[i + 1].value.m, 0);
    }
    mpz_clear(low);
    mpz_clear(high);
    return spec_exact_sum(u, &u->rounding, terms, block + 1);
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
    static const struct bitcut_rounding nearest = { .direction = TO_NEAREST_EVEN };
    if (!u->carrier || mpz_sgn(x->m) == 0) return;
    const long emin = 1 - u->carrier->bias, top = leading(x) > emin ? leading(x) : emin;
    const long grid = top - u->carrier->fraction_bits;
    const int sign = mpz_sgn(x->m);
    mpz_t q;
    mpz_init(q);
    round_magnitude(q, x, grid, &nearest);
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

static const struct spec_sum sums[] = {
    { "fused", fused_sum, false },   { "grouped", grouped_sum, true },
    { "pairs", pairs_sum, false },   { "two-stage", two_stage_sum, false },
    { "serial", serial_sum, false }, { "chains", chains_sum, false },
    { "dot", dot_sum, false },       { "complement", complement_sum, false },
    { "saturated", saturated_sum, false },
    { 0 },
};

const struct spec_sum *spec_sum_find(const char *name)
{
    const struct spec_sum *sum = sums;
    while (sum->name && strcmp(sum->name, name)) sum++;
    return sum->name ? sum : NULL;
}
