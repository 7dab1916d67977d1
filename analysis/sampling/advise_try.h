/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM tried on samples of products. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_TRY_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_TRY_H

#include "analysis/sampling/advise.h"

/* Outputs that recipes are tried on, and others on which what is then said is checked, of
   one product. */
struct advise_sample {
    const struct norm_sample_metric *metric;
    uint32_t largest[2];              /* magnitudes of A and B, or elsewhere       */
    double outputs;                   /* that there are in all                     */
    struct norm_sample first, second; /* the second has four times as many outputs */
    uint32_t *d;                      /* room for those of either                  */
};

/* Those of every product of a problem. */
struct advise_samples {
    struct advise_sample *of;
    size_t count;
    int threads;
    const struct progress *progress;
};

/* BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop: nothing to clear. */
enum bitcut_status advise_samples_draw(struct advise_samples *to,
                                       const struct advise_problem *q, int threads,
                                       const struct progress *progress, struct fault *f);
void advise_samples_clear(struct advise_samples *s);

/* Run t->gemm on the first samples: of several errors the largest counts.
   BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if asked to stop, or as bitcut_gemm(). */
enum bitcut_status advise_try(struct advise_trial *t, const struct advise_samples *s,
                              struct fault *f);

/* And on the second, which sets `checked` and `bound`. */
enum bitcut_status advise_check(struct advise_trial *t, const struct advise_samples *s,
                                struct fault *f);

#endif
