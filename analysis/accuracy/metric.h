/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics: one number each for how far a GEMM result is from the exact one. */
#ifndef BITCUT_ANALYSIS_ACCURACY_METRIC_H
#define BITCUT_ANALYSIS_ACCURACY_METRIC_H

#include "lib/bitcut.h"

/* What metrics compare: m x n results with the exact alpha A B + beta C, A m x k, B k x
   n. */
struct comparison {
    size_t m, n, k;
    const uint32_t *a, *b; /* FP32 encodings                                          */
    const uint32_t *d;     /* the results                                             */
    const uint32_t *reference32; /* the exact values rounded to FP32 */
    const uint64_t *reference64; /* the exact values rounded to binary64 */
    const double *magnitude; /* |alpha||A||B| + |beta||C|, in binary64                  */
    const double *row_norm, *col_norm; /* line_norms(), unless m n = 0 */
    uint32_t alpha, beta;              /* FP32 encodings                              */
    const uint32_t *c;                 /* not read if beta is +-0                     */
    const double *limit; /* error_bound_fp32(); NULL: there is no grade      */
    double words;        /* of error_bound_recipe(): u                       */
};

/* Words that hold the operands to this many u in 1-norms, and the products dropped with
   them, count as FP32 in grades.  It is above what two words of f16 commit at most, 8 u
   rounded to nearest and 28 u truncated, and below what two of bf16 or one of f16 do on
   uniform values, some 90 and 6000 u. */
enum { METRIC_WORDS_MAX = 32 };

/* `grade` answers whether D is as good as a conventional FP32 GEMM, after grades A, B, C
   of Demmel et al., which compare with k u, whatever the data.  Here an FP32 GEMM's error
   on the same data is the limit: error_bound_fp32().
     3  every |D - C| is at most its limit and (|alpha| k + 2) 2^-150, what each rounding
        loses in the subnormal range (componentwise);
     2  else mixed_max is at most mixed_limit, the same measure of the limits;
     1  else normwise is at most normwise_limit;
     0  else; or if an element is wrong; or if the words of the recipe do not hold its
        operands to METRIC_WORDS_MAX u, so that what is right in D is only the mean of
        many errors, no FP32 result: one word of f16 is graded 0 for every k, unless it
        holds A and B.
   grade_worst is max |D - C| / (limit + that), 3 is at most 1.  These five are NaN
   without limits. */

/* A row of the metric table.  Sums run over the elements in row-major order in binary64,
   to nearest, so every host gets the same bits.  An element that is NaN or infinite, or
   whose reference in FP32 is, makes every measure of error infinite, effective_bits and
   grade 0, and is counted by `wrong`, unless both are NaN or the same infinity: those
   count as equal.  Special values of A, B, C, alpha and beta count as 0 in norms.
   effective_bits uses the host's log2().  u = 2^-24; ulp(x) is the distance of FP32
   values at x, 2^-149 at least. */
struct metric {
    const char *name, *what;
    double (*value)(const struct comparison *x, int threads); /* under hostfp_enter() */
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

/* The values of the rows whose bits, 1 << METRIC_..., are set in `wanted`, by position;
   the others NaN. */
void metrics_find(double values[METRICS], const struct comparison *x, unsigned wanted,
                  int threads);

/* The value of every row, by position. */
void metrics_run(double values[METRICS], const struct comparison *x);

/* D - C at element i; infinite if it is wrong. */
double metric_error(const struct comparison *x, size_t i);

/* |D - C| / |A||B| at element i, in u: backward_max is the largest.  Under
   hostfp_enter(). */
double backward_at(const struct comparison *x, size_t i);

/* The quotient of grade_worst at element i: 0 if there is no error, infinite if there is
   one where nothing was added. */
double grade_ratio(const struct comparison *x, size_t i);

/* |alpha| ||row i of A|| ||column j of B|| + |beta C|: what mixed errors are measured
   against.  Under hostfp_enter(). */
double lines_at(const struct comparison *x, size_t i, size_t j);

/* The 2-norms of the m rows of A and the n columns of B, for a comparison whose m, n, k,
   a and b are set.  Special values count as 0.  Squares, of elements divided by the
   largest of the line, are summed along it in binary64, to nearest. */
void line_norms(double *row, double *col, const struct comparison *x, int threads);

enum { HISTOGRAM_BINS = 28 };

/* Count the elements by |D - reference| in FP32 steps (the number of FP32 values between
   them): bin 0 none, bin i from 2^(i-1) to 2^i - 1; the last bin holds all above and
   those that differ in being finite. */
void ulp_histogram(size_t bins[HISTOGRAM_BINS], const struct comparison *x);

/* The FP32 values between two finite encodings, counted along the line; -0 and +0 are
   one. UINT64_MAX if one is NaN or infinite and the other not the same. */
uint64_t ulp_distance(uint32_t a, uint32_t b);

#endif
