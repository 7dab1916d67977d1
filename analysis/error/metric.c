#include "analysis/error/metric.h"

#include "lib/bits.h"
#include "lib/format.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/threads.h"

#include <assert.h>
#include <math.h>

/* --- elements --------------------------------------------------------------------- */

/* Exact, as subnormals are kept under hostfp_enter(). */
static size_t elements(const struct comparison *x) { return x->m * x->n; }

static bool is_finite(uint32_t x) { return (x & 0x7f800000u) != 0x7f800000u; }
static bool is_nan(uint32_t x) { return (x & 0x7fffffffu) > 0x7f800000u; }

/* Both NaN, or the same infinity. */
static bool same_special(uint32_t a, uint32_t b)
{
    return a == b || (is_nan(a) && is_nan(b));
}

/* 0 for the same special value, infinite if only one is special. */
double metric_error(const struct comparison *x, size_t i)
{
    if (!is_finite(x->d[i]) || !is_finite(x->reference32[i]))
        return same_special(x->d[i], x->reference32[i]) ? 0 : (double)INFINITY;
    return value_of_float(x->d[i]) - double_of_bits(x->reference64[i]);
}

/* The size of the reference; 0 where it is not finite. */
static double size_at(const struct comparison *x, size_t i)
{
    return is_finite(x->reference32[i]) ? fabs(double_of_bits(x->reference64[i])) : 0;
}

static double quotient(double error, double size)
{
    if (error == 0 || isinf(error)) return fabs(error);
    return size == 0 ? (double)INFINITY : fabs(error) / size;
}

static double unit_in_last_place(uint32_t x)
{
    const int field = (int)(x >> 23 & 0xff);
    return double_of_bits((uint64_t)((field ? field : 1) - 150 + 1023) << 52);
}

/* --- sums and maxima over a matrix ------------------------------------------------ */

/* The Frobenius norm of f(x, 0) ... f(x, count - 1), scaled so that nothing overflows. */
static double frobenius(const struct comparison *x, size_t count,
                        double (*f)(const struct comparison *, size_t))
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < count; i++) most = larger_double(most, fabs(f(x, i)));
    if (most == 0 || isinf(most)) return most;
    for (size_t i = 0; i < count; i++) {
        const double v = f(x, i) / most;
        sum += v * v;
    }
    return most * sqrt(sum);
}

/* Values of A and B, 0 where they are not finite: those show in the elements. */
static double finite_or_0(uint32_t x) { return is_finite(x) ? value_of_float(x) : 0; }

static double a_at(const struct comparison *x, size_t i) { return finite_or_0(x->a[i]); }
static double b_at(const struct comparison *x, size_t i) { return finite_or_0(x->b[i]); }

/* beta C */
static double c_at(const struct comparison *x, size_t i)
{
    if (x->beta << 1 == 0) return 0;
    return finite_or_0(x->beta) * finite_or_0(x->c[i]);
}

double lines_at(const struct comparison *x, size_t i, size_t j)
{
    return fabs(finite_or_0(x->alpha)) * (x->row_norm[i] * x->col_norm[j]) +
           fabs(c_at(x, i * x->n + j));
}

static double relres(const struct comparison *x)
{
    return quotient(frobenius(x, elements(x), metric_error),
                    frobenius(x, elements(x), size_at));
}

static double max_error(const struct comparison *x)
{
    double most = 0;
    for (size_t i = 0; i < elements(x); i++)
        most =
            larger_double(most, quotient(metric_error(x, i),
                                         fabs(value_of_float(x->d[i])) + size_at(x, i)));
    return most;
}

static double mred(const struct comparison *x)
{
    double sum = 0;
    for (size_t i = 0; i < elements(x); i++)
        sum += quotient(metric_error(x, i), size_at(x, i));
    return elements(x) ? sum / (double)elements(x) : 0;
}

/* The error of element i against the correctly rounded result, in its ulps, signed. */
static double ulps_at(const struct comparison *x, size_t i)
{
    if (!is_finite(x->d[i]) || !is_finite(x->reference32[i])) return metric_error(x, i);
    return (value_of_float(x->d[i]) - value_of_float(x->reference32[i])) /
           unit_in_last_place(x->reference32[i]);
}

static double ulp_max(const struct comparison *x)
{
    double most = 0;
    for (size_t i = 0; i < elements(x); i++)
        most = larger_double(most, fabs(ulps_at(x, i)));
    return most;
}

static double ulp_mean(const struct comparison *x)
{
    double sum = 0;
    for (size_t i = 0; i < elements(x); i++) sum += fabs(ulps_at(x, i));
    return elements(x) ? sum / (double)elements(x) : 0;
}

static double ulp_bias(const struct comparison *x)
{
    double sum = 0;
    for (size_t i = 0; i < elements(x); i++) sum += ulps_at(x, i);
    return elements(x) ? sum / (double)elements(x) : 0;
}

/* An error of each element: of D, or what FP32 may commit. */
typedef double error_of(const struct comparison *x, size_t i);

/* The limit of element i; 0 where the reference is not finite, or nothing is added. */
static double limit_at(const struct comparison *x, size_t i)
{
    return is_finite(x->reference32[i]) && x->magnitude[i] != 0 ? x->limit[i] : 0;
}

static double backward_of(const struct comparison *x, error_of *error)
{
    double most = 0;
    for (size_t i = 0; i < elements(x); i++)
        most = larger_double(most, quotient(error(x, i), x->magnitude[i]) * 0x1p24);
    return most;
}

static double mixed_of(const struct comparison *x, error_of *error)
{
    const size_t rows = x->n ? x->m : 0; /* without columns there may be any number */
    double most = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < x->n; j++)
            most = larger_double(
                most, quotient(error(x, i * x->n + j), lines_at(x, i, j)) * 0x1p24);
    return most;
}

static double normwise_of(const struct comparison *x, error_of *error)
{
    const double a = frobenius(x, x->m * x->k, a_at), b = frobenius(x, x->k * x->n, b_at);
    const double size =
        fabs(finite_or_0(x->alpha)) * (a * b) + frobenius(x, elements(x), c_at);
    return quotient(frobenius(x, elements(x), error), size) * 0x1p24;
}

double backward_at(const struct comparison *x, size_t i)
{
    return quotient(metric_error(x, i), x->magnitude[i]) * 0x1p24;
}

static double backward_max(const struct comparison *x)
{
    return backward_of(x, metric_error);
}
static double mixed_max(const struct comparison *x) { return mixed_of(x, metric_error); }
static double normwise(const struct comparison *x)
{
    return normwise_of(x, metric_error);
}

static double limit_by(const struct comparison *x,
                       double (*measure)(const struct comparison *, error_of *))
{
    return x->limit ? measure(x, limit_at) : (double)NAN;
}

static double backward_limit(const struct comparison *x)
{
    return limit_by(x, backward_of);
}

static double mixed_limit(const struct comparison *x) { return limit_by(x, mixed_of); }

static double normwise_limit(const struct comparison *x)
{
    return limit_by(x, normwise_of);
}

static double effective_bits(const struct comparison *x)
{
    const double r = relres(x);
    return r <= 0x1p-53 ? 53 : isinf(r) ? 0 : -log2(r);
}

static double wrong(const struct comparison *x)
{
    double count = 0;
    for (size_t i = 0; i < elements(x); i++) count += isinf(metric_error(x, i)) ? 1 : 0;
    return count;
}

double grade_ratio(const struct comparison *x, size_t i)
{
    const double alpha = fabs(finite_or_0(x->alpha)), limit = limit_at(x, i);
    const double least = (alpha * (double)x->k + 2) * 0x1p-150;
    return quotient(metric_error(x, i), x->magnitude[i] == 0 ? 0 : limit + least);
}

static double grade_worst(const struct comparison *x)
{
    double most = 0;
    for (size_t i = 0; x->limit && i < elements(x); i++)
        most = larger_double(most, grade_ratio(x, i));
    return x->limit ? most : (double)NAN;
}

static double grade(const struct comparison *x)
{
    if (!x->limit) return (double)NAN;
    if (!(x->words <= METRIC_WORDS_MOST)) return 0;
    const double worst = grade_worst(x);
    if (worst <= 1) return 3;
    if (wrong(x) > 0) return 0;
    if (mixed_max(x) <= mixed_limit(x)) return 2;
    return normwise(x) <= normwise_limit(x) ? 1 : 0;
}

static double condition_max(const struct comparison *x)
{
    double most = 0;
    for (size_t i = 0; i < elements(x); i++)
        if (is_finite(x->reference32[i]))
            most = larger_double(most, quotient(x->magnitude[i], size_at(x, i)));
    return most;
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
                       "3, 2, 1: componentwise, mixed, normwise as good as FP32; 0: not",
                       grade, "after grades A, B, C of Demmel et al." },
    [METRIC_GRADE_WORST] = { "grade_worst", "max |D - C| / what FP32 may commit",
                             grade_worst, "Hallman and Ipsen 2022" },
    [METRIC_BACKWARD_LIMIT] = { "backward_limit", "backward_max of what FP32 may commit",
                                backward_limit, "" },
    [METRIC_MIXED_LIMIT] = { "mixed_limit", "mixed_max of what FP32 may commit",
                             mixed_limit, "" },
    [METRIC_NORMWISE_LIMIT] = { "normwise_limit", "normwise of what FP32 may commit",
                                normwise_limit, "" },
    [METRIC_CONDITION_MAX] = { "condition_max", "max |A||B| / |C| where RN(C) is finite",
                               condition_max, "Higham 2002" },
    [METRIC_WRONG] = { "wrong",
                       "elements that are special, or RN(C) is, and not both the same",
                       wrong, "" },
    { 0 }
};

static_assert(sizeof metrics / sizeof metrics[0] == METRICS + 1,
              "a row of the metric table has its name in the enum");

static double metric_value(const struct comparison *x, int i)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const double value = metrics[i].value(x);
    hostfp_leave(&mode);
    return value;
}

void metrics_find(double values[METRICS], const struct comparison *x, unsigned wanted,
                  int threads)
{
    (void)threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for(threads, METRICS))
    for (int i = 0; i < METRICS; i++)
        values[i] = wanted >> i & 1 ? metric_value(x, i) : (double)NAN;
}

void metrics_run(double values[METRICS], const struct comparison *x)
{
    metrics_find(values, x, ~0u, 1);
}

/* --- norms of lines --------------------------------------------------------------- */

enum { LINES = 256 };

/* The norms of at most LINES lines of k elements, scaled so that nothing overflows. */
static void norms_find(double *norm, size_t lines, const uint32_t *x, size_t line_stride,
                       size_t k, size_t stride)
{
    double most[LINES] = { 0 }, sum[LINES] = { 0 };
    for (size_t p = 0; p < k; p++)
        for (size_t i = 0; i < lines; i++)
            most[i] = larger_double(most[i],
                                    fabs(finite_or_0(x[p * stride + i * line_stride])));
    for (size_t p = 0; p < k; p++)
        for (size_t i = 0; i < lines; i++) {
            const double v = finite_or_0(x[p * stride + i * line_stride]) / most[i];
            sum[i] += v * v;
        }
    for (size_t i = 0; i < lines; i++)
        norm[i] = most[i] == 0 ? 0 : most[i] * sqrt(sum[i]);
}

void line_norms(double *row, double *col, const struct comparison *x)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->m; i++) norms_find(row + i, 1, x->a + i * x->k, 0, x->k, 1);
    for (size_t j = 0; j < x->n; j += LINES)
        norms_find(col + j, x->n - j < LINES ? x->n - j : LINES, x->b + j, 1, x->k, x->n);
    hostfp_leave(&mode);
}

/* --- distances -------------------------------------------------------------------- */

uint64_t ulp_distance(uint32_t a, uint32_t b)
{
    if (!is_finite(a) || !is_finite(b)) return same_special(a, b) ? 0 : UINT64_MAX;
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const int64_t d = format_along_line(f32, a) - format_along_line(f32, b);
    return (uint64_t)(d < 0 ? -d : d);
}

void ulp_histogram(size_t bins[HISTOGRAM_BINS], const struct comparison *x)
{
    for (int i = 0; i < HISTOGRAM_BINS; i++) bins[i] = 0;
    for (size_t i = 0; i < elements(x); i++) {
        const uint64_t d = ulp_distance(x->d[i], x->reference32[i]);
        const int bin = d ? 64 - __builtin_clzll(d) : 0;
        bins[bin < HISTOGRAM_BINS ? bin : HISTOGRAM_BINS - 1]++;
    }
}
