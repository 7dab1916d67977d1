/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of things, and the smaller and the larger of two numbers. */
#ifndef BITCUT_LIB_SIZE_H
#define BITCUT_LIB_SIZE_H

#include <stddef.h>

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static inline int smaller_int(int a, int b) { return a < b ? a : b; }
static inline int larger_int(int a, int b) { return a > b ? a : b; }

/* b only if it is larger, so never a NaN in b. */
static inline double larger_double(double a, double b) { return b > a ? b : a; }

/* a / b, rounded up. */
static inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

#endif
