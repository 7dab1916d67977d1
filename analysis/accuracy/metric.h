/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics: numbers for the distance of a GEMM result from the exact result. */
#ifndef BITCUT_ANALYSIS_ACCURACY_METRIC_H
#define BITCUT_ANALYSIS_ACCURACY_METRIC_H

#include "lib/bitcut.h"
#include "lib/gemm/epilogue.h"

/* The input of metrics: m x n results and the exact alpha A B + beta C; A is m x k, B is
   k x n. */
struct comparison {
    size_t m, n, k;
    const uint32_t *a, *b; /* FP32 encodings                                          */
    const uint8_t *kept;   /* positions of the kept elements of a 2:4 sparse A, as in
                              struct matrix; NULL: not sparse */
    const uint32_t *d;     /* the results                                             */
    const struct bitcut_format *format; /* format of the results, which are widened to
                                           FP32; NULL: f32 */
    bool other; /* the reference is another result of this format, not the exact one */
    const uint32_t *reference32; /* the exact values rounded to FP32 */
    const uint64_t *reference64; /* the exact values rounded to binary64 */
    const double *magnitude; /* |alpha||A||B| + |beta||C|, in binary64                  */
    const double *row_norm, *col_norm; /* set by line_norms(), unless m n = 0 */
    uint32_t alpha, beta;              /* FP32 encodings                              */
    const uint32_t *c;                 /* not read if beta is +-0 */
    const double *limit; /* from error_bound_fp32(); NULL: there is no grade */
    double parts;        /* from error_bound_recipe(), in u */

    /* A GEMM with a bias, factors, a start or other steps, set by judge_extend(): what
       its epilogue reads; NULL: alpha and beta C alone.  The next two are then the exact
       sums of products without start and steps, and their magnitudes; with the factors,
       unless steps apply these.  The last two are A and B times their factors, each
       element rounded, if these are multiplied before the split; otherwise A and B. */
    const struct epilogue_values *extra;
    const double *product, *product_magnitude;
    const uint32_t *multiplied_a, *multiplied_b;

    /* A GEMM of binary64 matrices, set by judge64_init(): if `is_f64`, these members take
       the place of a, b, c, d, alpha and beta.  The exact values are reference64 plus
       low64, as exact64_gemm() (lib/exact/exact64.h) computes them; low64 is 0 where
       reference64 is not finite.  reference32, format, other, kept and extra are unset.
     */
    bool is_f64;
    const double *a64, *b64, *c64, *d64, *low64;
    double alpha64, beta64;
};

/* The number of products of an output. */
static inline size_t comparison_products(const struct comparison *x)
{
    return x->kept ? x->k / 2 : x->k;
}

/* Largest error of parts, in u in 1-norms, dropped products included, that counts as FP32
   in grades.  It is above the largest error of two f16 parts, 8 u rounded to nearest and
   28 u truncated, and below the error of two bf16 parts or one f16 part on uniform
   values, about 90 u and 6000 u. */
enum { METRIC_PARTS_MAX = 32 };

/* The metric `grade` tells whether D is as accurate as a conventional FP32 GEMM, after
   grades A, B, C of Demmel et al., who compare with k u for all data.  Here the limit is
   the error of an FP32 GEMM on the same data: error_bound_fp32().  The grades are
   - 3 if every |D - C| is at most its limit plus (|alpha| k + 2) 2^-150, the loss of
     roundings in the subnormal range (componentwise);
   - 2 otherwise, if mixed_max is at most mixed_limit, the same measure of the limits;
   - 1 otherwise, if normwise is at most normwise_limit;
   - 0 otherwise.  It is also 0 if an element is wrong, or if the parts of the recipe do
     not hold its operands to METRIC_PARTS_MAX u: then D is accurate only in the mean of
     many errors, and no FP32 result.  One f16 part is graded 0 for every k, unless it
     holds A and B exactly.

   grade_worst is max |D - C| / (limit + the loss above); grade 3 means at most 1.  These
   five metrics are NaN without limits. */

/* A row of the metric table.  Sums run over the elements in row-major order in binary64,
   rounded to nearest, so every machine gets the same bits.  `wrong` counts elements for
   which D or the FP32 reference is NaN or infinite, unless both are NaN or the same
   infinity; those count as equal.  A wrong element makes every error metric infinite, and
   effective_bits and grade 0.  Special values of A, B, C, alpha and beta count as 0 in
   norms.  effective_bits uses log2() of the C library.  u is the unit roundoff of the
   format of D, 2^-24 for f32 (analysis/accuracy/short_result.h); ulp(x) is the distance
   between values of that format at x, at least its smallest subnormal number, 2^-149 for
   f32.

   Of a binary64 GEMM, u is 2^-53, ulps are those of binary64, `wrong` counts by D and the
   binary64 reference, effective_bits is at most 106, and limits come from
   error_bound_fp64().  Errors are relative to sizes in binary64: a size beyond its range
   is infinite and makes a relative error 0.  A difference beyond the range counts as the
   largest number.

   A D of a short format is compared with the exact result.  RN(C) is C rounded to
   binary64 and then to the format.  Where C is beyond the range of the format, D is right
   if it is infinite, NaN (a format without infinities) or the largest value, with the
   sign of C, and has an error of 0.  The grade applies to the sum before it is rounded to
   the format: the limits of an FP32 GEMM are compared with metric_unrounded(), and
   `backward_limit`, `mixed_limit` and `normwise_limit` have half an ulp of the format
   more. */
struct metric {
    const char *name, *what;
    double (*value)(const struct comparison *x,
                    int threads); /* called under hostfp_enter() */
    const char *source;
};

/* The rows, by position: `metrics[METRIC_RELRES]`. */
enum {
    METRIC_RELRES,
    METRIC_MAX_ERROR,
    METRIC_MRED,
    METRIC_ULP_MAX,
    METRIC_ULP_MEAN,
    METRIC_ULP_BIAS,
    METRIC_BACKWARD_MAX,
    METRIC_MIXED_MAX,
    METRIC_NORMWISE,
    METRIC_EFFECTIVE_BITS,
    METRIC_GRADE,
    METRIC_GRADE_WORST,
    METRIC_BACKWARD_LIMIT,
    METRIC_MIXED_LIMIT,
    METRIC_NORMWISE_LIMIT,
    METRIC_CONDITION_MAX,
    METRIC_WRONG,
    METRICS
};

extern const struct metric metrics[]; /* ended by a row whose name is NULL */

/* The values of the rows selected in `wanted` by their bits, 1 << METRIC_..., in the
   order of the rows.  Other values are NaN. */
void metrics_find(double values[METRICS], const struct comparison *x, unsigned wanted,
                  int threads);

/* The values of all rows, in their order. */
void metrics_run(double values[METRICS], const struct comparison *x);

/* D - C at element i; infinite if the element is wrong. */
double metric_error(const struct comparison *x, size_t i);

/* The error at element i that D shows of the FP32 result from which it was rounded: |D -
   C| for f32; for a short format result_gap(), or result_gap_between() with `other`.  A
   limit of the FP32 result is also a limit of this error, and no smaller number is.  The
   caller is under hostfp_enter(). */
double metric_unrounded(const struct comparison *x, size_t i);

/* The same relative to |A||B|, and for all elements in norms; in u = 2^-24 for every
   format that FP32 GEMMs have, and in u = 2^-53 for binary64.  The caller is under
   hostfp_enter(). */
double unrounded_at(const struct comparison *x, size_t i);
double normwise_unrounded(const struct comparison *x);

/* |D - C| / |A||B| at element i, in u of the format; backward_max is the largest.  The
   caller is under hostfp_enter(). */
double backward_at(const struct comparison *x, size_t i);

/* The quotient of grade_worst at element i: 0 if there is no error, infinite if there is
   an error where nothing was added. */
double grade_ratio(const struct comparison *x, size_t i);

/* |alpha| ||row i of A|| ||column j of B|| + |beta C|, the unit of mixed errors.  The
   caller is under hostfp_enter(). */
double lines_at(const struct comparison *x, size_t i, size_t j);

/* The 2-norms of the m rows of A and the n columns of B, for a comparison whose m, n, k,
   a and b are set.  Special values count as 0.  Elements are divided by the largest
   element of their row or column, squared, and summed along k in binary64, rounded to
   nearest. */
void line_norms(double *row, double *col, const struct comparison *x, int threads);

enum { HISTOGRAM_BINS = 28 };

/* Count the elements by |D - reference| in steps of the format of D (the number of its
   values between them).  Bin 0 has no difference, bin i has 2^(i-1) to 2^i - 1 steps. The
   last bin has all larger differences, and elements where only D or the reference is
   finite. */
void ulp_histogram(size_t bins[HISTOGRAM_BINS], const struct comparison *x);

/* The number of FP32 steps between two finite encodings; -0 and +0 are one value.
   Returns UINT64_MAX if one encoding is NaN or infinite and the other is not the same. */
uint64_t ulp_distance(uint32_t a, uint32_t b);

#endif
