/* SPDX-License-Identifier: BSD-3-Clause */
/* What limits of all rows of the table of bounds are made with. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_FACTOR_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_FACTOR_H

#include "analysis/accuracy/bound.h"

/* Correct a binary64 sum of k magnitudes, and a few further operations, which is too
   small by at most this factor. */
double bound_raised(double x, size_t k);

enum bitcut_status bound_no_memory(struct fault *f);

/* The magnitude by which the unit or a promotion multiplies products with element p of a
   row of A or a column of B. */
double bound_factor_at(const struct comparison *x, bool of_b, size_t line, size_t p);

/* The largest of these, and 1. */
double bound_factor_most(const struct comparison *x, bool of_b, size_t line);

#endif
