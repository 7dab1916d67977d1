/* SPDX-License-Identifier: BSD-3-Clause */
/* Studies that combine inputs with methods: every pair of matrices with every GEMM. */
#ifndef BITCUT_ANALYSIS_STUDY_CROSSING_H
#define BITCUT_ANALYSIS_STUDY_CROSSING_H

#include "analysis/study/method_comparison.h"

/* Input families of A and B, and the name of the pair. */
struct pair_of {
    const char *name, *a, *b;
};

/* The combinations of a study: its `about`. */
struct crossing {
    const struct pair_of *pairs;
    int count;                     /* number of pairs */
    const struct entrant *methods; /* ended by a method without a name */
    size_t n_most;                 /* larger sizes are left out; 0: none */
};

/* A point is a pair, an n and a seed, n x n x n.  It has a row for each method: "series",
   "pair", "recipe" (the method's name), "unit" (null: an FP32 loop without a unit),
   "split" (or the format of a single part; null: whole FP32 values), "a", "b", "n",
   "round" (number of the seed), "relres", "mred", "bias" (mean error in ulps), and
   "backward_max", all against the exact product. */
size_t crossing_points(const struct study *study, enum study_scale scale);
uint64_t crossing_work(const struct study *study, enum study_scale scale, size_t at);
enum bitcut_status crossing_run(const struct study *study, struct study_point *p,
                                struct fault *f);

#define CROSSING_PLOT(PANELS, SEES)                                                      \
    .threaded = true, .points = crossing_points, .work = crossing_work,                  \
    .run = crossing_run,                                                                 \
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
