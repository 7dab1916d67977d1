/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests as lines of Python, ready to be copied. */
#ifndef BITCUT_ANALYSIS_SAMPLING_PYTHON_LINES_H
#define BITCUT_ANALYSIS_SAMPLING_PYTHON_LINES_H

#include "analysis/sampling/tolerance.h"

/* A row of the table of libraries that tests are written for. */
struct python_library {
    const char *name, *what;
    const char *import; /* the line that makes it known   */
    const char *wide; /* after a matrix: it in binary64    */
    const char *before_absolute,
        *after_absolute;                    /* around what magnitudes are taken of */
    const char *most_of_row, *most_of_column; /* after magnitudes: m x 1, and n */
    const char *small; /* a function of x and t: 1 where 0 < x < t, else 0 */
    const char *before_norm, *after_norm; /* around what norms are taken of */
    const char *close;                    /* what asserts allclose() */
};

extern const struct python_library python_libraries[]; /* ended by a NULL name */

enum { PYTHON_LINES = 7, PYTHON_LINE_MAX = 500 };

/* The test of D against alpha A B + beta C, and against magnitudes, both in binary64: a
   line that computes them, two for what underflows (bound_apriori_rest()) where that is no
   small part of the limit, one that asserts the componentwise limit, the bound or the observed ones that
   are known: in |A||B|, and with what underflows where tolerance_needs_rest(); of
   observed limits one for the normwise one; and one for allclose() where that exists;
   returns how many.  Of two results D2 is the other one.  Limits are rounded up, by 1 %
   at most. */
int python_lines(char line[PYTHON_LINES][PYTHON_LINE_MAX],
                 const struct python_library *library, const struct tolerance *t,
                 const struct tolerance_problem *q, bool observed);

#endif
