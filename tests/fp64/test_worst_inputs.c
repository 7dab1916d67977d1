/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the worst inputs: it finds what is known of a scheme, its inputs have
   the loss it reports and no larger one than the bound, and its causes add up. */
#include "analysis/fp64/worst_inputs.h"
#include "lib/exact/exact64.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 6, N = 5, K = 40 };

static struct worst_problem problem_of(const char *scheme, const char *unit, int parts,
                                       int range, uint64_t seed)
{
    const struct bitcut_scheme *const s = bitcut_scheme_find(scheme);
    ck_assert_ptr_nonnull(s);
    return (struct worst_problem){ .scheme = s,
                                   .unit = unit_find(unit, s->part),
                                   .parts = parts,
                                   .m = M,
                                   .n = N,
                                   .k = K,
                                   .range = range,
                                   .steps = 150,
                                   .seed = seed,
                                   .threads = 1 };
}

static struct worst_inputs found_for(const struct worst_problem *p)
{
    struct worst_inputs x;
    struct fault f;
    ck_assert_msg(worst_inputs_find(&x, p, &f) == BITCUT_OK, "%s: %s", p->scheme->name,
                  f.text);
    return x;
}

/* D of the matrices by the library's call; the largest loss, and where it is. */
static double loss_of(const struct worst_inputs *x, double *d_at, size_t *row, size_t *col)
{
    const struct worst_problem *const p = x->of;
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    double d[M * N], high[M * N], low[M * N], magnitude[M * N], most = -1;
    char why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g;
    struct fault f;
    bitcut_gemm_init(&g, sizeof g);
    g.scheme = p->scheme;
    g.unit = p->unit;
    g.parts = p->parts;
    g.m = M, g.n = N, g.k = K;
    g.a = (struct bitcut_matrix){ .at = x->a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = x->b, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    ck_assert_msg(bitcut_gemm(&g, &g, 1, why) == BITCUT_OK, "%s", why);
    ck_assert_int_eq(exact64_gemm(high, low, magnitude, NULL, NULL, NULL, M, N, K, x->a,
                                  x->b, &f),
                     BITCUT_OK);
    for (size_t i = 0; i < M * N; i++) {
        const double loss = fabs((d[i] - high[i]) - low[i]) / magnitude[i] * 0x1p53;
        if (!(loss > most)) continue;
        most = loss;
        *d_at = d[i];
        *row = i / N, *col = i % N;
    }
    return most;
}

static const struct {
    const char *scheme, *unit;
    int least, most;
} cases[] = {
    { "fp64", "fma/f64", 1, 1 },         { "ozimmu", "h100", 1, 10 },
    { "ozimmu-ef", "h100", 1, 10 },      { "ozimmu-rn", "h100", 1, 10 },
    { "ozimmu-h", "h100", 1, 10 },       { "gemmul8", "h100", 2, 20 },
    { "cublasdx", "h100", 1, 8 },
    { "gemmul8-fast", "h100", 2, 20 },   { "slices-f16", "h100", 1, 9 },
    { "slices-bf16", "mi300", 1, 9 },    { "slices-e4m3", "b200", 1, 15 },
};
enum { CASES = sizeof cases / sizeof *cases };

static double sum_of(const double *part)
{
    double sum = 0, error = 0;
    for (int i = 0; i < BUDGET_PARTS; i++) {
        const double next = sum + part[i], z = next - sum;
        error += (sum - (next - z)) + (part[i] - z);
        sum = next;
    }
    return sum + error;
}

static void check(const struct worst_problem *p)
{
    const struct worst_inputs x = found_for(p);
    size_t row = 0, col = 0;
    double d = 0, most = 0;
    const double loss = loss_of(&x, &d, &row, &col);
    ck_assert_msg(loss == x.loss && row == x.row && col == x.col && d == x.d,
                  "%s, %d parts: loss %g at (%zu, %zu), reported %g at (%zu, %zu)",
                  p->scheme->name, p->parts, loss, row, col, x.loss, x.row, x.col);
    ck_assert(x.loss >= x.start_loss && x.start_loss >= 0);
    ck_assert_msg(x.loss <= x.bound, "%s, %d parts: loss %g above the bound %g",
                  p->scheme->name, p->parts, x.loss, x.bound);
    ck_assert(x.range_a <= p->range && x.range_b <= p->range);
    ck_assert(!x.budget.event.what);
    for (int i = 0; i < BUDGET_PARTS; i++) most = fmax(most, fabs(x.budget.part[i]));
    ck_assert_msg(fabs(sum_of(x.budget.part) - x.budget.error) <= 8 * 0x1p-53 * most,
                  "%s, %d parts: causes add up to %a, not %a", p->scheme->name, p->parts,
                  sum_of(x.budget.part), x.budget.error);
    ck_assert(fabs(fabs(sum_of(x.cause)) - x.loss) <= 1e-12 * fmax(x.loss, most));
    worst_inputs_clear((struct worst_inputs *)&x);
}

START_TEST(losses_are_real_bounded_and_explained)
{
    uint64_t state = test_seed();
    const int turns = test_cases(2, 40);
    for (int c = 0; c < CASES; c++)
        for (int turn = 0; turn < turns; turn++) {
            const struct worst_problem p =
                problem_of(cases[c].scheme, cases[c].unit,
                           test_between(&state, cases[c].least, cases[c].most),
                           test_between(&state, 0, 120), test_bits(&state));
            check(&p);
        }
}
END_TEST

/* Eight slices of ozIMMU have 55 bits below the largest element of a row: opposite
   exponents over 60 binades lose nearly all. */
START_TEST(a_wide_range_defeats_slices)
{
    const struct worst_problem p = problem_of("ozimmu", "h100", 8, 60, 1);
    struct worst_inputs x = found_for(&p);
    ck_assert_msg(x.loss > 0x1p40, "loss %g", x.loss);
    ck_assert_msg(fabs(x.cause[BUDGET_REPRESENTATION_A]) +
                          fabs(x.cause[BUDGET_REPRESENTATION_B]) +
                          fabs(x.cause[BUDGET_DROPPED]) >
                      0.9 * x.loss,
                  "causes %g %g %g", x.cause[BUDGET_REPRESENTATION_A],
                  x.cause[BUDGET_REPRESENTATION_B], x.cause[BUDGET_DROPPED]);
    for (int i = 1; i < WORST_RANGES; i++)
        ck_assert(x.ranges[i].loss >= 0.25 * x.ranges[i - 1].loss);
    ck_assert(x.ranges[0].loss < 10 && x.ranges[WORST_RANGES - 1].loss > 0x1p40);
    worst_inputs_clear(&x);
}
END_TEST

/* The budget of one dot product of positive numbers up to 0.1. */
static struct budget_output budget_of(const char *scheme, const char *unit, size_t k)
{
    enum { LONG = 3000 };
    static double a[LONG], b[LONG];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    const struct worst_problem p = problem_of(scheme, unit, 14, 0, 1);
    const struct gemm_options options = { .threads = 1 };
    struct scheme_budgets *budgets;
    struct budget_output budget;
    struct bitcut_gemm g;
    struct fault f;
    ck_assert_uint_le(k, LONG);
    for (size_t i = 0; i < k; i++) {
        a[i] = 0.1 * (double)(i % 37 + 1) / 37;
        b[i] = 0.1 * (double)(i % 41 + 1) / 41;
    }
    bitcut_gemm_init(&g, sizeof g);
    g.scheme = p.scheme;
    g.unit = p.unit;
    g.m = g.n = 1, g.k = k;
    g.a = (struct bitcut_matrix){ .at = a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = b, .format = f64 };
    struct fp64_choice by;
    g.parts = p.parts;
    ck_assert_int_eq(fp64_settle(&by, &g, 1, &f), BITCUT_OK);
    ck_assert_int_eq(scheme_budgets_make(&budgets, &g, &by, &options, &f), BITCUT_OK);
    ck_assert_int_eq(scheme_budget_at(&budget, budgets, 0, 0, &f), BITCUT_OK);
    ck_assert(!budget.event.what);
    scheme_budgets_free(budgets);
    for (int i = 0; i < BUDGET_PARTS; i++) free(budget.exact[i]), budget.exact[i] = NULL;
    return budget;
}

/* The fast mode of GEMMul8 has products beyond its moduli for small positive numbers; its
   D is a number with the same residues, so that the other causes are small. */
START_TEST(overflow_is_named)
{
    const struct budget_output x = budget_of("gemmul8-fast", "h100", 400);
    ck_assert(fabs(x.error) > 0.1);
    for (int i = 0; i < BUDGET_PARTS; i++)
        ck_assert_msg(i == BUDGET_OVERFLOW || fabs(x.part[i]) < 1e-12, "%s: %g",
                      budget_rows[i].name, x.part[i]);
}
END_TEST

/* Sums of e4m3 products on Hopper have 14 bits; on Blackwell they are exact. */
START_TEST(units_that_round_are_named)
{
    const struct budget_output hopper = budget_of("slices-e4m3",
                                                  "hopper/wgmma.m64n8k32.f32.e4m3", 3000),
                               blackwell = budget_of("slices-e4m3", "b200", 3000);
    ck_assert_msg(fabs(hopper.part[BUDGET_UNIT]) > 0.9 * fabs(hopper.error),
                  "unit: %g of %g", hopper.part[BUDGET_UNIT], hopper.error);
    ck_assert(fabs(hopper.part[BUDGET_UNIT]) > 1e-6);
    ck_assert_double_eq(blackwell.part[BUDGET_UNIT], 0);
}
END_TEST

/* 7 products of 20000 terms exceed s32 if all digits are 127: there is no bound, and all
   of the loss that matters is overflow. */
START_TEST(sums_beyond_s32_are_found)
{
    struct worst_problem p = problem_of("cublasdx", "h100", 7, 0, 1);
    p.k = 20000;
    p.m = p.n = 1;
    p.steps = 0;
    struct worst_inputs x = found_for(&p);
    ck_assert_str_eq(x.from_a, "max_digits(8)");
    ck_assert(isinf(x.bound));
    ck_assert_msg(fabs(x.cause[BUDGET_OVERFLOW]) > 0.9 * x.loss && x.loss > 100,
                  "overflow: %g of %g", x.cause[BUDGET_OVERFLOW], x.loss);
    worst_inputs_clear(&x);
    p.k = 18000; /* 7 * 18000 < 2^17: never beyond s32 */
    x = found_for(&p);
    ck_assert(isfinite(x.bound) && x.cause[BUDGET_OVERFLOW] == 0);
    worst_inputs_clear(&x);
}
END_TEST

static const struct edge_result *edge(const struct worst_inputs *x, const char *what)
{
    for (int i = 0; i < EDGE_CASES; i++)
        if (!strcmp(x->edges[i].what, what)) return &x->edges[i];
    ck_abort_msg("no case %s", what);
}

START_TEST(ends_of_the_range_are_tried)
{
    const struct worst_problem plain = problem_of("fp64", "fma/f64", 1, 10, 1),
                               truncated = problem_of("ozimmu", "h100", 9, 10, 1);
    struct worst_inputs x = found_for(&plain), y = found_for(&truncated);
    for (int i = 0; i < EDGE_CASES; i++)
        ck_assert_msg(x.edges[i].correct, "%s", x.edges[i].what);
    ck_assert(!edge(&y, "subnormal row of A, B near 2^600")->correct);
    ck_assert_double_eq(edge(&y, "subnormal row of A, B near 2^600")->d, 0);
    ck_assert(!edge(&y, "subnormal beside normal elements of A")->correct);
    ck_assert(!edge(&y, "A from 2^1023 on, B near 2^-300")->correct);
    worst_inputs_clear(&x);
    worst_inputs_clear(&y);
}
END_TEST

/* Threads and repetition change nothing; the seed does. */
START_TEST(the_answer_depends_on_the_seed_alone)
{
    struct worst_problem p = problem_of("ozimmu-h", "h100", 5, 30, 3);
    struct worst_inputs x = found_for(&p);
    p.threads = 3;
    struct worst_inputs y = found_for(&p);
    ck_assert_double_eq(x.loss, y.loss);
    ck_assert(!memcmp(x.a, y.a, M * K * sizeof *x.a));
    ck_assert(!memcmp(x.b, y.b, K * N * sizeof *x.b));
    worst_inputs_clear(&y);
    p.seed = 4;
    y = found_for(&p);
    ck_assert(memcmp(x.a, y.a, M * K * sizeof *x.a));
    worst_inputs_clear(&y);
    worst_inputs_clear(&x);
}
END_TEST

/* A stopped search answers with the best inputs so far. */
START_TEST(a_stopped_search_keeps_the_best_inputs)
{
    static const volatile sig_atomic_t stop = 1;
    const struct progress progress = { .stop = &stop };
    struct worst_problem p = problem_of("ozimmu", "h100", 8, 60, 1);
    p.progress = &progress;
    struct worst_inputs x = found_for(&p);
    ck_assert(x.interrupted && x.starts == 1 && x.tried == 0);
    ck_assert(x.loss >= 0 && !x.budget.event.what);
    worst_inputs_clear(&x);
}
END_TEST

TEST_MAIN("worst_inputs", losses_are_real_bounded_and_explained,
          a_wide_range_defeats_slices, overflow_is_named,
          units_that_round_are_named, sums_beyond_s32_are_found, ends_of_the_range_are_tried,
          the_answer_depends_on_the_seed_alone, a_stopped_search_keeps_the_best_inputs)
