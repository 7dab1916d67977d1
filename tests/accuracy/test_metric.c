/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics compared with values computed by hand, including all that are not finite; ulp
   distances and histograms. */
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/accuracy/sample_comparison.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define F32 (&formats[FORMAT_F32])
#define F64 (&formats[FORMAT_F64])
#define RN  (&roundings[ROUND_RN])
#define INF ((double)INFINITY)

/* --- answers by hand --------------------------------------------------------------- */

/* The result d of a[0] b[0] + a[1] b[1]; a metric that is not listed is 0. */
static const struct {
    double a[2], b[2], d;
    double want[METRICS];
} known[] = {
    /* clang-format off */
    /* exact: -7 */
    { { 1, 2 }, { 5, -6 }, -7,
      { [METRIC_EFFECTIVE_BITS] = 53,
        [METRIC_CONDITION_MAX] = 17. / 7 } },
    /* one ulp above 1 */
    { { 1, 0 }, { 1, 0 }, 1 + 0x1p-23,
      { [METRIC_RELRES] = 0x1p-23, [METRIC_MAX_ERROR] = 0x1p-23 / (2 + 0x1p-23),
        [METRIC_MRED] = 0x1p-23, [METRIC_ULP_MAX] = 1, [METRIC_ULP_MEAN] = 1,
        [METRIC_ULP_BIAS] = 1, [METRIC_BACKWARD_MAX] = 2, [METRIC_MIXED_MAX] = 2,
        [METRIC_NORMWISE] = 2, [METRIC_EFFECTIVE_BITS] = 23,
        [METRIC_CONDITION_MAX] = 1 } },
    /* the value below -1, in magnitude: half an ulp of -1 */
    { { 1, 0 }, { -1, 0 }, -1 + 0x1p-24,
      { [METRIC_RELRES] = 0x1p-24, [METRIC_MAX_ERROR] = 0x1p-24 / (2 - 0x1p-24),
        [METRIC_MRED] = 0x1p-24, [METRIC_ULP_MAX] = 0.5, [METRIC_ULP_MEAN] = 0.5,
        [METRIC_ULP_BIAS] = 0.5, [METRIC_BACKWARD_MAX] = 1, [METRIC_MIXED_MAX] = 1,
        [METRIC_NORMWISE] = 1, [METRIC_EFFECTIVE_BITS] = 24,
        [METRIC_CONDITION_MAX] = 1 } },
    /* |a||b| = 8, the norms of a and b 1 and 17: grade B */
    { { 1, 0 }, { 8, 15 }, 8 - 0x1p-19,
      { [METRIC_RELRES] = 0x1p-22, [METRIC_MAX_ERROR] = 0x1p-19 / (16 - 0x1p-19),
        [METRIC_MRED] = 0x1p-22, [METRIC_ULP_MAX] = 2, [METRIC_ULP_MEAN] = 2,
        [METRIC_ULP_BIAS] = -2, [METRIC_BACKWARD_MAX] = 4, [METRIC_MIXED_MAX] = 32. / 17,
        [METRIC_NORMWISE] = 32. / 17, [METRIC_EFFECTIVE_BITS] = 22,
        [METRIC_CONDITION_MAX] = 1 } },
    /* the exact value is not an FP32 one, the result its nearest: no ulps */
    { { 1, 0x1p-30 }, { 1, 1 }, 1,
      { [METRIC_RELRES] = 0x1p-30 / (1 + 0x1p-30),
        [METRIC_MAX_ERROR] = 0x1p-30 / (2 + 0x1p-30),
        [METRIC_MRED] = 0x1p-30 / (1 + 0x1p-30),
        [METRIC_BACKWARD_MAX] = 0x1p-6 / (1 + 0x1p-30),
        [METRIC_MIXED_MAX] = 0x1.6a09e667f3bcdp-7,
        [METRIC_NORMWISE] = 0x1.6a09e667f3bcdp-7, /* 2^-6 / sqrt(2) */
        [METRIC_EFFECTIVE_BITS] = 30 + 0x1.7154p-30,
        [METRIC_CONDITION_MAX] = 1 } },
    /* the other sign */
    { { 1, 0 }, { 1, 0 }, -1,
      { [METRIC_RELRES] = 2, [METRIC_MAX_ERROR] = 1, [METRIC_MRED] = 2,
        [METRIC_ULP_MAX] = 0x1p24, [METRIC_ULP_MEAN] = 0x1p24,
        [METRIC_ULP_BIAS] = -0x1p24, [METRIC_BACKWARD_MAX] = 0x1p25,
        [METRIC_MIXED_MAX] = 0x1p25, [METRIC_NORMWISE] = 0x1p25,
        [METRIC_EFFECTIVE_BITS] = -1, [METRIC_CONDITION_MAX] = 1 } },
    /* subnormal: 2^-140, ulps of 2^-149 */
    { { 0x1p-70, 0 }, { 0x1p-70, 0 }, 0x1p-140 + 0x3p-149,
      { [METRIC_RELRES] = 0x3p-9, [METRIC_MAX_ERROR] = 3. / 1027, [METRIC_MRED] = 0x3p-9,
        [METRIC_ULP_MAX] = 3, [METRIC_ULP_MEAN] = 3, [METRIC_ULP_BIAS] = 3,
        [METRIC_BACKWARD_MAX] = 0x3p15, [METRIC_MIXED_MAX] = 0x3p15,
        [METRIC_NORMWISE] = 0x3p15, [METRIC_EFFECTIVE_BITS] = 7.4150374992788438,
        [METRIC_CONDITION_MAX] = 1 } },
    /* 0 by cancellation; the result is not */
    { { 1, 1 }, { 1, -1 }, 0x1p-149,
      { [METRIC_RELRES] = INF, [METRIC_MAX_ERROR] = 1, [METRIC_MRED] = INF,
        [METRIC_ULP_MAX] = 1, [METRIC_ULP_MEAN] = 1, [METRIC_ULP_BIAS] = 1,
        [METRIC_BACKWARD_MAX] = 0x1p-126, [METRIC_MIXED_MAX] = 0x1p-126,
        [METRIC_NORMWISE] = 0x1p-126,
        [METRIC_CONDITION_MAX] = INF } },
    /* as large an error as grade B allows: |a||b| = 24, the norms 5 and 5 */
    { { 3, 4 }, { -4, 3 }, 0x19p-23,
      { [METRIC_RELRES] = INF, [METRIC_MAX_ERROR] = 1, [METRIC_MRED] = INF,
        [METRIC_ULP_MAX] = 0x19p126, [METRIC_ULP_MEAN] = 0x19p126,
        [METRIC_ULP_BIAS] = 0x19p126, [METRIC_BACKWARD_MAX] = 25. / 12,
        [METRIC_MIXED_MAX] = 2, [METRIC_NORMWISE] = 2,
        [METRIC_CONDITION_MAX] = INF } },
    /* beyond FP32: infinite is right, the largest value is wrong */
    { { 0x1p127, 0 }, { 4, 0 }, INF,
      { [METRIC_EFFECTIVE_BITS] = 53 } },
    { { 0x1p127, 0 }, { -4, 0 }, -0x1.fffffep127,
      { [METRIC_RELRES] = INF, [METRIC_MAX_ERROR] = INF, [METRIC_MRED] = INF,
        [METRIC_ULP_MAX] = INF, [METRIC_ULP_MEAN] = INF, [METRIC_ULP_BIAS] = INF,
        [METRIC_BACKWARD_MAX] = INF, [METRIC_MIXED_MAX] = INF,
        [METRIC_NORMWISE] = INF, [METRIC_WRONG] = 1 } },
    /* zeros of both signs are equal */
    { { 0, 1 }, { 1, 0 }, -0., { [METRIC_EFFECTIVE_BITS] = 53 } },
    /* clang-format on */
};

START_TEST(known_answers)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct sample s;
        for (int k = 0; k < 2; k++) {
            s.a[k] = bits_of_float((float)known[i].a[k]);
            s.b[k] = bits_of_float((float)known[i].b[k]);
        }
        sample_make(&s, 1, 1, 2);
        s.x.limit = NULL;
        s.d[0] = bits_of_float((float)known[i].d);
        sample_check(&s, known[i].want);
    }
}
END_TEST

/* Results of (1 1) times columns of +-1, with u = 2^-24.  The first column is (1 -1)^T,
   with the partial sums 1 and 0: its limit is 4 u.  The others are (1 1)^T, with 1 and 2:
   4 sqrt(5) u.  Products of norms are 2, so the mixed limit is 2 u for one column and
   4.47 u for more.  The first result errs by `error` u, the others are exact. */
static const struct {
    size_t columns;
    double error, parts;
    int grade;
} grades[] = {
    { 1, 0, 0, 3 },        { 1, 4, 0, 3 },   { 1, 5, 0, 0 },   { 2, 8, 0, 2 },
    { 2, 8, 32, 2 },       { 2, 9.5, 0, 1 }, /* in norm against sqrt(16 + 80) = 9.8 */
    { 2, 10, 0, 0 },       { 4, 12, 0, 1 },  /* against sqrt(16 + 3 80) = 16 */
    { 4, 16, 0, 1 },       { 4, 17, 0, 0 },  { 4, 0, 32, 3 },  { 4, 0, 33, 0 },
    { 4, 0, INFINITY, 0 }, { 4, 0, NAN, 0 }, { 4, NAN, 0, 0 }, { 4, INFINITY, 0, 0 },
};

START_TEST(known_grades)
{
    for (size_t i = 0; i < sizeof grades / sizeof grades[0]; i++) {
        const size_t n = grades[i].columns;
        struct sample s;
        double got[METRICS];
        s.a[0] = s.a[1] = F32_ONE;
        for (size_t j = 0; j < n; j++) s.b[j] = s.b[n + j] = F32_ONE;
        s.b[n] = 0xbf800000;
        sample_make(&s, 1, n, 2);
        s.d[0] = bits_of_float((float)ldexp(grades[i].error, -24));
        s.x.parts = grades[i].parts;
        metrics_run(got, &s.x);
        ck_assert_msg(got[METRIC_GRADE] == grades[i].grade, "row %zu: %g", i,
                      got[METRIC_GRADE]);
        if (isfinite(grades[i].error))
            ck_assert(is_close(got[METRIC_GRADE_WORST], grades[i].error / 4, 4));
        else ck_assert(got[METRIC_GRADE_WORST] == INF);
    }
}
END_TEST

/* Nothing is added: there is no error that could be right. */
START_TEST(zero_has_no_limit)
{
    struct sample s = { .a = { 0, 0 }, .b = { F32_ONE, F32_ONE } };
    double got[METRICS];
    sample_make(&s, 1, 1, 2);
    metrics_run(got, &s.x);
    ck_assert(got[METRIC_GRADE] == 3 && got[METRIC_GRADE_WORST] == 0);
    s.d[0] = 1;
    metrics_run(got, &s.x);
    ck_assert(got[METRIC_GRADE] == 0 && got[METRIC_GRADE_WORST] == INF);
}
END_TEST

/* Some of the metrics alone, by two threads: the same bits, and NaN for all others. */
START_TEST(some_metrics)
{
    struct sample s;
    double all[METRICS], some[METRICS];
    uint64_t rng = test_seed();
    for (int round = 0; round < 100; round++) {
        const unsigned wanted = (unsigned)test_bits(&rng);
        sample_draw(&s, &rng, round, 1);
        sample_perturb(&s, &rng);
        metrics_run(all, &s.x);
        metrics_find(some, &s.x, wanted, 1 + round % 2);
        for (int i = 0; i < METRICS; i++)
            ck_assert_msg(wanted >> i & 1 ? !memcmp(&some[i], &all[i], sizeof some[i])
                                          : isnan(some[i]),
                          "round %d: %s is %g, not %g", round, metrics[i].name, some[i],
                          all[i]);
    }
}
END_TEST

/* More elements than a thread takes at a time: sums by a plain loop, in order, and the
   same bits by any number of threads. */
START_TEST(many_elements)
{
    enum { ROWS = 401, COLUMNS = 1031, COUNT = ROWS * COLUMNS };
    static uint32_t d[COUNT], want32[COUNT];
    static uint64_t want64[COUNT];
    static double size[COUNT], limit[COUNT], row[ROWS], col[COLUMNS];
    uint64_t rng = test_seed();
    for (int i = 0; i < COUNT; i++) {
        const double x = ldexp(1 + (double)(test_bits(&rng) >> 40) * 0x1p-24,
                               (int)(test_bits(&rng) % 9));
        d[i] = bits_of_float((float)(x + ldexp((double)(test_bits(&rng) % 64), -20)));
        want32[i] = bits_of_float((float)x);
        want64[i] = bits_of_double(x);
        size[i] = 2 * x;
        limit[i] = x * 0x1p-22;
    }
    for (int i = 0; i < ROWS; i++) row[i] = 1 + i;
    for (int j = 0; j < COLUMNS; j++) col[j] = 2 + j;
    const struct comparison x = { .m = ROWS, .n = COLUMNS, .d = d, .reference32 = want32,
                                  .reference64 = want64, .magnitude = size,
                                  .row_norm = row, .col_norm = col, .alpha = F32_ONE,
                                  .limit = limit };
    double all[METRICS], sum = 0, most = 0;
    for (int i = 0; i < COUNT; i++) {
        const double error = value_of_float(d[i]) - double_of_bits(want64[i]);
        sum += fabs(error) / double_of_bits(want64[i]);
        most = fmax(most, fabs(error) / size[i] * 0x1p24);
    }
    metrics_run(all, &x);
    ck_assert_double_eq(all[METRIC_MRED], sum / COUNT);
    ck_assert_double_eq(all[METRIC_BACKWARD_MAX], most);
    for (int threads = 2; threads < 6; threads++) {
        double got[METRICS];
        metrics_find(got, &x, ~0u, threads);
        ck_assert_msg(!memcmp(got, all, sizeof got), "%d threads", threads);
    }
}
END_TEST

START_TEST(empty_matrices)
{
    static const struct {
        size_t m, n, k;
    } shapes[] = { { 0, 3, 2 }, { 3, 0, 2 }, { 0, 0, 0 }, { 2, 3, 0 } };
    const double want[METRICS] = { [METRIC_EFFECTIVE_BITS] = 53, [METRIC_GRADE] = 3 };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct sample s = { .a = { 0 } };
        sample_make(&s, shapes[i].m, shapes[i].n, shapes[i].k);
        sample_check(&s, want);
    }
}
END_TEST

/* --- NaN and infinity -------------------------------------------------------------- */

enum {
    INFINITE = 0x7f800000,
    A_NAN = 0x7fc00000,
    ONE = 0x3f800000,
    SIGN = (int)0x80000000
};

/* Results and references, at least one of them not finite: are they wrong? */
static const struct {
    uint32_t d, reference;
    bool wrong;
} specials[] = {
    { A_NAN, ONE, true },
    { ONE, A_NAN, true },
    { 0xffc00001, 0, true },
    { INFINITE, ONE, true },
    { INFINITE, 0x7f7fffff, true },
    { INFINITE | (uint32_t)SIGN, 0, true },
    { 0x7f7fffff, INFINITE, true },
    { 0, INFINITE | (uint32_t)SIGN, true },
    { INFINITE, INFINITE | (uint32_t)SIGN, true },
    { A_NAN, INFINITE, true },
    { INFINITE, A_NAN, true },
    { A_NAN, A_NAN, false },
    { 0xff800001, A_NAN, false },
    { 0x7fffffff, 0xffc00000, false },
    { INFINITE, INFINITE, false },
    { INFINITE | (uint32_t)SIGN, INFINITE | (uint32_t)SIGN, false },
};

enum { SPECIALS = sizeof specials / sizeof specials[0] };

/* Six exact results, of which element `at` is replaced. */
static void special_make(struct sample *s, size_t at, uint32_t d, uint32_t reference)
{
    for (int i = 0; i < 6; i++) s->b[i] = bits_of_float((float)(i < 3 ? i + 1 : 0));
    s->a[0] = ONE, s->a[1] = 0;
    s->a[2] = 0x40000000, s->a[3] = ONE;
    sample_make(s, 2, 3, 2);
    s->d[at] = d;
    s->exact32[at] = reference;
    s->exact64[at] = bitcut_format_convert(F64, RN, F32, reference);
}

static bool grows_with_error(int metric)
{
    return metric < METRIC_EFFECTIVE_BITS || metric == METRIC_GRADE_WORST;
}

START_TEST(wrong_elements_make_metrics_infinite)
{
    for (int i = 0; i < SPECIALS; i++)
        for (size_t at = 0; at < 6; at += 5) {
            struct sample s;
            double got[METRICS];
            special_make(&s, at, specials[i].d, specials[i].reference);
            metrics_run(got, &s.x);
            for (int metric = 0; metric < METRICS; metric++)
                if (grows_with_error(metric))
                    ck_assert_msg(got[metric] == (specials[i].wrong ? INF : 0),
                                  "D %08" PRIx32 ", C %08" PRIx32 ": %s is %g",
                                  specials[i].d, specials[i].reference,
                                  metrics[metric].name, got[metric]);
            ck_assert(got[METRIC_WRONG] == specials[i].wrong);
            ck_assert(got[METRIC_EFFECTIVE_BITS] == (specials[i].wrong ? 0 : 53));
            ck_assert(got[METRIC_GRADE] == (specials[i].wrong ? 0 : 3));
            ck_assert(got[METRIC_CONDITION_MAX] >= 0);
        }
}
END_TEST

START_TEST(wrong_elements_are_counted)
{
    struct sample s;
    double got[METRICS];
    special_make(&s, 0, A_NAN, A_NAN);
    s.d[1] = INFINITE;
    s.d[2] = A_NAN;
    s.d[4] = INFINITE | (uint32_t)SIGN;
    metrics_run(got, &s.x);
    ck_assert(got[METRIC_WRONG] == 3);
}
END_TEST

/* An operand in the first row of A is not finite, and that row's results are right; the
   error of another row must still show, in every metric. */
START_TEST(special_operands_hide_no_error)
{
    static const uint32_t operands[] = { A_NAN, INFINITE, INFINITE | (uint32_t)SIGN };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            struct sample s;
            double got[METRICS];
            for (int k = 0; k < 6; k++) s.a[k] = s.b[k] = k == 4 ? 0 : ONE;
            s.a[j] = operands[i];
            sample_make(&s, 2, 2, 3);
            s.d[3] += 1000;
            metrics_run(got, &s.x);
            for (int metric = 0; metric < METRICS; metric++)
                if (grows_with_error(metric))
                    ck_assert_msg(got[metric] > 0 && isfinite(got[metric]),
                                  "A has %08" PRIx32 ": %s is %g", operands[i],
                                  metrics[metric].name, got[metric]);
            ck_assert(got[METRIC_WRONG] == 0 && got[METRIC_GRADE] == 0);
        }
}
END_TEST

/* --- the host's modes -------------------------------------------------------------- */

START_TEST(host_modes)
{
    static struct sample s;
    uint64_t rng = test_seed() + 1;
    fenv_t host;
    fegetenv(&host);
    for (int round = 0; round < 40; round++) {
        double got[METRICS], want[METRICS], row[SIDE], col[SIDE];
        for (int i = 0; i < 35; i++) s.a[i] = s.b[i] = sample_fills[round % 3](&rng);
        sample_make(&s, 5, 5, 7);
        sample_perturb(&s, &rng);
        metrics_run(want, &s.x);
        for (int mode = 0; mode < 8; mode++) {
            test_host_mode(mode);
            metrics_run(got, &s.x);
            line_norms(row, col, &s.x, 1 + mode % 2);
            fesetenv(&host);
            ck_assert_msg(!memcmp(got, want, sizeof got), "mode %d", mode);
            ck_assert_msg(!memcmp(row, s.row_norm, 5 * sizeof *row) &&
                              !memcmp(col, s.col_norm, 5 * sizeof *col),
                          "norms, mode %d", mode);
        }
    }
}
END_TEST

/* --- ulp distances ----------------------------------------------------------------- */

static const struct {
    uint32_t a, b;
    uint64_t distance;
    int bin;
} distances[] = {
    { 0, 0, 0, 0 },
    { 0, 0x80000000, 0, 0 },
    { 1, 0, 1, 1 },
    { 1, 0x80000000, 1, 1 },
    { 1, 0x80000001, 2, 2 },
    { 2, 0x80000001, 3, 2 },
    { 0x00800000, 0x007fffff, 1, 1 },
    { 0x3f800000, 0x3f7fffff, 1, 1 },
    { 0x3f800000, 0x3f7ffffc, 4, 3 },
    { 0xbf800003, 0xbf7ffffc, 7, 3 },
    { 0x3f800008, 0x3f800000, 8, 4 },
    { 0x3f800000, 0x40000000, 0x00800000, 24 },
    { 0x00000000, 0x03ffffff, 0x03ffffff, 26 },
    { 0x00000000, 0x04000000, 0x04000000, 27 },
    { 0x3f800000, 0xbf800000, 0x7f000000, 27 },
    { 0x7f7fffff, 0xff7fffff, 0xfefffffe, 27 },
    { 0x7f800000, 0x7f800000, 0, 0 },
    { 0xff800000, 0xff800000, 0, 0 },
    { 0x7fc00000, 0xff812345, 0, 0 },
    { 0x7f800000, 0x7f7fffff, UINT64_MAX, 27 },
    { 0x7f800000, 0xff800000, UINT64_MAX, 27 },
    { 0x7fc00000, 0x7f800000, UINT64_MAX, 27 },
    { 0x7fc00000, 0x00000000, UINT64_MAX, 27 },
};

enum { DISTANCES = sizeof distances / sizeof distances[0] };

START_TEST(known_distances)
{
    for (int i = 0; i < DISTANCES; i++) {
        const uint32_t a = distances[i].a, b = distances[i].b;
        ck_assert_msg(ulp_distance(a, b) == distances[i].distance &&
                          ulp_distance(b, a) == distances[i].distance,
                      "%08" PRIx32 ", %08" PRIx32 ": %" PRIu64, a, b, ulp_distance(a, b));
    }
}
END_TEST

/* As many steps of nextafterf() as asked for, across binades and zero. */
START_TEST(distances_are_steps)
{
    uint64_t rng = test_seed() + 2;
    for (int round = 0; round < 20000; round++) {
        const int binade = test_between(&rng, 0, 2) ? test_between(&rng, -126, 126) : 0;
        uint32_t from =
            (uint32_t)(binade + 127) << 23 | (uint32_t)test_between(&rng, 0, 1) << 31;
        if (round % 3 == 0) from = (uint32_t)test_between(&rng, 0, 40);
        const int steps = test_between(&rng, 0, 60);
        float x = nextafterf(float_of_bits(from), INFINITY);
        for (int i = 0; i < steps; i++) x = nextafterf(x, -INFINITY);
        const uint64_t want = (uint64_t)(steps > 0 ? steps - 1 : 1);
        ck_assert_msg(ulp_distance(from, bits_of_float(x)) == want,
                      "%08" PRIx32 ", %d steps: %" PRIu64, from, steps,
                      ulp_distance(from, bits_of_float(x)));
    }
}
END_TEST

START_TEST(histogram)
{
    static struct sample s;
    size_t bins[HISTOGRAM_BINS], want[HISTOGRAM_BINS] = { 0 }, total = 0;
    s.x =
        (struct comparison){ .m = 2, .n = DISTANCES, .d = s.d, .reference32 = s.exact32 };
    for (size_t i = 0; i < (size_t)2 * DISTANCES; i++) {
        s.d[i] = distances[i % DISTANCES].a;
        s.exact32[i] = distances[i % DISTANCES].b;
        want[distances[i % DISTANCES].bin]++;
    }
    ulp_histogram(bins, &s.x);
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        ck_assert_msg(bins[i] == want[i], "bin %d: got %zu, want %zu", i, bins[i],
                      want[i]);
        total += bins[i];
    }
    ck_assert_uint_eq(total, (size_t)2 * DISTANCES);
}
END_TEST

/* --- the table --------------------------------------------------------------------- */

START_TEST(rows)
{
    static const char *const names[METRICS] = {
        [METRIC_RELRES] = "relres",
        [METRIC_MAX_ERROR] = "max_error",
        [METRIC_MRED] = "mred",
        [METRIC_ULP_MAX] = "ulp_max",
        [METRIC_ULP_MEAN] = "ulp_mean",
        [METRIC_ULP_BIAS] = "ulp_bias",
        [METRIC_BACKWARD_MAX] = "backward_max",
        [METRIC_MIXED_MAX] = "mixed_max",
        [METRIC_NORMWISE] = "normwise",
        [METRIC_EFFECTIVE_BITS] = "effective_bits",
        [METRIC_GRADE] = "grade",
        [METRIC_GRADE_WORST] = "grade_worst",
        [METRIC_BACKWARD_LIMIT] = "backward_limit",
        [METRIC_MIXED_LIMIT] = "mixed_limit",
        [METRIC_NORMWISE_LIMIT] = "normwise_limit",
        [METRIC_CONDITION_MAX] = "condition_max",
        [METRIC_WRONG] = "wrong",
    };
    for (int i = 0; i < METRICS; i++) ck_assert_str_eq(metrics[i].name, names[i]);
    ck_assert_ptr_null(metrics[METRICS].name);
}
END_TEST

TEST_MAIN("metric", known_answers, known_grades, zero_has_no_limit, some_metrics, many_elements,
          empty_matrices, wrong_elements_make_metrics_infinite,
          wrong_elements_are_counted, special_operands_hide_no_error, host_modes,
          known_distances, distances_are_steps, histogram, rows)
