/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/metric_element.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>

static size_t elements(const struct comparison *x) { return x->m * x->n; }

/* --- sums and maxima over a matrix ------------------------------------------------ */

/* A number for element i, of D or of another array. */
typedef double term_of(const struct comparison *x, size_t i);

/* Terms that a thread computes at a time, and the number from which threads are
   worthwhile. */
enum { CHUNK = 1 << 10, TERMS_MIN = 1 << 16 };

static int threads_over(size_t count, int threads)
{
    return threads_for(threads, count / TERMS_MIN);
}

/* The largest |f(x, i)|, i < count. */
static double most_of(const struct comparison *x, size_t count, term_of *f, int threads)
{
    const int many = threads_over(count, threads);
    double most = 0;
    (void)many;
#pragma omp parallel num_threads(many)
    {
        double own = 0;
        struct hostfp mode;
        hostfp_enter(&mode);
#pragma omp for schedule(static)
        for (size_t i = 0; i < count; i++) own = larger_double(own, fabs(f(x, i)));
#pragma omp critical(bitcut_metric)
        most = larger_double(most, own);
        hostfp_leave(&mode);
    }
    return most;
}

/* The term that is added: f(x, i), or, if `over` is not 0, the square of f(x, i) / over.
 */
struct series {
    term_of *f;
    double over;
};

static double series_at(const struct series *s, const struct comparison *x, size_t i)
{
    const double v = s->over == 0 ? s->f(x, i) : s->f(x, i) / s->over;
    return s->over == 0 ? v : v * v;
}

/* The sum over i < count, i ascending.  Several threads compute terms, and chunks are
   added in their order. */
static double sum_of(const struct comparison *x, size_t count, struct series s,
                     int threads)
{
    const int many = threads_over(count, threads);
    double sum = 0;
    (void)many;
#pragma omp parallel for ordered schedule(static, 1) num_threads(many)
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t terms = smaller(CHUNK, count - first);
        double term[CHUNK];
        struct hostfp mode;
        hostfp_enter(&mode);
        for (size_t i = 0; i < terms; i++) term[i] = series_at(&s, x, first + i);
#pragma omp ordered
        for (size_t i = 0; i < terms; i++) sum += term[i];
        hostfp_leave(&mode);
    }
    return sum;
}

/* The Frobenius norm of f(x, 0) ... f(x, count - 1), scaled so that nothing overflows. */
static double frobenius(const struct comparison *x, size_t count, term_of *f, int threads)
{
    const double most = most_of(x, count, f, threads);
    if (most == 0 || isinf(most)) return most;
    return most * sqrt(sum_of(x, count, (struct series){ f, most }, threads));
}

static double mean_of(const struct comparison *x, term_of *f, int threads)
{
    const size_t count = elements(x);
    return count ? sum_of(x, count, (struct series){ f, 0 }, threads) / (double)count : 0;
}

/* --- terms ------------------------------------------------------------------------ */

static double quotient(double error, double size)
{
    if (error == 0 || isinf(error)) return fabs(error);
    return size == 0 ? (double)INFINITY : fabs(error) / size;
}

/* |alpha| (a b) of numbers that are not negative.  For binary64 the product a b may be
   beyond the range. */
static double alpha_times(const struct comparison *x, double a, double b)
{
    const double alpha = fabs(alpha_of(x));
    int up[3];
    if (!x->is_f64 || !isfinite(a) || !isfinite(b)) return alpha * (a * b);
    const double product = frexp(alpha, &up[0]) * (frexp(a, &up[1]) * frexp(b, &up[2]));
    return ldexp(product, up[0] + up[1] + up[2]);
}

double lines_at(const struct comparison *x, size_t i, size_t j)
{
    return alpha_times(x, x->row_norm[i], x->col_norm[j]) + fabs(c_at(x, i * x->n + j));
}

static double lines_of(const struct comparison *x, size_t i)
{
    return lines_at(x, i / x->n, i % x->n);
}

static double relative_at(const struct comparison *x, size_t i)
{
    return quotient(error_at(x, i), size_at(x, i));
}

static double symmetric_at(const struct comparison *x, size_t i)
{
    const double d = fabs(result_at(x, i)), c = size_at(x, i), error = error_at(x, i);
    return isinf(d + c) ? quotient(error / 2, d / 2 + c / 2) : quotient(error, d + c);
}

static double ulp_size_at(const struct comparison *x, size_t i)
{
    return fabs(ulps_at(x, i));
}

/* The limit of element i, the error allowed to an FP32 GEMM; 0 where the reference is not
   finite, or nothing is added. */
static double fp32_limit_at(const struct comparison *x, size_t i)
{
    return is_finite_at(x, i) && x->magnitude[i] != 0 ? x->limit[i] : 0;
}

/* The same for its result rounded to the format of D; 0 also where that may overflow. */
static double limit_at(const struct comparison *x, size_t i)
{
    const double limit = fp32_limit_at(x, i);
    if (!result_is_short(x->format) || limit == 0) return limit;
    const double rounding = format_rounding_error(x->format, size_at(x, i) + limit);
    return isfinite(rounding) ? limit + rounding : 0;
}

/* In units of u of the format of D. */
static double in_units(const struct comparison *x, double error)
{
    return error *
           (result_is_short(x->format) ? 1 / result_unit(x->format) : units_in_one(x));
}

double backward_at(const struct comparison *x, size_t i)
{
    return in_units(x, quotient(error_at(x, i), x->magnitude[i]));
}

double unrounded_at(const struct comparison *x, size_t i)
{
    return quotient(metric_unrounded(x, i), x->magnitude[i]) * units_in_one(x);
}

static double backward_limit_at(const struct comparison *x, size_t i)
{
    return in_units(x, quotient(limit_at(x, i), x->magnitude[i]));
}

static double mixed_at(const struct comparison *x, size_t i)
{
    return in_units(x, quotient(error_at(x, i), lines_of(x, i)));
}

static double mixed_limit_at(const struct comparison *x, size_t i)
{
    return in_units(x, quotient(limit_at(x, i), lines_of(x, i)));
}

static double wrong_at(const struct comparison *x, size_t i)
{
    return isinf(error_at(x, i)) ? 1 : 0;
}

double grade_ratio(const struct comparison *x, size_t i)
{
    const double alpha = fabs(alpha_of(x)), limit = fp32_limit_at(x, i);
    const double products = (double)comparison_products(x), half = alpha * products + 2;
    const double least = x->is_f64 ? half * 0x1p-1074 / 2 : half * 0x1p-150;
    return quotient(metric_unrounded(x, i), x->magnitude[i] == 0 ? 0 : limit + least);
}

static double condition_at(const struct comparison *x, size_t i)
{
    return is_finite_at(x, i) ? quotient(x->magnitude[i], size_at(x, i)) : 0;
}

/* --- metrics ---------------------------------------------------------------------- */

static double relres(const struct comparison *x, int threads)
{
    return quotient(frobenius(x, elements(x), error_at, threads),
                    frobenius(x, elements(x), size_at, threads));
}

static double max_error(const struct comparison *x, int threads)
{
    return most_of(x, elements(x), symmetric_at, threads);
}

static double mred(const struct comparison *x, int threads)
{
    return mean_of(x, relative_at, threads);
}

static double ulp_max(const struct comparison *x, int threads)
{
    return most_of(x, elements(x), ulps_at, threads);
}

static double ulp_mean(const struct comparison *x, int threads)
{
    return mean_of(x, ulp_size_at, threads);
}

static double ulp_bias(const struct comparison *x, int threads)
{
    return mean_of(x, ulps_at, threads);
}

static double backward_max(const struct comparison *x, int threads)
{
    return most_of(x, elements(x), backward_at, threads);
}

static double mixed_max(const struct comparison *x, int threads)
{
    return most_of(x, elements(x), mixed_at, threads);
}

static double magnitude_at(const struct comparison *x, size_t i)
{
    return isfinite(x->magnitude[i]) ? x->magnitude[i] : 0;
}

/* ||A|| ||B||, or the norm of all magnitudes, for which a bound of each output relative
   to its magnitude holds as well. */
static double norm_of_products(const struct comparison *x, int threads)
{
    if (x->extra) return frobenius(x, elements(x), magnitude_at, threads);
    const double a = frobenius(x, x->m * x->k, a_at, threads),
                 b = frobenius(x, x->k * x->n, b_at, threads);
    return alpha_times(x, a, b) + frobenius(x, elements(x), c_at, threads);
}

static double normwise_of(const struct comparison *x, term_of *error, int threads)
{
    const double size = norm_of_products(x, threads);
    return quotient(frobenius(x, elements(x), error, threads), size);
}

static double normwise(const struct comparison *x, int threads)
{
    return in_units(x, normwise_of(x, error_at, threads));
}

double normwise_unrounded(const struct comparison *x)
{
    return normwise_of(x, metric_unrounded, 1) * units_in_one(x);
}

static double most_of_limits(const struct comparison *x, term_of *f, int threads)
{
    return x->limit ? most_of(x, elements(x), f, threads) : (double)NAN;
}

static double backward_limit(const struct comparison *x, int threads)
{
    return most_of_limits(x, backward_limit_at, threads);
}

static double mixed_limit(const struct comparison *x, int threads)
{
    return most_of_limits(x, mixed_limit_at, threads);
}

static double normwise_limit(const struct comparison *x, int threads)
{
    return x->limit ? in_units(x, normwise_of(x, limit_at, threads)) : (double)NAN;
}

static double effective_bits(const struct comparison *x, int threads)
{
    const double r = relres(x, threads);
    const int most = x->is_f64 ? 106 : 53; /* bits of the reference */
    return r <= ldexp(1, -most) ? most : isinf(r) ? 0 : 0 - log2(r); /* no -0 for r = 1 */
}

static double wrong(const struct comparison *x, int threads)
{
    return sum_of(x, elements(x), (struct series){ wrong_at, 0 }, threads);
}

static double grade_worst(const struct comparison *x, int threads)
{
    return most_of_limits(x, grade_ratio, threads);
}

static double grade(const struct comparison *x, int threads)
{
    if (!x->limit) return (double)NAN;
    if (!(x->parts <= METRIC_PARTS_MAX)) return 0;
    const double worst = grade_worst(x, threads);
    if (worst <= 1) return 3;
    if (wrong(x, threads) > 0) return 0;
    if (mixed_max(x, threads) <= mixed_limit(x, threads)) return 2;
    return normwise(x, threads) <= normwise_limit(x, threads) ? 1 : 0;
}

static double condition_max(const struct comparison *x, int threads)
{
    return most_of(x, elements(x), condition_at, threads);
}

const struct metric metrics[] = {
    [METRIC_RELRES] = { "relres", "||D - C||_F / ||C||_F", relres, "Ootomo Eq. 7" },
    [METRIC_MAX_ERROR] = { "max_error", "max |D - C| / (|D| + |C|)", max_error,
                           "LE-GEMM Eq. 19" },
    [METRIC_MRED] = { "mred", "mean |D - C| / |C|", mred, "LE-GEMM Eq. 20" },
    [METRIC_ULP_MAX] = { "ulp_max", "max |D - RN(C)| in ulps of RN(C)", ulp_max,
                         "Muller et al. 2018" },
    [METRIC_ULP_MEAN] = { "ulp_mean", "mean |D - RN(C)| in ulps of RN(C)", ulp_mean,
                          "Muller et al. 2018" },
    [METRIC_ULP_BIAS] = { "ulp_bias", "mean D - RN(C) in ulps of RN(C)", ulp_bias,
                          "Muller et al. 2018" },
    [METRIC_BACKWARD_MAX] = { "backward_max",
                              "max |D - C| / (|A||B|) in u, componentwise", backward_max,
                              "Higham 2002, Eq. 3.5" },
    [METRIC_MIXED_MAX] = { "mixed_max",
                           "max |D - C| / (|a_i| |b_j|) in u, rows and columns",
                           mixed_max, "after Demmel et al." },
    [METRIC_NORMWISE] = { "normwise", "||D - C||_F / (||A||_F ||B||_F) in u", normwise,
                          "Higham 2002" },
    [METRIC_EFFECTIVE_BITS] = { "effective_bits", "-log2 of relres, at most 53",
                                effective_bits, "" },
    [METRIC_GRADE] = { "grade",
                       "3, 2, 1: as accurate as FP32 componentwise, mixed, normwise; 0: "
                       "less accurate than FP32",
                       grade, "after grades A, B, C of Demmel et al." },
    [METRIC_GRADE_WORST] = { "grade_worst", "max |D - C| / (error bound of FP32)",
                             grade_worst, "Hallman and Ipsen 2022" },
    [METRIC_BACKWARD_LIMIT] = { "backward_limit",
                                "backward_max of the error bound of FP32", backward_limit,
                                "" },
    [METRIC_MIXED_LIMIT] = { "mixed_limit", "mixed_max of the error bound of FP32",
                             mixed_limit, "" },
    [METRIC_NORMWISE_LIMIT] = { "normwise_limit", "normwise of the error bound of FP32",
                                normwise_limit, "" },
    [METRIC_CONDITION_MAX] = { "condition_max", "max |A||B| / |C| where RN(C) is finite",
                               condition_max, "Higham 2002" },
    [METRIC_WRONG] = { "wrong",
                       "elements where D or RN(C) is NaN or infinite and they differ",
                       wrong, "" },
    { 0 }
};

static_assert(sizeof metrics / sizeof metrics[0] == METRICS + 1,
              "each row of the metric table has its name in the enum");

void metrics_find(double values[METRICS], const struct comparison *x, unsigned wanted,
                  int threads)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    for (int i = 0; i < METRICS; i++)
        values[i] = wanted >> i & 1 ? metrics[i].value(x, threads) : (double)NAN;
    hostfp_leave(&mode);
}

void metrics_run(double values[METRICS], const struct comparison *x)
{
    metrics_find(values, x, ~0u, 1);
}
