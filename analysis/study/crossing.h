/* SPDX-License-Identifier: BSD-3-Clause */
/* Studies that cross inputs with methods: every pair of matrices, each by every GEMM. */
#ifndef BITCUT_ANALYSIS_STUDY_CROSSING_H
#define BITCUT_ANALYSIS_STUDY_CROSSING_H

#include "analysis/study/method_comparison.h"

/* Input families of A and B, and what the pair is called. */
struct pair_of {
    const char *name, *a, *b;
};

/* What a study crosses: its `about`. */
struct crossing {
    const struct pair_of *pairs;
    int count;                     /* of pairs                              */
    const struct entrant *methods; /* ended by one without a name           */
    size_t n_most;                 /* sizes beyond are left out; 0: none is */
};

/* A point is a pair, an n and a seed, n x n x n; it has a row for each method: "series",
   "pair", "recipe" (the method's name), "unit" (null: an FP32 loop, on none), "split" (or
   the format of a single word; null: FP32 values whole), "a", "b", "n", "round" (of the
   seed), "relres", "mred", "bias" (mean error in ulps), "backward_max", all against the
   exact product. */
size_t crossing_points(const struct study *study, enum study_scale scale);
enum bitcut_status crossing_run(const struct study *study, struct study_point *p,
                                struct fault *f);

#define CROSSING_PLOT(PANELS, SEES)                                                      \
    .threaded = true, .points = crossing_points, .run = crossing_run,                    \
    .plot = { .x = "n",                                                                  \
              .y = "relres",                                                             \
              .series = "recipe",                                                        \
              .panels = PANELS,                                                          \
              .spread = "round",                                                         \
              .sees = SEES,                                                              \
              .x_label = "n",                                                            \
              .y_label = "relative residual",                                            \
              .x_log = true,                                                             \
              .y_log = true }

#endif
