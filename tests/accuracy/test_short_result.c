/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of short formats: what a rounded result tells of the value before, metrics in
   the units of the format, the budget, and bounds against exact fractions. */
#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/metric.h"
#include "analysis/accuracy/short_result.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A GEMM of a recipe on an H100. */
static struct bitcut_gemm gemm_named(const char *recipe)
{
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find(recipe), NULL);
    g.unit =
        bitcut_unit_find("h100", &formats[g.recipe->split ? FORMAT_F32 : FORMAT_F16]);
    ck_assert_ptr_nonnull(g.unit);
    return g;
}

static const int shorter[] = { FORMAT_F16,  FORMAT_BF16,     FORMAT_TF32,    FORMAT_E5M2,
                               FORMAT_E4M3, FORMAT_E5M2FNUZ, FORMAT_E4M3FNUZ };

enum { SHORTER = sizeof shorter / sizeof *shorter };

/* --- one result ------------------------------------------------------------------- */

START_TEST(roundings_of_formats)
{
    static const struct {
        int format, exponent;
        double overflow, least; /* half of the smallest subnormal number */
    } want[] = { { FORMAT_F16, -11, 65520, 0x1p-25 },
                 { FORMAT_BF16, -8, 0x1.ffp127, 0x1p-134 },
                 { FORMAT_E4M3, -4, 464, 0x1p-10 },
                 { FORMAT_E5M2, -3, 61440, 0x1p-17 } };
    ck_assert(!result_is_short(NULL) && !result_is_short(&formats[FORMAT_F32]) &&
              !result_is_short(&formats[FORMAT_F64]));
    ck_assert(result_unit(NULL) == 0x1p-24);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct bitcut_format *const f = &formats[want[i].format];
        ck_assert(result_is_short(f) && result_unit_exponent(f) == want[i].exponent);
        ck_assert_double_eq(format_overflow(f), want[i].overflow);
        ck_assert_double_eq(format_rounding_error(f, 0), want[i].least);
        ck_assert_double_eq(format_rounding_error(f, ldexp(1, format_emin(f)) / 2),
                            want[i].least);
        ck_assert_double_eq(format_rounding_error(f, 1), result_unit(f));
        ck_assert_double_eq(format_rounding_error(f, 0.99), result_unit(f) / 2);
        ck_assert(isinf(format_rounding_error(f, want[i].overflow)));
    }
}
END_TEST

static uint32_t rounded(const struct bitcut_format *f, double x)
{
    const struct bitcut_rounding *const rn = &roundings[ROUND_RN];
    return (uint32_t)bitcut_format_convert(
        &formats[FORMAT_F32], rn, f,
        bitcut_format_convert(f, rn, &formats[FORMAT_F64], bits_of_double(x)));
}

static bool same(uint32_t a, uint32_t b)
{
    return a == b || a << 1 == 0 ? b << 1 == a << 1 : f32_is_nan(a) && f32_is_nan(b);
}

/* A number around the range of a format. */
static double around(const struct bitcut_format *f, uint64_t *bits)
{
    const int exponent =
        test_between(bits, format_least_exponent(f) - 2, format_emax(f) + 1);
    const double x = ldexp(1 + (double)(test_bits(bits) >> 12) * 0x1p-52, exponent);
    return test_bits(bits) & 1 ? x : -x;
}

/* c to the nearest value that rounds to d: what rounds to d is not nearer, and that
   nearest value, moved a little further, does round to d. */
START_TEST(gaps)
{
    uint64_t bits = test_seed();
    const int count = test_cases(20000, 1000000);
    for (int i = 0; i < count; i++) {
        const struct bitcut_format *const f = &formats[shorter[i % SHORTER]];
        const double x = around(f, &bits),
                     c = i % 3 ? x * (1 + (double)test_between(&bits, -40, 40) * 0x1p-6)
                               : around(f, &bits);
        const uint32_t d = rounded(f, x);
        const double gap = result_gap(f, d, c);
        if (same(rounded(f, c), d))
            ck_assert_msg(gap == 0, "%s: %a to %a", f->name, x, c);
        if (f32_is_nan(d) && f->special != SPECIAL_IEEE && (x < 0) != (c < 0)) continue;
        ck_assert_msg(gap <= fabs(x - c), "%s: %a to %a: %a", f->name, x, c, gap);
        if (gap == 0 || fabs(c) > 0x1p20 * fabs(x)) continue;
        const double edge = c < x ? c + gap : c - gap,
                     inside = edge + (x - edge) * 0x1p-10;
        ck_assert_msg(same(rounded(f, inside), d), "%s: %a to %a: %a", f->name, x, c,
                      gap);
    }
}
END_TEST

/* Beyond the range: infinities, NaN, and the largest value. */
START_TEST(beyond_the_range)
{
    const struct bitcut_format *const f16 = &formats[FORMAT_F16],
                                      *const e4m3 = &formats[FORMAT_E4M3];
    const uint32_t inf = 0x7f800000, nan = F32_NAN;
    ck_assert(result_gap(f16, inf, 65519) == 1 && result_gap(f16, inf, 1e9) == 0);
    ck_assert(result_gap(f16, bits_of_float(65504), 1e9) == 0);
    ck_assert(isinf(result_gap(f16, bits_of_float(65472), INFINITY)));
    ck_assert(result_gap(f16, bits_of_float(65472), 1e9) == 1e9 - 65488);
    ck_assert(isinf(result_gap(f16, nan, 1)) && result_gap(f16, nan, NAN) == 0);
    ck_assert(isinf(result_gap(f16, inf, NAN)));
    ck_assert(result_gap(f16, inf | 1u << 31, 1) == 65521);
    ck_assert(result_gap(e4m3, nan, 1000) == 0 && result_gap(e4m3, nan, -460) == 4);
    ck_assert(result_gap(e4m3, bits_of_float(448), 1000) == 0 &&
              result_gap(e4m3, bits_of_float(-448), 1000) == 1432);
    ck_assert(result_gap(e4m3, bits_of_float(416), 450) == 18);
    ck_assert(result_gap_between(f16, bits_of_float(1), bits_of_float(1 + 0x1p-10)) == 0);
    ck_assert(result_gap_between(f16, bits_of_float(1), bits_of_float(1 + 0x1p-9)) ==
              0x1p-10);
}
END_TEST

/* --- metrics ---------------------------------------------------------------------- */

/* A 1 x 1 product a b and its D in a format. */
static double metric_of(int metric, const struct bitcut_format *format, double a,
                        double d)
{
    const uint32_t x[] = { bits_of_float((float)a) }, one[] = { F32_ONE },
                   got[] = { bits_of_float((float)d) };
    struct bitcut_gemm g;
    uint64_t encoding[1];
    double values[METRICS];
    bitcut_gemm_init(&g, sizeof g);
    *encoding =
        bitcut_format_convert(format, &roundings[ROUND_RN], &formats[FORMAT_F32], *got);
    uint8_t byte = (uint8_t)*encoding;
    uint16_t two = (uint16_t)*encoding;
    uint32_t four = (uint32_t)*encoding;
    g.m = g.n = g.k = 1;
    g.a.at = x;
    g.b.at = one;
    g.d.format = format;
    g.d.at = format_bytes(format) == 1   ? (void *)&byte
             : format_bytes(format) == 2 ? (void *)&two
                                         : (void *)&four;
    g.recipe = bitcut_recipe_find("fp32");
    g.unit = bitcut_unit_find("fma/f32", NULL);
    ck_assert_int_eq(bitcut_gemm_judge(values, METRICS, &g, 0, 1, NULL), BITCUT_OK);
    return values[metric];
}

START_TEST(known_metrics)
{
    const struct bitcut_format *const f16 = &formats[FORMAT_F16],
                                      *const bf16 = &formats[FORMAT_BF16],
                                      *const e4m3 = &formats[FORMAT_E4M3];
    /* 1 + 2^-12 as 1: 2^-12 / u = 1/2 of f16, 1/16 of bf16, in the best way */
    const double c = 1 + 0x1p-12;
    ck_assert_double_eq_tol(metric_of(METRIC_BACKWARD_MAX, f16, c, 1), 0.5, 1e-3);
    ck_assert_double_eq_tol(metric_of(METRIC_BACKWARD_MAX, bf16, c, 1), 0.0625, 1e-4);
    ck_assert(metric_of(METRIC_ULP_MAX, f16, c, 1) == 0);
    ck_assert(metric_of(METRIC_GRADE, f16, c, 1) == 3);
    /* two steps of f16 off, and no longer as an FP32 result would be */
    ck_assert(metric_of(METRIC_ULP_MAX, f16, c, 1 + 0x1p-9) == 2);
    ck_assert(metric_of(METRIC_GRADE, f16, c, 1 + 0x1p-9) < 3);
    ck_assert(metric_of(METRIC_ULP_MAX, &formats[FORMAT_F32], c, 1 + 0x1p-9) ==
              14.0 * 1024);
    /* subnormal numbers of f16 are 2^-24 apart */
    ck_assert(metric_of(METRIC_ULP_MAX, f16, 0x1p-23, 0x1p-22) == 2);
    /* e4m3 ends at 448 */
    ck_assert(metric_of(METRIC_WRONG, e4m3, 500, NAN) == 0);
    ck_assert(metric_of(METRIC_WRONG, e4m3, 500, 448) == 0);
    ck_assert(metric_of(METRIC_WRONG, e4m3, 500, -448) == 1);
    ck_assert(metric_of(METRIC_WRONG, e4m3, 500, 416) == 1);
    ck_assert(metric_of(METRIC_WRONG, e4m3, 460, NAN) == 1);
    ck_assert(metric_of(METRIC_WRONG, f16, 1e6, INFINITY) == 0);
    ck_assert(metric_of(METRIC_WRONG, f16, 60000, INFINITY) == 1);
}
END_TEST

/* --- the budget ------------------------------------------------------------------- */

/* The rounding to the format is in the epilogue, and the unit is that of the format. */
START_TEST(budget_of_rounding)
{
    const uint32_t a[] = { bits_of_float((float)(1 + 0x1p-12)) }, b[] = { F32_ONE };
    struct bitcut_gemm g = gemm_named("fp32");
    struct bitcut_part part[BUDGET_PARTS + 1];
    g.m = g.n = g.k = 1;
    g.count = 1;
    g.a.at = a;
    g.b.at = b;
    for (int i = 0; i < SHORTER; i++) {
        const struct bitcut_format *const f = &formats[shorter[i]];
        const double error = value_of_float(rounded(f, 1 + 0x1p-12)) - (1 + 0x1p-12),
                     u = result_unit(f) * (1 + 0x1p-12);
        g.d.format = f;
        ck_assert_int_eq(bitcut_budget(part, BUDGET_PARTS + 1, &g, 0, 1, NULL),
                         BITCUT_OK);
        ck_assert_double_eq(part[BUDGET_EPILOGUE].mean, error / u);
        ck_assert_double_eq(part[BUDGET_PARTS].mean, error / u);
        ck_assert_double_eq(part[BUDGET_ACCUMULATION].max, 0);
    }
}
END_TEST

/* --- bounds ----------------------------------------------------------------------- */

enum { SIDE = 16, K = 8, UNIT = 320 }; /* exact fractions are multiples of 2^-UNIT */

static void add_exact(mpz_t sum, mpz_t scratch, uint32_t a, uint32_t b)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const struct number x = format_decode(f32, a), y = format_decode(f32, b);
    if (!x.significand || !y.significand) return;
    mpz_set_ui(scratch, x.significand);
    mpz_mul_ui(scratch, scratch, y.significand);
    mpz_mul_2exp(scratch, scratch, (mp_bitcnt_t)(x.exponent + y.exponent - 46 + UNIT));
    if (x.negative != y.negative) mpz_sub(sum, sum, scratch);
    else mpz_add(sum, sum, scratch);
}

struct batch {
    uint32_t a[SIDE * K], b[K * SIDE];
    uint32_t d[SIDE * SIDE]; /* encodings of 1, 2 or 4 bytes */
    double limit[SIDE * SIDE];
    double nearest;                         /* the largest error / limit */
    size_t outputs, limited, rounded_below; /* rounded_below: D is subnormal */
};

static uint32_t encoding_of(const struct batch *x, const struct bitcut_format *f,
                            size_t i)
{
    switch (format_bytes(f)) {
    case 1: return ((const uint8_t *)x->d)[i];
    case 2: return ((const uint16_t *)(const void *)x->d)[i];
    default: return x->d[i];
    }
}

/* The error of an output, exact, is at most its limit. */
static void check_output(struct batch *x, const struct bitcut_format *f, size_t at,
                         mpz_t error, mpz_t scratch)
{
    const uint32_t d = encoding_of(x, f, at);
    const struct number n = format_decode(f, d);
    x->outputs++;
    if (isnan(x->limit[at])) return;
    ck_assert_msg(n.kind == NUMBER_ZERO || n.kind == NUMBER_FINITE,
                  "%s: output %zu with a limit overflows", f->name, at);
    mpz_set_ui(error, 0);
    for (size_t p = 0; p < K; p++)
        add_exact(error, scratch, x->a[at / SIDE * K + p], x->b[p * SIDE + at % SIDE]);
    mpz_set_ui(scratch, n.significand);
    if (n.significand)
        mpz_mul_2exp(scratch, scratch,
                     (mp_bitcnt_t)(n.exponent - f->fraction_bits + UNIT));
    if (n.negative) mpz_add(error, error, scratch);
    else mpz_sub(error, error, scratch);
    mpz_abs(error, error);
    mpz_set_d(scratch, ldexp(x->limit[at], UNIT));
    ck_assert_msg(mpz_cmp(error, scratch) <= 0,
                  "%s: output %zu, 0x%x: error %g, limit %g", f->name, at, d,
                  ldexp(mpz_get_d(error), -UNIT), x->limit[at]);
    x->limited++;
    x->rounded_below += format_is_subnormal(f, n);
    if (x->limit[at] > 0)
        x->nearest = fmax(x->nearest, ldexp(mpz_get_d(error), -UNIT) / x->limit[at]);
}

/* Values whose outputs lie around 2^scale. */
static void fill(uint32_t *to, size_t count, int scale, uint64_t *bits)
{
    for (size_t i = 0; i < count; i++) {
        const double x = (double)(int64_t)test_bits(bits) * 0x1p-63;
        to[i] = bits_of_float((float)ldexp(x, scale + test_between(bits, -3, 0)));
    }
}

static void check_batch(struct batch *x, const struct bitcut_format *f, int scale,
                        uint64_t *bits, mpz_t error, mpz_t scratch)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_gemm g = gemm_named("plain");
    g.m = g.n = SIDE;
    g.k = K;
    g.count = 1;
    g.a.at = x->a;
    g.b.at = x->b;
    g.d.to = x->d;
    g.d.format = f;
    fill(x->a, SIDE * K, scale / 2, bits);
    fill(x->b, K * SIDE, scale - scale / 2, bits);
    /* exact in f16, so that hardly anything but the rounding of D is left */
    for (size_t i = 0; i < SIDE * K; i++) {
        x->a[i] = f32_through(&formats[FORMAT_F16], &roundings[ROUND_RN], x->a[i]);
        x->b[i] = f32_through(&formats[FORMAT_F16], &roundings[ROUND_RN], x->b[i]);
    }
    ck_assert_msg(bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK, "%s", why);
    ck_assert_msg(bitcut_bound(x->limit, &g, 0, NULL, 1, why) == BITCUT_OK, "%s", why);
    for (size_t at = 0; at < SIDE * SIDE; at++) check_output(x, f, at, error, scratch);
}

/* No error is above its bound, in the whole range of a format, and some come near it. */
START_TEST(bounds_of_rounded_results)
{
    static const struct {
        int format, from, to; /* powers of two around which outputs lie */
    } rows[] = { { FORMAT_F16, -28, 17 },
                 { FORMAT_BF16, -28, 28 },
                 { FORMAT_E4M3, -12, 10 },
                 { FORMAT_E5M2, -20, 17 } };
    const int batches = test_cases(48, 1024);
    uint64_t bits = test_seed();
    mpz_t error, scratch;
    mpz_inits(error, scratch, NULL);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct bitcut_format *const f = &formats[rows[r].format];
        struct batch *const x = calloc(1, sizeof *x);
        ck_assert_ptr_nonnull(x);
        for (int i = 0; i < batches; i++)
            check_batch(x, f, rows[r].from + i % (rows[r].to - rows[r].from + 1), &bits,
                        error, scratch);
        ck_assert_msg(x->limited > x->outputs / 2, "%s: %zu of %zu have limits", f->name,
                      x->limited, x->outputs);
        ck_assert_msg(x->nearest > 0.9, "%s: the nearest has %g of its limit", f->name,
                      x->nearest);
        ck_assert(x->rounded_below > 0 || rows[r].format == FORMAT_BF16);
        free(x);
    }
    mpz_clears(error, scratch, NULL);
}
END_TEST

TEST_MAIN("short result", roundings_of_formats, gaps, beyond_the_range, known_metrics,
          budget_of_rounding, bounds_of_rounded_results)
