/* SPDX-License-Identifier: BSD-3-Clause */
/* Tolerances: limits that correct kernels do not exceed, and the faults that they reject.
 */
#include "analysis/sampling/order_set.h"
#include "analysis/sampling/power.h"
#include "analysis/sampling/python_lines.h"
#include "analysis/sampling/sampling.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/sampling/drawn_problem.h"
#include "tests/test.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- limits ----------------------------------------------------------------------- */

static const struct {
    const char *recipe, *unit, *input;
    size_t k;
} cases[] = {
    { "ootomo", "h100", "urand(-1,1)", 256 },
    { "plain", "a100", "positive", 300 },
    { "legemm", "mi210", "exp_rand(-15,14)", 100 },
    { "markidis", "v100", "nrand", 64 },
    { "fp32", "h100", "urand(-1,1)", 200 },
    { "half-fp8", "h100", "urand(-1,1)", 64 },
};

enum { CASES = sizeof cases / sizeof *cases };

enum { RUNS = 6 };

/* Of new runs none is above any limit, and no limit is far from what there is: the
   observed one is within 5 times the largest. */
START_TEST(limits_hold)
{
    for (int c = 0; c < test_cases(CASES, CASES); c += test_whole() ? 1 : 2) {
        const struct bitcut_gemm g = gemm_named(cases[c].recipe, cases[c].unit);
        const struct family x = { cases[c].input, cases[c].k, test_seed() * 10000 };
        for (int any = 0; any < 2; any++) {
            struct tolerance_problem q = question_of(&g, &x, 20);
            q.any_order = any;
            const struct tolerance t = found(&q, 0);
            ck_assert(t.limits.outputs > 15 * 15 && t.limits.outputs <= 20 * 20 &&
                      t.limits.runs == 40 && !t.limits.wrong);
            ck_assert_msg(t.limits.orders > 5 || !any, "%zu orders", t.limits.orders);
            ck_assert_msg(t.limits.max < t.limits.limit &&
                              t.limits.limit <= 5 * t.limits.max &&
                              t.limits.max <= t.limits.bound + t.limits.underflow,
                          "%s: %g, %g, %g", cases[c].recipe, t.limits.max,
                          t.limits.limit, t.limits.bound);
            ck_assert(t.limits.norm_max < t.limits.norm_limit &&
                      t.limits.norm_limit <= 5 * t.limits.norm_max);
            struct power p;
            ck_assert_int_eq(power_measure(&p, &q, &t, RUNS, 1, 0, NULL, NULL),
                             BITCUT_OK);
            for (size_t i = 0; i < p.rows && p.row[i].correct; i++)
                for (int k = 0; k <= CRITERION_ALLCLOSE; k++)
                    ck_assert_msg(p.row[i].runs == RUNS &&
                                      (p.row[i].rejected[k] == 0 || (i && !any)),
                                  "%s, %s: %s rejects %zu of %zu", cases[c].recipe,
                                  p.row[i].name, criteria[k].name, p.row[i].rejected[k],
                                  p.row[i].runs);
            power_clear(&p);
        }
    }
}
END_TEST

/* The same limits for any number of threads and host mode; others of other seeds. */
START_TEST(same_limits)
{
    const struct bitcut_gemm g = gemm_named("ootomo", "h100");
    const struct family x = { "urand(-1,1)", 128, test_seed() },
                        y = { "urand(-1,1)", 128, test_seed() + 1000 };
    const struct tolerance_problem q = question_of(&g, &x, 24),
                                   r = question_of(&g, &y, 24);
    const struct tolerance one = found(&q, 1);
    test_host_mode(6);
    const struct tolerance other = found(&q, 3);
    fesetenv(FE_DFL_ENV);
    const struct tolerance seed = found(&r, 3);
    const size_t after = offsetof(struct bitcut_tolerances, false_alarm);
    ck_assert(!memcmp(&one.limits, &other.limits, offsetof(struct bitcut_tolerances, known)) &&
              one.limits.known == other.limits.known &&
              one.limits.norm_known == other.limits.norm_known &&
              !memcmp((const char *)&one.limits + after, (const char *)&other.limits + after,
                      offsetof(struct bitcut_tolerances, any_order) - after));
    ck_assert(one.limits.limit != seed.limits.limit);
}
END_TEST

/* More outputs and fewer alarms are a wider limit; two results have twice that of one. */
START_TEST(wider_limits)
{
    const struct bitcut_gemm g = gemm_named("ootomo", "h100");
    const struct family x = { "urand(-1,1)", 4096, test_seed() };
    struct tolerance_problem q = question_of(&g, &x, 16);
    q.runs = 10;
    const struct tolerance one = found(&q, 0);
    q.m = 160;
    const struct tolerance many = found(&q, 0);
    ck_assert(many.limits.outputs <= 256 &&
              many.limits.limit > one.limits.limit);
    q.alarm = 1e-3;
    const struct tolerance more = found(&q, 0);
    ck_assert(more.limits.limit < many.limits.limit);
    q.two = true;
    const struct tolerance two = found(&q, 0);
    ck_assert(two.limits.limit == 2 * more.limits.limit &&
              two.limits.bound == 2 * more.limits.bound &&
              two.limits.norm_limit == 2 * more.limits.norm_limit &&
              two.limits.bound_atol == 2 * more.limits.bound_atol &&
              two.limits.max == more.limits.max);
}
END_TEST

/* --- relative limits -------------------------------------------------------------- */

/* Positive terms have a relative limit, and allclose() is the componentwise test; where
   terms cancel there is none; of numbers of all sizes allclose() is not worth having. */
START_TEST(relative_limits)
{
    const struct bitcut_gemm g = gemm_named("ootomo", "h100");
    const struct family positive = { "positive", 128, test_seed() },
                        both = { "urand(-1,1)", 128, test_seed() },
                        wide = { "exp_rand(-15,14)", 16, test_seed() };
    struct tolerance_problem q = question_of(&g, &positive, 16);
    const struct tolerance p = found(&q, 0);
    ck_assert(p.limits.slack < 1.01 && p.limits.rtol_slack < 1.01 && p.limits.cancelling == 0);
    ck_assert(tolerance_closes(&p.limits) &&
              p.limits.rtol_alone < 1.1 * 0x1p-24 * p.limits.limit);
    q.source.context = &both;
    const struct tolerance b = found(&q, 0);
    ck_assert(isinf(b.limits.bound_rtol_alone) && isinf(b.limits.rtol_alone) &&
              isinf(b.limits.rtol_slack));
    ck_assert(tolerance_closes(&b.limits) && b.limits.rtol < 1e-7 &&
              b.limits.cancelling > 0.01);
    q.source.context = &wide;
    q.k = 16;
    const struct tolerance w = found(&q, 0);
    ck_assert(!tolerance_closes(&w.limits) && !tolerance_bound_closes(&w.limits));
}
END_TEST

/* Overflow leaves no limit, and what underflows is in the bound and in lines. */
START_TEST(ends_of_the_range)
{
    const struct bitcut_gemm g = gemm_named("ootomo", "h100");
    const struct family large = { "const(1e6)", 32, 1 },
                        small = { "exp_rand(-30,-20)", 32, test_seed() };
    struct tolerance_problem q = question_of(&g, &large, 16);
    char line[PYTHON_LINES][PYTHON_LINE_MAX];
    const struct tolerance l = found(&q, 0);
    ck_assert(l.limits.wrong == 40 * 256 && isinf(l.limits.limit) &&
              isinf(l.limits.bound));
    ck_assert_int_eq(python_lines(line, &python_libraries[0], &l, &q, true), 0);
    q.source.context = &small;
    const struct tolerance s = found(&q, 0);
    ck_assert(!s.limits.wrong && s.limits.underflow > s.limits.bound &&
              s.limits.limit <= s.limits.underflow + s.limits.bound);
    ck_assert_int_eq(python_lines(line, &python_libraries[0], &s, &q, false), 4);
    ck_assert_str_eq(strchr(line[3], '+'), "+ rest).all()");
    ck_assert(strstr(line[2], "rest = ") == line[2]);
}
END_TEST

/* --- limits that hold ------------------------------------------------------------- */

/* Positive, falling along k from 1 to 2^-12, rising, sorted, or as it comes. */
static struct gemm_data falling(int how, size_t m, size_t k, uint64_t seed)
{
    const struct family x = { "positive", k, seed };
    struct gemm_data to = { .bias_rows = false };
    family_make(&to, &x, m, m, 0, NULL);
    for (size_t i = 0; i < m; i++)
        for (size_t p = 0; p < k; p++) {
            const double at = (double)(how == 1 ? k - p : p) / (double)k,
                         by = how < 2 ? exp2(-12 * at) : how == 2 ? 1.5 - at : 1;
            uint32_t *const a = &to.a.at[i * k + p], *const b = &to.b.at[p * m + i];
            *a = bits_of_float((float)(value_of_float(*a) * by));
            *b = bits_of_float((float)(value_of_float(*b) * by));
        }
    return to;
}

static const struct {
    const char *recipe, *unit;
} accumulates[] = {
    { "legemm", "a100" }, { "markidis", "v100" },    { "plain", "h100" },
    { "fp32", "fma/f32" }, { "ootomo", "mi210" }, { "bf16x9", "h100" },
};

enum { ACCUMULATES = sizeof accumulates / sizeof *accumulates };

static struct bitcut_tolerance_verdict judged(const struct bitcut_gemm *g,
                                              const struct bitcut_tolerances *t,
                                              const struct bitcut_tolerance_options *o)
{
    struct bitcut_tolerance_verdict v = { .size = sizeof v };
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_tolerance_judge(&v, t, g, o, 2, why) == BITCUT_OK, "%s", why);
    return v;
}

/* The emulator's own D is accepted, by limits for its order and for any, and D = 0, 2 C, and
   NaN are not; no limit is below the largest error of the runs. */
START_TEST(own_order_passes)
{
    enum { M = 16, K = 400 };
    static uint32_t d[M * M], zero[M * M];
    for (int i = 0; i < test_cases(2 * ACCUMULATES, 4 * ACCUMULATES); i++) {
        struct bitcut_gemm g = gemm_named(accumulates[i % ACCUMULATES].recipe,
                                          accumulates[i % ACCUMULATES].unit);
        const int how = (i + i / ACCUMULATES) % 4;
        struct gemm_data from = falling(how, M, K, test_seed() + (uint64_t)i);
        gemm_set_dense(&g, d, M, M, K, from.a.at, from.b.at, NULL);
        ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ .threads = 1 }, NULL),
                         BITCUT_OK);
        for (int any = 0; any < 2; any++) {
            const struct bitcut_tolerance_options o = {
                .size = sizeof o, .runs = 12, .seed = 3, .any_order = any
            };
            struct bitcut_tolerances t = { .size = sizeof t };
            ck_assert_int_eq(bitcut_tolerance(&t, &g, &o, 2, NULL), BITCUT_OK);
            const struct bitcut_tolerance_verdict v = judged(&g, &t, &o);
            ck_assert_msg(v.accepted && !v.zeros_accepted && !v.wrong && !v.above,
                          "%s on %s, data %d: %g u of %g, %zu above", g.recipe->name,
                          g.unit->name, how, v.component, t.limit, v.above);
            ck_assert(t.limit >= t.max && t.norm_limit >= t.norm_max && !t.zeros);
            g.d.to = zero;
            ck_assert(!judged(&g, &t, &o).accepted);
            g.d.to = d;
            const uint32_t kept = d[7];
            d[7] = F32_NAN;
            ck_assert(!judged(&g, &t, &o).accepted && judged(&g, &t, &o).wrong == 1);
            d[7] = kept;
        }
        gemm_data_clear(&from);
    }
}
END_TEST

/* Every recipe on chips of every kind: D = 0 and D = 2 C are rejected for a product that is
   not zero, or it is said that nothing can be. */
START_TEST(zeros_are_rejected)
{
    enum { M = 16, K = 64 };
    static const char *const chip[] = { "v100", "a100", "h100", "mi100", "mi210", "mi300" };
    static const double scales[] = { 1, 0x1p-10, 0x1p-20 };
    static uint32_t d[M * M];
    int tried = 0;
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        for (int c = 0; c < 6; c++) {
            const size_t scale = ((size_t)c + (size_t)(r - recipes)) % 3;
            struct bitcut_gemm g = gemm_of(r, NULL);
            g.unit = bitcut_unit_find(chip[c], r->split ? r->split->part[0].format
                                                             : &formats[FORMAT_F16]);
            struct gemm_plan plan;
            struct gemm_data from = falling(3, M, K, test_seed());
            const size_t count = M * K;
            for (size_t i = 0; i < count; i++)
                from.a.at[i] =
                    bits_of_float((float)(value_of_float(from.a.at[i]) * scales[scale]));
            gemm_set_dense(&g, d, M, M, K, from.a.at, from.b.at, NULL);
            if (g.unit && gemm_plan_on_unit(&plan, &g, NULL) == BITCUT_OK) {
                const struct bitcut_tolerance_options o = { .size = sizeof o, .runs = 3 };
                struct bitcut_tolerances t = { .size = sizeof t };
                ck_assert_int_eq(bitcut_tolerance(&t, &g, &o, 1, NULL), BITCUT_OK);
                ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ .threads = 1 }, NULL),
                                 BITCUT_OK);
                ck_assert_msg(judged(&g, &t, &o).accepted, "%s on %s", r->name, chip[c]);
                bool zero = true;
                for (size_t i = 0; i < M * M; i++) {
                    const float x = value_of_float(d[i]);
                    zero = zero && x == 0;
                    d[i] = bits_of_float(2 * x);
                }
                const struct bitcut_tolerance_verdict twice = judged(&g, &t, &o);
                ck_assert_msg(!twice.accepted || twice.zeros_accepted || zero,
                              "2 D of %s on %s passes", r->name, chip[c]);
                ck_assert_msg((twice.zeros_accepted != 0) == (t.zeros != 0),
                              "%s on %s: %zu", r->name, chip[c], t.zeros);
                ck_assert_msg(!twice.zeros_accepted || scale, "zeros of %s on %s pass",
                              r->name, chip[c]);
                tried++;
            }
            gemm_data_clear(&from);
        }
    ck_assert_msg(tried > 20, "%d recipes on chips", tried);
}
END_TEST

/* Where a kernel is right to lose all, a D of zeros passes, and that is said; where an
   output is lost in few, limits have what underflows. */
START_TEST(zeros_that_pass)
{
    const struct bitcut_gemm flushed = gemm_named("ootomo", "mi210"),
                             plain = gemm_named("plain", "h100");
    const struct family lost = { "exp_rand(-40,-15)", 16, test_seed() },
                        some = { "exp_rand(-24,0)", 16, test_seed() };
    struct tolerance_problem q = question_of(&flushed, &lost, 16);
    const struct tolerance all = found(&q, 0);
    ck_assert_uint_eq(all.limits.zeros, 40);
    q = question_of(&plain, &some, 16);
    const struct tolerance t = found(&q, 0);
    ck_assert(!t.limits.known && t.limits.with_underflow <= t.limits.bound &&
              tolerance_needs_rest(&t.limits) && t.limits.zeros == 0);
    q = question_of(&plain, &(struct family){ "llm", 64, test_seed() }, 16);
    const struct tolerance none = found(&q, 0);
    ck_assert(none.limits.known && none.limits.underflow < 1e-30 && !tolerance_needs_rest(&none.limits));
}
END_TEST

/* --- faults ----------------------------------------------------------------------- */

static const struct power_row *row_named(const struct power *p, const char *name)
{
    for (size_t i = 0; i < p->rows; i++)
        if (!strcmp(p->row[i].name, name)) return &p->row[i];
    ck_abort_msg("no row %s", name);
    return NULL;
}

/* Rejected in all runs of these, of two recipes. */
static const char *const coarse[] = {
    "term missing",
    "corrections missing",
    "one accumulator",
    "epilogue scale missing",
    "k lost",
    "k twice",
    "k stale",
    "wrong rows or columns",
    "wrong k",
    "stale rows or columns",
    "column-major",
    "accumulator short",
    "result twice",
    "f16 accumulators",
    "store short",
    "one element wrong",
    "one output NaN",
    "one output zero",
    "one output twice",
    "one tile twice",
    "low parts zero",
    "residual negated",
    "low parts are high parts",
};

/* Rejected by none, as it is another order; and not there. */
START_TEST(faults_found)
{
    const struct bitcut_gemm g = gemm_named("ootomo", "h100");
    const struct family x = { "urand(-1,1)", 256, test_seed() };
    const struct tolerance_problem q = question_of(&g, &x, 16);
    const struct tolerance t = found(&q, 0);
    struct power p, again;
    ck_assert_int_eq(power_measure(&p, &q, &t, 10, 1, 1, NULL, NULL), BITCUT_OK);
    ck_assert_int_eq(power_measure(&again, &q, &t, 10, 1, 3, NULL, NULL), BITCUT_OK);
    for (size_t i = 0; i < sizeof coarse / sizeof *coarse; i++) {
        const struct power_row *const r = row_named(&p, coarse[i]);
        ck_assert_msg(r->runs && r->rejected[CRITERION_BOUND] == r->runs &&
                          r->rejected[CRITERION_OBSERVED] == r->runs,
                      "%s: %zu by the bound, %zu by the observed limit of %zu", r->name,
                      r->rejected[CRITERION_BOUND], r->rejected[CRITERION_OBSERVED],
                      r->runs);
    }
    ck_assert(row_named(&p, "promotion truncated")->rejected[CRITERION_NORM] == 10);
    ck_assert(row_named(&p, "promotion truncated")->rejected[CRITERION_BOTH] == 10);
    ck_assert(row_named(&p, "promotion truncated")->rejected[CRITERION_BOUND] == 0);
    ck_assert(row_named(&p, "k descending")->rejected[CRITERION_BOTH] == 0);
    ck_assert(row_named(&p, "C ignored")->runs == 0 &&
              isnan(row_named(&p, "C ignored")->error));
    ck_assert(p.rows == again.rows);
    for (size_t i = 0; i < p.rows; i++)
        ck_assert(
            p.row[i].runs == again.row[i].runs &&
            !memcmp(p.row[i].rejected, again.row[i].rejected, sizeof p.row[i].rejected));
    power_clear(&p);
    power_clear(&again);
}
END_TEST

/* With C and alpha there are faults of the epilogue, too; in two results the other one is
   the reference. */
START_TEST(epilogues_and_pairs)
{
    struct bitcut_gemm g = gemm_named("ootomo", "h100");
    const struct family x = { "urand(-1,1)", 64, test_seed() },
                        of_c = { "urand(-1,1)", 16, 9 };
    struct gemm_data from, c;
    family_make(&from, &x, 16, 16, 0, NULL);
    family_make(&c, &of_c, 16, 16, 0, NULL);
    from.c = c.a;
    g.alpha = bits_of_float(1.5f);
    g.beta = bits_of_float(-0.5f);
    const struct shuffled_source source = { .data = &from, .seed = test_seed() };
    struct tolerance_problem q = question_of(&g, &x, 16);
    q.source = shuffled_runs(&source);
    q.two = true;
    const struct tolerance t = found(&q, 0);
    struct power p;
    ck_assert_int_eq(power_measure(&p, &q, &t, 5, 1, 0, NULL, NULL), BITCUT_OK);
    static const char *const names[] = {
        "alpha ignored", "beta ignored",   "C ignored",
        "C twice",       "C column-major", "alpha twice"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct power_row *const r = row_named(&p, names[i]);
        ck_assert_msg(r->runs == 5 && r->rejected[CRITERION_BOTH] == 5, "%s", names[i]);
    }
    for (int i = 0; i < 2; i++)
        ck_assert(p.row[i].runs == 5 && p.row[i].rejected[CRITERION_BOTH] == 0);
    /* in the order of the reference nothing differs */
    ck_assert(p.row[0].error > 0);
    power_clear(&p);
    gemm_data_clear(&from);
    matrix_clear(&c.b);
}
END_TEST

/* The median error in other orders is that of every order in turn, and against D as it is
   the allowance is twice as large. */
START_TEST(orders_in_turn)
{
    enum { TURNS = 9 };
    const struct bitcut_gemm g = gemm_named("fp32", "h100");
    const struct family x = { "positive", 256, test_seed() };
    const struct tolerance_problem q = question_of(&g, &x, 16);
    const struct tolerance t = found(&q, 0);
    struct bitcut_order order[ORDERS_MAX];
    const size_t orders = order_set(order, &g, q.k);
    double error[TURNS];
    struct power p;
    struct tail all;
    ck_assert_int_eq(power_measure(&p, &q, &t, TURNS, 1, 0, NULL, NULL), BITCUT_OK);
    for (size_t i = 0; i < TURNS; i++) {
        struct sample_run r;
        struct bitcut_gemm other = g;
        ck_assert_int_eq(
            sample_run_make(&r, &q.source, &g, &t.bound, 16, 16, q.runs + i, NULL),
            BITCUT_OK);
        other.order = order[1 + i % (orders - 1)];
        ck_assert_int_eq(sample_run_compute(&r, &other, NULL), BITCUT_OK);
        error[i] = metrics[METRIC_BACKWARD_MAX].value(&r.x, 1);
        const double allowance = r.allowance[7];
        ck_assert_int_eq(sample_run_against_d(&r, NULL), BITCUT_OK);
        ck_assert(metrics[METRIC_BACKWARD_MAX].value(&r.x, 1) == 0 && allowance > 0 &&
                  r.allowance[7] == 2 * allowance);
        sample_run_clear(&r);
    }
    tail_fit(&all, error, TURNS);
    ck_assert_msg(p.row[1].error == all.x[TURNS / 2], "got %g, want %g", p.row[1].error,
                  all.x[TURNS / 2]);
    power_clear(&p);
}
END_TEST

/* --- the call --------------------------------------------------------------------- */

static struct bitcut_tolerances called(const struct bitcut_gemm *g,
                                       const struct bitcut_tolerance_options *o)
{
    struct bitcut_tolerances t = { .size = sizeof t };
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_tolerance(&t, g, o, 2, why) == BITCUT_OK, "%s", why);
    return t;
}

/* It says what tolerance_find() does of the same runs, whatever the layout of A. */
START_TEST(calls)
{
    const struct family x = { "urand(-1,1)", 100, test_seed() };
    const struct bitcut_tolerance_options o = { .size = sizeof o, .runs = 40, .seed = 3 };
    struct gemm_data from;
    uint32_t turned[20 * 100], d[20 * 20];
    family_make(&from, &x, 20, 20, 0, NULL);
    const struct shuffled_source source = { .data = &from, .seed = 3 };
    struct bitcut_gemm g = gemm_named("ootomo", "h100");
    struct tolerance_problem q = question_of(&g, &x, 20);
    q.source = shuffled_runs(&source);
    const struct tolerance want = found(&q, 1);
    gemm_set_dense(&g, d, 20, 20, 100, from.a.at, from.b.at, NULL);
    g.d.to = NULL;
    const struct bitcut_tolerances got = called(&g, &o);
    ck_assert(!memcmp(&want.limits, &got, offsetof(struct bitcut_tolerances, known)) &&
              got.rtol_slack > 8 && got.outputs == 400);
    for (size_t i = 0; i < 20; i++)
        for (size_t p = 0; p < 100; p++) turned[p * 20 + i] = from.a.at[i * 100 + p];
    g.a.at = turned;
    g.a.layout = BITCUT_COLUMN_MAJOR;
    const struct bitcut_tolerances other = called(&g, &o);
    ck_assert(!memcmp(&other, &got, offsetof(struct bitcut_tolerances, norm_known) + 1));
    gemm_data_clear(&from);
}
END_TEST

START_TEST(calls_refused)
{
    const uint32_t x[4] = { 0 };
    struct bitcut_tolerances t = { .size = sizeof t, .runs = 77 };
    struct bitcut_gemm right = gemm_named("fp32", "h100"), g;
    gemm_set_dense(&right, NULL, 2, 2, 2, x, x, NULL);
    const struct {
        const struct bitcut_recipe *recipe;
        const struct bitcut_unit *unit;
        size_t count, m, k;
        const void *a;
        uint32_t beta;
    } wrong[] = { { NULL, right.unit, 1, 2, 2, x, 0 },
                  { right.recipe, NULL, 1, 2, 2, x, 0 },
                  { right.recipe, right.unit, 0, 2, 2, x, 0 },
                  { right.recipe, right.unit, 1, 0, 2, x, 0 },
                  { right.recipe, right.unit, 1, 2, 0, x, 0 },
                  { right.recipe, right.unit, 1, 2, 2, NULL, 0 },
                  { right.recipe, right.unit, 1, 2, 2, x, F32_ONE } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char why[BITCUT_TEXT_MAX] = "";
        g = right;
        g.recipe = wrong[i].recipe;
        g.unit = wrong[i].unit;
        g.count = wrong[i].count;
        g.m = wrong[i].m;
        g.k = wrong[i].k;
        g.a.at = wrong[i].a;
        g.beta = wrong[i].beta;
        ck_assert_msg(bitcut_tolerance(&t, &g, NULL, 1, why) == BITCUT_BAD_ARGUMENT &&
                          *why && t.runs == 77,
                      "case %zu", i);
    }
    ck_assert_int_eq(bitcut_tolerance(&t, &right, NULL, -1, NULL), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_tolerance(&t, &right, NULL, 1, NULL), BITCUT_OK);
    ck_assert(t.limit == 0 && t.max == 0 && t.wrong == 0);
    /* of a program that was compiled before limits had what underflows */
    t.size = offsetof(struct bitcut_tolerances, with_underflow);
    t.zeros = 77;
    ck_assert_int_eq(bitcut_tolerance(&t, &right, NULL, 1, NULL), BITCUT_OK);
    ck_assert(t.zeros == 77 && t.runs == 100);
    /* and of one before they had what was asked for */
    t.size = 184;
    t.orders = 77;
    ck_assert_int_eq(bitcut_tolerance(&t, &right, NULL, 1, NULL), BITCUT_OK);
    ck_assert(t.orders == 77 && t.zeros != 77);
}
END_TEST

TEST_MAIN("tolerance", limits_hold, own_order_passes, zeros_are_rejected,
          zeros_that_pass, same_limits, wider_limits, relative_limits,
          ends_of_the_range, faults_found, epilogues_and_pairs, orders_in_turn, calls,
          calls_refused)
