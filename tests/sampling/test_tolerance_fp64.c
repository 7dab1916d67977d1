/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits for tests of FP64 GEMMs by schemes: correct results on other data keep them, and
   planted faults exceed them: a slice lost, a product of slices lost, a bit of a digit.
 */
#include "analysis/sampling/checked_result.h"
#include "emu/fp64/fp64_gemm.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 12, N = 10, K = 160 };

struct matrices {
    double a[M * K], b[K * N], d[M * N];
};

static double uniform(uint64_t *state)
{
    return (double)(test_bits(state) >> 11) * 0x1p-53;
}

/* urand(-1,1), positive numbers, or numbers of several sizes. */
enum { SIGNED, POSITIVE, NORMAL, KINDS };

static double draw(uint64_t *state, int kind)
{
    const double x = uniform(state);
    if (kind == POSITIVE) return x;
    if (kind == NORMAL) return uniform(state) + uniform(state) + x - 1.5;
    return 2 * x - 1;
}

static void fill(struct matrices *x, uint64_t *state, int kind)
{
    for (size_t i = 0; i < M * K; i++) x->a[i] = draw(state, kind);
    for (size_t i = 0; i < K * N; i++) x->b[i] = draw(state, kind);
}

static void gemm_make(struct bitcut_gemm *g, const char *line, struct matrices *x)
{
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    char why[BITCUT_TEXT_MAX];
    bitcut_gemm_init(g, sizeof *g);
    ck_assert_msg(bitcut_gemm_read(g, line, why) == BITCUT_OK, "%s: %s", line, why);
    g->m = M, g->n = N, g->k = K;
    g->a = (struct bitcut_matrix){ .at = x->a, .format = f64 };
    g->b = (struct bitcut_matrix){ .at = x->b, .format = f64 };
    g->d = (struct bitcut_matrix){ .to = x->d, .format = f64 };
}

static void run(struct bitcut_gemm *g, const char *line, struct matrices *x)
{
    char why[BITCUT_TEXT_MAX];
    gemm_make(g, line, x);
    ck_assert_msg(bitcut_gemm(g, g, 1, why) == BITCUT_OK, "%s: %s", line, why);
}

/* Runs of a kind of data, each with other numbers. */
struct drawn {
    uint64_t seed;
    int kind;
};

static enum bitcut_status make_run(struct dense *to, const void *context, size_t rows,
                                   size_t cols, uint64_t run, struct fault *f)
{
    const struct drawn *const s = context;
    uint64_t state = s->seed ^ (run + 1) * UINT64_C(0xd1b54a32d192ed03);
    if (!dense_init(to, rows, cols, K, false))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (size_t i = 0; i < rows * K; i++) to->a[i] = draw(&state, s->kind);
    for (size_t i = 0; i < K * cols; i++) to->b[i] = draw(&state, s->kind);
    dense_set_lines(to);
    return BITCUT_OK;
}

static struct bitcut_tolerances limits_of(const char *line, const struct drawn *s,
                                          bool any_order)
{
    static struct matrices x;
    struct tolerance t;
    struct bitcut_gemm g;
    struct fault f;
    gemm_make(&g, line, &x);
    const struct tolerance_problem q = { .gemm = &g,
                                         .source = { .make64 = make_run, .context = s },
                                         .m = M,
                                         .n = N,
                                         .k = K,
                                         .any_order = any_order,
                                         .runs = 100,
                                         .alarm = 1e-6 };
    ck_assert_msg(tolerance_find(&t, &q, 2, NULL, &f) == BITCUT_OK, "%s: %s", line,
                  f.text);
    return t.limits;
}

static struct bitcut_tolerance_verdict verdict(const struct bitcut_tolerances *t,
                                               const struct bitcut_gemm *g)
{
    struct bitcut_tolerance_verdict v = { .size = sizeof v };
    char why[BITCUT_TEXT_MAX];
    ck_assert_msg(bitcut_tolerance_judge(&v, t, g, NULL, 1, why) == BITCUT_OK, "%s", why);
    return v;
}

static const struct {
    const char *line;
    int parts; /* slices or moduli */
} cases[] = {
    { "fp64@fma/f64", 1 },      { "ozimmu@h100", 8 },       { "ozimmu-ef@h100", 8 },
    { "ozimmu-rn@h100", 8 },    { "ozimmu-h@h100", 8 },     { "cublasdx@h100", 7 },
    { "cublas-fixed@h100", 7 }, { "gemmul8@h100", 15 },     { "slices-f16@h100", 6 },
    { "slices-bf16@mi300", 9 }, { "slices-e4m3@b200", 14 }, { "ozimmu@h100", 5 },
};
enum { CASES = sizeof cases / sizeof *cases };

static void write_line(char line[BITCUT_GEMM_MAX], int c, int parts)
{
    snprintf(line, BITCUT_GEMM_MAX, "%s,parts=%d", cases[c].line, parts);
}

START_TEST(correct_results_are_within_limits)
{
    uint64_t state = test_seed();
    const int turns = test_cases(40, 400);
    for (int c = 0; c < CASES; c++)
        for (int kind = 0; kind < KINDS; kind++) {
            const struct drawn s = { test_bits(&state), kind };
            char line[BITCUT_GEMM_MAX];
            write_line(line, c, cases[c].parts);
            const struct bitcut_tolerances t = limits_of(line, &s, false);
            ck_assert_msg(t.known && t.max <= t.limit && t.limit <= t.bound &&
                              t.zeros == 0,
                          "%s, data %d: known %d, most %g, limit %g, bound %g, zeros %zu",
                          line, kind, t.known, t.max, t.limit, t.bound, t.zeros);
            ck_assert_msg(t.limit < 8 * t.max, "%s, data %d: limit %g of %g", line, kind,
                          t.limit, t.max);
            ck_assert_msg(t.atol + t.rtol * K <= 4 * (t.limit + 2) * 0x1p-53 * K,
                          "%s, data %d: rtol %g, atol %g", line, kind, t.rtol, t.atol);
            for (int turn = 0; turn < turns; turn++) {
                static struct matrices x;
                struct bitcut_gemm g;
                fill(&x, &state, kind);
                run(&g, line, &x);
                const struct bitcut_tolerance_verdict v = verdict(&t, &g);
                ck_assert_msg(
                    v.accepted,
                    "%s, data %d: rejected, %g u |A||B|, limit %g; normwise %g, "
                    "limit %g",
                    line, kind, v.component, t.limit, v.norm, t.norm_limit);
            }
        }
}
END_TEST

/* A multiply-add in other orders of k is correct if any order may be. */
START_TEST(any_order_of_a_dgemm_is_within_limits)
{
    uint64_t state = test_seed();
    const struct drawn s = { test_bits(&state), POSITIVE };
    const struct bitcut_tolerances t = limits_of("fp64@fma/f64", &s, true),
                                   own = limits_of("fp64@fma/f64", &s, false);
    ck_assert(t.limit >= own.limit && t.arrangements == 3);
    for (int turn = 0; turn < test_cases(40, 400); turn++) {
        static struct matrices x;
        struct bitcut_gemm g;
        fill(&x, &state, POSITIVE);
        run(&g, "fp64@fma/f64", &x);
        for (size_t at = 0; at < M * N; at++) {
            double lane[4] = { 0 };
            for (size_t p = K; p--;)
                lane[p % 4] += x.a[at / N * K + p] * x.b[p * N + at % N];
            x.d[at] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
        }
        const struct bitcut_tolerance_verdict v = verdict(&t, &g);
        ck_assert_msg(v.accepted, "rejected, %g u |A||B|, limit %g", v.component,
                      t.limit);
    }
}
END_TEST

/* --- planted faults --------------------------------------------------------------- */

/* D of matrices in which every element has one slice less. */
static void lose_slice(struct matrices *x, int c)
{
    struct bitcut_gemm g;
    char line[BITCUT_GEMM_MAX];
    write_line(line, c, cases[c].parts - 1);
    run(&g, line, x);
}

/* Subtract the product of slice i of A and slice j of B from D, by other means: slices
   are what the scheme with s slices gives of A times an identity. */
static void slice_of(double *to, const char *scheme, int s, const double *x, size_t rows,
                     size_t cols, bool of_b)
{
    const struct bitcut_scheme *const row = bitcut_scheme_find(scheme);
    struct slices all;
    ck_assert_int_eq(slices_make(&all, row->cut, s + 1, 7, x, of_b ? cols : rows,
                                 of_b ? rows : cols, 1),
                     BITCUT_OK);
    const size_t lines = of_b ? cols : rows, k = of_b ? rows : cols;
    for (size_t line = 0; line < lines; line++)
        for (size_t p = 0; p < k; p++)
            to[line * k + p] = ldexp(slices_scale(&all, row->cut, s, line) *
                                         slices_digits(&all, s)[line * k + p],
                                     slices_shift(&all, row->cut, s));
    slices_clear(&all);
}

static void lose_product(struct matrices *x, const char *scheme, int i, int j)
{
    static double columns[N * K], a[M * K], b[N * K];
    for (size_t p = 0; p < K; p++)
        for (size_t col = 0; col < N; col++) columns[col * K + p] = x->b[p * N + col];
    slice_of(a, scheme, i, x->a, M, K, false);
    slice_of(b, scheme, j, columns, K, N, true);
    for (size_t at = 0; at < M * N; at++) {
        double sum = 0;
        for (size_t p = 0; p < K; p++) sum += a[at / N * K + p] * b[at % N * K + p];
        x->d[at] -= sum;
    }
}

/* A digit of one element of A has another bit: 2^-weight of the largest element of its
   row, which are below 1 and at least 1/2. */
static void flip_bit(struct matrices *x, struct bitcut_gemm *g, const char *line,
                     int weight)
{
    double *const at = &x->a[3 * K + 5], kept = *at;
    *at = kept + ldexp(1, -weight);
    run(g, line, x);
    *at = kept;
}

/* The weight of a bit that changes some output by more than the limit: |A||B| is below
   K / 2, and some element of the row of B is above 1/4, except once in 10^6 rows. */
static int lowest_bit(const struct bitcut_tolerances *t)
{
    int exponent;
    frexp(t->limit * K / 2 * 4, &exponent);
    return 53 - exponent;
}

enum { LOST_SLICE, LOST_PRODUCT, LOST_LAST_PRODUCT, BIT_OF_DIGIT, LOW_BIT, FAULTS };

START_TEST(faults_exceed_limits)
{
    uint64_t state = test_seed();
    const int turns = test_cases(20, 200);
    for (int c = 0; c < CASES; c++) {
        char line[BITCUT_GEMM_MAX], name[40];
        const int parts = cases[c].parts;
        write_line(line, c, parts);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "@"), line);
        const struct bitcut_scheme *const scheme = bitcut_scheme_find(name);
        const bool is_ozimmu = !strncmp(name, "ozimmu", 6);
        const struct drawn s = { test_bits(&state), SIGNED };
        const struct bitcut_tolerances t = limits_of(line, &s, false);
        for (int fault = 0; fault < FAULTS; fault++)
            for (int turn = 0; turn < turns; turn++) {
                static struct matrices x;
                struct bitcut_gemm g;
                if (scheme->part == bitcut_format_find("f64") && fault < BIT_OF_DIGIT)
                    continue;
                if ((fault == LOST_PRODUCT || fault == LOST_LAST_PRODUCT) && !is_ozimmu)
                    continue;
                /* Without its last slice these have as many bits as the elements. */
                if (fault == LOST_SLICE && strncmp(name, "ozimmu", 6) &&
                    strncmp(name, "cublas", 6) && strcmp(name, "gemmul8"))
                    continue;
                fill(&x, &state, SIGNED);
                run(&g, line, &x);
                if (fault == LOST_SLICE) lose_slice(&x, c);
                if (fault == LOST_PRODUCT) lose_product(&x, name, 1, parts / 2);
                if (fault == LOST_LAST_PRODUCT) lose_product(&x, name, 0, parts - 2);
                if (fault == BIT_OF_DIGIT) flip_bit(&x, &g, line, 20);
                if (fault == LOW_BIT) flip_bit(&x, &g, line, lowest_bit(&t));
                const struct bitcut_tolerance_verdict v = verdict(&t, &g);
                ck_assert_msg(!v.accepted, "%s: fault %d accepted, %g u |A||B|, limit %g",
                              line, fault, v.component, t.limit);
            }
    }
}
END_TEST

/* The C call: limits of given matrices, whose own D is within them; refusals. */
START_TEST(limits_of_given_matrices)
{
    static struct matrices x;
    uint64_t state = test_seed();
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_tolerance_options o = { .size = sizeof o, .runs = 12 },
                                          two = { .size = sizeof two, .two = true };
    for (int c = 0; c < CASES; c++) {
        struct bitcut_tolerances t = { .size = sizeof t },
                                 three = { .size = sizeof three };
        char line[BITCUT_GEMM_MAX];
        struct bitcut_gemm g;
        write_line(line, c, cases[c].parts);
        fill(&x, &state, SIGNED);
        run(&g, line, &x);
        ck_assert_msg(bitcut_tolerance(&t, &g, &o, 1, why) == BITCUT_OK, "%s: %s", line,
                      why);
        ck_assert_int_eq(bitcut_tolerance(&three, &g, &o, 3, why), BITCUT_OK);
        ck_assert(!memcmp(&t, &three, sizeof t));
        const struct bitcut_tolerance_verdict v = verdict(&t, &g);
        ck_assert(v.accepted && v.component <= t.max * (1 + 1e-9) && v.beyond == 0);
        ck_assert_int_eq(bitcut_tolerance(&t, &g, &two, 1, why), BITCUT_BAD_ARGUMENT);
        x.d[7] = NAN;
        ck_assert(!verdict(&t, &g).accepted);
    }
}
END_TEST

TEST_MAIN("tolerance_fp64", correct_results_are_within_limits,
          any_order_of_a_dgemm_is_within_limits, faults_exceed_limits,
          limits_of_given_matrices)
