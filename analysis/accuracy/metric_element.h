/* SPDX-License-Identifier: BSD-3-Clause */
/* Single elements of a comparison, for metrics: of FP32 results, of results of a short
   format, and of binary64 results.  Callers are under hostfp_enter(), because subnormals
   count. */
#ifndef BITCUT_ANALYSIS_ACCURACY_METRIC_ELEMENT_H
#define BITCUT_ANALYSIS_ACCURACY_METRIC_ELEMENT_H

#include "analysis/accuracy/metric.h"
#include "analysis/accuracy/short_result.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"

#include <math.h>

/* C at element i, rounded to binary64. */
static inline double exact_at(const struct comparison *x, size_t i)
{
    return double_of_bits(x->reference64[i]);
}

/* Whether C, rounded to the format of D, is finite. */
static inline bool is_finite_at(const struct comparison *x, size_t i)
{
    if (x->is_f64) return isfinite(exact_at(x, i));
    return f32_is_finite(x->reference32[i]) &&
           (!result_is_short(x->format) ||
            fabs(exact_at(x, i)) < format_overflow(x->format));
}

/* The magnitude of C; 0 where it is not finite in the format of D. */
static inline double size_at(const struct comparison *x, size_t i)
{
    return is_finite_at(x, i) ? fabs(exact_at(x, i)) : 0;
}

/* D at element i. */
static inline double result_at(const struct comparison *x, size_t i)
{
    return x->is_f64 ? x->d64[i] : value_of_float(x->d[i]);
}

/* metric_error(), faster where D and C are finite FP32 values. */
static inline double error_at(const struct comparison *x, size_t i)
{
    const bool simple = !x->is_f64 && !result_is_short(x->format) &&
                        f32_is_finite(x->d[i]) && f32_is_finite(x->reference32[i]);
    return simple ? value_of_float(x->d[i]) - exact_at(x, i) : metric_error(x, i);
}

/* The signed error of element i relative to the correctly rounded result, in its ulps. */
double ulps_at(const struct comparison *x, size_t i);

/* Element i of A, of B and of beta C, and alpha; 0 where they are not finite. */
double a_at(const struct comparison *x, size_t i);
double b_at(const struct comparison *x, size_t i);
double c_at(const struct comparison *x, size_t i);
double alpha_of(const struct comparison *x);

/* The unit roundoff of an FP32 or a binary64 GEMM, and its reciprocal. */
static inline double unit_of_result(const struct comparison *x)
{
    return x->is_f64 ? 0x1p-53 : 0x1p-24;
}
static inline double units_in_one(const struct comparison *x)
{
    return x->is_f64 ? 0x1p53 : 0x1p24;
}

#endif
