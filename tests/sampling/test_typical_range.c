/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs sampled from a problem, and the typical range of errors. */
#include "analysis/sampling/typical_range.h"
#include "emu/gemm.h"
#include "lib/input/source.h"
#include "lib/number/hostfp.h"
#include "tests/sampling/named_gemm.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct gemm_data problem_of(const char *input, size_t m, size_t n, size_t k,
                                   uint64_t seed)
{
    struct gemm_data p = { 0 };
    struct input in;
    ck_assert_int_eq(input_parse(&in, input, NULL), BITCUT_OK);
    ck_assert_int_eq(source_generate(&p.a, &in, INPUT_A, m, k, seed, 1, NULL), BITCUT_OK);
    ck_assert_int_eq(source_generate(&p.b, &in, INPUT_B, k, n, seed, 1, NULL), BITCUT_OK);
    return p;
}

static bool same_matrix(const struct matrix *x, const struct matrix *y)
{
    return x->rows == y->rows && x->cols == y->cols &&
           (!x->at || !memcmp(x->at, y->at, x->rows * x->cols * sizeof *x->at));
}

static bool same_problem(const struct gemm_data *x, const struct gemm_data *y)
{
    return same_matrix(&x->a, &y->a) && same_matrix(&x->b, &y->b) &&
           same_matrix(&x->c, &y->c);
}

/* A problem whose numbers tell where they were. */
static struct gemm_data numbered(size_t m, size_t n, size_t k)
{
    struct gemm_data p = { .bias_rows = false };
    matrix_init(&p.a, m, k, NULL);
    matrix_init(&p.b, k, n, NULL);
    matrix_init(&p.c, m, n, NULL);
    for (size_t i = 0; i < m * k; i++) p.a.at[i] = (uint32_t)i;
    for (size_t i = 0; i < k * n; i++) p.b.at[i] = (uint32_t)i;
    for (size_t i = 0; i < m * n; i++) p.c.at[i] = (uint32_t)i;
    return p;
}

/* Row i of A, all of it, is one row; k is the same in both; C goes with them. */
static void check_shuffled(const struct gemm_data *p, const struct gemm_data *from,
                           size_t rows, size_t cols)
{
    const size_t k = from->a.cols, n = from->b.cols;
    bool seen[64] = { false };
    ck_assert(p->a.rows == rows && p->a.cols == k && p->b.cols == cols && p->b.rows == k);
    for (size_t t = 0; t < k; t++) {
        const size_t at = p->a.at[t] % k;
        ck_assert(!seen[at]);
        seen[at] = true;
        for (size_t i = 0; i < rows; i++)
            ck_assert(p->a.at[i * k + t] == p->a.at[i * k] / k * k + at);
        for (size_t j = 0; j < cols; j++)
            ck_assert(p->b.at[t * cols + j] == at * n + p->b.at[j] % n);
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            ck_assert(p->c.at[i * cols + j] == p->a.at[i * k] / k * n + p->b.at[j] % n);
}

START_TEST(shuffles)
{
    const struct gemm_data from = numbered(5, 7, 11);
    struct gemm_data p[4];
    for (uint64_t run = 0; run < 3; run++) {
        ck_assert_int_eq(gemm_data_shuffle(&p[run], &from, 5, 7, test_seed(), run, false, NULL),
                         BITCUT_OK);
        check_shuffled(&p[run], &from, 5, 7);
    }
    ck_assert(same_problem(&p[0], &from) && !same_problem(&p[1], &from) &&
              !same_problem(&p[1], &p[2]));
    gemm_data_shuffle(&p[3], &from, 5, 7, test_seed(), 1, false, NULL);
    ck_assert(same_problem(&p[3], &p[1]));
    for (int i = 0; i < 4; i++) gemm_data_clear(&p[i]);
    for (uint64_t run = 0; run < 4; run++) {
        gemm_data_shuffle(&p[run], &from, 2, 9, test_seed(), run, false, NULL);
        check_shuffled(&p[run], &from, 2, 7);
        ck_assert(p[run].a.at[0] / 11 != p[run].a.at[11] / 11);
        gemm_data_clear(&p[run]);
    }
    struct gemm_data all = from;
    gemm_data_clear(&all);
}
END_TEST

START_TEST(blocks)
{
    size_t rows, cols;
    gemm_data_block(&rows, &cols, 64, 64, 256, 0x1p20);
    ck_assert(rows == 64 && cols == 64);
    gemm_data_block(&rows, &cols, 1000, 1000, 1024, 0x1p20);
    ck_assert(rows == 32 && cols == 32);
    gemm_data_block(&rows, &cols, 1000, 1000, 1 << 20, 0x1p20);
    ck_assert(rows == 16 && cols == 16);
    gemm_data_block(&rows, &cols, 3, 1 << 20, 1024, 0x1p20);
    ck_assert(rows == 1 && cols == 1024);
    gemm_data_block(&rows, &cols, 4, 4, 1 << 20, 0x1p20);
    ck_assert(rows == 4 && cols == 4);
}
END_TEST

static double error_of(const struct bitcut_gemm *g, const struct gemm_data *p)
{
    struct judge j;
    struct hostfp mode;
    uint32_t *const d = malloc(p->a.rows * p->b.cols * sizeof *d);
    ck_assert_int_eq(gemm_data_run(d, p, g, NULL), BITCUT_OK);
    ck_assert_int_eq(gemm_data_judge(&j, p, g, &(struct gemm_options){ .threads = 1 }, NULL), BITCUT_OK);
    j.comparison.d = d;
    hostfp_enter(&mode);
    const double error = metrics[METRIC_BACKWARD_MAX].value(&j.comparison, 1);
    hostfp_leave(&mode);
    judge_clear(&j);
    free(d);
    return error;
}

static const struct {
    const char *recipe, *unit, *input;
    size_t m, n, k;
} cases[] = {
    { "ootomo", "h100", "urand(-1,1)", 64, 64, 256 },
    { "plain", "a100", "urand(-1,1)", 128, 128, 512 },
    { "legemm", "mi210", "exp_rand(-15,14)", 96, 128, 512 },
    { "fp32", "h100", "nrand", 64, 64, 300 },
    { "plain", "v100", "positive", 64, 64, 1024 },
};

/* Errors of most runs are in the range, and it is no wider than it must be. */
START_TEST(most_are_usual)
{
    int in = 0, all = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct bitcut_gemm g = gemm_named(cases[c].recipe, cases[c].unit);
        for (uint64_t seed = 1; seed <= 10; seed += (uint64_t)test_step(3)) {
            struct gemm_data p = problem_of(cases[c].input, cases[c].m, cases[c].n,
                                            cases[c].k, test_seed() * 100 + seed);
            struct typical_range u;
            ck_assert_int_eq(typical_range_find(&u, &g, &p, seed, 0, NULL, NULL),
                             BITCUT_OK);
            const double error = error_of(&g, &p);
            ck_assert_msg(u.low > 0 && u.low < u.high && u.high < 3 * u.low && u.outputs,
                          "%s on %s: %g to %g", cases[c].recipe, cases[c].unit, u.low,
                          u.high);
            in += error >= u.low && error <= u.high;
            all++;
            gemm_data_clear(&p);
        }
    }
    ck_assert_msg(in * 4 >= all * 3, "%d of %d are in the range", in, all);
}
END_TEST

/* Of many outputs the largest error is guessed from few: few runs are above the range,
   and few below. */
START_TEST(few_tell_of_many)
{
    enum { RUNS = 12 };
    const struct bitcut_gemm g = gemm_named("plain", "a100");
    int above = 0, below = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct gemm_data p =
            problem_of("urand(-1,1)", 192, 192, 1024, test_seed() * 100 + seed);
        struct typical_range u;
        ck_assert_int_eq(typical_range_find(&u, &g, &p, seed, 0, NULL, NULL), BITCUT_OK);
        ck_assert_msg(u.outputs * 4 < (size_t)192 * 192, "%zu outputs", u.outputs);
        const double error = error_of(&g, &p);
        above += error > u.high;
        below += error < u.low;
        gemm_data_clear(&p);
    }
    ck_assert_msg(above <= RUNS / 4 && below <= RUNS / 4, "%d of %d above, %d below",
                  above, RUNS, below);
}
END_TEST

/* Of a hundred correct results one or so is above: what the few groups do not tell of the
   tail is counted in. */
START_TEST(few_correct_are_above)
{
    enum { RUNS = 40 };
    static const struct {
        const char *recipe, *unit;
        size_t m, n, k;
    } of[] = { { "ootomo", "h100", 160, 160, 64 }, { "plain", "a100", 200, 200, 96 } };
    int above = 0;
    for (int i = 0; i < 2 * RUNS; i += test_step(5)) {
        const struct bitcut_gemm g = gemm_named(of[i % 2].recipe, of[i % 2].unit);
        const uint64_t seed = test_seed() * 1000 + (uint64_t)i;
        struct gemm_data p =
            problem_of("urand(-1,1)", of[i % 2].m, of[i % 2].n, of[i % 2].k, seed);
        struct typical_range u;
        ck_assert_int_eq(typical_range_find(&u, &g, &p, seed, 0, NULL, NULL), BITCUT_OK);
        above += error_of(&g, &p) > u.high;
        gemm_data_clear(&p);
    }
    ck_assert_msg(above <= (test_seed() == 1 ? 1 : 4), "%d of %d are above", above, 2 * RUNS);
}
END_TEST

/* The bound comes first; both ends of the range are usual. */
START_TEST(results_stand)
{
    static const struct {
        struct typical_range usual;
        double error;
        size_t beyond;
        int stands;
    } rows[] = {
        { { 1, 2, 9 }, 1.5, 0, GRADE_TYPICAL },
        { { 1, 2, 9 }, 1, 0, GRADE_TYPICAL },
        { { 1, 2, 9 }, 2, 0, GRADE_TYPICAL },
        { { 1, 2, 9 }, 2.01, 0, GRADE_ABOVE },
        { { 1, 2, 9 }, INFINITY, 0, GRADE_ABOVE },
        { { 1, 2, 9 }, NAN, 0, GRADE_ABOVE },
        { { 1, 2, 9 }, 0.99, 0, GRADE_BELOW },
        { { 1, 2, 9 }, 1.5, 1, GRADE_BEYOND },
        { { 0, 0, 0 }, 1.5, 0, GRADE_WITHIN },
        { { 0, 0, 0 }, 1.5, 3, GRADE_BEYOND },
        { { 1, INFINITY, 9 }, 1.5, 0, GRADE_WITHIN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(grade_of(&rows[i].usual, rows[i].error, rows[i].beyond) ==
                          rows[i].stands,
                      "row %zu", i);
    for (int i = 0; i <= GRADE_WITHIN; i++) ck_assert(grades[i].name && grades[i].what);
    ck_assert(!grades[GRADE_WITHIN + 1].name);
}
END_TEST

/* Threads and the caller's rounding change nothing; the seed does. */
START_TEST(same_range)
{
    const struct bitcut_gemm g = gemm_named("ootomo", "h100");
    struct gemm_data p = problem_of("urand(-1,1)", 40, 50, 300, test_seed());
    struct typical_range one, other, seed;
    ck_assert_int_eq(typical_range_find(&one, &g, &p, 1, 1, NULL, NULL), BITCUT_OK);
    test_host_mode(5);
    ck_assert_int_eq(typical_range_find(&other, &g, &p, 1, 3, NULL, NULL), BITCUT_OK);
    fesetenv(FE_DFL_ENV);
    ck_assert_int_eq(typical_range_find(&seed, &g, &p, 2, 3, NULL, NULL), BITCUT_OK);
    ck_assert(one.low == other.low && one.high == other.high && one.low != seed.low);
    gemm_data_clear(&p);
}
END_TEST

/* What has no outputs, too long a sum, no error, or overflows. */
START_TEST(without_errors)
{
    const struct bitcut_gemm g = gemm_named("plain", "h100");
    struct gemm_data p = problem_of("urand(-1,1)", 0, 5, 20, 1);
    struct typical_range u;
    ck_assert_int_eq(typical_range_find(&u, &g, &p, 1, 1, NULL, NULL), BITCUT_OK);
    ck_assert(u.outputs == 0);
    gemm_data_clear(&p);
    p = problem_of("zeros", 1, 1, (1 << 17) + 1, 1);
    ck_assert_int_eq(typical_range_find(&u, &g, &p, 1, 1, NULL, NULL), BITCUT_OK);
    ck_assert(u.outputs == 0);
    gemm_data_clear(&p);
    p = problem_of("integers", 8, 8, 8, 1);
    ck_assert_int_eq(typical_range_find(&u, &g, &p, 1, 1, NULL, NULL), BITCUT_OK);
    ck_assert(u.outputs && u.low == 0 && u.high == 0);
    gemm_data_clear(&p);
    p = problem_of("const(1e6)", 8, 8, 8, 1);
    ck_assert_int_eq(typical_range_find(&u, &g, &p, 1, 1, NULL, NULL), BITCUT_OK);
    ck_assert(isinf(u.low) && isinf(u.high));
    gemm_data_clear(&p);
}
END_TEST

TEST_MAIN("usual", shuffles, blocks, most_are_usual, few_tell_of_many,
          few_correct_are_above, same_range,
          without_errors, results_stand)
