/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of binary64 numbers in memory.  None of the numbers is NaN. */
#ifndef BITCUT_LIB_BASE_STATS_H
#define BITCUT_LIB_BASE_STATS_H

#include <stddef.h>

/* Move the finite numbers to the front, in their order, and return how many they are.  x
   may contain NaN. */
size_t doubles_finite(double *x, size_t count);

/* Sort, ascending. */
void doubles_sort(double *x, size_t count);

/* The value of x[count / 2] after sorting x; NaN if count is 0.  x may be sorted only in
   part afterwards. */
double doubles_median(double *x, size_t count);

#endif
