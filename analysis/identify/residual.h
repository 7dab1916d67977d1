/* SPDX-License-Identifier: BSD-3-Clause */
/* Which faults of those that change the exact product bring it nearer to a result. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_RESIDUAL_H
#define BITCUT_ANALYSIS_IDENTIFY_RESIDUAL_H

#include "analysis/identify/fault.h"

/* How far some of the block's outputs are from the exact product, by sums in binary64, as
   a fault changes it; NULL: no fault.  In the sum of |A||B| of the same outputs; what is
   not finite is left out.  INFINITY: there is no such fault, or no number. */
double residual_misfit(const struct space *s, const struct block *b,
                       const struct kernel_fault_choice *fault);

/* The FP32 encoding of a short number by which all outputs, without C and over alpha, are
   larger than the exact product, though not to the last bit; 0: there is none. */
uint32_t residual_start(const struct space *s, const struct block *b);

#endif
