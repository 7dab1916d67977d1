/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of binary64 numbers that are in memory, none of them NaN. */
#ifndef BITCUT_LIB_BASE_STATS_H
#define BITCUT_LIB_BASE_STATS_H

#include <stddef.h>

/* Put those that are finite in front, in their order; how many they are.  x may have
   NaN. */
size_t doubles_finite(double *x, size_t count);

/* Sort, ascending. */
void doubles_sort(double *x, size_t count);

/* What is x[count / 2] once x is sorted, which it may be in part only; NaN of none. */
double doubles_median(double *x, size_t count);

#endif
