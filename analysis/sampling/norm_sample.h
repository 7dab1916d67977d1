/* SPDX-License-Identifier: BSD-3-Clause */
/* A weighted sample of the outputs of a GEMM, which estimates their Frobenius norms. */
#ifndef BITCUT_ANALYSIS_SAMPLING_NORM_SAMPLE_H
#define BITCUT_ANALYSIS_SAMPLING_NORM_SAMPLE_H

#include "analysis/accuracy/gemm_data.h"

/* Rows of A and columns of B, with all of k, and the exact results of their outputs.
   Rows and columns are drawn without repetition, each with a probability c proportional
   to its squared norm (c = 1 where this would exceed 1): a systematic sample (Madow
   1949).  An output has the weight 1 / (c of its row times c of its column), so that the
   mean of sums over the sample is the sum over all outputs (Horvitz and Thompson 1952).
   Errors in proportion to |a| |b| all have the same share in these sums.  With `even` all
   rows and columns have the same probability, except those with the largest and the
   smallest norm, which are always included.

   In a GEMM that is more than A B, norms are those of multiplied elements, and the mean
   of all squared norms is added to each squared norm, because an output whose products
   are zero has a value, too. */
struct norm_sample {
    struct gemm_data data;
    size_t *row, *col;       /* which rows of A, and columns of B */
    double *of_row, *of_col; /* 1 / c                     */
    struct judge judge;
    bool all; /* all outputs, each once with weight 1 */
};

/* The sample of a GEMM with these operands; `gemm` has its alpha, beta, start and steps,
   and the format of D, which steps may read: errors are those of a D in FP32.  NULL: A B.
   Returns BITCUT_NO_MEMORY or BITCUT_UNSUPPORTED; then there is nothing to clear. */
enum bitcut_status norm_sample_draw(struct norm_sample *to, const struct gemm_data *all,
                                    const struct bitcut_gemm *gemm, size_t rows,
                                    size_t cols, bool even, uint64_t seed, int threads,
                                    const struct progress *progress, struct fault *f);
void norm_sample_clear(struct norm_sample *w);

/* An error estimated for all outputs, and an upper limit of it by the sample.  For a
   sample of all outputs it is the error itself.  Infinite if an output is wrong
   (metric.h). */
struct norm_sample_error {
    double value, high;
};

/* A row of the table of such errors.  Their functions are called under hostfp_enter(). */
struct norm_sample_metric {
    const char *name, *what; /* as in `metrics`                                */
    bool even;               /* required value of `even` in the sample */
    double want;             /* default for the required error */
    struct norm_sample_error (*find)(const struct norm_sample *w, const uint32_t *d,
                                     double outputs); /* number of all outputs */
    double (*limit)(const struct norm_sample *w,
                    const double *limit); /* the same for limits in place of |D - C|; NaN
                                             if an output has no limit */
};

extern const struct norm_sample_metric norm_sample_metrics[]; /* ended by a NULL name */

#endif
