/* Metrics against their formulas in MPFR, answers by hand, everything that is not finite;
   ulp distances and histograms; and the judge that computes what metrics compare with. */
#include "analysis/judge.h"
#include "analysis/metric.h"
#include "lib/bits.h"
#include "lib/fma.h"
#include "tests/number_oracle.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>


#define F32 (&formats[FORMAT_F32])
#define F64 (&formats[FORMAT_F64])
#define RN  (&roundings[ROUND_RN])
#define INF ((double)INFINITY)

/* --- what is compared -------------------------------------------------------------- */

enum { SIDE = 8, INNER = 20 };

/* A comparison and the arrays that it points to. */
struct sample {
    struct comparison x;
    uint32_t a[SIDE * INNER], b[INNER * SIDE], c[SIDE * SIDE], d[SIDE * SIDE];
    uint32_t exact32[SIDE * SIDE];
    uint64_t exact64[SIDE * SIDE];
    double magnitude[SIDE * SIDE], row_norm[SIDE], col_norm[SIDE], limit[SIDE * SIDE];
};

/* alpha times the exact sum of a and b's products, and beta c, hold in EXACT_BITS;
   formulas take FORMULA_BITS. */
enum { EXACT_BITS = 960, FORMULA_BITS = 200 };

/* alpha sum + beta c, and the same of magnitudes. */
static void update_exact(mpfr_ptr sum, mpfr_ptr size, const struct comparison *x,
                         size_t at)
{
    const double alpha = float_of_bits(x->alpha), beta = float_of_bits(x->beta);
    mpfr_mul_d(sum, sum, alpha, MPFR_RNDN);
    mpfr_mul_d(size, size, fabs(alpha), MPFR_RNDN);
    if (beta == 0) return;
    const double term = beta * (double)float_of_bits(x->c[at]);
    mpfr_add_d(sum, sum, term, MPFR_RNDN);
    mpfr_add_d(size, size, fabs(term), MPFR_RNDN);
}

static void product_exact(struct sample *s, size_t i, size_t j)
{
    const struct comparison *x = &s->x;
    mpfr_t sum, size, term;
    mpfr_inits2(EXACT_BITS, sum, size, term, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, x->k ? -1 : 1); /* stays -0 if every term is */
    mpfr_set_zero(size, 1);
    for (size_t k = 0; k < x->k; k++) {
        mpfr_set_flt(term, float_of_bits(x->a[i * x->k + k]), MPFR_RNDN);
        mpfr_mul_d(term, term, (double)float_of_bits(x->b[k * x->n + j]), MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_abs(term, term, MPFR_RNDN);
        mpfr_add(size, size, term, MPFR_RNDN);
    }
    const size_t at = i * x->n + j;
    update_exact(sum, size, x, at);
    s->exact32[at] = mpfr_number_p(sum)  ? (uint32_t)oracle_round(F32, RN, sum)
                     : mpfr_nan_p(sum)   ? 0x7fc00000
                     : mpfr_signbit(sum) ? 0xff800000
                                         : 0x7f800000;
    s->exact64[at] = bits_of_double(mpfr_get_d(sum, MPFR_RNDN));
    s->magnitude[at] = mpfr_get_d(size, MPFR_RNDN);
    mpfr_clears(sum, size, term, (mpfr_ptr)NULL);
}

/* The chain fma(a, b, sum) from +0, k ascending; then alpha, then beta c. */
static uint32_t fma_chain(const struct sample *s, size_t at)
{
    float sum = 0;
    for (size_t k = 0; k < s->x.k; k++)
        sum = fmaf(float_of_bits(s->a[at / s->x.n * s->x.k + k]),
                   float_of_bits(s->b[k * s->x.n + at % s->x.n]), sum);
    if (s->x.alpha != F32_ONE) sum *= float_of_bits(s->x.alpha);
    if (s->x.beta) sum = fmaf(float_of_bits(s->x.beta), float_of_bits(s->c[at]), sum);
    return bits_of_float(sum);
}

/* What an FP32 loop may commit: 4 u times the root of the squares of all that it rounds,
   or what it does commit. */
static double limit_exact(const struct sample *s, size_t at)
{
    const struct comparison *x = &s->x;
    const double alpha = float_of_bits(x->alpha), beta = float_of_bits(x->beta);
    mpfr_t sum, square, term;
    mpfr_inits2(EXACT_BITS, sum, square, term, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(square, 1);
    for (size_t k = 0; k < x->k; k++) {
        mpfr_set_flt(term, float_of_bits(x->a[at / x->n * x->k + k]), MPFR_RNDN);
        mpfr_mul_d(term, term, alpha * float_of_bits(x->b[k * x->n + at % x->n]),
                   MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpfr_fma(square, sum, sum, square, MPFR_RNDN);
    }
    if (alpha != 1) mpfr_fma(square, sum, sum, square, MPFR_RNDN);
    mpfr_add_d(sum, sum, beta == 0 ? 0 : beta * float_of_bits(s->c[at]), MPFR_RNDN);
    if (beta != 0) mpfr_fma(square, sum, sum, square, MPFR_RNDN);
    mpfr_sqrt(square, square, MPFR_RNDN);
    mpfr_set_flt(term, float_of_bits(fma_chain(s, at)), MPFR_RNDN);
    mpfr_sub_d(term, term, double_of_bits(s->exact64[at]), MPFR_RNDN);
    const double loop = fabs(mpfr_get_d(term, MPFR_RNDN));
    const double limit = ldexp(mpfr_get_d(square, MPFR_RNDN), -22);
    mpfr_clears(sum, square, term, (mpfr_ptr)NULL);
    return isfinite(loop) && loop > limit ? loop : limit;
}

/* The comparison of a, b and c, already set, with D the rounded result. */
static void sample_update(struct sample *s, size_t m, size_t n, size_t k, uint32_t alpha,
                          uint32_t beta)
{
    s->x = (struct comparison){ .m = m,
                                .n = n,
                                .k = k,
                                .a = s->a,
                                .b = s->b,
                                .d = s->d,
                                .reference32 = s->exact32,
                                .reference64 = s->exact64,
                                .magnitude = s->magnitude,
                                .row_norm = s->row_norm,
                                .col_norm = s->col_norm,
                                .alpha = alpha,
                                .beta = beta,
                                .c = s->c,
                                .limit = s->limit };
    line_norms(s->row_norm, s->col_norm, &s->x);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            product_exact(s, i, j);
            s->limit[i * n + j] = limit_exact(s, i * n + j);
        }
    memcpy(s->d, s->exact32, sizeof s->d);
}

static void sample_make(struct sample *s, size_t m, size_t n, size_t k)
{
    sample_update(s, m, n, k, F32_ONE, 0);
}

static void sample_values(double values[METRICS], const struct sample *s)
{
    metrics_run(values, &s->x);
}

/* --- formulas ---------------------------------------------------------------------- */

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

/* A grade that is not known: an error is its limit, but for rounding. */
enum { GRADE_EITHER = -1 };

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

/* --- the comparison ---------------------------------------------------------------- */

static bool is_close(double got, double want, double size)
{
    return got == want || fabs(got - want) <= 1e-12 * size;
}

static void print_sample(const struct sample *s)
{
    printf("# %zu x %zu x %zu\n", s->x.m, s->x.n, s->x.k);
    for (size_t i = 0; i < s->x.m * s->x.n; i++)
        printf("# D %08" PRIx32 " (%a), C %a\n", s->d[i], format_to_double(F32, s->d[i]),
               double_of_bits(s->exact64[i]));
    fflush(stdout); /* a failed check ends the process without it */
}

/* Compare each metric with what is wanted, to 1e-12. */
static void check_values(const struct sample *s, const double want[METRICS])
{
    double got[METRICS];
    sample_values(got, s);
    for (int i = 0; i < METRICS; i++) {
        const double size = i == METRIC_ULP_BIAS ? want[METRIC_ULP_MEAN] : fabs(want[i]);
        if (i == METRIC_GRADE && want[i] == GRADE_EITHER) continue;
        if (!s->x.limit && i >= METRIC_GRADE && i <= METRIC_NORMWISE_LIMIT) {
            ck_assert_msg(isnan(got[i]), "%s: %g without limits", metrics[i].name,
                          got[i]);
            continue;
        }
        if (is_close(got[i], want[i], size)) continue;
        print_sample(s);
        ck_abort_msg("%s: got %.17g, want %.17g", metrics[i].name, got[i], want[i]);
    }
}

/* --- random matrices --------------------------------------------------------------- */

static int between(uint64_t *rng, int low, int high)
{
    return low + (int)(test_bits(rng) % (uint64_t)(high - low + 1));
}

static uint32_t exponents(uint64_t *rng, int low, int high)
{
    const uint64_t bits = test_bits(rng);
    return (uint32_t)(bits >> 63) << 31 |
           (uint32_t)(between(rng, low, high) + 127) << 23 | (uint32_t)(bits & 0x7fffff);
}

static uint32_t fill_normal(uint64_t *rng) { return exponents(rng, -2, 2); }
static uint32_t fill_wide(uint64_t *rng) { return exponents(rng, -60, 50); }
static uint32_t fill_tiny(uint64_t *rng) { return exponents(rng, -80, -60); }

static uint32_t fill_integer(uint64_t *rng)
{
    return bits_of_float((float)between(rng, -2, 2));
}

static uint32_t (*const fills[])(uint64_t *rng) = { fill_normal, fill_wide, fill_tiny,
                                                    fill_integer };

/* Move some results by up to 2^bits FP32 values, away from the infinities. */
static void perturb(struct sample *s, uint64_t *rng)
{
    const int bits = between(rng, 0, 20), every = between(rng, 1, 4);
    for (size_t i = 0; i < s->x.m * s->x.n; i++) {
        const uint32_t steps = (uint32_t)between(rng, 0, 1 << bits);
        if (between(rng, 1, every) > 1 || (s->d[i] & 0x7fffffff) > 0x7e000000) continue;
        if (s->d[i] & 0x7fffffff && between(rng, 0, 1)) s->d[i] -= 1;
        else s->d[i] += steps;
    }
}

START_TEST(formulas_agree)
{
    static struct sample s;
    uint64_t rng = test_seed();
    bool graded[4] = { false };
    for (int round = 0; round < test_cases(3000, 20000); round++) {
        const size_t m = (size_t)between(&rng, 1, SIDE);
        const size_t n = (size_t)between(&rng, 1, SIDE);
        const size_t k = (size_t)between(&rng, 1, INNER);
        for (size_t i = 0; i < m * k; i++) s.a[i] = fills[round % 4](&rng);
        for (size_t i = 0; i < k * n; i++) s.b[i] = fills[round % 4](&rng);
        for (size_t i = 0; i < m * n; i++) s.c[i] = fills[round % 4](&rng);
        if (round % 8 < 4) sample_make(&s, m, n, k);
        else sample_update(&s, m, n, k, fills[0](&rng), round % 3 ? fills[0](&rng) : 0);
        perturb(&s, &rng);
        double want[METRICS];
        formulas(want, &s.x);
        check_values(&s, want);
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
        for (int i = 0; i < MANY * FEW; i++) a[i] = fills[round % 4](&rng);
        for (int i = 0; i < FEW * MANY; i++) b[i] = fills[round / 2](&rng);
        const struct comparison x = { .m = MANY, .n = MANY, .k = FEW, .a = a, .b = b };
        line_norms(row, col, &x);
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
        check_values(&s, known[i].want);
    }
}
END_TEST

/* Results of (1 1) times columns of +-1, with u = 2^-24.  The first column is (1 -1)^T,
   with the partial sums 1 and 0: its limit is 4 u.  The others are (1 1)^T, with 1 and 2:
   4 sqrt(5) u.  Products of norms are 2, so the mixed limit is 2 u for one column and
   4.47 u for more.  The first result errs by `error` u, the others are exact. */
static const struct {
    size_t columns;
    double error, words;
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
        s.x.words = grades[i].words;
        sample_values(got, &s);
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
    sample_values(got, &s);
    ck_assert(got[METRIC_GRADE] == 3 && got[METRIC_GRADE_WORST] == 0);
    s.d[0] = 1;
    sample_values(got, &s);
    ck_assert(got[METRIC_GRADE] == 0 && got[METRIC_GRADE_WORST] == INF);
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
        check_values(&s, want);
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
            sample_values(got, &s);
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
    sample_values(got, &s);
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
            sample_values(got, &s);
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
        for (int i = 0; i < 35; i++) s.a[i] = s.b[i] = fills[round % 3](&rng);
        sample_make(&s, 5, 5, 7);
        perturb(&s, &rng);
        sample_values(want, &s);
        for (int mode = 0; mode < 8; mode++) {
            test_host_mode(mode);
            sample_values(got, &s);
            line_norms(row, col, &s.x);
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
        const int binade = between(&rng, 0, 2) ? between(&rng, -126, 126) : 0;
        uint32_t from = (uint32_t)(binade + 127) << 23 | (uint32_t)between(&rng, 0, 1)
                                                             << 31;
        if (round % 3 == 0) from = (uint32_t)between(&rng, 0, 40);
        const int steps = between(&rng, 0, 60);
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

/* --- the judge --------------------------------------------------------------------- */

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
    struct commit_error e;
    ck_assert_int_eq(judge_grade(j, &e, &g, 1, NULL, NULL), BITCUT_OK);
    ck_assert(j->comparison.words == 0 && e.words == 0);
    for (size_t i = 0; !chain && i < s->x.m * s->x.n; i++)
        ck_assert_msg(is_close(j->comparison.limit[i], s->limit[i], s->limit[i]),
                      "limit %zu: got %g, want %g", i, j->comparison.limit[i],
                      s->limit[i]);
}

static void judge_compare(const struct reference *r, struct sample *s)
{
    const struct comparison *x = &s->x;
    const struct matrix a = { x->m, x->k, s->a }, b = { x->k, x->n, s->b };
    const bool chain = !strcmp(r->name, "fp32");
    struct judge j;
    const struct exact_update u = { x->alpha, x->beta, x->beta ? s->c : NULL };
    const bool product = x->alpha == F32_ONE && !x->beta;
    ck_assert_int_eq(judge_init(&j, r, &a, &b, product ? NULL : &u, 1, NULL, NULL),
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
    for (size_t i = 0; i < x->m && x->n; i++)
        ck_assert(y->row_norm[i] == x->row_norm[i]);
    for (size_t i = 0; i < x->n && x->m; i++)
        ck_assert(y->col_norm[i] == x->col_norm[i]);
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
        const size_t m = (size_t)between(&rng, 0, SIDE);
        const size_t n = (size_t)between(&rng, 0, SIDE);
        const size_t k = (size_t)between(&rng, 0, INNER);
        for (size_t i = 0; i < m * k; i++) s.a[i] = fills[round % 4](&rng);
        for (size_t i = 0; i < k * n; i++) s.b[i] = fills[round % 4](&rng);
        for (size_t i = 0; i < m * n; i++) s.c[i] = fills[round % 4](&rng);
        if (round % 8 < 4) sample_make(&s, m, n, k);
        else sample_update(&s, m, n, k, fills[0](&rng), round % 3 ? fills[0](&rng) : 0);
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
    const struct matrix a = { 2, 3, s.a }, b = { 3, 4, s.b };
    for (const struct reference *r = references; r->name; r++) {
        struct fault f = { 0 };
        struct judge j, before;
        memset(&j, 0xd0, sizeof j);
        before = j;
        ck_assert_int_eq(judge_init(&j, r, &a, &b, NULL, 1, &progress, &f),
                         BITCUT_CANNOT);
        ck_assert_int_eq(f.status, BITCUT_CANNOT);
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

TEST_MAIN("metric", formulas_agree, norms_of_many_lines, known_answers, known_grades,
          zero_has_no_limit, empty_matrices, wrong_elements_make_metrics_infinite,
          wrong_elements_are_counted, special_operands_hide_no_error, host_modes,
          known_distances, distances_are_steps, histogram, rows, judges, judge_stops,
          clock_goes_forward)
