/* SPDX-License-Identifier: BSD-3-Clause */
/* A test as a function of C, ready to be copied. */
#ifndef BITCUT_ANALYSIS_SAMPLING_C_FUNCTION_H
#define BITCUT_ANALYSIS_SAMPLING_C_FUNCTION_H

#include "analysis/sampling/tolerance.h"

enum { C_LINES = 64, C_LINE_MAX = 200 };

/* The test of D against alpha A B + beta C by the observed limits, as python_lines() has
   it: the lines of a function of C11 without `double` in wider registers, that returns
   whether D is accepted; how many.  0: there is no limit.  Matrices are dense and stored
   by rows; the problem's `two` is false.  Limits are rounded up, by 1 % at most. */
int c_function(char line[C_LINES][C_LINE_MAX], const struct tolerance *t,
               const struct tolerance_problem *q);

#endif
