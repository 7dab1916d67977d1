/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests as lines of Python, ready to copy. */
#ifndef BITCUT_ANALYSIS_SAMPLING_PYTHON_LINES_H
#define BITCUT_ANALYSIS_SAMPLING_PYTHON_LINES_H

#include "analysis/sampling/tolerance.h"

/* A row of the table of libraries for which tests are written. */
struct python_library {
    const char *name, *what;
    const char *import; /* the line that imports it */
    const char *wide;   /* suffix of a matrix: converts it to binary64 */
    const char *before_absolute, *after_absolute; /* around an array: its magnitudes */
    const char *most_of_row, *most_of_column; /* after magnitudes: the largest of each row
                                                 (m x 1), of each column (n) */
    const char *small; /* a function of x and t: 1 where 0 < x < t, else 0 */
    /* half an ulp of x, by the smallest normal number and by an exponent: before, between
       and after these numbers */
    const char *half, *half_from, *half_by;
    const char *repeat; /* a method: each element so many times along an axis */
    const char *excess; /* a magnitude less half an ulp: around an array and a sum */
    const char *before_norm, *after_norm; /* around an array: its norm */
    const char *close;                    /* the function that asserts allclose() */
};

extern const struct python_library python_libraries[]; /* ended by a NULL name */

/* Of PYTHON_LINES, those of analysis/sampling/python_steps.h. */
enum {
    PYTHON_LINE_MAX = 500,
    PYTHON_STEP_LINES = 24,
    PYTHON_LINES = 8 + PYTHON_STEP_LINES
};

/* The test of D against alpha A B + beta C and magnitudes, both in binary64.  The lines
   are
   - a line that computes both; for a GEMM with a bias, factors or steps, the lines of
     python_steps();
   - two lines for the underflow (bound_apriori_rest()), where it is no small part of the
     limit;
   - for a D of a short format, a line with a function for half an ulp and a line for the
     error before the rounding, at least metric_unrounded();
   - an assertion of the componentwise limit, the bound or the known observed limits: in
     |A||B|, and with underflow where tolerance_needs_rest() is true;
   - for observed limits, an assertion of the normwise limit;
   - an assertion by allclose(), where its limits exist.

   Returns the number of lines; 0 if there is no limit, if A or B were quantized, or if a
   GEMM has more steps than fit or a limit that includes underflow in addition to steps.
   Of an FP64 GEMM by a scheme the lines are those of analysis/sampling/python_fp64.h.
   For two results, D2 is the other one. Limits are rounded up, by at most 1 %. */
int python_lines(char line[PYTHON_LINES][PYTHON_LINE_MAX],
                 const struct python_library *library, const struct tolerance *t,
                 const struct tolerance_problem *q, bool observed);

#endif
