/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of binary64 GEMMs compared with their formulas in MPFR, and with values
   computed by hand. */
#include "analysis/accuracy/judge.h"
#include "lib/number/bits.h"
#include "tests/accuracy/sample_comparison.h"
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 7000 }; /* of exact values: from 2^-3222 to 2^3072 and their roundings */

/* A GEMM, and the exact values of its elements. */
struct sample64 {
    struct matrices64 g;
    double a[SIDE * INNER], b[INNER * SIDE], c[SIDE * SIDE], d[SIDE * SIDE];
    mpfr_t exact[SIDE * SIDE], magnitude[SIDE * SIDE], loop_squares[SIDE * SIDE];
    double loop[SIDE * SIDE]; /* the multiplications and additions of a DGEMM */
};

static void sample64_init(struct sample64 *s)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        mpfr_inits2(BITS, s->exact[i], s->magnitude[i], s->loop_squares[i], (mpfr_ptr)0);
}

static void sample64_clear(struct sample64 *s)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        mpfr_clears(s->exact[i], s->magnitude[i], s->loop_squares[i], (mpfr_ptr)0);
}

/* The exact value and the magnitude of element `at`, and a loop that computes it in
   binary64 with the sum of the squares of all that it rounds, products excepted. */
static void solve_element(struct sample64 *s, size_t at)
{
    const struct matrices64 *g = &s->g;
    double sum = 0;
    mpfr_t t, sums;
    mpfr_inits2(BITS, t, sums, (mpfr_ptr)0);
    mpfr_set_zero(s->exact[at], 1);
    mpfr_set_zero(s->magnitude[at], 1);
    mpfr_set_zero(sums, 1);
    for (size_t p = 0; p < g->k; p++) {
        const double x = g->a[at / g->n * g->k + p], y = g->b[p * g->n + at % g->n];
        mpfr_set_d(t, x, MPFR_RNDN);
        mpfr_mul_d(t, t, y, MPFR_RNDN);
        mpfr_add(s->exact[at], s->exact[at], t, MPFR_RNDN);
        mpfr_abs(t, t, MPFR_RNDN);
        mpfr_add(s->magnitude[at], s->magnitude[at], t, MPFR_RNDN);
        sum += x * y;
        mpfr_set_d(t, sum, MPFR_RNDN);
        mpfr_fma(sums, t, t, sums, MPFR_RNDN);
    }
    mpfr_set_d(t, g->alpha, MPFR_RNDN);
    mpfr_mul(s->exact[at], s->exact[at], t, MPFR_RNDN);
    mpfr_mul(sums, sums, t, MPFR_RNDN);
    mpfr_mul(sums, sums, t, MPFR_RNDN);
    mpfr_abs(t, t, MPFR_RNDN);
    mpfr_mul(s->magnitude[at], s->magnitude[at], t, MPFR_RNDN);
    double loop = g->alpha * sum;
    mpfr_set_d(t, loop, MPFR_RNDN);
    if (g->alpha != 1) mpfr_fma(sums, t, t, sums, MPFR_RNDN);
    if (g->beta != 0) {
        mpfr_set_d(t, g->beta, MPFR_RNDN);
        mpfr_mul_d(t, t, g->c[at], MPFR_RNDN);
        mpfr_add(s->exact[at], s->exact[at], t, MPFR_RNDN);
        mpfr_abs(t, t, MPFR_RNDN);
        mpfr_add(s->magnitude[at], s->magnitude[at], t, MPFR_RNDN);
        loop += g->beta * g->c[at];
        mpfr_set_d(t, loop, MPFR_RNDN);
        mpfr_fma(sums, t, t, sums, MPFR_RNDN);
    }
    mpfr_swap(s->loop_squares[at], sums);
    s->loop[at] = loop;
    mpfr_clears(t, sums, (mpfr_ptr)0);
}

/* --- formulas ----------------------------------------------------------------------- */

static double value(mpfr_srcptr x) { return mpfr_get_d(x, MPFR_RNDN); }

/* |e / size| 2^up; 0 without an error. */
static double ratio(mpfr_srcptr e, mpfr_srcptr size, int up)
{
    mpfr_t q;
    if (mpfr_zero_p(e)) return 0;
    mpfr_init2(q, 100);
    mpfr_div(q, e, size, MPFR_RNDN);
    mpfr_mul_2si(q, q, up, MPFR_RNDN);
    const double x = fabs(value(q));
    mpfr_clear(q);
    return x;
}

/* Set the 2-norm of `count` numbers, `stride` apart. */
static void norm_set(mpfr_ptr norm, const double *from, size_t count, size_t stride)
{
    mpfr_t v;
    mpfr_init2(v, BITS);
    mpfr_set_zero(norm, 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_set_d(v, from[i * stride], MPFR_RNDN);
        mpfr_fma(norm, v, v, norm, MPFR_RNDN);
    }
    mpfr_sqrt(norm, norm, MPFR_RNDN);
    mpfr_clear(v);
}

/* |alpha| ||row|| ||column|| + |beta c|, or the same of whole matrices. */
static void scale_set(mpfr_ptr s, const struct matrices64 *g, size_t at, bool whole)
{
    mpfr_t t;
    mpfr_init2(t, BITS);
    if (whole) norm_set(s, g->a, g->m * g->k, 1);
    else norm_set(s, g->a + at / g->n * g->k, g->k, 1);
    if (whole) norm_set(t, g->b, g->k * g->n, 1);
    else norm_set(t, g->b + at % g->n, g->k, g->n);
    mpfr_mul(s, s, t, MPFR_RNDN);
    mpfr_mul_d(s, s, fabs(g->alpha), MPFR_RNDN);
    if (g->beta != 0) {
        norm_set(t, g->c + at, whole ? g->m * g->n : 1, 1);
        mpfr_mul_d(t, t, fabs(g->beta), MPFR_RNDN);
        mpfr_add(s, s, t, MPFR_RNDN);
    }
    mpfr_clear(t);
}

/* D - RN(C) in ulps of RN(C). */
static double ulps(const struct sample64 *s, size_t at)
{
    const double high = value(s->exact[at]), next = nextafter(fabs(high), INFINITY);
    mpfr_t q;
    mpfr_init2(q, BITS);
    mpfr_set_d(q, s->d[at], MPFR_RNDN);
    mpfr_sub_d(q, q, high, MPFR_RNDN);
    mpfr_div_d(q, q, next - fabs(high), MPFR_RNDN);
    const double x = value(q);
    mpfr_clear(q);
    return x;
}

/* The limit of an element. */
static void limit_set(mpfr_ptr limit, const struct sample64 *s, size_t at)
{
    mpfr_t loop;
    mpfr_init2(loop, BITS);
    mpfr_set_d(loop, s->loop[at], MPFR_RNDN);
    mpfr_sub(loop, loop, s->exact[at], MPFR_RNDN);
    mpfr_abs(loop, loop, MPFR_RNDN);
    mpfr_sqrt(limit, s->loop_squares[at], MPFR_RNDN);
    mpfr_mul_2si(limit, limit, 2 - 53, MPFR_RNDN);
    if (mpfr_greater_p(loop, limit)) mpfr_set(limit, loop, MPFR_RNDN);
    mpfr_clear(loop);
}

static void raise_to(double *most, double x) { *most = fmax(*most, x); }

/* Every metric of finite elements; the grade from the others. */
static void formulas(double want[METRICS], const struct sample64 *s)
{
    const struct matrices64 *g = &s->g;
    const size_t count = g->m * g->n;
    mpfr_t e, t, limit, error, size, limits;
    mpfr_inits2(BITS, e, t, limit, error, size, limits, (mpfr_ptr)0);
    for (int i = 0; i < METRICS; i++) want[i] = 0;
    mpfr_set_zero(error, 1);
    mpfr_set_zero(size, 1);
    mpfr_set_zero(limits, 1);
    for (size_t at = 0; at < count; at++) {
        mpfr_d_sub(e, s->d[at], s->exact[at], MPFR_RNDN);
        mpfr_fma(error, e, e, error, MPFR_RNDN);
        mpfr_fma(size, s->exact[at], s->exact[at], size, MPFR_RNDN);
        want[METRIC_MRED] += ratio(e, s->exact[at], 0) / (double)count;
        mpfr_abs(t, s->exact[at], MPFR_RNDN);
        mpfr_add_d(t, t, fabs(s->d[at]), MPFR_RNDN);
        raise_to(&want[METRIC_MAX_ERROR], ratio(e, t, 0));
        raise_to(&want[METRIC_ULP_MAX], fabs(ulps(s, at)));
        want[METRIC_ULP_MEAN] += fabs(ulps(s, at)) / (double)count;
        want[METRIC_ULP_BIAS] += ulps(s, at) / (double)count;
        raise_to(&want[METRIC_BACKWARD_MAX], ratio(e, s->magnitude[at], 53));
        raise_to(&want[METRIC_CONDITION_MAX], ratio(s->magnitude[at], s->exact[at], 0));
        scale_set(t, g, at, false);
        raise_to(&want[METRIC_MIXED_MAX], ratio(e, t, 53));
        limit_set(limit, s, at);
        if (mpfr_zero_p(s->magnitude[at])) mpfr_set_zero(limit, 1);
        mpfr_fma(limits, limit, limit, limits, MPFR_RNDN);
        raise_to(&want[METRIC_BACKWARD_LIMIT], ratio(limit, s->magnitude[at], 53));
        raise_to(&want[METRIC_MIXED_LIMIT], ratio(limit, t, 53));
        mpfr_set_d(t, fabs(g->alpha) * (double)g->k + 2, MPFR_RNDN);
        mpfr_mul_2si(t, t, -1075, MPFR_RNDN);
        if (!mpfr_zero_p(s->magnitude[at])) mpfr_add(limit, limit, t, MPFR_RNDN);
        raise_to(&want[METRIC_GRADE_WORST], ratio(e, limit, 0));
    }
    mpfr_sqrt(error, error, MPFR_RNDN);
    mpfr_sqrt(size, size, MPFR_RNDN);
    mpfr_sqrt(limits, limits, MPFR_RNDN);
    want[METRIC_RELRES] = ratio(error, size, 0);
    want[METRIC_EFFECTIVE_BITS] = fmin(106, -log2(want[METRIC_RELRES]));
    scale_set(t, g, 0, true);
    want[METRIC_NORMWISE] = ratio(error, t, 53);
    want[METRIC_NORMWISE_LIMIT] = ratio(limits, t, 53);
    want[METRIC_GRADE] = want[METRIC_GRADE_WORST] <= 1                          ? 3
                         : want[METRIC_MIXED_MAX] <= want[METRIC_MIXED_LIMIT]   ? 2
                         : want[METRIC_NORMWISE] <= want[METRIC_NORMWISE_LIMIT] ? 1
                                                                                : 0;
    mpfr_clears(e, t, limit, error, size, limits, (mpfr_ptr)0);
}

/* Judge a GEMM, with limits, and compare the metrics. */
static void judge_and_check(const struct matrices64 *g, const double want[METRICS],
                            const char *reference, bool graded)
{
    const struct gemm_options o = { .threads = 2 };
    const struct reference *r = references;
    struct judge j;
    double got[METRICS];
    while (strcmp(r->name, reference) != 0) r++;
    ck_assert_int_eq(judge64_init(&j, r, g, &o, NULL), BITCUT_OK);
    if (graded) ck_assert_int_eq(judge64_grade(&j, &o, NULL), BITCUT_OK);
    metrics_run(got, &j.comparison);
    for (int i = 0; i < METRICS; i++) {
        const double size = i == METRIC_ULP_BIAS ? want[METRIC_ULP_MEAN] : fabs(want[i]);
        if (i >= METRIC_GRADE && i <= METRIC_NORMWISE_LIMIT && !graded) {
            ck_assert_msg(isnan(got[i]), "%s without limits", metrics[i].name);
            continue;
        }
        if (is_close(got[i], want[i], size)) continue;
        for (size_t at = 0; at < g->m * g->n; at++)
            printf("# D %a, C %a\n", g->d[at],
                   double_of_bits(j.comparison.reference64[at]));
        fflush(stdout);
        ck_abort_msg("%zu x %zu x %zu, %s: got %.17g, want %.17g", g->m, g->n, g->k,
                     metrics[i].name, got[i], want[i]);
    }
    judge_clear(&j);
}

/* --- random results ----------------------------------------------------------------- */

static double number(uint64_t *rng, int low, int high)
{
    const double x = double_of_bits(0x3ff0000000000000 | test_bits(rng) >> 12);
    return ldexp(test_between(rng, 0, 1) ? x : -x, test_between(rng, low, high));
}

/* Ranges of exponents: usual, wide, where remainders are near the
   least normal number, and where results are near the largest. */
static const int ranges[][2] = { { -2, 2 }, { -200, 200 }, { -490, -480 }, { 480, 500 } };

enum { RANGES = sizeof ranges / sizeof ranges[0] };

static void sample64_draw(struct sample64 *s, uint64_t *rng, int round)
{
    const int *range = ranges[round % RANGES];
    const bool product = round / RANGES % 2;
    const size_t m = (size_t)test_between(rng, 1, SIDE),
                 n = (size_t)test_between(rng, 1, SIDE),
                 k = (size_t)test_between(rng, 1, INNER);
    for (size_t i = 0; i < m * k; i++) s->a[i] = number(rng, range[0], range[1]);
    for (size_t i = 0; i < k * n; i++) s->b[i] = number(rng, range[0], range[1]);
    for (size_t i = 0; i < m * n; i++) s->c[i] = number(rng, range[0], range[1]);
    s->g =
        (struct matrices64){ .m = m,
                             .n = n,
                             .k = k,
                             .a = s->a,
                             .b = s->b,
                             .c = s->c,
                             .d = s->d,
                             .alpha = product ? 1 : number(rng, -2, 2),
                             .beta = product || round % 3 == 0 ? 0 : number(rng, -2, 2) };
    if (s->g.beta == 0) s->g.c = NULL;
    for (size_t at = 0; at < m * n; at++) solve_element(s, at);
}

/* D: the exact values, rounded, and some of them moved by up to 2^bits numbers. */
static void sample64_perturb(struct sample64 *s, uint64_t *rng)
{
    const int bits = test_between(rng, 0, 30), every = test_between(rng, 1, 4);
    for (size_t at = 0; at < s->g.m * s->g.n; at++) {
        s->d[at] = value(s->exact[at]);
        if (test_between(rng, 1, every) > 1) continue;
        const uint64_t steps = (uint64_t)test_between(rng, 0, 1 << bits);
        const uint64_t d = bits_of_double(s->d[at]);
        s->d[at] = double_of_bits(test_between(rng, 0, 1) ? d + steps : d - 1);
    }
}

START_TEST(formulas_agree)
{
    static struct sample64 s;
    static const char *const by[] = { "exact", "mpfr" };
    uint64_t rng = test_seed();
    int graded[4] = { 0 };
    sample64_init(&s);
    for (int round = 0; round < test_cases(400, 4000); round++) {
        double want[METRICS];
        sample64_draw(&s, &rng, round);
        sample64_perturb(&s, &rng);
        formulas(want, &s);
        judge_and_check(&s.g, want, by[round / 3 % 2], round % 5 != 0);
        graded[(int)want[METRIC_GRADE]]++;
    }
    printf("# grades: %d %d %d %d\n", graded[0], graded[1], graded[2], graded[3]);
    ck_assert(graded[0] && graded[3]);
    sample64_clear(&s);
}
END_TEST

/* --- values by hand ----------------------------------------------------------------- */

#define INF ((double)INFINITY)

/* The result d of alpha (a[0] b[0] + a[1] b[1]) + beta c; a metric that is not listed
   is 0. */
static const struct {
    double alpha, a[2], b[2], beta, c, d;
    double want[METRICS];
} known[] = {
    /* clang-format off */
    /* right to the last bit: the remainder 2^-60 is the error */
    { 1, { 1, 0x1p-60 }, { 1, 1 }, 0, 0, 1,
      { [METRIC_RELRES] = 0x1p-60, [METRIC_MAX_ERROR] = 0x1p-61, [METRIC_MRED] = 0x1p-60,
        [METRIC_BACKWARD_MAX] = 0x1p-7, [METRIC_MIXED_MAX] = 0x1.6a09e667f3bcdp-8,
        [METRIC_NORMWISE] = 0x1.6a09e667f3bcdp-8, [METRIC_EFFECTIVE_BITS] = 60,
        [METRIC_CONDITION_MAX] = 1 } },
    /* one ulp above 1 */
    { 1, { 1, 0 }, { 1, 0 }, 0, 0, 1 + 0x1p-52,
      { [METRIC_RELRES] = 0x1p-52, [METRIC_MAX_ERROR] = 0x1p-53, [METRIC_MRED] = 0x1p-52,
        [METRIC_ULP_MAX] = 1, [METRIC_ULP_MEAN] = 1, [METRIC_ULP_BIAS] = 1,
        [METRIC_BACKWARD_MAX] = 2, [METRIC_MIXED_MAX] = 2, [METRIC_NORMWISE] = 2,
        [METRIC_EFFECTIVE_BITS] = 52, [METRIC_CONDITION_MAX] = 1 } },
    /* exact: no error, and all bits */
    { 2, { 3, 1 }, { 5, 2 }, -1, 4, 30,
      { [METRIC_EFFECTIVE_BITS] = 106, [METRIC_CONDITION_MAX] = 38. / 30 } },
    /* cancels to 2^-104, which the result has lost */
    { 1, { 1 + 0x1p-52, 1 + 0x1p-51 }, { 1 + 0x1p-52, -1 }, 0, 0, 0,
      { [METRIC_RELRES] = 1, [METRIC_MAX_ERROR] = 1, [METRIC_MRED] = 1,
        [METRIC_ULP_MAX] = 0x1p52, [METRIC_ULP_MEAN] = 0x1p52,
        [METRIC_ULP_BIAS] = -0x1p52,
        [METRIC_BACKWARD_MAX] = 0x1p-52, [METRIC_MIXED_MAX] = 0x1p-52,
        [METRIC_NORMWISE] = 0x1p-52, [METRIC_CONDITION_MAX] = 0x1p105 } },
    /* the same infinity, and the same NaN */
    { 1, { 0x1p1000, 0 }, { 0x1p1000, 0 }, 0, 0, INF, { [METRIC_EFFECTIVE_BITS] = 106 } },
    { 1, { INF, 0 }, { 0, 0 }, 0, 0, -(double)NAN, { [METRIC_EFFECTIVE_BITS] = 106 } },
    /* a NaN for a number, the largest number for an infinity */
    { 1, { 1, 0 }, { 1, 0 }, 0, 0, (double)NAN,
      { [METRIC_RELRES] = INF, [METRIC_MAX_ERROR] = INF, [METRIC_MRED] = INF,
        [METRIC_ULP_MAX] = INF, [METRIC_ULP_MEAN] = INF, [METRIC_ULP_BIAS] = INF,
        [METRIC_BACKWARD_MAX] = INF, [METRIC_MIXED_MAX] = INF, [METRIC_NORMWISE] = INF,
        [METRIC_CONDITION_MAX] = 1, [METRIC_WRONG] = 1 } },
    { 1, { 0x1p1000, 0 }, { 0x1p1000, 0 }, 0, 0, DBL_MAX,
      { [METRIC_RELRES] = INF, [METRIC_MAX_ERROR] = INF, [METRIC_MRED] = INF,
        [METRIC_ULP_MAX] = INF, [METRIC_ULP_MEAN] = INF, [METRIC_ULP_BIAS] = INF,
        [METRIC_BACKWARD_MAX] = INF, [METRIC_MIXED_MAX] = INF, [METRIC_NORMWISE] = INF,
        [METRIC_WRONG] = 1 } },
    /* products with alpha that do not fit before it, and an error of 2 ulps */
    { 0x1p-1000, { 0x1p1000, 0 }, { 0x1p600, 0 }, 0, 0, 0x1p600 + 0x1p549,
      { [METRIC_RELRES] = 0x1p-51, [METRIC_MAX_ERROR] = 0x1p-51 / (2 + 0x1p-51),
        [METRIC_MRED] = 0x1p-51, [METRIC_ULP_MAX] = 2, [METRIC_ULP_MEAN] = 2,
        [METRIC_ULP_BIAS] = 2, [METRIC_BACKWARD_MAX] = 4, [METRIC_MIXED_MAX] = 4,
        [METRIC_NORMWISE] = 4, [METRIC_EFFECTIVE_BITS] = 51,
        [METRIC_CONDITION_MAX] = 1 } },
    /* a difference beyond the range counts as the largest number */
    { 1, { 0x1p1023, 0 }, { 1, 0 }, 0, 0, -0x1p1023,
      { [METRIC_RELRES] = 2 - 0x1p-52, [METRIC_MAX_ERROR] = 1, [METRIC_MRED] = 2,
        [METRIC_ULP_MAX] = 0x1p53, [METRIC_ULP_MEAN] = 0x1p53,
        [METRIC_ULP_BIAS] = -0x1p53,
        [METRIC_BACKWARD_MAX] = 0x1p54, [METRIC_MIXED_MAX] = 0x1p54,
        [METRIC_NORMWISE] = 0x1p54, [METRIC_EFFECTIVE_BITS] = -1,
        [METRIC_CONDITION_MAX] = 1 } },
    /* the least number instead of 0: an infinite relative error, but no wrong element */
    { 1, { 0x1p-600, 0 }, { 0x1p-600, 0 }, 0, 0, 0x1p-1074,
      { [METRIC_RELRES] = INF, [METRIC_MAX_ERROR] = 1, [METRIC_MRED] = INF,
        [METRIC_ULP_MAX] = 1, [METRIC_ULP_MEAN] = 1, [METRIC_ULP_BIAS] = 1,
        [METRIC_BACKWARD_MAX] = INF, [METRIC_MIXED_MAX] = INF,
        [METRIC_NORMWISE] = INF } },
    /* clang-format on */
};

START_TEST(known_metrics)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct matrices64 g = { .m = 1,
                                      .n = 1,
                                      .k = 2,
                                      .a = known[i].a,
                                      .b = known[i].b,
                                      .c = &known[i].c,
                                      .d = &known[i].d,
                                      .alpha = known[i].alpha,
                                      .beta = known[i].beta };
        printf("# case %zu\n", i);
        fflush(stdout);
        judge_and_check(&g, known[i].want, "exact", false);
    }
}
END_TEST

static void check_grade(const struct matrices64 *g, double worst, double grade)
{
    const struct gemm_options o = { .threads = 1 };
    struct judge j;
    double got[METRICS];
    ck_assert_int_eq(judge64_init(&j, &references[0], g, &o, NULL), BITCUT_OK);
    ck_assert_int_eq(judge64_grade(&j, &o, NULL), BITCUT_OK);
    metrics_run(got, &j.comparison);
    ck_assert_msg(got[METRIC_GRADE_WORST] == worst && got[METRIC_GRADE] == grade,
                  "grade %g, worst %.17g instead of %.17g", got[METRIC_GRADE],
                  got[METRIC_GRADE_WORST], worst);
    judge_clear(&j);
}

START_TEST(known_grades)
{
    /* 19 terms of 0.988 times half an ulp, which the loop loses: more than 4 u sqrt(20)
     */
    double a[INNER] = { 1 }, b[INNER] = { 1 }, d = 1;
    for (int i = 1; i < INNER; i++) a[i] = 0x1.fap-54, b[i] = 1;
    struct matrices64 g = { 1, 1, INNER, a, b, NULL, &d, 1, 0 };
    check_grade(&g, 1, 3);
    d = 1 - 0x1p-53;
    check_grade(&g, 19.77734375 / 18.77734375, 0);

    /* 3 2^-1075 is one subnormal step away: less than (k + 2) 2^-1075, which is rounded
       to 2^-1073 */
    a[0] = 0x1p-600, b[0] = 3 * 0x1p-475, d = 0x1p-1074, g.k = 1;
    check_grade(&g, 0.5, 3);
}
END_TEST

/* Results by their distance in binary64 numbers. */
START_TEST(distances)
{
    const double one = 1, zero = 0, tiny = 0x1p-1074, b[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    const double d[8] = {
        1, 1 + 0x1p-52, 1 - 0x1p-53, 1 + 0x1p-50, NAN, INFINITY, -1, 2
    };
    const double d0[2] = { -0.0, -tiny }, b0[2] = { 1, tiny };
    struct matrices64 g = {
        .m = 1, .n = 8, .k = 1, .a = &one, .b = b, .d = d, .alpha = 1
    };
    const struct gemm_options o = { .threads = 1 };
    struct judge j;
    size_t bins[HISTOGRAM_BINS], want[HISTOGRAM_BINS] = { 1, 2, 0, 1 };
    want[HISTOGRAM_BINS - 1] = 4;
    ck_assert_int_eq(judge64_init(&j, &references[0], &g, &o, NULL), BITCUT_OK);
    ulp_histogram(bins, &j.comparison);
    ck_assert_mem_eq(bins, want, sizeof bins);
    judge_clear(&j);

    /* 0 and -0 are one value; -2^-1074 is one step from it */
    g = (struct matrices64){
        .m = 1, .n = 2, .k = 1, .a = &zero, .b = b0, .d = d0, .alpha = 1
    };
    ck_assert_int_eq(judge64_init(&j, &references[0], &g, &o, NULL), BITCUT_OK);
    ulp_histogram(bins, &j.comparison);
    ck_assert_uint_eq(bins[0], 1);
    ck_assert_uint_eq(bins[1], 1);
    judge_clear(&j);
}
END_TEST

/* What a judge says of its reference, when it cannot compute, and of no elements. */
START_TEST(judges)
{
    const double x[4] = { 1, 2, 3, 4 };
    struct matrices64 g = { .m = 2, .n = 2, .k = 2, .a = x, .b = x, .d = x, .alpha = 1 };
    volatile sig_atomic_t stop = 1;
    const struct progress progress = { .stop = &stop };
    struct gemm_options o = { .threads = 1 };
    struct judge j;
    struct fault f;
    double got[METRICS];
    const struct reference *fp32 = references;
    while (fp32->exact) fp32++;
    ck_assert_int_eq(judge64_init(&j, fp32, &g, &o, &f), BITCUT_UNSUPPORTED);
    ck_assert_int_eq(judge64_init(&j, &references[0], &g, &o, NULL), BITCUT_OK);
    ck_assert_uint_eq(j.counts.settled[EXACT_F64][LAYER_DOT2], 4);
    ck_assert(j.reference == &references[0] && j.seconds >= 0);
    o.progress = &progress;
    ck_assert_int_eq(judge64_grade(&j, &o, &f), BITCUT_UNSUPPORTED);
    ck_assert_ptr_null(j.comparison.limit);
    judge_clear(&j);
    ck_assert_int_eq(judge64_init(&j, &references[0], &g, &o, &f), BITCUT_UNSUPPORTED);
    ck_assert_int_eq(f.status, BITCUT_UNSUPPORTED);
    g.m = 0;
    o.progress = NULL;
    ck_assert_int_eq(judge64_init(&j, &references[0], &g, &o, NULL), BITCUT_OK);
    ck_assert_int_eq(judge64_grade(&j, &o, NULL), BITCUT_OK);
    metrics_run(got, &j.comparison);
    ck_assert(got[METRIC_RELRES] == 0 && got[METRIC_WRONG] == 0 &&
              got[METRIC_GRADE] == 3);
    judge_clear(&j);
}
END_TEST

TEST_MAIN("metric64", formulas_agree, known_metrics, known_grades, distances, judges)
