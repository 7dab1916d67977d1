/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of an output: the published example by hand, and samples of every row,
   checked from the operands to the output, with each number compared with exact
   rationals. */
#include "analysis/evidence/field.h"
#include "analysis/evidence/sample.h"
#include "emu/engine.h"
#include "lib/base/table.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t encode(const struct bitcut_format *f, double x)
{
    const uint64_t encoding = bitcut_format_convert(
        f, &roundings[ROUND_RN], &formats[FORMAT_F64], bits_of_double(x));
    ck_assert_msg(format_to_double(f, encoding) == x, "%s has no %g", f->name, x);
    return encoding;
}

static double term_value(struct term t)
{
    const double magnitude = ldexp((double)t.significand, t.exponent);
    return t.negative ? -magnitude : magnitude;
}

/* --- by hand ---------------------------------------------------------------------- */

enum { HAND_TERMS = 5, NONE = 99 };

/* What a sum of the trace must be.  Numbers come from the definitions of the units
   (emu/unit.h) by hand, not from the program. */
struct hand {
    const char *unit;
    int step, sum;               /* which sum of which step; -1: the step's last      */
    int exponent, last;          /* of the alignment and of the integers' unit; NONE  */
    int64_t aligned[HAND_TERMS]; /* of the nonzero terms, in order; 0 at the end     */
    double value, kept, d;       /* kept, d: 0 if it is neither cut nor rounded       */
};

/* a = -2^13, -1/2, -1/4, -1/8; b = 2^10, 1, 1, 1; c = 2^23 (arXiv 2511.10909).  In units
   of 2^-1 c is 2^24, and so on. */
static const struct hand example[] = {
    /* clang-format off */
    /* unit                           step sum  E    unit  aligned                                  value      kept   d */
    { "volta/mma.m8n8k4.f32.f16",       0, -1,  23,   0, { -0x800000, 0, 0, 0, 0x800000 },          0,         0,     0 },
    { "turing/mma.m16n8k8.f32.f16",     0, -1,  23,  -1, { -0x1000000, -1, 0, 0, 0x1000000 },       -0.5,      0,     -0.5 },
    { "ampere/mma.m16n8k8.f32.tf32",    0, -1,  23,  -1, { -0x1000000, -1, 0, 0, 0x1000000 },       -0.5,      0,     -0.5 },
    { "hopper/mma.m16n8k16.f32.f16",    0, -1,  23,  -2, { -0x2000000, -2, -1, 0, 0x2000000 },      -0.75,     0,     -0.75 },
    { "ada/mma.m16n8k32.f32.e5m2",      0, -1,  23,  10, { -0x2000, 0, 0, 0, 0x2000 },              0,         0,     0 },
    /* fp8 through f16: products 0 and 1, then 2 and 3, from zero; then C */
    { "hopper/mma.m16n8k32.f32.e5m2",   0, -1,  23,  -2, { -0x2000000, -2 },                        -0x800000 - 0.5, 0, -0x800000 },
    { "hopper/mma.m16n8k32.f32.e5m2",   1, -1,  23,  -2, { -1, 0, -0x2000000 },                     -0x800000 - 0.25, 0, -0x800000 },
    /* exact */
    { "cdna1/mfma.16x16x16.f32.f16",    0, -1, NONE, NONE, { 0 },                                   -0.875,    0,     -0.875 },
    { "hopper/mma.m8n8k4.f64.f64",      0, -1, NONE, NONE, { 0 },                                   0,         0,     0 },
    { "hopper/mma.m8n8k4.f64.f64",      3, -1, NONE, NONE, { 0 },                                   -0.875,    0,     -0.875 },
    /* four products, two pairs, their sum, then c */
    { "cdna2/mfma.16x16x16.f32.f16",    0,  0, NONE, NONE, { 0 },                                   -0x800000, 0,     -0x800000 },
    { "cdna2/mfma.16x16x16.f32.f16",    0,  4, NONE, NONE, { 0 },                                   -0x800000 - 0.5, 0, -0x800000 },
    { "cdna2/mfma.16x16x16.f32.f16",    0,  5, NONE, NONE, { 0 },                                   -0.375,    0,     -0.375 },
    { "cdna2/mfma.16x16x16.f32.f16",    0,  6, NONE, NONE, { 0 },                                   -0x800000 - 0.375, 0, -0x800000 },
    { "cdna2/mfma.16x16x16.f32.f16",    0, -1, NONE, NONE, { 0 },                                   0,         0,     0 },
    { "cdna2/mfma.16x16x8.f32.bf16",    0, -1, NONE, NONE, { 0 },                                   0,         0,     0 },
    { "cdna2/mfma.16x16x8.f32.bf16",    1, -1, NONE, NONE, { 0 },                                   -0.375,    0,     -0.375 },
    /* the products to 24 bits; their sum to 32 bits, c to 24, in units of 2^-9 */
    { "cdna3/mfma.16x16x16.f32.f16",    0,  0,  23,  -1, { -0x1000000, -1 },                        -0x800000 - 0.5, 0, 0 },
    { "cdna3/mfma.16x16x16.f32.f16",    0, -1,  23,  -9, { -0x100000100, 0x100000000 },             -0.5,      -0.5,  -0.5 },
    { "cdna3/mfma.16x16x32.f32.bf8.bf8", 0, 0,  23,  -1, { -0x1000000, 0 },                         -0x800000, 0,     0 },
    { "cdna3/mfma.16x16x32.f32.bf8.bf8", 0, 1,  -1, -25, { -0x1000000, -0x400000 },                 -0.625,    0,     0 },
    { "cdna3/mfma.16x16x32.f32.bf8.bf8", 0, 2,  23,  -1, { -0x1000000, -2 },                        -0x800000 - 1.0, 0, 0 },
    { "cdna3/mfma.16x16x32.f32.bf8.bf8", 0, -1, 23,  -9, { -0x100000200, 0x100000000 },             -1,        -1,    -1 },
    /* 25 bits of each partial sum */
    { "ideal/rn25",                     0,  1, NONE, NONE, { 0 },                                   -0x800000 - 0.5, -0x800000 - 0.5, 0 },
    { "ideal/rn25",                     0,  2, NONE, NONE, { 0 },                                   -0x800000 - 0.75, -0x800000 - 0.5, 0 },
    { "ideal/rn25",                     0,  3, NONE, NONE, { 0 },                                   -0x800000 - 0.625, -0x800000 - 0.5, 0 },
    { "ideal/rn25",                     0, -1, NONE, NONE, { 0 },                                   -0.5,      0,     -0.5 },
    { 0 }
    /* clang-format on */
};

/* a b = 1.5 * 6 - 0.5 * 0.5 = 8.75 in the first group, c = 2^30, scales 2 and 2^3. */
static const struct hand grouped[] = {
    /* clang-format off */
    { "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1", 0,  0, NONE, -2, { 36, -1 },                8.75,           0, 0 },
    { "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1", 0, -1, 30,   -5, { 0x1180, INT64_C(1) << 35 }, 0x40000000 + 140.0, 0, 0x40000080 },
    { 0 }
    /* clang-format on */
};

static void aligned_check(const struct unit_trace *t, const struct trace_sum *s,
                          const struct hand *h)
{
    int n = 0;
    ck_assert_int_eq(s->aligned, h->last != NONE);
    for (int i = s->first; i < s->first + s->terms; i++) {
        if (t->term[i].value.significand == 0) continue;
        const int64_t want = n < HAND_TERMS ? h->aligned[n] : 0;
        ck_assert_msg(t->term[i].aligned == want,
                      "%s step %d sum %d: %" PRId64 " not %" PRId64, h->unit, h->step,
                      h->sum, (int64_t)t->term[i].aligned, want);
        n++;
    }
    for (; n < HAND_TERMS; n++) ck_assert_int_eq(h->aligned[n], 0);
}

static void hand_check(const struct hand *h, const struct sample *s)
{
    static struct unit_trace t;
    const struct bitcut_unit *u = table_find(TABLE(units), h->unit);
    ck_assert_msg(u != NULL, "no unit %s", h->unit);
    sample_trace(&t, u, s);
    ck_assert_int_eq(t.steps, u->k / u->block);
    const struct trace_step *step = &t.step[h->step];
    const int at = step->first_sum + (h->sum < 0 ? step->sums - 1 : h->sum);
    const struct trace_sum *sum = &t.sum[at];
    ck_assert_int_lt(h->sum, step->sums);
    ck_assert_int_eq(sum->name == NULL, h->sum < 0);
    ck_assert_int_eq(sum->at_exponent, h->exponent != NONE);
    if (h->exponent != NONE) ck_assert_int_eq(sum->exponent, h->exponent);
    if (h->last != NONE) ck_assert_int_eq(sum->value.exponent, h->last);
    aligned_check(&t, sum, h);
    ck_assert_double_eq(term_value(sum->value), h->value);
    ck_assert_double_eq(sum->cut ? term_value(sum->kept) : 0, h->kept);
    ck_assert_double_eq(sum->rounded ? format_to_double(u->result, sum->d) : 0, h->d);
}

static void example_fill(struct sample *s, const struct bitcut_unit *u)
{
    static const double a[4] = { -0x1p13, -0.5, -0.25, -0.125 },
                        b[4] = { 0x1p10, 1, 1, 1 };
    memset(s, 0, sizeof *s);
    for (int k = 0; k < 4; k++) {
        s->a[k] = encode(u->a, a[k]);
        s->b[k] = encode(u->b, b[k]);
    }
    s->c = encode(u->c, 0x1p23);
}

START_TEST(published_example)
{
    for (const struct hand *h = example; h->unit; h++) {
        struct sample s;
        const struct bitcut_unit *u = table_find(TABLE(units), h->unit);
        ck_assert_msg(u != NULL, "no unit %s", h->unit);
        example_fill(&s, u);
        hand_check(h, &s);
    }
}
END_TEST

/* The scale 2^exponent. */
static uint64_t scale_encode(const struct bitcut_format *f, int exponent)
{
    return (uint64_t)(f->bias + exponent) << f->fraction_bits;
}

START_TEST(scaled_groups)
{
    for (const struct hand *h = grouped; h->unit; h++) {
        struct sample s = { 0 };
        const struct bitcut_unit *u = table_find(TABLE(units), h->unit);
        ck_assert_msg(u != NULL, "no unit %s", h->unit);
        for (int i = 0; i < sample_scales(u); i++) {
            s.scale_a[i] = scale_encode(u->scale, 1);
            s.scale_b[i] = scale_encode(u->scale, 3);
        }
        s.a[0] = encode(u->a, 1.5), s.b[0] = encode(u->b, 6);
        s.a[1] = encode(u->a, -0.5), s.b[1] = encode(u->b, 0.5);
        s.c = encode(u->c, 0x1p30);
        hand_check(h, &s);
    }
}
END_TEST

/* What decides: the chain goes on with the special value. */
static const struct {
    const char *unit;
    double a, b, c; /* a, b: product 0 */
    struct special_sum special;
} specials[] = {
    { "hopper/mma.m16n8k16.f32.f16", INFINITY, -1, 1, { .negative = true } },
    { "hopper/mma.m16n8k16.f32.f16", INFINITY, 0, 1, { .nan = true } },
    { "hopper/mma.m16n8k16.f32.f16",
      INFINITY,
      1,
      -INFINITY,
      { .positive = true, .negative = true } },
    { "cdna3/mfma.16x16x8.f32.xf32", 0x1p127, 2, 1, { .positive = true } },
    { "cdna2/mfma.16x16x16.f32.f16", INFINITY, 1, 1, { .positive = true } },
    { "fma/f64", NAN, 1, 1, { .nan = true, .operand = true } },
    { "fma/f64", INFINITY, 0, 1, { .nan = true } },
};

static uint64_t encode_any(const struct bitcut_format *f, double x)
{
    return isnan(x) ? format_nan(f) : isinf(x) ? format_infinity(f, x < 0) : encode(f, x);
}

START_TEST(special_values)
{
    static struct unit_trace t;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        const struct bitcut_unit *u = table_find(TABLE(units), specials[i].unit);
        struct sample s = { 0 };
        s.a[0] = encode_any(u->a, specials[i].a);
        s.b[0] = encode_any(u->b, specials[i].b);
        s.c = encode_any(u->c, specials[i].c);
        sample_trace(&t, u, &s);
        const struct special_sum *want = &specials[i].special, *got = &t.sum[0].special;
        ck_assert_msg(got->nan == want->nan && got->operand == want->operand &&
                          (got->nan || (got->positive == want->positive &&
                                        got->negative == want->negative)),
                      "%s, %g %g %g", u->name, specials[i].a, specials[i].b,
                      specials[i].c);
        ck_assert_uint_eq(t.d, sample_dot(u, &s));
    }
}
END_TEST

/* --- samples of every row, in exact rationals ------------------------------------- */

/* The numbers of one trace, to be compared with rationals made from the encodings. */
struct audit {
    const struct bitcut_unit *u;
    const struct sample *s;
    const struct unit_trace *t;
    const struct trace_step *step;
    const char *wrong; /* the first thing that is, or NULL */
};

static void expect(struct audit *x, bool good, const char *what)
{
    if (!good && !x->wrong) x->wrong = what;
}

static void shift(mpq_t q, int exponent)
{
    if (exponent >= 0) mpq_mul_2exp(q, q, (mp_bitcnt_t)exponent);
    else mpq_div_2exp(q, q, (mp_bitcnt_t)-exponent);
}

static void set_term(mpq_t q, struct term t)
{
    const uint64_t word[2] = { (uint64_t)t.significand, (uint64_t)(t.significand >> 64) };
    mpz_import(mpq_numref(q), 2, -1, 8, 0, 0, word);
    mpz_set_ui(mpq_denref(q), 1);
    if (t.negative) mpq_neg(q, q);
    if (t.significand) shift(q, t.exponent);
}

static void set_integer(mpq_t q, int128 x, int exponent)
{
    const bitcut_uint128 magnitude = x < 0 ? -(bitcut_uint128)x : (bitcut_uint128)x;
    set_term(q, (struct term){ magnitude, exponent, x < 0 });
}

/* A finite operand or accumulator as the unit reads it. */
static void set_operand(mpq_t q, const struct audit *x, const struct bitcut_format *f,
                        uint64_t encoding)
{
    const double value = format_to_double(f, encoding);
    mpq_set_d(q, value);
    if (unit_flushes_operands(x->u) && f != x->u->scale && f->special != SPECIAL_INTEGER &&
        fabs(value) < ldexp(1, format_emin(f)))
        mpq_set_ui(q, 0, 1);
}

/* Multiply by the scales of product k, if the unit has them. */
static void multiply_scales(mpq_t q, const struct audit *x, int k)
{
    mpq_t scale;
    if (!x->u->scale) return;
    mpq_init(scale);
    set_operand(scale, x, x->u->scale, x->s->scale_a[k / x->u->scale_block]);
    mpq_mul(q, q, scale);
    set_operand(scale, x, x->u->scale, x->s->scale_b[k / x->u->scale_block]);
    mpq_mul(q, q, scale);
    mpq_clear(scale);
}

/* What an earlier sum of the step hands on. */
static void set_sum(mpq_t q, const struct audit *x, int index)
{
    const struct trace_sum *sum = &x->t->sum[x->step->first_sum + index];
    if (sum->rounded) mpq_set_d(q, format_to_double(x->u->result, sum->d));
    else set_term(q, sum->cut ? sum->kept : sum->value);
    if (x->u->summation == &sum_grouped)
        multiply_scales(q, x, x->step->first + index * x->u->group);
}

/* What a term must be. */
static void set_source(mpq_t q, const struct audit *x, const struct trace_term *term)
{
    mpq_t b;
    switch (term->source) {
    case TRACE_C: mpq_set_d(q, format_to_double(x->u->c, x->step->c)); return;
    case TRACE_SUM: set_sum(q, x, term->index); return;
    case TRACE_ZERO: mpq_set_ui(q, 0, 1); return;
    case TRACE_PRODUCT: break;
    }
    mpq_init(b);
    set_operand(q, x, x->u->a, x->s->a[term->index]);
    set_operand(b, x, x->u->b, x->s->b[term->index]);
    mpq_mul(q, q, b);
    if (x->u->summation == &sum_fused) multiply_scales(q, x, term->index);
    mpq_clear(b);
}

/* Whether 0 <= whole - part < 2^unit, or for a truncation the same of magnitudes. */
static bool is_cut(mpq_t whole, mpq_t part, int unit, bool floors)
{
    mpq_t lost, one;
    mpq_init(lost), mpq_init(one);
    mpq_sub(lost, whole, part);
    mpq_set_ui(one, 1, 1);
    shift(one, unit);
    if (!floors && mpq_sgn(whole) < 0) mpq_neg(lost, lost);
    const bool is = mpq_sgn(lost) >= 0 && mpq_cmp(lost, one) < 0;
    mpq_clear(lost), mpq_clear(one);
    return is;
}

/* Whether |whole - part| < 2^unit. */
static bool is_near(mpq_t whole, mpq_t part, int unit)
{
    return is_cut(whole, part, unit, true) || is_cut(part, whole, unit, true);
}

/* What inverting the bits of a term adds to its integer. */
static int inverting(const struct audit *x, const struct trace_term *term)
{
    const bool against = term->value.negative != unit_read(x->u, x->u->c, x->step->c).negative;
    if (x->u->summation != &sum_complement || term->source != TRACE_PRODUCT) return 0;
    return !term->value.significand || !against ? 0 : term->value.negative ? -1 : 1;
}

/* A term against its aligned integer. */
static void audit_aligned(struct audit *x, const struct trace_sum *sum,
                          const struct trace_term *term, mpq_t value)
{
    const bool staged = x->u->summation == &sum_two_stage && term->source != TRACE_PRODUCT;
    const bool coarse = staged && term->source == TRACE_C;
    const int unit =
        sum->value.exponent + (coarse ? x->u->sum_fraction - x->u->fraction : 0);
    const bool left_out = coarse && x->u->parity && term->aligned == 0 &&
                          term->exponent < sum->exponent - x->u->fraction - 1;
    mpq_t part;
    mpq_init(part);
    set_integer(part, term->aligned - inverting(x, term), sum->value.exponent);
    expect(x, left_out || is_cut(value, part, unit, staged || x->u->floor), "aligned");
    expect(x,
           !sum->at_exponent || !term->value.significand ||
               term->exponent <= sum->exponent,
           "a term above the alignment");
    mpq_clear(part);
}

/* The terms of a sum and what they add up to. */
static void audit_terms(struct audit *x, const struct trace_sum *sum)
{
    int128 integers = 0;
    mpq_t total, value, want;
    mpq_init(total), mpq_init(value), mpq_init(want);
    for (int i = sum->first; i < sum->first + sum->terms; i++) {
        const struct trace_term *term = &x->t->term[i];
        set_term(value, term->value);
        set_source(want, x, term);
        expect(x, mpq_equal(value, want), "a term");
        if (sum->aligned) audit_aligned(x, sum, term, value);
        mpq_add(total, total, value);
        integers += term->aligned;
    }
    set_term(value, sum->value);
    if (sum->aligned) {
        set_integer(total, integers, sum->value.exponent);
        expect(x, mpq_equal(total, value), "the sum of integers");
    } else {
        expect(x, is_cut(total, value, sum->value.exponent, false), "the exact sum");
        expect(x, mpq_equal(total, value) == !sum->inexact, "inexact");
    }
    mpq_clear(total), mpq_clear(value), mpq_clear(want);
}

/* The value of the encoding `steps` further from zero; false where there is none. */
static bool set_neighbour(mpq_t q, const struct bitcut_format *f, uint64_t d, int steps)
{
    const uint64_t sign = format_zero(f, true), magnitude = d & ~sign;
    const uint64_t next = magnitude + ((uint64_t)(int64_t)steps << f->pad);
    if (steps < 0 && magnitude == 0) {
        mpq_set_d(q, -format_to_double(f, UINT64_C(1) << f->pad));
        return true;
    }
    if (next >= format_infinity(f, false)) return false;
    mpq_set_d(q, format_to_double(f, next));
    return true;
}

/* Whether encoding d is next to `value`: at most one step away. */
static bool is_rounded(const struct bitcut_format *f, uint64_t d, mpq_t value)
{
    const bool negative = (d & format_zero(f, true)) != 0;
    mpq_t bound, magnitude;
    if (format_decode(f, d).kind == NUMBER_NAN) return false;
    mpq_init(bound), mpq_init(magnitude);
    mpq_set(magnitude, value);
    if (negative) mpq_neg(magnitude, value);
    bool is = !set_neighbour(bound, f, d, 1) || mpq_cmp(magnitude, bound) < 0;
    is &= !set_neighbour(bound, f, d, -1) || mpq_cmp(magnitude, bound) > 0;
    mpq_clear(bound), mpq_clear(magnitude);
    return is;
}

/* Whether d is the end of the range of f on the side of the value. */
static bool is_end(const struct bitcut_format *f, uint64_t d, mpq_t value)
{
    const uint64_t lowest = f->has_sign ? UINT64_C(1) << (f->bits - 1) : 0;
    return d == format_largest(f, mpq_sgn(value) < 0) || (mpq_sgn(value) < 0 && d == lowest);
}

/* Whether a sum was limited to the range of f: it is the value, or an end of the range
   that the value lies beyond. */
static bool is_limited(mpq_t value, mpq_t kept, const struct bitcut_format *f)
{
    const int side = mpq_sgn(value), beyond = mpq_cmp(value, kept);
    const long end = (1L << (f->bits - 1)) - (side > 0);
    return beyond == 0 || (side > 0 && beyond > 0 && mpq_cmp_si(kept, end, 1) == 0) ||
           (side < 0 && beyond < 0 && mpq_cmp_si(kept, -end, 1) == 0);
}

/* Whether the value less an integer is a multiple of 2^bits, or that is the largest. */
static bool is_integer_of(const struct bitcut_format *f, uint64_t d, mpq_t value)
{
    mpq_t rest;
    mpq_init(rest);
    mpq_set_d(rest, format_to_double(f, d));
    mpq_sub(rest, value, rest);
    mpq_div_2exp(rest, rest, (mp_bitcnt_t)f->bits);
    const bool is = mpz_cmp_ui(mpq_denref(rest), 1) == 0 ||
                    is_end(f, d, value);
    mpq_clear(rest);
    return is;
}

static void audit_result(struct audit *x, const struct trace_sum *sum)
{
    const struct bitcut_format *f = x->u->result;
    const bool flushed = x->u->rounding.flush && sum->rounded &&
                         format_decode(f, sum->d).kind == NUMBER_ZERO;
    const bool floors = x->u->summation == &sum_two_stage;
    mpq_t value, kept;
    mpq_init(value), mpq_init(kept);
    set_term(value, sum->value);
    if (sum->inexact) { /* by something below the last bit */
        set_term(kept, (struct term){ 1, sum->value.exponent - 1, sum->value.negative });
        mpq_add(value, value, kept);
    }
    if (sum->cut) {
        set_term(kept, sum->kept);
        expect(x,
               x->u->summation == &sum_saturated ? is_limited(value, kept, x->u->carrier)
               : x->u->carrier                   ? is_near(value, kept, sum->kept.exponent)
                               : is_cut(value, kept, sum->kept.exponent, floors),
               "kept");
        mpq_set(value, kept);
    }
    if (sum->rounded && !flushed) {
        const bool integer = f->special == SPECIAL_INTEGER;
        expect(x,
               integer ? is_integer_of(f, sum->d, value) : is_rounded(f, sum->d, value),
               "rounded");
    }
    mpq_clear(value), mpq_clear(kept);
}

/* That the step takes every product of its block once, and none else. */
static void audit_products(struct audit *x)
{
    const int last = x->step->first_sum + x->step->sums - 1;
    const int first = x->t->sum[x->step->first_sum].first;
    int seen = 0, at = x->step->first;
    bool decided = false;
    for (int i = x->step->first_sum; i <= last; i++) {
        const struct special_sum *s = &x->t->sum[i].special;
        decided |= s->nan || s->positive || s->negative;
    }
    for (int i = first; i < x->t->sum[last].first + x->t->sum[last].terms; i++)
        seen += x->t->term[i].source == TRACE_PRODUCT;
    expect(x, decided || seen == x->step->products, "a product too few or too many");
    if (x->u->summation == &sum_two_stage && x->u->parity) return; /* even k come first */
    for (int i = first; i < x->t->sum[last].first + x->t->sum[last].terms; i++)
        if (x->t->term[i].source == TRACE_PRODUCT && !decided)
            expect(x, x->t->term[i].index == x->t->k[at++], "the order of products");
}

static void audit_step(struct audit *x)
{
    for (int i = 0; i < x->step->sums; i++) {
        const struct trace_sum *sum = &x->t->sum[x->step->first_sum + i];
        const bool last = i == x->step->sums - 1;
        expect(x, (sum->name == NULL) == last,
               "the last sum has no name, all others have");
        if (sum->special.nan || sum->special.positive || sum->special.negative) continue;
        audit_terms(x, sum);
        audit_result(x, sum);
        if (last) expect(x, sum->rounded && sum->d == x->step->d, "the step's result");
    }
    audit_products(x);
}

/* From step to step, and the addition of a C that comes last. */
static void audit_chain(struct audit *x)
{
    const struct unit_trace *t = x->t;
    mpq_t sum, c;
    expect(x, t->step[0].c == (t->c_last ? 0 : t->c), "the first accumulator");
    for (int i = 1; i < t->steps; i++)
        expect(x, t->step[i].c == t->step[i - 1].d, "an accumulator");
    const uint64_t last = t->step[t->steps - 1].d;
    expect(x, t->c_last || t->d == last, "the last step");
    expect(x, t->c_last == x->u->c_last, "c_last");
    if (!t->c_last || format_decode(x->u->c, last).kind >= NUMBER_INF ||
        format_decode(x->u->c, t->c).kind >= NUMBER_INF)
        return;
    mpq_init(sum), mpq_init(c);
    mpq_set_d(sum, format_to_double(x->u->c, last));
    mpq_set_d(c, format_to_double(x->u->c, t->c));
    mpq_add(sum, sum, c);
    expect(x, is_rounded(x->u->c, t->d, sum), "the addition of C");
    mpq_clear(sum), mpq_clear(c);
}

/* What is wrong with the trace of a sample, or NULL. */
static const char *sample_audit(const struct bitcut_unit *u, const struct sample *s)
{
    static struct unit_trace t;
    struct audit x = { .u = u, .s = s, .t = &t };
    expect(&x, sample_trace(&t, u, s) == sample_dot(u, s), "the output is another");
    expect(&x, t.d == sample_dot(u, s), "d");
    expect(&x, t.steps == u->k / u->block, "the number of steps");
    for (int i = 0; i < t.steps; i++) {
        x.step = &t.step[i];
        audit_step(&x);
    }
    audit_chain(&x);
    return x.wrong;
}

/* Audit `count` samples of each class; whether all is well. */
static bool unit_audit(const struct bitcut_unit *u, const char *what, int count,
                       uint64_t stream)
{
    struct rng rng = rng_start(test_seed(), stream);
    for (const struct sample_class *class = sample_classes; class->name; class ++)
        for (int i = 0; i < count && (u->scale || !class->scaled); i++) {
            struct sample s;
            class->fill(&s, u, &rng);
            const char *wrong = sample_audit(u, &s);
            if (!wrong) continue;
            printf("# %s%s, class %s, index %d: %s\n", u->name, what, class->name, i,
                   wrong);
            fflush(stdout);
            return false;
        }
    return true;
}

START_TEST(every_row)
{
    uint64_t stream = 0;
    int bad = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        bad += !unit_audit(u, "", test_cases(120, 12000) / (u->k + 4), stream++);
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(every_row_one_step_away)
{
    const int step = test_step(4);
    uint64_t stream = UINT64_C(1) << 32;
    int bad = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (const struct field *f = fields; f->name; f++) {
            int64_t values[FIELD_VALUES_MAX];
            const int n = field_steps(values, f, u);
            for (int i = 0; i < n; i += step) {
                struct bitcut_unit changed = *u;
                char text[64], what[128];
                field_set(f, &changed, values[i]);
                field_text(text, sizeof text, f, &changed, values[i]);
                snprintf(what, sizeof what, " with %s %s", f->name, text);
                bad += !unit_audit(&changed, what, test_cases(1, 20), stream++);
            }
        }
    ck_assert_int_eq(bad, 0);
}
END_TEST

TEST_MAIN("trace", published_example, scaled_groups, special_values, every_row,
          every_row_one_step_away)
