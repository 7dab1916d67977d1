/* SPDX-License-Identifier: BSD-3-Clause */
/* Single elements of a comparison, for metrics: of FP32 results, of results of a short
   format, and of binary64 results.  Callers are under hostfp_enter(), because subnormals
   count. */
#ifndef BITCUT_ANALYSIS_ACCURACY_METRIC_ELEMENT_H
#define BITCUT_ANALYSIS_ACCURACY_METRIC_ELEMENT_H

#include "analysis/accuracy/metric.h"

/* C at element i, rounded to binary64, and its magnitude; 0 for a magnitude that is not
   finite in the format of D. */
double exact_at(const struct comparison *x, size_t i);
double size_at(const struct comparison *x, size_t i);

/* Whether C, rounded to the format of D, is finite. */
bool is_finite_at(const struct comparison *x, size_t i);

/* D at element i. */
double result_at(const struct comparison *x, size_t i);

/* The signed error of element i relative to the correctly rounded result, in its ulps. */
double ulps_at(const struct comparison *x, size_t i);

/* Element i of A, of B and of beta C, and alpha; 0 where they are not finite. */
double a_at(const struct comparison *x, size_t i);
double b_at(const struct comparison *x, size_t i);
double c_at(const struct comparison *x, size_t i);
double alpha_of(const struct comparison *x);

/* The reciprocal of the unit roundoff of an FP32 or a binary64 GEMM. */
static inline double units_in_one(const struct comparison *x)
{
    return x->is_f64 ? 0x1p53 : 0x1p24;
}

#endif
