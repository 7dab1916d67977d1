/* SPDX-License-Identifier: BSD-3-Clause */
/* A test as a C function, ready to copy. */
#ifndef BITCUT_ANALYSIS_SAMPLING_C_FUNCTION_H
#define BITCUT_ANALYSIS_SAMPLING_C_FUNCTION_H

#include "analysis/sampling/tolerance.h"

enum { C_LINES = 64, C_LINE_MAX = 200 };

/* The test of D against alpha A B + beta C by the observed limits, as in python_lines():
   the lines of a C11 function that returns whether D is accepted, for compilers that
   evaluate double in double.  Returns the number of lines. 0: there is no limit.
   Matrices are dense and row-major.  The problem's `two` must be false.  Limits are
   rounded up, by at most 1 %.  Of an FP64 GEMM by a scheme the componentwise limit alone
   is tested, with a reference whose error is of the order of u^2. */
int c_function(char line[C_LINES][C_LINE_MAX], const struct tolerance *t,
               const struct tolerance_problem *q);

#endif
