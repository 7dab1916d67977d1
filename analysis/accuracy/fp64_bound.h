/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bound of a conventional binary64 GEMM on the same data. */
#ifndef BITCUT_ANALYSIS_ACCURACY_FP64_BOUND_H
#define BITCUT_ANALYSIS_ACCURACY_FP64_BOUND_H

#include "analysis/accuracy/metric.h"
#include "lib/base/progress.h"

/* Set limit[m n] to the error that a DGEMM can have at each element, for a comparison
   with `is_f64`: error_bound_fp32() (analysis/accuracy/fp32_bound.h) with u = 2^-53.  The
   actual error is that of a loop with k ascending that rounds every product and every
   sum, so that all processors get the same bits.

   The limit is infinite where this loop overflows.  It has no meaning for an element that
   is not finite.  Threads change no bit.  Returns BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status error_bound_fp64(double *limit, const struct comparison *x,
                                    int threads, const struct progress *progress,
                                    struct fault *f);

#endif
