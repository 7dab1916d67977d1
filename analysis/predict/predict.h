/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions: the checks that all libraries share, the answer, and D. */
#ifndef BITCUT_ANALYSIS_PREDICT_PREDICT_H
#define BITCUT_ANALYSIS_PREDICT_PREDICT_H

#include "analysis/predict/library.h"

/* Of so many calls whose algorithm the decision trees chose, one had another order of k
   (data/README.md, "libraries/plans"). */
enum { PREDICT_WRONG_ONE_IN = 21500 };

/* The fields and the lines of struct prediction (lib/base/record.h). */
extern const struct record_field predict_fields[], predicted_fields[];
extern const struct record_line predict_lines[];

/* What computes which outputs, as a sentence. */
void predict_describe(char *text, size_t size, const void *prediction);

/* Find a library, its chip and its types for the formats of a GEMM.  A fault names the
   option that is wrong. */
enum bitcut_status predict_choose(struct prediction *x, const struct bitcut_gemm *g,
                                  const struct bitcut_predict_options *o,
                                  struct fault *f);

/* Predict g, a GEMM that gemm_take() accepted, by what predict_choose() chose; the caller
   clears *x also after a failure. */
enum bitcut_status predict_find(struct prediction *x, const struct bitcut_gemm *g,
                                struct fault *f);

/* A caller's GEMM by computation i of its prediction: the sizes, the matrices, alpha,
   beta, the bias and the factors of g, and the rest of the computation. */
struct bitcut_gemm predict_gemm(const struct prediction *x, size_t i,
                                const struct bitcut_gemm *g);

/* Compute D of g by a prediction of it. */
enum bitcut_status predict_compute(const struct prediction *x, const struct bitcut_gemm *g,
                                   int threads, char *why);

#endif
