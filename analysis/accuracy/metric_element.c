/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/metric_element.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"
#include "lib/number/hostfp.h"

#include <float.h>
#include <math.h>

/* --- elements --------------------------------------------------------------------- */

/* Both NaN, or the same infinity. */
static bool same_special(uint32_t a, uint32_t b)
{
    return a == b || (f32_is_nan(a) && f32_is_nan(b));
}

static double short_error(const struct comparison *x, size_t i)
{
    if (is_finite_at(x, i))
        return f32_is_finite(x->d[i]) ? value_of_float(x->d[i]) - exact_at(x, i)
                                      : (double)INFINITY;
    return result_gap(x->format, x->d[i], exact_at(x, i)) == 0 ? 0 : (double)INFINITY;
}

/* A difference of finite numbers, or one that overflowed. */
static double in_range(double x) { return isinf(x) ? copysign(DBL_MAX, x) : x; }

/* D - high at a binary64 element; for metric_error() when D or C is not finite. */
static double f64_difference(const struct comparison *x, size_t i)
{
    const double d = x->d64[i], c = exact_at(x, i);
    if (isfinite(d) && isfinite(c)) return in_range(d - c);
    return d == c || (isnan(d) && isnan(c)) ? 0 : (double)INFINITY;
}

/* The difference is exact near C, where the remainder of C counts. */
static double f64_error(const struct comparison *x, size_t i)
{
    const double difference = f64_difference(x, i);
    return isfinite(exact_at(x, i)) && isfinite(difference)
               ? in_range(difference - x->low64[i])
               : difference;
}

/* 0 for the same special value, infinite if only one is special. */
double metric_error(const struct comparison *x, size_t i)
{
    if (x->is_f64) return f64_error(x, i);
    if (result_is_short(x->format)) return short_error(x, i);
    if (!f32_is_finite(x->d[i]) || !f32_is_finite(x->reference32[i]))
        return same_special(x->d[i], x->reference32[i]) ? 0 : (double)INFINITY;
    return value_of_float(x->d[i]) - exact_at(x, i);
}

double metric_unrounded(const struct comparison *x, size_t i)
{
    if (x->is_f64 || !result_is_short(x->format)) return fabs(metric_error(x, i));
    return x->other ? result_gap_between(x->format, x->d[i], x->reference32[i])
                    : result_gap(x->format, x->d[i], exact_at(x, i));
}

static double unit_in_last_place(uint32_t x)
{
    const int field = (int)(x >> 23 & 0xff);
    return double_of_bits((uint64_t)((field ? field : 1) - 150 + 1023) << 52);
}

/* ulps_at() for a short format, and for binary64. */
static double short_ulps_at(const struct comparison *x, size_t i)
{
    if (!is_finite_at(x, i) || !f32_is_finite(x->d[i])) return metric_error(x, i);
    const double rounded = value_of_float(result_rounded(x->format, exact_at(x, i)));
    return (value_of_float(x->d[i]) - rounded) / format_ulp(x->format, rounded);
}

static double f64_ulps_at(const struct comparison *x, size_t i)
{
    const double difference = f64_difference(x, i);
    if (difference == 0 || isinf(difference)) return difference;
    return in_range(difference / format_ulp(&formats[FORMAT_F64], exact_at(x, i)));
}

double ulps_at(const struct comparison *x, size_t i)
{
    if (x->is_f64) return f64_ulps_at(x, i);
    if (result_is_short(x->format)) return short_ulps_at(x, i);
    if (!f32_is_finite(x->d[i]) || !f32_is_finite(x->reference32[i]))
        return metric_error(x, i);
    return (value_of_float(x->d[i]) - value_of_float(x->reference32[i])) /
           unit_in_last_place(x->reference32[i]);
}

/* --- operands --------------------------------------------------------------------- */

/* Values that are not finite count as 0; they are found in the elements. */
static double finite_or_0(uint32_t x) { return f32_is_finite(x) ? value_of_float(x) : 0; }
static double f64_or_0(double x) { return isfinite(x) ? x : 0; }

double a_at(const struct comparison *x, size_t i)
{
    return x->is_f64 ? f64_or_0(x->a64[i]) : finite_or_0(x->a[i]);
}

double b_at(const struct comparison *x, size_t i)
{
    return x->is_f64 ? f64_or_0(x->b64[i]) : finite_or_0(x->b[i]);
}

double alpha_of(const struct comparison *x)
{
    return x->is_f64 ? f64_or_0(x->alpha64) : finite_or_0(x->alpha);
}

double c_at(const struct comparison *x, size_t i)
{
    if (x->is_f64) return x->beta64 == 0 ? 0 : f64_or_0(x->beta64) * f64_or_0(x->c64[i]);
    if (x->beta << 1 == 0) return 0;
    return finite_or_0(x->beta) * finite_or_0(x->c[i]);
}

/* --- norms of lines --------------------------------------------------------------- */

enum { LINES = 256 };

/* Rows or columns: element p < k of line i is at [i * line_stride + p * stride] of the
   array that is not NULL. */
struct line_elements {
    const uint32_t *f32;
    const double *f64;
    size_t lines, line_stride, k, stride;
};

static inline double line_element(const struct line_elements *l, size_t i, size_t p)
{
    const size_t at = i * l->line_stride + p * l->stride;
    return l->f64 ? f64_or_0(l->f64[at]) : finite_or_0(l->f32[at]);
}

/* The norms of at most LINES lines, scaled so that no square overflows. */
static void norms_find(double *norm, const struct line_elements *l)
{
    double most[LINES] = { 0 }, sum[LINES] = { 0 };
    for (size_t p = 0; p < l->k; p++)
        for (size_t i = 0; i < l->lines; i++)
            most[i] = larger_double(most[i], fabs(line_element(l, i, p)));
    for (size_t p = 0; p < l->k; p++)
        for (size_t i = 0; i < l->lines; i++) {
            const double v = line_element(l, i, p) / most[i];
            sum[i] += v * v;
        }
    for (size_t i = 0; i < l->lines; i++)
        norm[i] = most[i] == 0 ? 0 : most[i] * sqrt(sum[i]);
}

static struct line_elements row_elements(const struct comparison *x, size_t i)
{
    return (struct line_elements){ .f32 = x->is_f64 ? NULL : x->a + i * x->k,
                                   .f64 = x->is_f64 ? x->a64 + i * x->k : NULL,
                                   .lines = 1,
                                   .k = x->k,
                                   .stride = 1 };
}

static struct line_elements column_elements(const struct comparison *x, size_t first,
                                            size_t count)
{
    return (struct line_elements){ .f32 = x->is_f64 ? NULL : x->b + first,
                                   .f64 = x->is_f64 ? x->b64 + first : NULL,
                                   .lines = count,
                                   .line_stride = 1,
                                   .k = x->k,
                                   .stride = x->n };
}

void line_norms(double *row, double *col, const struct comparison *x, int threads)
{
    const size_t rows = divide_up(x->m, LINES), columns = divide_up(x->n, LINES);
    const int team = threads_for_work(threads, rows + columns, LINES * 2 * (x->m + x->n));
    (void)team;
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (size_t part = 0; part < rows + columns; part++) {
        const size_t first = (part < rows ? part : part - rows) * LINES;
        const size_t count = smaller(LINES, (part < rows ? x->m : x->n) - first);
        struct hostfp mode;
        hostfp_enter(&mode);
        if (part >= rows) {
            const struct line_elements elements = column_elements(x, first, count);
            norms_find(col + first, &elements);
        }
        for (size_t i = first; part < rows && i < first + count; i++) {
            const struct line_elements elements = row_elements(x, i);
            norms_find(row + i, &elements);
        }
        hostfp_leave(&mode);
    }
}

/* --- distances -------------------------------------------------------------------- */

/* The number of steps of a format between two finite encodings. */
static uint64_t steps_between(const struct bitcut_format *f, uint64_t a, uint64_t b)
{
    const int64_t x = format_along_line(f, a), y = format_along_line(f, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

uint64_t ulp_distance(uint32_t a, uint32_t b)
{
    if (!f32_is_finite(a) || !f32_is_finite(b))
        return same_special(a, b) ? 0 : UINT64_MAX;
    return steps_between(&formats[FORMAT_F32], a, b);
}

static uint64_t f64_distance(const struct comparison *x, size_t i)
{
    const double difference = f64_difference(x, i);
    if (difference == 0 || isinf(difference)) return difference == 0 ? 0 : UINT64_MAX;
    return steps_between(&formats[FORMAT_F64], bits_of_double(x->d64[i]),
                         x->reference64[i]);
}

/* The number of values of the format of D between it and C. */
static uint64_t short_distance(const struct comparison *x, size_t i)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32], *const to = x->format;
    const struct bitcut_rounding *const rn = &roundings[ROUND_RN];
    const uint32_t c = result_rounded(to, exact_at(x, i));
    if (!f32_is_finite(x->d[i]) || !f32_is_finite(c))
        return metric_error(x, i) == 0 ? 0 : UINT64_MAX;
    return steps_between(to, bitcut_format_convert(to, rn, f32, x->d[i]),
                         bitcut_format_convert(to, rn, f32, c));
}

void ulp_histogram(size_t bins[HISTOGRAM_BINS], const struct comparison *x)
{
    for (int i = 0; i < HISTOGRAM_BINS; i++) bins[i] = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const uint64_t d = x->is_f64 ? f64_distance(x, i)
                           : result_is_short(x->format)
                               ? short_distance(x, i)
                               : ulp_distance(x->d[i], x->reference32[i]);
        const int bin = d ? 64 - __builtin_clzll(d) : 0;
        bins[bin < HISTOGRAM_BINS ? bin : HISTOGRAM_BINS - 1]++;
    }
}
