/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds of recipes on units: grades of good, poor and corrupted results; bounds
   computed by hand, and no error beyond them. */
#include "analysis/accuracy/judge.h"
#include "lib/input/source.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define U 0x1p-24

/* --- results and grades ------------------------------------------------------------ */

/* A B of a family, emulated and judged. */
struct trial {
    struct bitcut_gemm gemm;
    struct matrix a, b, d;
    struct judge judge;
    struct error_bound error;
};

static struct bitcut_gemm gemm_on(int recipe, const char *unit)
{
    const struct bitcut_split *s = recipes[recipe].split;
    return gemm_of(&recipes[recipe],
                   unit_find(unit, s ? s->part[0].format : &formats[FORMAT_F16]));
}

static void emulate(struct matrix *d, const struct bitcut_gemm *g, const struct matrix *a,
                    const struct matrix *b)
{
    struct bitcut_gemm posed = *g;
    gemm_set_dense(&posed, d->at, d->rows, d->cols, a->cols, a->at, b->at, NULL);
    ck_assert_int_eq(gemm_run(&posed, &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
}

static void trial_init(struct trial *t, const struct bitcut_gemm *g, const char *family,
                       size_t m, size_t n, size_t k)
{
    struct input input;
    *t = (struct trial){ .gemm = *g };
    ck_assert_int_eq(input_parse(&input, family, NULL), BITCUT_OK);
    ck_assert_int_eq(source_generate(&t->a, &input, INPUT_A, m, k, test_seed(), 1, NULL),
                     BITCUT_OK);
    ck_assert_int_eq(source_generate(&t->b, &input, INPUT_B, k, n, test_seed(), 1, NULL),
                     BITCUT_OK);
    ck_assert_int_eq(matrix_init(&t->d, m, n, NULL), BITCUT_OK);
    emulate(&t->d, &t->gemm, &t->a, &t->b);
    ck_assert_int_eq(judge_init(&t->judge, &references[0], &t->a, &t->b, NULL,
                                &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
    ck_assert_int_eq(judge_grade(&t->judge, &t->error, g,
                                 &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
    t->judge.comparison.d = t->d.at;
}

static void trial_clear(struct trial *t)
{
    matrix_clear(&t->a);
    matrix_clear(&t->b);
    matrix_clear(&t->d);
    judge_clear(&t->judge);
}

static double grade_of(const struct trial *t)
{
    double values[METRICS];
    metrics_run(values, &t->judge.comparison);
    return values[METRIC_GRADE];
}

static double share_of(const struct trial *t)
{
    return error_bound_share(&t->judge.comparison, &t->error);
}

static const size_t lengths[] = { 512, 1024, 4096, 16384 };

/* For no k is one part of f16 as good as FP32; two with promotion are.  And the results
   of one part are not taken for those of two. */
START_TEST(grades_at_every_k)
{
    for (int i = 0; i < 4; i++)
        for (int positive = 0; positive < 2; positive++) {
            const char *family = positive ? "positive" : "urand(-1,1)";
            const struct bitcut_gemm plain = gemm_on(RECIPE_PLAIN, "a100");
            const struct bitcut_gemm mi100 = gemm_on(RECIPE_PLAIN, "mi100");
            const struct bitcut_gemm good[] = { gemm_on(RECIPE_FP32, "a100"),
                                                gemm_on(RECIPE_OOTOMO, "a100"),
                                                gemm_on(RECIPE_OOTOMO, "h200") };
            struct trial t;
            for (int j = 0; j < 3; j++) {
                trial_init(&t, &good[j], family, 16, 16, lengths[i]);
                ck_assert_msg(grade_of(&t) == 3, "%s, k = %zu, %s: %g",
                              good[j].recipe->name, lengths[i], family, grade_of(&t));
                ck_assert(share_of(&t) <= 1);
                if (j == 1) emulate(&t.d, &plain, &t.a, &t.b);
                if (j == 1 && !positive) ck_assert(grade_of(&t) < 3);
                trial_clear(&t);
            }
            trial_init(&t, &mi100, family, 16, 16, lengths[i]);
            ck_assert_msg(grade_of(&t) == 0, "plain on mi100, k = %zu, %s: %g",
                          lengths[i], family, grade_of(&t));
            ck_assert(share_of(&t) <= 1);
            trial_clear(&t);
            trial_init(&t, &plain, family, 16, 16, lengths[i]);
            ck_assert(grade_of(&t) == 0 && share_of(&t) <= 1);
            trial_clear(&t);
        }
}
END_TEST

/* Parts that hold all of the operands are as good as FP32. */
START_TEST(whole_parts)
{
    const struct bitcut_gemm plain = gemm_on(RECIPE_PLAIN, "a100");
    struct trial t;
    trial_init(&t, &plain, "integers", 16, 16, 512);
    ck_assert(grade_of(&t) == 3 && t.error.parts == 0);
    trial_clear(&t);
}
END_TEST

/* One element that is off by twice what FP32 may commit there, small beside the whole;
   and one that is not a number. */
START_TEST(spoiled_elements)
{
    const struct bitcut_gemm g = gemm_on(RECIPE_OOTOMO, "a100");
    struct trial t;
    trial_init(&t, &g, "urand(-1,1)", 16, 16, 1024);
    const struct comparison *x = &t.judge.comparison;
    size_t least = 0;
    for (size_t i = 0; i < 256; i++)
        if (x->limit[i] < x->limit[least]) least = i;
    ck_assert(grade_of(&t) == 3);
    const double exact = double_of_bits(x->reference64[least]);
    t.d.at[least] = bits_of_float((float)(exact + 2 * x->limit[least]));
    ck_assert(grade_of(&t) == 2);
    double values[METRICS];
    metrics_run(values, x);
    const double mixed =
        values[METRIC_MIXED_LIMIT] * U * lines_at(x, least / 16, least % 16);
    t.d.at[least] = bits_of_float((float)(exact + 1.5 * mixed));
    ck_assert(grade_of(&t) == 1);
    t.d.at[least] = bits_of_float((float)(exact + 1));
    ck_assert(grade_of(&t) == 0 && share_of(&t) > 1);
    t.d.at[least] = F32_NAN;
    ck_assert(grade_of(&t) == 0 && share_of(&t) == INFINITY);
    trial_clear(&t);
}
END_TEST

/* --- bounds ------------------------------------------------------------------------ */

/* x times y, k times, by a recipe on a unit: what is committed, in u. */
static struct error_bound of_two(const struct bitcut_gemm *g, uint32_t x, uint32_t y,
                                 size_t k)
{
    uint32_t *a = malloc(k * sizeof *a), *b = malloc(k * sizeof *b);
    struct error_bound e;
    ck_assert(a && b);
    for (size_t i = 0; i < k; i++) a[i] = x, b[i] = y;
    const struct comparison c = { .m = 1, .n = 1, .k = k, .a = a, .b = b };
    ck_assert_int_eq(error_bound_recipe(&e, g, &c, 1, NULL), BITCUT_OK);
    free(a);
    free(b);
    return e;
}

static struct error_bound of_one(const struct bitcut_gemm *g, uint32_t x, size_t k)
{
    return of_two(g, x, F32_ONE, k);
}

static double growth_of(double x) { return expm1(x); }

static void check(const char *what, double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-12 * want, "%s: got %.17g, want %.17g", what,
                  got, want);
}

/* 1 + 2^-11 is 1 in one part of f16, and in two parts with scale 11 it is 1 and 1; 1 is
   in both cases 1. */
START_TEST(bounds_by_hand)
{
    const uint32_t x = 0x3f801000;
    const double ampere = 0x1p-23 + 8 * 0x1p-24, rest = 0x1p-11 / (1 + 0x1p-11);
    struct bitcut_gemm g = gemm_on(RECIPE_PLAIN, "a100"); /* 2 steps of 8 for 16 of k */
    struct error_bound e = of_one(&g, x, 40);
    check("plain, parts", e.parts, rest / U);
    check("plain", e.all, (rest + (1 - rest) * growth_of(6 * ampere)) / U);

    g = gemm_on(RECIPE_OOTOMO, "a100");
    e = of_one(&g, x, 40);
    /* high * high with its promotions, and 2^-11 of it, low * high, in a chain that
       high * low shares; then one fold */
    const double all =
        (1 - rest) * growth_of(2 * ampere + 3 * U) + rest * growth_of(2 * 6 * ampere + U);
    check("ootomo", e.all, all / U);
    ck_assert(e.parts == 0);

    g = gemm_on(RECIPE_FP32, "a100");
    e = of_one(&g, x, 40);
    check("fp32", e.all, growth_of(40 * U) / U);
    g.order.slices = 4;
    g.alpha = 0x40000000;
    e = of_one(&g, x, 40);
    check("fp32 in slices", e.all, growth_of(14 * U) / U);
    g.order.reduction = BITCUT_TREE;
    e = of_one(&g, x, 40);
    check("fp32 in slices, as a tree", e.all, growth_of(13 * U) / U);
    g.order.partial_format = &formats[FORMAT_F16];
    e = of_one(&g, x, 40);
    check("fp32 in slices of f16 sums", e.all, growth_of(13 * U + 3 * 0x1p-11) / U);
    g.order = (struct bitcut_order){ .slices = 2, .lanes = 2 };
    e = of_one(&g, x, 40);
    check("fp32 in lanes", e.all, growth_of(13 * U) / U);
    g.order = (struct bitcut_order){ .slices = 2, .cut = 30 };
    e = of_one(&g, x, 40);
    check("fp32 in cut slices", e.all, growth_of(32 * U) / U);
}
END_TEST

/* Parts of f16 and of e4m3, whose copy of 1 + 2^-11 is 1: times 1 only low * copy is not
   0 beside the main product, one instruction in each of 2 k-steps of 32, in a chain that
   copy * low shares; the 4 of the main one are one chain, promoted to 0. */
START_TEST(mixed_bounds_by_hand)
{
    const uint32_t x = 0x3f801000;
    const double rest = 0x1p-11 / (1 + 0x1p-11);
    const double f16 = 0x1p-23 + 16 * 0x1p-25;
    const struct bitcut_gemm g = gemm_on(RECIPE_HALF_FP8, "h100");
    struct error_bound e = of_one(&g, x, 40);
    /* fp8 runs from 0: two steps, and an FP32 addition in each instruction */
    const double all = (1 - rest) * growth_of(4 * f16 + U) +
                       rest * growth_of(2 * 2 * U + 2 * f16 + U);
    ck_assert(e.parts == 0);
    check("half-fp8", e.all, all / U);
    /* low * low is in both corrections, and each copy lacks what the low part has */
    e = of_two(&g, x, x, 40);
    check("half-fp8, parts", e.parts, 3 * rest * rest / U);
}
END_TEST

/* The same in integers of the line, 64 + 2^-5: 127 stands for a residual of 128, and only
   the fold and the rounding before it meet what they add up to. */
START_TEST(integer_bounds_by_hand)
{
    const uint32_t x = 0x3f801000;
    const double whole = 64 + 0x1p-5, left = 0x1p-12 / whole, low = 127 * left;
    const double f16 = 0x1p-23 + 16 * 0x1p-25;
    const struct bitcut_gemm g = gemm_on(RECIPE_HALF_INT8, "h100");
    struct error_bound e = of_one(&g, x, 40);
    const double all =
        left + 64 / whole * growth_of(4 * f16 + U) + low * growth_of(2 * U);
    check("half-int8, parts", e.parts, left / U);
    check("half-int8", e.all, all / U);
    ck_assert(!e.underflow[0] && !e.overflow[0]);
    e = of_two(&g, x, x, 40);
    check("half-int8, parts of two", e.parts,
          (2 * left + left * left + 3 * low * low) / U);
}
END_TEST

/* Every promotion counts, of whatever terms: 3 of them in each of 3 k-steps, of which the
   first one is to 0. */
START_TEST(promotions_of_all_terms)
{
    struct bitcut_gemm g = gemm_on(RECIPE_TF32X3, "a100");
    const double ampere = 2 * (0x1p-23 + 4 * 0x1p-24); /* 2 steps an instruction */
    g.promote = 1;
    struct error_bound e = of_one(&g, F32_ONE, 24);
    check("tf32x3", e.all, growth_of(ampere + 8 * U) / U);
    g.promote = 2;
    e = of_one(&g, F32_ONE, 24);
    check("every other", e.all, growth_of(2 * ampere + 4 * U) / U);
}
END_TEST

/* No recipe on any unit errs by more, whatever the inputs. */
START_TEST(no_error_beyond)
{
    static const char *const families[] = { "urand(-1,1)", "positive", "exp_rand(-15,14)",
                                            "subnormal",   "rz_worst", "const(0.1)" };
    const int rounds = test_cases(1, 6);
    int count = 0;
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        for (const struct bitcut_unit *u = units; u->name; u++)
            for (int i = 0; i < rounds; i++) {
                struct bitcut_gemm g = gemm_of(r, u);
                struct trial t;
                struct gemm_plan plan;
                g.order.slices = 1 + count % 3;
                g.order.lanes = 1 + count % 4;
                g.equilibrate = count % 5 == 4;
                if (count % 4 == 3) g.promote = 2;
                if (count % 7 == 6) g.order.partial_format = &formats[FORMAT_F16];
                if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
                trial_init(&t, &g, families[count++ % 6], 4, 4, 300);
                double values[METRICS];
                metrics_run(values, &t.judge.comparison);
                const double share = share_of(&t);
                ck_assert_msg(share <= 1 || values[METRIC_WRONG] > 0,
                              "%s on %s, %s: %g of %g u", r->name, u->name,
                              families[(count - 1) % 6], share, t.error.all);
                trial_clear(&t);
            }
    ck_assert_int_gt(count, 100);
}
END_TEST

/* Infinite parts are infinitely far. */
START_TEST(lost_operands)
{
    const struct bitcut_gemm g = gemm_on(RECIPE_OOTOMO, "a100");
    const struct error_bound e = of_one(&g, 0x7f000000, 4);
    ck_assert(e.parts == INFINITY && e.all == INFINITY);
    ck_assert(e.overflow[0] == 4 && e.overflow[1] == 0);
}
END_TEST

/* 1 + 2^-23 leaves 2^-23, which is a normal number of f16 times 2^11 only; 1 leaves
   nothing. 2^-16 is a subnormal high part. */
START_TEST(elements_that_underflow)
{
    struct bitcut_gemm g = gemm_on(RECIPE_MARKIDIS, "a100");
    struct error_bound e = of_one(&g, 0x3f800001, 5);
    ck_assert(e.underflow[0] == 5 && e.underflow[1] == 0);
    g = gemm_on(RECIPE_OOTOMO, "a100");
    e = of_one(&g, 0x3f800001, 5);
    ck_assert(e.underflow[0] == 0 && e.underflow[1] == 0);
    e = of_two(&g, F32_ONE, 0x37800000, 3);
    ck_assert(e.underflow[0] == 0 && e.underflow[1] == 3);
    ck_assert(e.overflow[0] == 0 && e.overflow[1] == 0);
}
END_TEST

TEST_MAIN("commit", grades_at_every_k, whole_parts, spoiled_elements, bounds_by_hand,
          mixed_bounds_by_hand, integer_bounds_by_hand, promotions_of_all_terms,
          no_error_beyond, lost_operands, elements_that_underflow)
