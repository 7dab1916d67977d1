/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of exact attention on vector instructions.  Every level gives the same
   bits, because each element is computed by itself and nothing is fused. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_SUMS_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_SUMS_H

#include <stddef.h>

/* A row of the table of levels, ended by a row whose name is NULL; the last one runs
   everywhere.  In the mode of hostfp_enter(). */
struct attention_sums {
    const char *name, *what;
    /* score[j] += x k[j] and size[j] += |x k[j]| for j < count. */
    void (*add_scores)(double *score, double *size, double x, const double *k,
                       size_t count);
    /* sum[p] += w v[p] for p < count. */
    void (*add_values)(double *sum, double w, const double *v, size_t count);
};

extern const struct attention_sums attention_sums[];

/* The first row that this processor supports. */
const struct attention_sums *attention_sums_best(void);

#endif
