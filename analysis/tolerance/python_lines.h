/* Tests as lines of Python, ready to be copied. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_PYTHON_LINES_H
#define BITCUT_ANALYSIS_TOLERANCE_PYTHON_LINES_H

#include "analysis/tolerance/tolerance.h"

/* A row of the table of libraries that tests are written for. */
struct python_library {
    const char *name, *what;
    const char *wide; /* after a matrix: it in binary64    */
    const char *before_absolute,
        *after_absolute;                    /* around what magnitudes are taken of */
    const char *sum_of_row, *sum_of_column; /* after magnitudes: m x 1, and n */
    const char *most_of_row, *most_of_column;
    const char *before_norm, *after_norm; /* around what norms are taken of */
    const char *close;                    /* what asserts allclose() */
};

extern const struct python_library python_libraries[]; /* ended by a NULL name */

enum { PYTHON_LINES = 5, PYTHON_LINE_MOST = 400 };

/* The test of D against alpha A B + beta C, and against magnitudes, both in binary64: a
   line that computes them, one for what underflows where that is no small part of the
   limit, one that asserts the componentwise limit, the bound or the observed one; of
   observed limits one for the normwise one; and one for allclose() where that exists;
   returns how many.  Of two results D2 is the other one.  Limits are rounded up, by 1 %
   at most. */
int python_lines(char line[PYTHON_LINES][PYTHON_LINE_MOST],
                 const struct python_library *library, const struct tolerance *t,
                 const struct tolerance_question *q, bool observed);

/* Whether allclose() is worth having by the bound, or by the observed limit. */
bool allclose_exists(const struct tolerance *t, bool observed);

/* Whether lines need none for what underflows: an observed limit has it; beside a bound
   it is below 1 % in all runs. */
bool lost_is_small(const struct tolerance *t, bool observed);

/* The limit on |D - C| / |A||B| that lines have, before it is rounded: with t->sums, and
   with twice what underflows where that has no line. */
double python_limit(const struct tolerance *t, bool observed);

#endif
