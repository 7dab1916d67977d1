/* SPDX-License-Identifier: BSD-3-Clause */
/* Tolerances for any order of k, and for results that are rounded to a short format. */
#include "analysis/sampling/checked_result.h"
#include "analysis/sampling/power.h"
#include "lib/number/bits.h"
#include "tests/sampling/drawn_problem.h"

#include <math.h>
#include <string.h>

/* More kernels are correct if k may be in any order, so no limit is smaller: at any seed,
   for families and for given matrices. */
START_TEST(any_order_is_wider)
{
    static const char *const recipes_of[][2] = { { "ootomo", "h100" },
                                                 { "plain", "a100" },
                                                 { "legemm", "mi210" },
                                                 { "fp32", "h100" } };
    for (int i = 0; i < test_cases(8, 64); i++) {
        const char *const *const name = recipes_of[i / 2 % 4];
        const struct bitcut_gemm g = gemm_named(name[0], name[1]);
        const struct family x = { i % 3 ? "urand(-1,1)" : "exp_rand(-15,0)", 96,
                                  test_seed() + (uint64_t)i };
        struct tolerance_problem q = question_of(&g, &x, 12);
        struct gemm_data from;
        family_make(&from, &x, 12, 12, 0, NULL);
        const struct shuffled_source source = { .data = &from, .seed = test_seed() };
        if (i % 2) q.source = shuffled_runs(&source);
        const struct bitcut_tolerances own = found(&q, 0).limits;
        q.any_order = true;
        const struct bitcut_tolerances any = found(&q, 0).limits;
        ck_assert(any.outputs == own.outputs && any.runs == own.runs);
        const struct {
            const char *name;
            double own, any;
        } limits[] = { { "limit", own.limit, any.limit },
                       { "known", any.known, own.known },
                       { "normwise limit", own.norm_limit, any.norm_limit },
                       { "normwise known", any.norm_known, own.norm_known },
                       { "with underflow", own.with_underflow, any.with_underflow },
                       { "norm with underflow", own.norm_with_underflow,
                         any.norm_with_underflow },
                       { "bound", own.bound, any.bound },
                       { "max", own.max, any.max },
                       { "rtol", own.rtol, any.rtol },
                       { "atol", own.atol, any.atol } };
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            ck_assert_msg(limits[l].any >= limits[l].own,
                          "%s, case %d: %s %g in any order, %g in its own", name[0], i,
                          limits[l].name, limits[l].any, limits[l].own);
        gemm_data_clear(&from);
    }
}
END_TEST

/* --- short results ---------------------------------------------------------------- */

static const int shorter[] = { FORMAT_F16, FORMAT_BF16, FORMAT_E4M3 };

enum { SHORTER = sizeof shorter / sizeof *shorter };

/* Judge D of the problem, in the format of g, as a library call does. */
static struct bitcut_tolerance_verdict verdict_of(const struct bitcut_gemm *g,
                                                  const struct bitcut_tolerances *t,
                                                  const struct gemm_data *from,
                                                  const uint32_t *d)
{
    const struct tolerance_problem q = {
        .gemm = g, .m = from->a.rows, .n = from->b.cols, .k = from->a.cols
    };
    struct tolerance_given given;
    ck_assert_int_eq(tolerance_judge(&given, t, &q, from, d, 1, NULL, NULL), BITCUT_OK);
    return given.verdict;
}

/* Limits are those of the sum before the rounding, whatever the format; allclose() has
   the rounding as well.  What the emulator gives is accepted, and it is as in FP32 that a
   wrong output is not, where it is beyond the rounding. */
START_TEST(limits_before_the_rounding)
{
    enum { M = 16, DEPTH = 128 };
    struct bitcut_gemm g = gemm_named("plain", "h100");
    const struct family x = { "urand(-1,1)", DEPTH, test_seed() };
    struct gemm_data from;
    uint32_t d[M * M];
    family_make(&from, &x, M, M, 0, NULL);
    const struct shuffled_source source = { .data = &from, .seed = 5 };
    struct tolerance_problem q = question_of(&g, &x, M);
    q.source = shuffled_runs(&source);
    const struct bitcut_tolerances wide = found(&q, 0).limits;
    for (int i = 0; i < SHORTER; i++) {
        const struct bitcut_format *const f = &formats[shorter[i]];
        const double u = ldexp(1, -1 - f->fraction_bits);
        g.d.format = f;
        const struct bitcut_tolerances t = found(&q, 0).limits;
        ck_assert(t.limit == wide.limit && t.bound == wide.bound &&
                  t.norm_limit == wide.norm_limit && t.max == wide.max);
        ck_assert(t.rtol >= wide.rtol + u && t.rtol < (wide.rtol + u) * (1 + 3 * u) &&
                  t.atol > wide.atol && t.bound_rtol >= wide.bound_rtol + u);
        ck_assert_int_eq(gemm_data_run(d, &from, &g, NULL), BITCUT_OK);
        for (size_t at = 0; at < M * M; at++)
            ck_assert(f32_through(f, &roundings[ROUND_RN], d[at]) == d[at]);
        const struct bitcut_tolerance_verdict good = verdict_of(&g, &t, &from, d);
        ck_assert_msg(good.accepted && !good.above && !good.beyond &&
                          good.component <= t.max && good.norm <= t.norm_max,
                      "%s: %g u", f->name, good.component);
        /* the largest output, two steps further, since one may be the rounding of a value
           at a tie */
        size_t most = 0;
        for (size_t at = 0; at < M * M; at++)
            if (fabs(value_of_float(d[at])) > fabs(value_of_float(d[most]))) most = at;
        d[most] = bits_of_float((float)(value_of_float(d[most]) * (1 + 4 * u)));
        d[most] = f32_through(f, &roundings[ROUND_RN], d[most]);
        const struct bitcut_tolerance_verdict bad = verdict_of(&g, &t, &from, d);
        ck_assert_msg(!bad.accepted && bad.worst == most, "%s: %g u", f->name,
                      bad.component);
    }
    gemm_data_clear(&from);
}
END_TEST

/* No correct result is rejected, nor, with two results, one of two; coarse faults are.
   The rounding to e4m3 hides one wrong element of A in about one run of seven (171 of 200
   are rejected). */
START_TEST(power_of_rounded_results)
{
    static const struct {
        const char *name;
        double least; /* share of the runs that are rejected */
    } coarse[] = { { "k step lost", 0.9 },
                   { "one element wrong", 0.5 },
                   { "one output zero", 0.9 },
                   { "result negated", 0.9 } };
    const size_t runs = (size_t)test_cases(10, 200);
    for (int i = 0; i < 2 * SHORTER; i++) {
        struct bitcut_gemm g = gemm_named("plain", "h100");
        const struct family x = { "urand(-1,1)", 256, test_seed() };
        struct tolerance_problem q = question_of(&g, &x, 16);
        struct power p;
        g.d.format = &formats[shorter[i / 2]];
        q.two = i % 2;
        const struct tolerance t = found(&q, 0);
        ck_assert_int_eq(power_measure(&p, &q, &t, runs, 1, 0, NULL, NULL), BITCUT_OK);
        for (size_t r = 0; r < p.rows && p.row[r].correct; r++)
            ck_assert_msg(!p.row[r].rejected[CRITERION_BOTH] &&
                              !p.row[r].rejected[CRITERION_ALLCLOSE] &&
                              !p.row[r].rejected[CRITERION_BOUND],
                          "%s in %s: %zu of %zu", p.row[r].name, g.d.format->name,
                          p.row[r].rejected[CRITERION_BOTH], p.row[r].runs);
        for (size_t r = 0; r < p.rows; r++)
            for (size_t n = 0; n < sizeof coarse / sizeof *coarse; n++)
                if (!strcmp(p.row[r].name, coarse[n].name))
                    ck_assert_msg((double)p.row[r].rejected[CRITERION_BOTH] >=
                                      coarse[n].least * (double)p.row[r].runs,
                                  "%s in %s: %zu of %zu", coarse[n].name,
                                  g.d.format->name, p.row[r].rejected[CRITERION_BOTH],
                                  p.row[r].runs);
        power_clear(&p);
    }
}
END_TEST

TEST_MAIN("short tolerance", any_order_is_wider, limits_before_the_rounding,
          power_of_rounded_results)
