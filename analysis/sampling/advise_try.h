/* SPDX-License-Identifier: BSD-3-Clause */
/* The trial of a GEMM on samples of products. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_TRY_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_TRY_H

#include "analysis/sampling/advise.h"
#include "analysis/sampling/advise_operand.h"

/* Outputs of one product on which recipes are tried, and other outputs on which the
   result is checked. */
struct advise_sample {
    const struct norm_sample_metric *metric;
    uint32_t largest[2]; /* largest magnitudes of A and B, here or in other data */
    double outputs;      /* number of outputs of the product */
    struct norm_sample first, second; /* the second has four times as many outputs */
    uint32_t *d;                      /* space for the outputs of either sample */
    const struct matrix *a, *b;       /* the product */
    struct advise_operand *operand;   /* [A, B][quantizer]: made when they are needed */
    struct matrix whole[2][2]; /* [first, second][A, B]: elements with their zero points;
                                  `at` is NULL if there is none */
};

/* The samples of every product of a problem. */
struct advise_samples {
    struct advise_sample *of;
    size_t count;
    int threads;
    const struct progress *progress;
};

/* Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop; then there is nothing
   to clear. */
enum bitcut_status advise_samples_draw(struct advise_samples *to,
                                       const struct advise_problem *q, int threads,
                                       const struct progress *progress, struct fault *f);
void advise_samples_clear(struct advise_samples *s);

/* Compute t->gemm on the first samples; the largest error counts.  Returns
   BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if asked to stop, or a status of bitcut_gemm(). */
enum bitcut_status advise_try(struct advise_trial *t, const struct advise_samples *s,
                              struct fault *f);

/* The same on the second samples, which sets `checked` and `bound`, and on the first ones
   `quantization` and `rounding`.  The bound is NaN with quantizers or a short D. */
enum bitcut_status advise_check(struct advise_trial *t, const struct advise_samples *s,
                                struct fault *f);

#endif
