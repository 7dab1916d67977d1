/* What a GEMM may err by besides a part of |A||B|: what underflows. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_ALLOWANCE_H
#define BITCUT_ANALYSIS_TOLERANCE_ALLOWANCE_H

#include "analysis/error/bound.h"
#include "analysis/error/metric.h"

/* What analysis/error/bound.h has for g besides `relative`, for each of the m n outputs
   of x, rounded upward.  Infinite where an element of A or B is larger than b->most.
   BITCUT_NO_MEMORY. */
enum bitcut_status allowance_fill(double *to, const struct bound_apriori *b,
                                  const struct bitcut_gemm *g, const struct comparison *x,
                                  struct fault *f);

#endif
