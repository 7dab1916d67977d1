/* Some outputs of a product, so chosen and weighed that they tell its Frobenius norms. */
#ifndef BITCUT_ANALYSIS_ADVISE_WEIGHED_H
#define BITCUT_ANALYSIS_ADVISE_WEIGHED_H

#include "analysis/error/judge.h"
#include "lib/matrix.h"

/* Rows of A and columns of B, with all of k, and what is exact of their outputs.  A line
   is there c times of r, where c is r times its share of the sum of squared norms of all
   lines, rounded up or down; an output counts 1 / (c of its row times c of its column).
   Sums over all outputs are those of the sample in the mean (Horvitz and Thompson 1952,
   of a systematic sample), and errors that are as large as |a| |b| have all the same part
   in them. */
struct weighed {
    struct matrix a, b;
    double *of_row, *of_col; /* 1 / c                     */
    struct judge judge;
    bool all; /* all outputs, each once, of weight 1 */
};

/* BITCUT_NO_MEMORY, BITCUT_CANNOT: nothing to clear. */
enum bitcut_status weighed_draw(struct weighed *to, const struct matrix *a,
                                const struct matrix *b, size_t rows, size_t cols,
                                uint64_t seed, int threads,
                                const struct progress *progress, struct fault *f);
void weighed_clear(struct weighed *w);

/* The relative residual ||D - C||_F / ||C||_F of all outputs, of the D of the sample, and
   its standard error (jackknife over rows and over columns; 0 if the sample is all).
   Infinite if an output is wrong (metric.h).  The calling thread is in the mode of
   hostfp_enter(). */
struct weighed_relres {
    double value, error;
};
struct weighed_relres weighed_relres(const struct weighed *w, const uint32_t *d);

/* The same of limits in place of |D - C|: NaN if an output has none. */
double weighed_limit(const struct weighed *w, const double *limit);

#endif
