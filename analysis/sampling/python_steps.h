/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact value of a GEMM with a bias, factors or steps, as lines of Python. */
#ifndef BITCUT_ANALYSIS_SAMPLING_PYTHON_STEPS_H
#define BITCUT_ANALYSIS_SAMPLING_PYTHON_STEPS_H

#include "analysis/sampling/python_lines.h"

/* Lines that compute `exact`, the exact value of D before its last rounding, and `size`,
   the same with the absolute values of all terms and factors, in binary64:
   epilogue_exact() of lib/gemm/epilogue.h, an operation a line.  The lines read A, B, C,
   bias, scale_a and scale_b, in the shapes of struct bitcut_gemm; a bias and factors of
   lines may have one dimension.

   Returns the number of lines; 0 if more than PYTHON_STEP_LINES are needed. */
int python_steps(char line[PYTHON_STEP_LINES][PYTHON_LINE_MAX],
                 const struct python_library *library, const struct bitcut_gemm *g);

#endif
