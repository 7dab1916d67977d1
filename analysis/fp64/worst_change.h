/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a few elements of A and B, drawn at random: exponents along k, signs,
   fractions. */
#ifndef BITCUT_ANALYSIS_FP64_WORST_CHANGE_H
#define BITCUT_ANALYSIS_FP64_WORST_CHANGE_H

#include "lib/number/rand.h"

/* Rows of A and columns of B, k elements each. */
struct worst_lines {
    size_t m, n, k;
    double *a, *b;
};

/* Change the elements of a random set of indices k, in all rows and columns or in one of
   each, by a random row of the table of changes. */
void worst_change(struct worst_lines *x, struct rng *random);

/* The binades that the nonzero elements of a line span, from the exponent of the smallest
   to that of the largest. */
int worst_spread(const double *x, size_t k);

/* Whether all magnitudes are 0 or from 2^-200 to 2^200, and no line spans more than
   `range` binades. */
bool worst_allowed(const struct worst_lines *x, int range);

#endif
