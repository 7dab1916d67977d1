/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits for all outputs of a GEMM. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_LIMITS_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_LIMITS_H

#include "analysis/accuracy/bound.h"

/* The limits of the row `aligned`.  The limit of an output is the sum over k of
   retained_lost() of its elements, plus the terms of the recipe, each with the actual
   magnitudes of its parts times the accumulation error (accumulation_error.term), plus
   underflow.  A product of magnitudes is a sum over the magnitudes that parts retain of
   B; the magnitudes of A are rounded up to FP32, in a row scaled by a power of two, so
   that the sums can be computed by exact_gemm(). */
enum bitcut_status bound_fill_aligned(double *limit, const struct bound_problem *x,
                                      int threads, const struct progress *progress,
                                      struct fault *f);

#endif
