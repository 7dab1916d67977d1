/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that change the exact product and bring it nearer to a result. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_RESIDUAL_H
#define BITCUT_ANALYSIS_IDENTIFY_RESIDUAL_H

#include "analysis/identify/fault.h"

/* The distance of some of the block's outputs from the exact product, changed by a fault
   (NULL: no fault), with sums in binary64, relative to the sum of |A||B| of the same
   outputs.  Values that are not finite are left out.  INFINITY: there is no such fault,
   or no finite value. */
double residual_misfit(const struct space *s, const struct block *b,
                       const struct kernel_fault_choice *fault);

/* The FP32 encoding of a short number by which all outputs, without C and divided by
   alpha, exceed the exact product approximately. 0: there is none. */
uint32_t residual_start(const struct space *s, const struct block *b);

/* The decimal or binary number with the fewest digits that is this near to x; 0: none. */
float residual_short_number(double x, double tolerance);

#endif
