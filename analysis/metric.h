/* Metrics: one number each for how far a GEMM result is from the exact one. */
#ifndef BITCUT_ANALYSIS_METRIC_H
#define BITCUT_ANALYSIS_METRIC_H

#include "lib/bitcut.h"

/* What metrics compare: m x n results with the exact product of A (m x k) and B (k x
   n). */
struct comparison {
    size_t m, n, k;
    const uint32_t *a, *b; /* FP32 encodings                                          */
    const uint32_t *d;     /* the results                                             */
    const uint32_t *reference32; /* the exact values rounded to FP32 */
    const uint64_t *reference64; /* the exact values rounded to binary64 */
    const double *magnitude; /* |A||B|, in binary64                                     */
    const double *row_norm, *col_norm; /* line_norms(), unless m n = 0 */
};

/* A row of the metric table.  Sums run over the elements in row-major order in binary64,
   to nearest, so every host gets the same bits.  An element that is NaN or infinite, or
   whose reference in FP32 is, makes every measure of error infinite, effective_bits and
   grade 0, and is counted by `wrong`, unless both are NaN or the same infinity: those
   count as equal.  Special values of A
   and B count as 0 in their norms.  effective_bits uses the host's log2().  u = 2^-24;
   ulp(x) is the distance of FP32 values at x, 2^-149 at least. */
struct metric {
    const char *name, *what;
    double (*value)(const struct comparison *x);
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
    METRIC_CONDITION_MAX,
    METRIC_WRONG,
    METRICS
};

extern const struct metric metrics[]; /* ended by a row whose name is NULL */

/* The value of every row, by position. */
void metrics_run(double values[METRICS], const struct comparison *x);

/* The 2-norms of the m rows of A and the n columns of B, for a comparison whose m, n, k,
   a and b are set.  Special values count as 0.  Squares, of elements divided by the
   largest of the line, are summed along it in binary64, to nearest. */
void line_norms(double *row, double *col, const struct comparison *x);

enum { HISTOGRAM_BINS = 28 };

/* Count the elements by |D - reference| in FP32 steps (the number of FP32 values between
   them): bin 0 none, bin i from 2^(i-1) to 2^i - 1; the last bin holds all above and
   those that differ in being finite. */
void ulp_histogram(size_t bins[HISTOGRAM_BINS], const struct comparison *x);

/* The FP32 values between two finite encodings, counted along the line; -0 and +0 are
   one. UINT64_MAX if one is NaN or infinite and the other not the same. */
uint64_t ulp_distance(uint32_t a, uint32_t b);

#endif
