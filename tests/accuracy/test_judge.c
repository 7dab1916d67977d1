/* SPDX-License-Identifier: BSD-3-Clause */
/* The judge, which computes the references of metrics. */
#include "analysis/accuracy/judge.h"
#include "lib/base/clock.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/accuracy/sample_comparison.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static const struct reference *reference_named(const char *name)
{
    const struct reference *r = references;
    while (r->name && strcmp(r->name, name) != 0) r++;
    ck_assert_msg(r->name != NULL, "no reference %s", name);
    return r;
}

/* The limits of a judge are those of the sample, unless it compares with the loop. */
static void judge_limits(struct judge *j, const struct sample *s, bool chain)
{
    const struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", &formats[FORMAT_F32]));
    struct error_bound e;
    ck_assert_int_eq(judge_grade(j, &e, &g, &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
    ck_assert(j->comparison.parts == 0 && e.parts == 0);
    for (size_t i = 0; !chain && i < s->x.m * s->x.n; i++)
        ck_assert_msg(is_close(j->comparison.limit[i], s->limit[i], s->limit[i]),
                      "limit %zu: got %g, want %g", i, j->comparison.limit[i],
                      s->limit[i]);
}

static void judge_compare(const struct reference *r, struct sample *s)
{
    const struct comparison *x = &s->x;
    const struct matrix a = { .rows = x->m, .cols = x->k, .at = s->a },
                        b = { .rows = x->k, .cols = x->n, .at = s->b };
    const bool chain = !strcmp(r->name, "fp32");
    struct judge j;
    const struct exact_update u = { x->alpha, x->beta, x->beta ? s->c : NULL };
    const bool product = x->alpha == F32_ONE && !x->beta;
    ck_assert_int_eq(judge_init(&j, r, &a, &b, product ? NULL : &u,
                                &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
    judge_limits(&j, s, chain);
    const struct comparison *y = &j.comparison;
    ck_assert(y->m == x->m && y->n == x->n && y->k == x->k && y->a == s->a &&
              y->b == s->b && y->alpha == x->alpha && y->beta == x->beta);
    ck_assert(j.seconds >= 0 && !y->d);
    for (size_t i = 0; i < x->m * x->n; i++) {
        const uint32_t want = chain ? fma_chain(s, i) : s->exact32[i];
        const uint64_t wide =
            chain ? bits_of_double((double)float_of_bits(want)) : s->exact64[i];
        ck_assert_msg(y->reference32[i] == want,
                      "%s, element %zu: got %08" PRIx32 ", want %08" PRIx32, r->name, i,
                      y->reference32[i], want);
        ck_assert_msg(y->reference64[i] == wide,
                      "%s, element %zu: got %016" PRIx64 ", want %016" PRIx64, r->name, i,
                      y->reference64[i], wide);
        ck_assert(is_close(y->magnitude[i], s->magnitude[i], s->magnitude[i]));
    }
    for (size_t i = 0; i < x->m && x->n; i++) ck_assert(y->row_norm[i] == x->row_norm[i]);
    for (size_t i = 0; i < x->n && x->m; i++) ck_assert(y->col_norm[i] == x->col_norm[i]);
    uint64_t settled = 0;
    for (int i = 0; i < LAYERS; i++) settled += j.counts.settled[EXACT_F32][i];
    ck_assert_uint_eq(settled, chain ? 0 : x->m * x->n);
    if (!strcmp(r->name, "mpfr"))
        ck_assert_uint_eq(j.counts.settled[EXACT_F64][LAYER_MPFR], x->m * x->n);
    judge_clear(&j);
}

START_TEST(judges)
{
    static struct sample s;
    uint64_t rng = test_seed() + 3;
    for (int round = 0; round < 40; round++) {
        sample_draw(&s, &rng, round, 0);
        for (const struct reference *r = references; r->name; r++) judge_compare(r, &s);
    }
    reference_named("exact");
    reference_named("mpfr");
    reference_named("fp32");
}
END_TEST

START_TEST(judge_stops)
{
    static struct sample s;
    volatile sig_atomic_t stop = 1;
    const struct progress progress = { .stop = &stop };
    const struct gemm_options options = { .threads = 1, .progress = &progress };
    const struct matrix a = { .rows = 2, .cols = 3, .at = s.a },
                        b = { .rows = 3, .cols = 4, .at = s.b };
    for (const struct reference *r = references; r->name; r++) {
        struct fault f = { 0 };
        struct judge j, before;
        memset(&j, 0xd0, sizeof j);
        before = j;
        ck_assert_int_eq(judge_init(&j, r, &a, &b, NULL, &options, &f),
                         BITCUT_UNSUPPORTED);
        ck_assert_int_eq(f.status, BITCUT_UNSUPPORTED);
        ck_assert(!memcmp(&j, &before, sizeof j));
    }
}
END_TEST

START_TEST(clock_goes_forward)
{
    const double start = seconds_now();
    double now = start;
    for (int i = 0; i < 1000; i++) {
        const double next = seconds_now();
        ck_assert(next >= now);
        now = next;
    }
    ck_assert(now - start < 60);
}
END_TEST

/* --- through the library -------------------------------------------------------------- */

enum { M = 5, N = 7, K = 40 };

/* What the judge of dense matrices says. */
static void judge_dense(double values[METRICS], const struct bitcut_gemm *g,
                        const uint32_t *a, const uint32_t *b, const uint32_t *c,
                        const uint32_t *d)
{
    static uint32_t copy_a[M * K], copy_b[K * N];
    memcpy(copy_a, a, sizeof copy_a);
    memcpy(copy_b, b, sizeof copy_b);
    const struct matrix left = { .rows = M, .cols = K, .at = copy_a },
                        right = { .rows = K, .cols = N, .at = copy_b };
    const struct exact_update update = { g->alpha, g->beta, c };
    struct error_bound error;
    struct judge j;
    ck_assert_int_eq(judge_init(&j, &references[0], &left, &right, &update,
                                &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
    if (g->unit)
        ck_assert_int_eq(
            judge_grade(&j, &error, g, &(struct gemm_options){ .threads = 1 }, NULL),
            BITCUT_OK);
    j.comparison.d = d;
    metrics_run(values, &j.comparison);
    judge_clear(&j);
}

/* The second of two GEMMs, as it is stored: A by columns, D by columns in steps of ld. */
START_TEST(judged_as_filled)
{
    enum { LD = M + 3 };
    static uint32_t a[2 * M * K], turned[2 * M * K], b[2 * K * N], c[M * N], dense[M * N];
    static uint32_t d[2 * N * LD];
    uint64_t rng = test_seed() + 5;
    double got[METRICS + 1], want[METRICS];
    for (int i = 0; i < 2 * M * K; i++) a[i] = sample_fills[0](&rng);
    for (int i = 0; i < 2 * K * N; i++) b[i] = sample_fills[0](&rng);
    for (int i = 0; i < M * N; i++) c[i] = sample_fills[0](&rng);
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < M; i++)
            for (int p = 0; p < K; p++)
                turned[e * M * K + p * M + i] = a[e * M * K + i * K + p];
    struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_OOTOMO], unit_find("a100", &formats[FORMAT_F16]));
    g.count = 2, g.m = M, g.n = N, g.k = K, g.beta = 0x3fc00000;
    g.a = (struct bitcut_matrix){ .at = turned, .stride = M * K,
                                  .layout = BITCUT_COLUMN_MAJOR };
    g.b = (struct bitcut_matrix){ .at = b, .stride = K * N };
    g.c = (struct bitcut_matrix){ .at = c };
    g.d = (struct bitcut_matrix){ .to = d, .ld = LD, .stride = N * LD,
                                  .layout = BITCUT_COLUMN_MAJOR };
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    d[N * LD + 3] ^= 0x100; /* a fault, so that there is something to see */
    for (int i = 0; i < M * N; i++) dense[i] = d[N * LD + i % N * LD + i / N];
    for (int unit = 1; unit >= 0; unit--) {
        if (!unit) g.unit = NULL;
        ck_assert_int_eq(bitcut_gemm_judge(got, METRICS + 1, &g, 1, 1, NULL), BITCUT_OK);
        judge_dense(want, &g, a + M * K, b + K * N, c, dense);
        for (int p = 0; p < METRICS; p++)
            ck_assert_msg(!memcmp(&got[p], &want[p], sizeof got[p]) ||
                              (isnan(got[p]) && isnan(want[p])),
                          "%s: got %g, want %g", metrics[p].name, got[p], want[p]);
        ck_assert(isnan(got[METRICS]) && isnan(got[METRIC_GRADE]) == !unit);
        ck_assert(got[METRIC_RELRES] > 0);
    }
    for (size_t p = 0; p < METRICS; p++)
        ck_assert_str_eq(bitcut_metric_name(p), metrics[p].name);
    ck_assert_ptr_null(bitcut_metric_name(METRICS));
}
END_TEST

START_TEST(judging_refused)
{
    uint32_t x[1] = { F32_ONE };
    char why[BITCUT_TEXT_MAX] = "";
    double value = 7;
    struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", &formats[FORMAT_F32]));
    gemm_set_dense(&g, x, 1, 1, 1, x, x, NULL);
    ck_assert_int_eq(bitcut_gemm_judge(&value, 1, &g, 1, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(why, "invalid GEMM index"), "%s", why);
    ck_assert_int_eq(bitcut_gemm_judge(NULL, 1, &g, 0, 1, NULL), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_judge(&value, 1, NULL, 0, 1, NULL), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_judge(&value, 1, &g, 0, -1, NULL), BITCUT_BAD_ARGUMENT);
    g.a.prepared = x;
    ck_assert_int_eq(bitcut_gemm_judge(&value, 1, &g, 0, 1, NULL), BITCUT_BAD_ARGUMENT);
    ck_assert(value == 7);
}
END_TEST

TEST_MAIN("judge", judges, judge_stops, clock_goes_forward, judged_as_filled,
          judging_refused)
