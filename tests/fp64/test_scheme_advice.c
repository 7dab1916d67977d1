/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice on FP64 schemes: it holds for all of D, fewer parts do not suffice, and it says
   when FP32 does. */
#include "analysis/fp64/scheme_advice.h"
#include "lib/exact/exact64.h"
#include "lib/input/input.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { M = 40, N = 30, K = 120 };

static double a[M * K], b[K * N];
static const char *const h100[] = { "h100" };

static struct scheme_problem problem_of(const char *of_a, const char *of_b, uint64_t seed)
{
    struct input x, y;
    struct fault f;
    ck_assert_int_eq(input_parse(&x, of_a, &f), BITCUT_OK);
    ck_assert_int_eq(input_parse(&y, of_b, &f), BITCUT_OK);
    ck_assert_int_eq(input_fill_f64(a, M, K, &x, INPUT_A, seed, 1, &f), BITCUT_OK);
    ck_assert_int_eq(input_fill_f64(b, K, N, &y, INPUT_B, seed, 1, &f), BITCUT_OK);
    return (struct scheme_problem){ .a = a, .b = b, .m = M, .n = N, .k = K,
                                    .metric = METRIC_RELRES, .want = NAN,
                                    .target = h100, .targets = 1, .seed = seed,
                                    .threads = 1, .input_a = "a", .input_b = "b" };
}

static struct scheme_advice *advice_for(const struct scheme_problem *p)
{
    static struct scheme_advice x;
    struct fault f;
    ck_assert_msg(scheme_advice_find(&x, p, &f) == BITCUT_OK, "%s", f.text);
    return &x;
}

/* relres of all of D by a scheme, in long arithmetic of the exact results. */
static double relres(const struct bitcut_scheme *scheme, const struct bitcut_unit *unit,
                     int parts)
{
    static double d[M * N], high[M * N], low[M * N];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    char why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g;
    struct fault f;
    double errors = 0, values = 0;
    bitcut_gemm_init(&g, sizeof g);
    g.scheme = scheme;
    g.unit = unit;
    g.parts = parts;
    g.m = M, g.n = N, g.k = K;
    g.a = (struct bitcut_matrix){ .at = a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = b, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    ck_assert_msg(bitcut_gemm(&g, &g, 1, why) == BITCUT_OK, "%s", why);
    ck_assert_int_eq(
        exact64_gemm(high, low, NULL, NULL, NULL, NULL, M, N, K, a, b, &f), BITCUT_OK);
    for (size_t i = 0; i < M * N; i++) {
        const double error = (d[i] - high[i]) - low[i];
        errors += error * error;
        values += high[i] * high[i];
    }
    return sqrt(errors / values);
}

/* The advised parts reach the wanted error on all outputs, to the accuracy of a sample,
   and one part less does not, unless samples differ because rows do. */
static void check(const struct scheme_problem *p, bool even)
{
    const struct scheme_advice *const x = advice_for(p);
    const double dgemm = relres(bitcut_scheme_find("fp64"),
                                unit_find("fma/f64", bitcut_format_find("f64")), 1),
                 want = isnan(p->want) ? fmax(dgemm, 0x1p-53) : p->want;
    ck_assert_uint_gt(x->trials, 5);
    for (size_t i = 0; i < x->trials; i++) {
        const struct scheme_trial *const t = &x->trial[i];
        if (!t->reaches) continue;
        const double all = relres(t->scheme, t->unit, t->parts);
        ck_assert_msg(all <= 1.6 * want, "%s, %d parts: %g of %g", t->scheme->name,
                      t->parts, all, want);
        ck_assert(t->bound >= t->error && t->bound >= t->checked);
        if (!even || t->parts == t->scheme->least) continue;
        const double fewer = relres(t->scheme, t->unit, t->parts - 1);
        ck_assert_msg(fewer > 0.6 * want, "%s, %d parts do: %g of %g", t->scheme->name,
                      t->parts - 1, fewer, want);
    }
    for (size_t i = 0; i < x->trials; i++)
        ck_assert(!x->trial[i].reaches || x->choice->cost <= x->trial[i].cost);
}

START_TEST(advice_holds_for_all_outputs)
{
    static const char *const families[] = { "urand", "phi(2)", "positive",
                                            "line_scaled(-20,20)" };
    static const double wants[] = { NAN, 1e-10, 1e-13 };
    uint64_t state = test_seed();
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            struct scheme_problem p =
                problem_of(families[i], families[i], test_bits(&state));
            p.want = wants[j];
            check(&p, i % 2 == 0);
        }
}
END_TEST

START_TEST(fp32_suffices_for_large_errors)
{
    struct scheme_problem p = problem_of("urand", "urand", 1);
    p.want = 1e-5;
    ck_assert(advice_for(&p)->f32_suffices);
    ck_assert(advice_for(&p)->f32[0] > 1e-8);
    p.want = 1e-9;
    ck_assert(!advice_for(&p)->f32_suffices);
    p = problem_of("integers(-8,8)", "integers(-8,8)", 1); /* exact in FP32 */
    ck_assert(advice_for(&p)->f32_suffices);
}
END_TEST

/* Opposite exponents over 100 binades need more parts than there are residues. */
START_TEST(wide_exponents_need_more_parts)
{
    struct scheme_problem p = problem_of("opposite(100)", "opposite(100)", 1);
    const struct scheme_advice *const x = advice_for(&p);
    for (size_t i = 0; i < x->trials; i++)
        if (!strncmp(x->trial[i].scheme->name, "gemmul8", 7))
            ck_assert_msg(!x->trial[i].reaches, "%s", x->trial[i].scheme->name);
        else if (!strcmp(x->trial[i].scheme->name, "ozimmu-h"))
            ck_assert_msg(!x->trial[i].reaches || x->trial[i].parts > 12, "%d parts",
                          x->trial[i].parts);
}
END_TEST

/* The fast mode of GEMMul8 is not advised where it has no bound. */
START_TEST(no_bound_no_advice)
{
    struct scheme_problem p = problem_of("urand(0,0.1)", "urand(0,0.1)", 1);
    p.want = 1e3;
    const struct scheme_advice *const x = advice_for(&p);
    for (size_t i = 0; i < x->trials; i++)
        ck_assert(!x->trial[i].reaches || isfinite(x->trial[i].bound));
    ck_assert(x->choice && strcmp(x->choice->scheme->name, "gemmul8-fast"));
}
END_TEST

START_TEST(threads_do_not_matter)
{
    struct scheme_problem p = problem_of("phi(2)", "phi(2)", 5);
    const struct scheme_advice x = *advice_for(&p);
    p.threads = 3;
    const struct scheme_advice *const y = advice_for(&p);
    ck_assert_uint_eq(x.trials, y->trials);
    for (size_t i = 0; i < x.trials; i++) {
        ck_assert_int_eq(x.trial[i].parts, y->trial[i].parts);
        ck_assert_double_eq(x.trial[i].error, y->trial[i].error);
    }
}
END_TEST

TEST_MAIN("scheme_advice", advice_holds_for_all_outputs, fp32_suffices_for_large_errors,
          wide_exponents_need_more_parts, no_bound_no_advice, threads_do_not_matter)
