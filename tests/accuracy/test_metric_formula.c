/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of random matrices compared with their formulas in MPFR. */
#include "lib/number/bits.h"
#include "tests/accuracy/sample_comparison.h"
#include "tests/test.h"

#include <math.h>

#define RN (&roundings[ROUND_RN])

enum { FORMULA_BITS = 200 };

static void value_set(mpfr_ptr v, uint32_t encoding)
{
    mpfr_set_flt(v, float_of_bits(encoding), MPFR_RNDN);
}

/* D - C */
static void error_set(mpfr_ptr e, const struct comparison *x, size_t i)
{
    value_set(e, x->d[i]);
    mpfr_sub_d(e, e, double_of_bits(x->reference64[i]), MPFR_RNDN);
}

/* q = |e / size|; 0 / 0 is no error. */
static void ratio_set(mpfr_ptr q, mpfr_srcptr e, mpfr_srcptr size)
{
    if (mpfr_zero_p(e)) mpfr_set_zero(q, 1);
    else mpfr_div(q, e, size, MPFR_RNDN);
    mpfr_abs(q, q, MPFR_RNDN);
}

/* The 2-norm of `count` FP32 values, `stride` apart. */
static void norm_set(mpfr_ptr norm, const uint32_t *from, size_t count, size_t stride)
{
    mpfr_t v;
    mpfr_init2(v, FORMULA_BITS);
    mpfr_set_zero(norm, 1);
    for (size_t i = 0; i < count; i++) {
        value_set(v, from[i * stride]);
        mpfr_fma(norm, v, v, norm, MPFR_RNDN);
    }
    mpfr_sqrt(norm, norm, MPFR_RNDN);
    mpfr_clear(v);
}

/* ||D - C||_F, and ||C||_F */
static void norms_set(mpfr_ptr error, mpfr_ptr size, const struct comparison *x)
{
    mpfr_t v;
    mpfr_init2(v, FORMULA_BITS);
    mpfr_set_zero(error, 1);
    mpfr_set_zero(size, 1);
    for (size_t i = 0; i < x->m * x->n; i++) {
        error_set(v, x, i);
        mpfr_fma(error, v, v, error, MPFR_RNDN);
        mpfr_set_d(v, double_of_bits(x->reference64[i]), MPFR_RNDN);
        mpfr_fma(size, v, v, size, MPFR_RNDN);
    }
    mpfr_sqrt(error, error, MPFR_RNDN);
    mpfr_sqrt(size, size, MPFR_RNDN);
    mpfr_clear(v);
}

/* What the error of element i is measured against, for each metric of single elements. */
typedef void scale_set(mpfr_ptr s, const struct comparison *x, size_t i);

static void scale_abs_sum(mpfr_ptr s, const struct comparison *x, size_t i)
{
    value_set(s, x->d[i]);
    mpfr_abs(s, s, MPFR_RNDN);
    mpfr_add_d(s, s, fabs(double_of_bits(x->reference64[i])), MPFR_RNDN);
}

static void scale_reference(mpfr_ptr s, const struct comparison *x, size_t i)
{
    mpfr_set_d(s, double_of_bits(x->reference64[i]), MPFR_RNDN);
}

static void scale_magnitude(mpfr_ptr s, const struct comparison *x, size_t i)
{
    mpfr_set_d(s, x->magnitude[i] * 0x1p-24, MPFR_RNDN);
}

static void scale_lines(mpfr_ptr s, const struct comparison *x, size_t i)
{
    mpfr_t column;
    mpfr_init2(column, FORMULA_BITS);
    norm_set(s, x->a + i / x->n * x->k, x->k, 1);
    norm_set(column, x->b + i % x->n, x->k, x->n);
    mpfr_mul(s, s, column, MPFR_RNDN);
    mpfr_set_zero(column, 1);
    update_exact(column, s, x, i);
    mpfr_mul_2si(s, s, -24, MPFR_RNDN);
    mpfr_clear(column);
}

/* D - RN(C) in ulps of RN(C): the distance to the next value away from zero, or, for the
   largest, toward it. */
static void ulps_set(mpfr_ptr q, const struct comparison *x, size_t i)
{
    const float r = fabsf(float_of_bits(x->reference32[i]));
    const float next = nextafterf(r, INFINITY), last = nextafterf(r, 0);
    value_set(q, x->d[i]);
    mpfr_sub_d(q, q, (double)float_of_bits(x->reference32[i]), MPFR_RNDN);
    mpfr_div_d(q, q, isinf(next) ? (double)r - (double)last : (double)next - (double)r,
               MPFR_RNDN);
}

struct spread {
    double most, mean, bias;
};

/* The largest, the mean and the mean signed error over the elements; without a scale in
   ulps. */
static struct spread spread_of(const struct comparison *x, scale_set *scale)
{
    const size_t count = x->m * x->n;
    struct spread s = { 0, 0, 0 };
    mpfr_t q, size, sum, signed_sum;
    mpfr_inits2(FORMULA_BITS, q, size, sum, signed_sum, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(signed_sum, 1);
    for (size_t i = 0; i < count; i++) {
        if (scale) {
            error_set(q, x, i);
            scale(size, x, i);
            ratio_set(q, q, size);
        } else {
            ulps_set(q, x, i);
        }
        mpfr_add(signed_sum, signed_sum, q, MPFR_RNDN);
        mpfr_abs(q, q, MPFR_RNDN);
        mpfr_add(sum, sum, q, MPFR_RNDN);
        s.most = fmax(s.most, mpfr_get_d(q, MPFR_RNDN));
    }
    mpfr_div_ui(sum, sum, count, MPFR_RNDN);
    mpfr_div_ui(signed_sum, signed_sum, count, MPFR_RNDN);
    s.mean = mpfr_get_d(sum, MPFR_RNDN);
    s.bias = mpfr_get_d(signed_sum, MPFR_RNDN);
    mpfr_clears(q, size, sum, signed_sum, (mpfr_ptr)NULL);
    return s;
}

static double largest_condition(const struct comparison *x)
{
    double most = 0;
    mpfr_t q, size;
    mpfr_inits2(FORMULA_BITS, q, size, (mpfr_ptr)NULL);
    for (size_t i = 0; i < x->m * x->n; i++) {
        mpfr_set_d(q, x->magnitude[i], MPFR_RNDN);
        scale_reference(size, x, i);
        ratio_set(q, q, size);
        most = fmax(most, mpfr_get_d(q, MPFR_RNDN));
    }
    mpfr_clears(q, size, (mpfr_ptr)NULL);
    return most;
}

/* relres, -log2 of it, the normwise error in u, and what it is measured against, in u. */
static void norm_values(double *relres, double *bits, double *normwise, double *scale,
                        const struct comparison *x)
{
    mpfr_t error, size, a, b;
    mpfr_inits2(FORMULA_BITS, error, size, a, b, (mpfr_ptr)NULL);
    norms_set(error, size, x);
    ratio_set(size, error, size);
    *relres = mpfr_get_d(size, MPFR_RNDN);
    mpfr_log2(size, size, MPFR_RNDN);
    *bits = fmin(53, -mpfr_get_d(size, MPFR_RNDN));
    norm_set(a, x->a, x->m * x->k, 1);
    norm_set(b, x->b, x->k * x->n, 1);
    mpfr_mul(a, a, b, MPFR_RNDN);
    mpfr_mul_d(a, a, fabs((double)float_of_bits(x->alpha)), MPFR_RNDN);
    norm_set(b, x->c, x->m * x->n, 1);
    mpfr_mul_d(b, b, fabs((double)float_of_bits(x->beta)), MPFR_RNDN);
    mpfr_add(a, a, b, MPFR_RNDN);
    ratio_set(error, error, a);
    *normwise = ldexp(mpfr_get_d(error, MPFR_RNDN), 24);
    *scale = ldexp(mpfr_get_d(a, MPFR_RNDN), -24);
    mpfr_clears(error, size, a, b, (mpfr_ptr)NULL);
}

/* What grade_worst divides by: with what FP32 loses in its subnormal range. */
static void scale_limit(mpfr_ptr s, const struct comparison *x, size_t i)
{
    const double least =
        ((double)fabsf(float_of_bits(x->alpha)) * (double)x->k + 2) * 0x1p-150;
    mpfr_set_d(s, x->magnitude[i] == 0 ? 0 : x->limit[i] + least, MPFR_RNDN);
}

/* The measures of errors as large as the limits. */
static void limit_values(double want[METRICS], const struct comparison *x)
{
    double squares = 0;
    mpfr_t q, size;
    mpfr_inits2(FORMULA_BITS, q, size, (mpfr_ptr)NULL);
    want[METRIC_BACKWARD_LIMIT] = want[METRIC_MIXED_LIMIT] = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double limit = x->magnitude[i] == 0 ? 0 : x->limit[i];
        scale_set *const scales[] = { scale_magnitude, scale_lines };
        double *const most[] = { &want[METRIC_BACKWARD_LIMIT],
                                 &want[METRIC_MIXED_LIMIT] };
        for (int j = 0; j < 2 && limit != 0; j++) {
            mpfr_set_d(q, limit, MPFR_RNDN);
            scales[j](size, x, i);
            ratio_set(q, q, size);
            *most[j] = fmax(*most[j], mpfr_get_d(q, MPFR_RNDN));
        }
        squares += limit * 0x1p200 * (limit * 0x1p200);
    }
    mpfr_clears(q, size, (mpfr_ptr)NULL);
    want[METRIC_NORMWISE_LIMIT] = sqrt(squares) * 0x1p-200;
}

static double grade_of(const double want[METRICS])
{
    const double errors[] = { want[METRIC_GRADE_WORST], want[METRIC_MIXED_MAX],
                              want[METRIC_NORMWISE] };
    const double limits[] = { 1, want[METRIC_MIXED_LIMIT], want[METRIC_NORMWISE_LIMIT] };
    for (int i = 0; i < 3; i++)
        if (fabs(errors[i] - limits[i]) <= 1e-12 * limits[i] && limits[i] != 0)
            return GRADE_EITHER;
    for (int i = 0; i < 3; i++)
        if (errors[i] <= limits[i]) return 3 - i;
    return 0;
}

/* Every metric of finite elements. */
static void formulas(double want[METRICS], const struct comparison *x)
{
    const struct spread ulps = spread_of(x, NULL);
    double scale;
    norm_values(&want[METRIC_RELRES], &want[METRIC_EFFECTIVE_BITS],
                &want[METRIC_NORMWISE], &scale, x);
    want[METRIC_MAX_ERROR] = spread_of(x, scale_abs_sum).most;
    want[METRIC_MRED] = spread_of(x, scale_reference).mean;
    want[METRIC_ULP_MAX] = ulps.most;
    want[METRIC_ULP_MEAN] = ulps.mean;
    want[METRIC_ULP_BIAS] = ulps.bias;
    want[METRIC_BACKWARD_MAX] = spread_of(x, scale_magnitude).most;
    want[METRIC_MIXED_MAX] = spread_of(x, scale_lines).most;
    want[METRIC_GRADE_WORST] = spread_of(x, scale_limit).most;
    limit_values(want, x);
    if (scale != 0) want[METRIC_NORMWISE_LIMIT] /= scale;
    want[METRIC_GRADE] = grade_of(want);
    want[METRIC_CONDITION_MAX] = largest_condition(x);
    want[METRIC_WRONG] = 0;
}

START_TEST(formulas_agree)
{
    static struct sample s;
    uint64_t rng = test_seed();
    bool graded[4] = { false };
    for (int round = 0; round < test_cases(3000, 20000); round++) {
        sample_draw(&s, &rng, round, 1);
        sample_perturb(&s, &rng);
        double want[METRICS];
        formulas(want, &s.x);
        sample_check(&s, want);
        if (want[METRIC_GRADE] >= 0) graded[(int)want[METRIC_GRADE]] = true;
    }
    for (int i = 0; i < 4; i++) ck_assert_msg(graded[i], "no sample of grade %d", i);
}
END_TEST

enum { MANY = 600, FEW = 7 };

/* The norm of count values, `stride` apart, by the formula. */
static double norm_wanted(const uint32_t *from, size_t count, size_t stride)
{
    mpfr_t norm;
    mpfr_init2(norm, FORMULA_BITS);
    norm_set(norm, from, count, stride);
    const double wanted = mpfr_get_d(norm, MPFR_RNDN);
    mpfr_clear(norm);
    return wanted;
}

START_TEST(norms_of_many_lines)
{
    static uint32_t a[MANY * FEW], b[FEW * MANY];
    double row[MANY], col[MANY];
    uint64_t rng = test_seed() + 4;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < MANY * FEW; i++) a[i] = sample_fills[round % 4](&rng);
        for (int i = 0; i < FEW * MANY; i++) b[i] = sample_fills[round / 2](&rng);
        const struct comparison x = { .m = MANY, .n = MANY, .k = FEW, .a = a, .b = b };
        line_norms(row, col, &x, 2);
        for (size_t i = 0; i < MANY; i++) {
            const double rows = norm_wanted(a + i * FEW, FEW, 1);
            const double cols = norm_wanted(b + i, FEW, MANY);
            ck_assert_msg(is_close(row[i], rows, rows), "row %zu: %a, %a", i, row[i],
                          rows);
            ck_assert_msg(is_close(col[i], cols, cols), "col %zu: %a, %a", i, col[i],
                          cols);
        }
    }
}
END_TEST

TEST_MAIN("metric formula", formulas_agree, norms_of_many_lines)
