/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact attention (bitcut_attention_exact() in lib/bitcut.h). */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_EXACT_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_EXACT_H

#include "lib/base/progress.h"
#include "lib/base/status.h"

/* How many outputs each layer settled: binary64, MPFR, and by recognising an exact
   value. */
struct attention_exact_counts {
    size_t by_double, by_mpfr, exact;
};

struct attention_exact_options {
    int threads;                     /* 0: all processors                              */
    const struct progress *progress; /* or NULL                                        */
    bool only_mpfr;                  /* leave out binary64; for tests                  */
    double *values; /* or NULL: the exact results in binary64 as well, [head][query]
                       [value_dim]; their error is below 2^-35 of the largest |V| of the
                       column, where scores are below 2^10                              */
};

/* Compute O exactly for an attention that attention_take() accepted and whose matrices
   were checked.  `counts` may be NULL. */
enum bitcut_status attention_exact(struct attention_exact_counts *counts,
                                   const struct bitcut_attention *a,
                                   const struct attention_exact_options *options,
                                   struct fault *f);

#endif
