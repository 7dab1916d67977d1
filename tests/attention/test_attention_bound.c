/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of attention: no output exceeds them, for every row to which they apply and for
   random variations of its fields; the errors of approximations are below their bounds.
 */
#include "analysis/accuracy/attention_bound.h"
#include "emu/attention/attention_run.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "tests/attention/attention_case.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct attention_case c;

static void check_case(size_t *outputs, size_t *without)
{
    struct attention_bound_result r[ATTENTION_BOUNDS];
    struct fault f = { .text = "" };
    c.a.lse = NULL;
    ck_assert_int_eq(bitcut_attention(&c.a, 1, NULL), BITCUT_OK);
    ck_assert_msg(attention_bound_run(r, &c.a, 1, NULL, &f) == BITCUT_OK, "%s", f.text);
    for (int i = 0; i < ATTENTION_BOUNDS; i++) {
        ck_assert_msg(r[i].violations == 0, "%s (%s), %s: %zu of %zu outputs, %g",
                      c.a.row->name, c.items, r[i].row->name, r[i].violations,
                      r[i].outputs, r[i].ratio);
        *outputs += r[i].outputs;
        *without += !r[i].applies;
    }
}

START_TEST(hold)
{
    uint64_t rng = test_seed();
    size_t outputs = 0, without = 0;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = test_cases(200, 2000); i; i--) {
            attention_case_draw(&c, r, &rng);
            c.a.o.format = &formats[i % 3 ? FORMAT_F32 : FORMAT_F16];
            if (i & 1 && !r->p_divided) attention_case_vary(&c, r, &rng);
            check_case(&outputs, &without);
        }
    printf("# %zu outputs with a limit; %zu cases without\n", outputs, without);
    ck_assert_uint_gt(outputs, 1000);
    ck_assert_uint_gt(without, 0);
}
END_TEST

/* Set all elements, unless x is 0. */
static void set_all(uint32_t *to, double x, size_t count,
                    const struct bitcut_format *format)
{
    const uint64_t encoding = bitcut_format_convert(
        format, &roundings[ROUND_RN], &formats[FORMAT_F64], bits_of_double(x));
    for (size_t i = 0; i < count && x != 0; i++)
        encoding_put(to, format_bytes(format), i, encoding);
}

/* Cases in which one term of the bound is most of the error: the exponential, the sums of
   scores, the sums of P V. */
START_TEST(terms)
{
    enum { KEYS = 1000, DIM = 16 };
    static const struct {
        const char *row, *items;
        size_t keys;
        double q, v; /* all elements of Q and V, if not 0 */
    } cases[] = {
        { "flash-attention-2", "exp=polynomial,unit-pv=fma/f32,p-format=f32", 2, 0.25,
          0 },
        { "flash-attention-2",
          "unit-qk=ampere/mma.m16n8k16.f16.f16,unit-pv=fma/f32,p-format=f32", 2, 0, 0 },
        { "plain", "", KEYS, 0x1p-30, 1.0 / 3 },
    };
    static uint32_t q[DIM], k[KEYS * DIM], v[KEYS * DIM], o[DIM];
    uint64_t rng = test_seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attention_bound_result r[ATTENTION_BOUNDS];
        struct bitcut_attention *const a = &c.a;
        const struct bitcut_format *const format =
            &formats[cases[i].v != 0 ? FORMAT_F32 : FORMAT_F16];
        struct fault f = { .text = "" };
        bitcut_attention_init(a, sizeof *a);
        a->row = bitcut_attention_find(cases[i].row);
        a->vary = cases[i].items;
        a->queries = 1, a->keys = cases[i].keys, a->head_dim = a->value_dim = DIM;
        attention_case_fill(q, &a->q, 1, 1, DIM, format, &rng, 0, false);
        attention_case_fill(k, &a->k, 1, KEYS, DIM, format, &rng, 0, false);
        attention_case_fill(v, &a->v, 1, KEYS, DIM, format, &rng, 0, false);
        set_all(q, cases[i].q, DIM, format);
        set_all(v, cases[i].v, KEYS * DIM, format);
        a->o = (struct bitcut_matrix){ .to = o, .stride = DIM };
        ck_assert_int_eq(bitcut_attention(a, 1, NULL), BITCUT_OK);
        ck_assert_msg(attention_bound_run(r, a, 1, NULL, &f) == BITCUT_OK, "%s", f.text);
        ck_assert_uint_eq(r[ATTENTION_WEIGHTED].outputs, DIM);
        ck_assert_uint_eq(r[ATTENTION_WEIGHTED].violations, 0);
        ck_assert_uint_eq(r[ATTENTION_APRIORI].violations, 0);
        printf("# case %zu: %.3g of the limit\n", i, r[ATTENTION_WEIGHTED].ratio);
    }
}
END_TEST

/* Known results: a query without keys; NaN; a bound that does not apply. */
START_TEST(limits)
{
    uint64_t rng = test_seed();
    static double limit[ELEMENTS_MAX];
    char why[BITCUT_TEXT_MAX];
    attention_case_draw(&c, bitcut_attention_find("pytorch-flash"), &rng);
    c.a.window_left = BITCUT_UNSET, c.a.window_right = 0;
    c.a.queries = 5, c.a.keys = 4, c.a.heads = c.a.kv_heads = 1;
    for (int i = 0; i < ELEMENTS_MAX; i++) encoding_put(c.v, 2, (size_t)i, 0x3c00);
    ck_assert_int_eq(bitcut_attention_bound(limit, &c.a, NULL, 1, why), BITCUT_OK);
    ck_assert(limit[0] == 0 && limit[c.a.value_dim] > 0);
    ck_assert_int_eq(bitcut_attention_bound(limit, &c.a, "apriori", 1, why), BITCUT_OK);
    ck_assert(limit[0] == 0 && limit[c.a.value_dim] > 0);
    encoding_put(c.v, 2, 3 * c.a.value_dim, 0x7fff);
    ck_assert_int_eq(bitcut_attention_bound(limit, &c.a, NULL, 1, why), BITCUT_OK);
    ck_assert(isnan(limit[4 * c.a.value_dim]));
    ck_assert_int_eq(bitcut_attention_bound(limit, &c.a, "none", 1, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_attention_bound(NULL, &c.a, NULL, 1, why),
                     BITCUT_BAD_ARGUMENT);
    c.a.row = bitcut_attention_find("sage-attention-1");
    ck_assert_int_eq(bitcut_attention_bound(limit, &c.a, NULL, 1, why),
                     BITCUT_UNSUPPORTED);
    ck_assert_str_eq(why, "the row quantizes its operands");
}
END_TEST

/* The largest relative error of results from 2^-126 to 2^30, at every `step` encodings.
 */
static double largest_error(attention_function *of, bool natural, uint32_t step)
{
    double most = 0;
    for (uint32_t b = 0; b < 2 * 0x43000000u; b += step) {
        const float x =
            float_of_bits(b < 0x43000000u ? b : (b - 0x43000000u) | 0x80000000u);
        const double y = natural ? (double)x / log(2) : (double)x;
        if (!(y >= -125.99 && y < 30)) continue;
        most = fmax(most, fabs((double)of(x) / exp2(y) - 1));
    }
    return most;
}

/* The largest error of the functions of a merge, in the measure of their bound. */
static double merge_error(const struct attention_merge *m, uint32_t step)
{
    double most = 0;
    for (uint32_t b = 0x00800000; b < 0x7e000000; b += step) {
        const float f = float_of_bits(b);
        const double x = value_of_float(b), l = log(x), l2 = log2(x);
        most = fmax(most, fabs((double)m->log(f) - l) / fmax(1, fabs(l)));
        most = fmax(most, fabs((double)m->split_log(f) - l2) / fmax(1, fabs(l2)));
        if (x > 80) continue;
        most = fmax(most, fabs((double)m->exp(f) / exp(x) - 1) / (1 + x));
        most = fmax(most, fabs((double)m->exp(-f) / exp(-x) - 1) / (1 + x));
    }
    return most;
}

START_TEST(approximations)
{
    struct hostfp saved;
    const uint32_t step = 0x7e000000u / (uint32_t)test_cases(1 << 22, 1 << 24) | 1;
    hostfp_enter(&saved);
    for (const struct attention_exp *e = attention_exps; e->name; e++) {
        const double most = largest_error(e->of, e->natural, 10 * step);
        ck_assert_msg(most <= e->error * (1 + 0x1p-8), "%s: 2^%g", e->name, log2(most));
    }
    for (const struct attention_reciprocal *r = attention_reciprocals; r->name; r++) {
        double most = 0;
        for (uint32_t b = 0x00800000; b < 0x7e000000 && r->of; b += step)
            most =
                fmax(most, fabs((double)r->of(float_of_bits(b)) * value_of_float(b) - 1));
        ck_assert_msg(most <= r->error, "%s: 2^%g", r->name, log2(most));
    }
    for (const struct attention_merge *m = attention_merges; m->name; m++) {
        const double most = merge_error(m, step);
        ck_assert_msg(most <= m->error, "%s: 2^%g", m->name, log2(most));
    }
    hostfp_leave(&saved);
}
END_TEST

TEST_MAIN("attention bound", hold, terms, limits, approximations)
