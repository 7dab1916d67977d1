/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of all outputs of a GEMM. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_LIMITS_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_LIMITS_H

#include "analysis/accuracy/bound.h"

/* Those of the row `aligned`: of each output sum_k retained_lost() of its elements and
   the terms of the recipe, each as large as its words are there times what it errs by on
   its way (accumulation_error.term); and what underflows.  A product of magnitudes is a
   sum over what words keep of B; what it is of A is rounded up to FP32, in a row scaled
   by a power of two, so that sums are those of exact_gemm(). */
enum bitcut_status bound_fill_aligned(double *limit, const struct bound_problem *x,
                                      int threads, const struct progress *progress,
                                      struct fault *f);

#endif
