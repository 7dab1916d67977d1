/* SPDX-License-Identifier: BSD-3-Clause */
/* Some outputs of a product, so chosen and weighed that they tell its Frobenius norms. */
#ifndef BITCUT_ANALYSIS_SAMPLING_NORM_SAMPLE_H
#define BITCUT_ANALYSIS_SAMPLING_NORM_SAMPLE_H

#include "analysis/accuracy/judge.h"
#include "lib/gemm/matrix.h"

/* Rows of A and columns of B, with all of k, and what is exact of their outputs.  Lines
   are drawn without repetition, each with a probability c in proportion to its squared
   norm, those for which that would be above 1 for certain (c = 1): a systematic sample
   (Madow 1949).  An output counts 1 / (c of its row times c of its column), so that sums
   over the sample are in the mean those over all outputs (Horvitz and Thompson 1952); of
   errors as large as |a| |b| all have the same part in them.  With `even` all lines are
   as likely as others, but those of the largest and the smallest norm, which are there.
 */
struct norm_sample {
    struct matrix a, b;
    double *of_row, *of_col; /* 1 / c                     */
    struct judge judge;
    bool all; /* all outputs, each once, of weight 1 */
};

/* BITCUT_NO_MEMORY, BITCUT_UNSUPPORTED: nothing to clear. */
enum bitcut_status norm_sample_draw(struct norm_sample *to, const struct matrix *a,
                                    const struct matrix *b, size_t rows, size_t cols,
                                    bool even, uint64_t seed, int threads,
                                    const struct progress *progress, struct fault *f);
void norm_sample_clear(struct norm_sample *w);

/* An error of all outputs, and what it is below as far as the sample tells; of a sample
   that is all, itself.  Infinite if an output is wrong (metric.h). */
struct norm_sample_error {
    double value, high;
};

/* A row of the table of such errors.  Their functions are called in the mode of
   hostfp_enter(). */
struct norm_sample_metric {
    const char *name, *what; /* as in `metrics`                                */
    bool even;               /* what the sample has to be                      */
    double want;             /* what will do, unless somebody says otherwise   */
    struct norm_sample_error (*find)(const struct norm_sample *w, const uint32_t *d,
                                     double outputs); /* how many there are in all */
    double (*limit)(const struct norm_sample *w, const double *limit); /* of limits in
                        place of |D - C|; NaN if an output has none            */
};

extern const struct norm_sample_metric norm_sample_metrics[]; /* ended by a NULL name */

#endif
