/* SPDX-License-Identifier: BSD-3-Clause */
/* Error budgets of FP64 schemes: the parts of every output add up to D minus the exact
   result, as fractions; parts that a scheme cannot have are 0; the statistics are those
   of the outputs. */
#include "analysis/fp64/scheme_budget.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 4, N = 3, K = 700, K_LONG = 2500, K_WINDOW = 5000, K_MAX = 6000 };

struct matrices {
    double a[M * K_MAX], b[K_MAX * N], c[M * N], d[M * N];
};

/* Matrices of a kind: uniform, wide, tiny beside large, small positive, whole numbers, at
   the ends of the range. */
enum { UNIFORM, WIDE, SPREAD, SMALL, WHOLE, POWERS, KINDS };

static double draw(uint64_t *state, int kind, size_t p, bool of_b)
{
    const double x = (double)(test_bits(state) >> 11) * 0x1p-53,
                 sign = test_bits(state) & 1 ? -1 : 1;
    switch (kind) {
    case WIDE: return sign * ldexp(1 + x, test_between(state, -50, 50));
    case SPREAD: return sign * ldexp(1 + x, (int)(p % 70) * (of_b ? -1 : 1));
    case SMALL: return 0.1 * x;
    case WHOLE: return (double)test_between(state, -100, 100);
    case POWERS: return sign * ldexp(1, test_between(state, -300, 300));
    default: return 2 * x - 1;
    }
}

static void fill(struct matrices *x, uint64_t *state, int kind, size_t k)
{
    for (size_t p = 0; p < k; p++) {
        for (size_t i = 0; i < M; i++) x->a[i * k + p] = draw(state, kind, p, false);
        for (size_t j = 0; j < N; j++) x->b[p * N + j] = draw(state, kind, p, true);
    }
    for (int i = 0; i < M * N; i++) x->c[i] = draw(state, kind, 0, false);
}

static void gemm_make(struct bitcut_gemm *g, const char *line, struct matrices *x,
                      size_t k)
{
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    char why[BITCUT_TEXT_MAX];
    bitcut_gemm_init(g, sizeof *g);
    ck_assert_msg(bitcut_gemm_read(g, line, why) == BITCUT_OK, "%s: %s", line, why);
    g->m = M, g->n = N, g->k = k;
    g->a = (struct bitcut_matrix){ .at = x->a, .format = f64 };
    g->b = (struct bitcut_matrix){ .at = x->b, .format = f64 };
    g->c = (struct bitcut_matrix){ .at = x->c, .format = f64 };
    g->d = (struct bitcut_matrix){ .to = x->d, .format = f64 };
}

/* --- fractions -------------------------------------------------------------------- */

enum { BITS_TEXT_MAX = 4000 };

/* Add the text m*2^e. */
static void add_text(mpq_t sum, const char *text)
{
    char copy[BITS_TEXT_MAX];
    ck_assert_uint_lt(strlen(text), sizeof copy);
    strcpy(copy, text);
    char *const star = strchr(copy, '*');
    const long exponent = atol(star + 3);
    mpq_t term;
    mpq_init(term);
    *star = 0;
    ck_assert_int_eq(mpz_set_str(mpq_numref(term), copy, 10), 0);
    if (exponent < 0) mpq_div_2exp(term, term, (mp_bitcnt_t)-exponent);
    else mpq_mul_2exp(term, term, (mp_bitcnt_t)exponent);
    mpq_add(sum, sum, term);
    mpq_clear(term);
}

/* D - (alpha A B + beta C). */
static void set_error(mpq_t to, const struct bitcut_gemm *g, const struct matrices *x,
                      size_t i, size_t j)
{
    mpq_t term, factor;
    mpq_inits(term, factor, NULL);
    mpq_set_ui(to, 0, 1);
    for (size_t p = 0; p < g->k; p++) {
        mpq_set_d(term, x->a[i * g->k + p]);
        mpq_set_d(factor, x->b[p * N + j]);
        mpq_mul(term, term, factor);
        mpq_sub(to, to, term);
    }
    mpq_set_d(factor, g->alpha_f64);
    mpq_mul(to, to, factor);
    mpq_set_d(term, g->beta_f64);
    mpq_set_d(factor, x->c[i * N + j]);
    mpq_mul(term, term, factor);
    mpq_sub(to, to, term);
    mpq_set_d(term, x->d[i * N + j]);
    mpq_add(to, to, term);
    mpq_clears(term, factor, NULL);
}

/* --- cases ------------------------------------------------------------------------ */

static struct scheme_budgets *budgets_of(const struct bitcut_gemm *g)
{
    const struct gemm_options options = { .threads = 1 };
    struct scheme_budgets *budgets;
    struct fp64_choice by;
    struct fault f;
    ck_assert_msg(fp64_settle(&by, g, 1, &f) == BITCUT_OK, "%s", f.text);
    ck_assert_int_eq(scheme_budgets_make(&budgets, g, &by, &options, &f), BITCUT_OK);
    return budgets;
}

static const struct {
    const char *scheme, *unit;
    int least, most;
    size_t slices; /* of k, at most */
    /* k up to K; up to K_LONG, where the unit rounds sums of parts; from K_WINDOW on,
       where the products of a weight are added in several groups */
    enum { SHORT, ROUNDS, WINDOW } sums;
} cases[] = {
    { "fp64", "fma/f64", 1, 1, 4, SHORT },
    { "ozimmu", "h100", 1, 12, 4, SHORT },
    { "ozimmu-ef", "h100", 1, 12, 3, SHORT },
    { "ozimmu-rn", "h100", 1, 12, 3, SHORT },
    { "ozimmu-h", "h100", 1, 12, 3, SHORT },
    { "cublasdx", "h100", 1, 8, 1, SHORT },
    { "cublas-fixed", "h100", 1, 9, 4, SHORT },
    { "cublas-fixed", "h100", 4, 12, 2, WINDOW },
    { "cublas-dynamic", "h100", 7, 18, 3, SHORT },
    { "gemmul8", "h100", 2, 20, 2, SHORT },
    { "gemmul8-fast", "h100", 2, 20, 2, SHORT },
    { "slices-f16", "h100", 1, 12, 2, SHORT },
    { "slices-bf16", "mi300", 1, 9, 2, SHORT },
    { "slices-e4m3", "b200", 1, 14, 1, SHORT },
    { "slices-e4m3", "hopper/wgmma.m64n8k32.f32.e4m3", 1, 14, 1, ROUNDS },
};
enum { CASES = sizeof cases / sizeof *cases };

/* What the outputs of a case had. */
struct seen {
    size_t outputs, nonzero[BUDGET_PARTS];
};

static void check_output(struct seen *seen, const struct bitcut_gemm *g,
                         const struct matrices *x, const struct scheme_budgets *budgets,
                         size_t i, size_t j, const char *line, int kind)
{
    struct budget_output out;
    struct fault f;
    mpq_t sum, want;
    double size = fabs(g->beta_f64 * x->c[i * N + j]);
    ck_assert_int_eq(scheme_budget_at(&out, budgets, i, j, &f), BITCUT_OK);
    ck_assert_msg(out.d64 == x->d[i * N + j], "%s, data %d: D is %a, of the budget %a",
                  line, kind, x->d[i * N + j], out.d64);
    ck_assert_msg(!out.event.what, "%s, data %d: %s", line, kind, out.event.what);
    mpq_inits(sum, want, NULL);
    for (int p = 0; p < BUDGET_PARTS; p++) {
        ck_assert_msg((out.exact[p] != NULL) == budget_has_part(g, (enum budget_part)p),
                      "%s: %s", line, budget_rows[p].name);
        if (!out.exact[p]) continue;
        mpq_t part;
        mpq_init(part);
        add_text(part, out.exact[p]);
        mpq_add(sum, sum, part);
        ck_assert(fabs(mpq_get_d(part) - out.part[p]) <= 0x1p-51 * fabs(out.part[p]));
        mpq_clear(part);
        seen->nonzero[p] += out.part[p] != 0;
    }
    set_error(want, g, x, i, j);
    ck_assert_msg(mpq_equal(sum, want),
                  "%s, data %d, output (%zu, %zu): parts add up to %g, D - C is %g", line,
                  kind, i, j, mpq_get_d(sum), mpq_get_d(want));
    ck_assert(fabs(mpq_get_d(want) - out.error) <= 0x1p-51 * fabs(out.error));
    for (size_t p = 0; p < g->k; p++)
        size += fabs(g->alpha_f64 * x->a[i * g->k + p] * x->b[p * N + j]);
    ck_assert(fabs(out.size - size) <= 1e-12 * size);
    mpq_clears(sum, want, NULL);
    budget_clear(&out);
    seen->outputs++;
}

/* The statistics of all outputs are those of single ones, for any number of threads. */
static void check_summary(const struct scheme_budgets *budgets, const char *line)
{
    struct budget_summary all, three;
    double mean[BUDGET_PARTS + 1] = { 0 }, most[BUDGET_PARTS + 1] = { 0 };
    struct fault f;
    ck_assert_int_eq(
        scheme_budget_gemm(&all, budgets, &(struct gemm_options){ .threads = 1 }, &f),
        BITCUT_OK);
    ck_assert_int_eq(
        scheme_budget_gemm(&three, budgets, &(struct gemm_options){ .threads = 3 }, &f),
        BITCUT_OK);
    ck_assert(!memcmp(&all.part, &three.part, sizeof all.part));
    ck_assert(all.outputs == M * N && !all.without && all.is_f64);
    for (size_t at = 0; at < M * N; at++) {
        struct budget_output out;
        ck_assert_int_eq(scheme_budget_at(&out, budgets, at / N, at % N, &f), BITCUT_OK);
        for (int p = 0; p <= BUDGET_PARTS; p++) {
            const double part = (p < BUDGET_PARTS ? out.part[p] : out.error) /
                                (out.size > 0 ? out.size * 0x1p-53 : 1);
            mean[p] += part / (M * N);
            most[p] = fmax(most[p], fabs(part));
        }
        budget_clear(&out);
    }
    for (int p = 0; p <= BUDGET_PARTS; p++) {
        const struct budget_statistics *const s = &all.part[p][BUDGET_U];
        ck_assert_msg(fabs(s->mean - mean[p]) <= 1e-9 * most[p] && s->most == most[p],
                      "%s, part %d: mean %g, not %g; most %g, not %g", line, p, s->mean,
                      mean[p], s->most, most[p]);
    }
}

static void try(struct seen *seen, uint64_t *state, int c, int kind)
{
    static struct matrices x;
    const int parts = test_between(state, cases[c].least, cases[c].most);
    const int least = cases[c].sums == WINDOW ? K_WINDOW : 1,
              most = cases[c].sums == WINDOW   ? K_MAX
                     : cases[c].sums == ROUNDS ? K_LONG
                                               : K;
    const size_t k = (size_t)test_between(state, least, most),
                 slices = (size_t)test_between(state, 1, (int)cases[c].slices);
    const bool updates = test_bits(state) & 1;
    struct scheme_budgets *budgets;
    char line[BITCUT_GEMM_MAX], why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g;
    snprintf(line, sizeof line, "%s@%s,parts=%d,slices=%zu", cases[c].scheme,
             cases[c].unit, parts, slices);
    fill(&x, state, kind, k);
    gemm_make(&g, line, &x, k);
    if (updates) g.alpha_f64 = draw(state, UNIFORM, 0, false);
    if (updates && test_bits(state) & 1) g.beta_f64 = draw(state, UNIFORM, 0, false);
    ck_assert_msg(bitcut_gemm(&g, &g, 1, why) == BITCUT_OK, "%s: %s", line, why);
    budgets = budgets_of(&g);
    for (size_t at = 0; at < M * N; at++)
        check_output(seen, &g, &x, budgets, at / N, at % N, line, kind);
    check_summary(budgets, line);
    scheme_budgets_free(budgets);
}

/* Which parts a scheme may have, other than those that any may. */
static void check_seen(const struct seen *seen, int c)
{
    const struct bitcut_scheme *const s = bitcut_scheme_find(cases[c].scheme);
    const bool is_fp64 = s->part == bitcut_format_find("f64");
    const struct {
        enum budget_part part;
        bool may, must;
    } rules[] = {
        { BUDGET_REPRESENTATION_A, !is_fp64, !is_fp64 },
        { BUDGET_REPRESENTATION_B, !is_fp64, !is_fp64 },
        { BUDGET_DROPPED, s->cut, s->cut },
        { BUDGET_UNIT, cases[c].sums == ROUNDS, cases[c].sums == ROUNDS },
        { BUDGET_OVERFLOW, s->levels || !s->cut, !strcmp(s->name, "gemmul8-fast") },
        { BUDGET_ADDITIONS, true, true },
        { BUDGET_SLICES, cases[c].slices > 1, cases[c].slices > 1 },
        { BUDGET_EPILOGUE, true, true },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const size_t count = seen->nonzero[rules[i].part];
        ck_assert_msg(count ? rules[i].may : !rules[i].must,
                      "%s on %s: %zu outputs with %s", s->name, cases[c].unit, count,
                      budget_rows[rules[i].part].name);
    }
}

START_TEST(parts_add_up_to_the_error)
{
    uint64_t state = test_seed();
    const int turns = test_cases(24, 400);
    for (int c = 0; c < CASES; c++) {
        struct seen seen = { 0 };
        for (int turn = 0; turn < turns; turn += cases[c].sums == WINDOW ? 3 : 1)
            try(&seen, &state, c, turn % KINDS);
        if (turns >= 24) check_seen(&seen, c);
    }
}
END_TEST

/* Integers with few bits have no error, and no parts. */
START_TEST(exact_products_have_no_parts)
{
    static struct matrices x;
    uint64_t state = test_seed();
    for (int c = 0; c < CASES; c++) {
        if (cases[c].sums == ROUNDS) continue;
        struct scheme_budgets *budgets;
        struct budget_summary all;
        struct bitcut_gemm g;
        struct fault f;
        char line[BITCUT_GEMM_MAX];
        snprintf(line, sizeof line, "%s@%s", cases[c].scheme, cases[c].unit);
        fill(&x, &state, WHOLE, 50);
        gemm_make(&g, line, &x, 50);
        budgets = budgets_of(&g);
        ck_assert_int_eq(
            scheme_budget_gemm(&all, budgets, &(struct gemm_options){ .threads = 1 }, &f),
            BITCUT_OK);
        for (int p = 0; p <= BUDGET_PARTS; p++)
            ck_assert_msg(all.part[p][BUDGET_U].most == 0, "%s: part %d", line, p);
        scheme_budgets_free(budgets);
    }
}
END_TEST

/* Ones are exact in the first slice, which meets every slice: all that is lost is of the
   other matrix, and no product is dropped. */
START_TEST(losses_belong_to_their_matrix)
{
    static struct matrices x;
    static const char *const lines[] = { "ozimmu@h100,parts=3", "ozimmu-rn@h100,parts=3",
                                         "ozimmu-h@h100,parts=3",
                                         "slices-f16@h100,parts=3" };
    uint64_t state = test_seed();
    for (size_t c = 0; c < 2 * sizeof lines / sizeof *lines; c++) {
        const bool ones_in_a = c % 2;
        struct scheme_budgets *budgets;
        struct budget_summary all;
        struct bitcut_gemm g;
        struct fault f;
        fill(&x, &state, UNIFORM, 50);
        for (size_t i = 0; i < M * 50 && ones_in_a; i++) x.a[i] = 1;
        for (size_t i = 0; i < N * 50 && !ones_in_a; i++) x.b[i] = 1;
        gemm_make(&g, lines[c / 2], &x, 50);
        budgets = budgets_of(&g);
        ck_assert_int_eq(
            scheme_budget_gemm(&all, budgets, &(struct gemm_options){ .threads = 1 }, &f),
            BITCUT_OK);
        const double of_a = all.part[BUDGET_REPRESENTATION_A][BUDGET_U].most,
                     of_b = all.part[BUDGET_REPRESENTATION_B][BUDGET_U].most,
                     dropped = all.part[BUDGET_DROPPED][BUDGET_U].most;
        ck_assert_msg((ones_in_a ? of_b : of_a) > 0 && (ones_in_a ? of_a : of_b) == 0 &&
                          dropped == 0,
                      "%s: A %g, B %g, dropped %g", lines[c / 2], of_a, of_b, dropped);
        scheme_budgets_free(budgets);
    }
}
END_TEST

/* NaN, infinities and scales beyond the range: there is no sum, and the reason is named.
 */
START_TEST(special_values_have_no_sum)
{
    static struct matrices x;
    uint64_t state = test_seed();
    const double specials[] = { NAN, INFINITY, 0x1p1023 };
    for (int c = 0; c < CASES; c++)
        for (int v = 0; v < 3; v++) {
            struct scheme_budgets *budgets;
            struct budget_summary all;
            struct bitcut_gemm g;
            struct fault f;
            char line[BITCUT_GEMM_MAX];
            snprintf(line, sizeof line, "%s@%s", cases[c].scheme, cases[c].unit);
            fill(&x, &state, UNIFORM, 50);
            x.a[70] = specials[v]; /* row 1 */
            gemm_make(&g, line, &x, 50);
            budgets = budgets_of(&g);
            ck_assert_int_eq(scheme_budget_gemm(&all, budgets,
                                                &(struct gemm_options){ .threads = 1 },
                                                &f),
                             BITCUT_OK);
            ck_assert_uint_eq(all.outputs, M * N);
            if (v < 2) ck_assert_uint_eq(all.first, N);
            if (v < 2) ck_assert(all.without >= N && all.event.what);
            scheme_budgets_free(budgets);
        }
}
END_TEST

TEST_MAIN("scheme_budget", parts_add_up_to_the_error, exact_products_have_no_parts,
          losses_belong_to_their_matrix, special_values_have_no_sum)
