/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact attention: binary64 with its bound against MPFR, MPFR against a definition with a
   fixed large precision, values half way between two results, masks, zeros, infinities
   and NaN; errors of a given O. */
#include "analysis/accuracy/attention_exact.h"
#include "analysis/accuracy/attention_sums.h"
#include "emu/attention/attention_plan.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, ROWS = 24, COLUMNS = 12, ELEMENTS = HEADS * ROWS * COLUMNS };

static const struct bitcut_format *f16(void) { return &formats[FORMAT_F16]; }
static const struct bitcut_format *f32(void) { return &formats[FORMAT_F32]; }

struct exact_case {
    struct bitcut_attention a;
    uint32_t q[ELEMENTS], k[ELEMENTS], v[ELEMENTS]; /* FP32 */
    uint32_t o[ELEMENTS];
};

static uint32_t encoding(double x)
{
    return (uint32_t)bitcut_format_convert(f32(), &roundings[ROUND_RN],
                                           &formats[FORMAT_F64], bits_of_double(x));
}

/* Values of few bits, so that scores and means repeat, or of all bits. */
static void fill(uint32_t *to, uint64_t *rng, int bits)
{
    for (int i = 0; i < ELEMENTS; i++)
        to[i] = encoding(bits > 20
                             ? ldexp((double)(test_bits(rng) >> 12) - 0x1p51, -51)
                             : ldexp(test_between(rng, -(1 << bits), 1 << bits), -bits));
}

static void case_make(struct exact_case *c, uint64_t *rng,
                      const struct bitcut_format *format)
{
    struct bitcut_attention *const a = &c->a;
    bitcut_attention_init(a, sizeof *a);
    const int bits = test_between(rng, 0, 1) ? 1 : 24;
    fill(c->q, rng, test_between(rng, 0, 3) ? bits : 0);
    fill(c->k, rng, bits);
    fill(c->v, rng, test_between(rng, 0, 2) ? bits : 4);
    a->heads = HEADS;
    a->kv_heads = (size_t)test_between(rng, 1, 2);
    a->queries = (size_t)test_between(rng, 1, ROWS);
    a->keys = (size_t)test_between(rng, 1, ROWS);
    a->head_dim = (size_t)test_between(rng, 1, 4);
    a->value_dim = (size_t)test_between(rng, 1, COLUMNS);
    if (test_between(rng, 0, 1)) a->window_right = test_between(rng, 0, 3);
    if (test_between(rng, 0, 1)) a->window_left = test_between(rng, 0, 9);
    a->scale = test_between(rng, 0, 1) ? 0 : encoding(test_between(rng, 1, 400) / 16.0);
    a->q = (struct bitcut_matrix){ .at = c->q, .stride = a->queries * a->head_dim };
    a->k = (struct bitcut_matrix){ .at = c->k, .stride = a->keys * a->head_dim };
    a->v = (struct bitcut_matrix){ .at = c->v, .stride = a->keys * a->value_dim };
    a->o = (struct bitcut_matrix){ .to = c->o,
                                   .format = format,
                                   .stride = a->queries * a->value_dim };
}

/* One key, whose V is halfway between numbers of f16: O is a tie. */
static void make_ties(struct exact_case *c)
{
    c->a.keys = 1;
    for (size_t i = 0; i < sizeof c->v / sizeof *c->v; i++)
        c->v[i] = encoding(1 + 0x1p-11);
}

/* The output in 4000 bits, rounded to the format. */
static uint64_t definition(const struct bitcut_attention *a, const struct exact_case *c,
                           size_t head, size_t query, size_t column)
{
    enum { BITS = 4000 };
    const size_t kv = head / (a->heads / a->kv_heads);
    mpfr_t s, x, w, sum, total;
    bool any = false;
    mpfr_inits2(BITS, s, x, w, sum, total, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1), mpfr_set_zero(total, 1);
    for (size_t j = 0; j < a->keys; j++) {
        const long at = (long)query + (long)a->keys - (long)a->queries;
        if ((a->window_left >= 0 && (long)j < at - a->window_left) ||
            (a->window_right >= 0 && (long)j > at + a->window_right))
            continue;
        any = true;
        mpfr_set_zero(s, 1);
        for (size_t p = 0; p < a->head_dim; p++) {
            const double q = value_of_float(
                             c->q[(head * a->queries + query) * a->head_dim + p]),
                         k = value_of_float(c->k[(kv * a->keys + j) * a->head_dim + p]);
            mpfr_set_d(x, q, MPFR_RNDN);
            mpfr_mul_d(x, x, k, MPFR_RNDN);
            mpfr_add(s, s, x, MPFR_RNDN);
        }
        mpfr_mul_d(s, s, value_of_float(a->scale), MPFR_RNDN);
        mpfr_exp(w, s, MPFR_RNDN);
        mpfr_add(total, total, w, MPFR_RNDN);
        mpfr_mul_d(w, w, value_of_float(c->v[(kv * a->keys + j) * a->value_dim + column]),
                   MPFR_RNDN);
        mpfr_add(sum, sum, w, MPFR_RNDN);
    }
    /* To 200 bits, where an exact value becomes itself, to binary64, and to the format.
     */
    uint64_t result = 0;
    if (any) {
        mpfr_div(sum, sum, total, MPFR_RNDN);
        mpfr_prec_round(sum, 200, MPFR_RNDN);
        result =
            bitcut_format_convert(a->o.format, &roundings[ROUND_RN], &formats[FORMAT_F64],
                                  bits_of_double(mpfr_get_d(sum, MPFR_RNDN)));
        if (mpfr_zero_p(sum) || mpfr_get_exp(sum) < -190) result = 0;
    }
    mpfr_clears(s, x, w, sum, total, (mpfr_ptr)0);
    return result;
}

static void run(struct exact_case *c, struct attention_exact_counts *counts,
                bool only_mpfr)
{
    struct bitcut_attention a;
    struct fault f;
    const struct attention_exact_options o = { .threads = 2, .only_mpfr = only_mpfr };
    ck_assert_int_eq(attention_take(&a, &c->a, &f), BITCUT_OK);
    ck_assert_int_eq(attention_exact(counts, &a, &o, &f), BITCUT_OK);
}

static uint64_t output(const struct exact_case *c, size_t i)
{
    return encoding_get(c->o, format_bytes(c->a.o.format), i);
}

START_TEST(against_definition)
{
    static struct exact_case c;
    static uint64_t first[ELEMENTS];
    uint64_t rng = test_seed();
    struct attention_exact_counts counts, all = { 0 };
    for (int i = test_cases(60, 1000); i >= 0; i--) {
        struct bitcut_attention a;
        case_make(&c, &rng, i & 1 ? f32() : f16());
        if (i == 0) make_ties(&c);
        ck_assert_int_eq(attention_take(&a, &c.a, NULL), BITCUT_OK);
        const size_t count = a.heads * a.queries * a.value_dim;
        run(&c, &counts, false);
        all.by_double += counts.by_double;
        all.by_mpfr += counts.by_mpfr;
        all.exact += counts.exact;
        for (size_t e = 0; e < count; e++) first[e] = output(&c, e);
        run(&c, &counts, true);
        for (size_t e = 0; e < count; e++) {
            const size_t per = a.queries * a.value_dim;
            const uint64_t want =
                definition(&a, &c, e / per, e % per / a.value_dim, e % a.value_dim);
            ck_assert_msg(output(&c, e) == first[e],
                          "output %zu: binary64 %" PRIx64 ", MPFR %" PRIx64, e, first[e],
                          output(&c, e));
            ck_assert_msg(first[e] == want, "output %zu: got %" PRIx64 ", want %" PRIx64,
                          e, first[e], want);
        }
    }
    ck_assert_uint_gt(all.by_double, 0);
    ck_assert_uint_gt(all.exact, 0);
}
END_TEST

/* Every level of vector instructions gives the bits of the plain one. */
START_TEST(levels)
{
    enum { COUNT = 37 };
    uint64_t rng = test_seed();
    const struct attention_sums *plain = attention_sums, *const best =
                                                             attention_sums_best();
    while (plain[1].name) plain++;
    for (const struct attention_sums *l = best; l->name; l++)
        for (int n = 0; n < COUNT; n++) {
            double x[5][COUNT], y[5][COUNT];
            for (int i = 0; i < 5 * COUNT; i++)
                x[i / COUNT][i % COUNT] =
                    ldexp((double)(int64_t)test_bits(&rng), test_between(&rng, -90, -30));
            memcpy(y, x, sizeof x);
            const double factor = ldexp((double)(int64_t)test_bits(&rng), -60);
            l->add_scores(x[0], x[1], factor, x[2], (size_t)n);
            l->add_values(x[3], factor, x[4], (size_t)n);
            plain->add_scores(y[0], y[1], factor, y[2], (size_t)n);
            plain->add_values(y[3], factor, y[4], (size_t)n);
            ck_assert_msg(!memcmp(x, y, sizeof x), "%s, %d elements", l->name, n);
        }
}
END_TEST

/* With equal scores, O is a mean, which may be half way between two results. */
START_TEST(ties)
{
    static struct exact_case c;
    uint64_t rng = test_seed();
    struct attention_exact_counts counts;
    case_make(&c, &rng, f16());
    c.a.heads = c.a.kv_heads = c.a.queries = 1;
    c.a.window_left = c.a.window_right = BITCUT_UNSET;
    c.a.keys = 2, c.a.head_dim = 1, c.a.value_dim = 4;
    c.q[0] = encoding(0.75);
    c.k[0] = c.k[1] = encoding(1.5);
    const double v[2][4] = { { 1, 1 + 0x1p-10, 3, -1 },
                             { 1 + 0x1p-10, 1 + 0x1p-9, -3, -1 - 0x1p-10 } };
    for (int i = 0; i < 8; i++) c.v[i] = encoding(v[i / 4][i % 4]);
    run(&c, &counts, false);
    ck_assert_uint_eq(output(&c, 0), 0x3c00);
    ck_assert_uint_eq(output(&c, 1), 0x3c02);
    ck_assert_uint_eq(output(&c, 2), 0);
    ck_assert_uint_eq(output(&c, 3), 0xbc00);
    ck_assert_uint_eq(counts.exact, 4);
    /* Scores that differ by 2^-200: nearly a tie, and O is above it. */
    c.a.head_dim = 2;
    c.q[0] = encoding(1), c.q[1] = encoding(0x1p-100);
    c.k[0] = c.k[2] = encoding(1.5), c.k[1] = 0, c.k[3] = encoding(0x1p-100);
    run(&c, &counts, false);
    ck_assert_uint_eq(output(&c, 0), 0x3c01);
    ck_assert_uint_eq(output(&c, 1), 0x3c02);
    ck_assert_uint_eq(output(&c, 3), 0xbc01);
    ck_assert_uint_eq(counts.exact, 0);
    c.a.head_dim = 1;
    c.k[0] = encoding(1.5);
    c.k[1] = encoding(1.5 + 0x1p-20); /* larger weight of the second key: no tie */
    run(&c, &counts, false);
    ck_assert_uint_eq(output(&c, 0), 0x3c01);
    ck_assert_uint_eq(output(&c, 3), 0xbc01);
}
END_TEST

START_TEST(special_values)
{
    static struct exact_case c;
    uint64_t rng = test_seed();
    const double infinity = (double)INFINITY, nan = (double)NAN;
    case_make(&c, &rng, f16());
    c.a.heads = c.a.kv_heads = 1;
    c.a.window_left = BITCUT_UNSET, c.a.window_right = 0;
    c.a.queries = c.a.keys = 4, c.a.head_dim = 1, c.a.value_dim = 3;
    for (int i = 0; i < 4; i++) c.q[i] = c.k[i] = encoding(1);
    for (int i = 0; i < 12; i++) c.v[i] = encoding(1);
    c.v[3] = encoding(infinity), c.v[7] = encoding(nan), c.v[9] = encoding(-infinity);
    run(&c, NULL, false);
    ck_assert_uint_eq(output(&c, 0), 0x3c00);
    ck_assert_uint_eq(output(&c, 3), 0x7c00); /* key 1 */
    ck_assert_uint_eq(output(&c, 7), format_nan(f16()));
    ck_assert_uint_eq(output(&c, 9), format_nan(f16())); /* infinities of both signs */
    ck_assert_uint_eq(output(&c, 11), 0x3c00);
    c.k[2] = encoding(nan);
    run(&c, NULL, false);
    ck_assert_uint_eq(output(&c, 5), 0x3c00);
    ck_assert_uint_eq(output(&c, 8), format_nan(f16()));
    c.a.window_right = BITCUT_UNSET, c.a.window_left = 0;
    c.a.queries = 4, c.a.keys = 2; /* the first queries see all, the last their own */
    c.a.window_right = 0;
    run(&c, NULL, false);
    ck_assert_uint_eq(output(&c, 0), 0); /* queries 0 and 1 see no key */
    ck_assert_uint_eq(output(&c, 6), 0x3c00);
    c.a.keys = 4; /* each query sees its own key */
    c.k[0] = encoding(nan), c.k[2] = encoding(1);
    run(&c, NULL, false);
    ck_assert_uint_eq(output(&c, 2), format_nan(f16()));
    ck_assert_uint_eq(output(&c, 11), 0x3c00);
}
END_TEST

START_TEST(errors)
{
    static struct exact_case c;
    uint64_t rng = test_seed();
    struct bitcut_attention_errors e = { .size = sizeof e };
    char why[BITCUT_TEXT_MAX];
    case_make(&c, &rng, f16());
    c.a.window_left = c.a.window_right = BITCUT_UNSET;
    for (int i = 0; i < ELEMENTS; i++) c.v[i] = encoding(1 + (i % 7) / 8.0);
    run(&c, NULL, false);
    ck_assert_int_eq(bitcut_attention_judge(&e, &c.a, 2, why), BITCUT_OK);
    ck_assert_uint_eq(e.outputs, c.a.heads * c.a.queries * c.a.value_dim);
    ck_assert_uint_eq(e.correct, e.outputs);
    ck_assert(e.max_ulp <= 0.5 + 0x1p-20 && e.unlike == 0);
    const size_t at = e.outputs - 1;
    uint16_t *const o = (uint16_t *)(void *)c.o;
    o[at] = (uint16_t)(o[at] + 3);
    if (at) o[0] = 0x7c00;
    ck_assert_int_eq(bitcut_attention_judge(&e, &c.a, 2, why), BITCUT_OK);
    ck_assert_uint_eq(e.correct, e.outputs - 1 - (at != 0));
    ck_assert_uint_eq(e.unlike, at != 0);
    ck_assert(e.max_ulp >= 2.5 && e.max_ulp <= 3.5);
    ck_assert_uint_eq(e.head, c.a.heads - 1);
    ck_assert_uint_eq(e.row, c.a.queries - 1);
    ck_assert_uint_eq(e.column, c.a.value_dim - 1);
    static const uint16_t special[] = { 0x7c00, 0xfc00, 0x7e00 }; /* Inf, -Inf, NaN */
    for (size_t i = 0; i < ELEMENTS; i++) c.v[i] = encoding((double)INFINITY);
    for (int i = 0; i < 3; i++) {
        for (size_t j = 0; j <= at; j++) o[j] = special[i];
        ck_assert_int_eq(bitcut_attention_judge(&e, &c.a, 2, why), BITCUT_OK);
        ck_assert_uint_eq(e.unlike, i ? e.outputs : 0);
    }
    e.size = 8;
    ck_assert_int_eq(bitcut_attention_judge(&e, &c.a, 2, why), BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("attention exact", against_definition, levels, ties, special_values, errors)
