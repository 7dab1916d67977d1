/* Tests as lines of Python, ready to be copied. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_LINES_H
#define BITCUT_ANALYSIS_TOLERANCE_LINES_H

#include "analysis/tolerance/tolerance.h"

/* A row of the table of libraries that tests are written for. */
struct lines_library {
    const char *name, *what;
    const char *wide; /* after a matrix: it in binary64    */
    const char *before_absolute,
        *after_absolute;                    /* around what magnitudes are taken of */
    const char *sum_of_row, *sum_of_column; /* after magnitudes: m x 1, and n */
    const char *most_of_row, *most_of_column;
    const char *close; /* what asserts allclose() */
};

extern const struct lines_library lines_libraries[]; /* ended by a NULL name */

enum { LINES = 4, LINE_MOST = 400 };

/* The test of D against alpha A B + beta C, and against magnitudes, both in binary64: a
   line that computes them, one for what underflows where that is no small part of the
   limit, one that asserts the componentwise limit, the bound or the observed one, and one
   for allclose() where that exists; returns how many.  Of two results D2 is the other
   one. Limits are rounded up, by 1 % at most. */
int lines_write(char line[LINES][LINE_MOST], const struct lines_library *library,
                const struct tolerance *t, const struct tolerance_question *q,
                bool observed);

/* Whether allclose() is worth having by the bound, or by the observed limit. */
bool allclose_exists(const struct tolerance *t, bool observed);

/* Whether lines need none for what underflows: an observed limit has it; beside a bound
   it is below 1 % in all runs. */
bool lost_is_small(const struct tolerance *t, bool observed);

/* The limit on |D - C| / |A||B| that lines have, before it is rounded: with t->sums, and
   with twice what underflows where that has no line. */
double lines_limit(const struct tolerance *t, bool observed);

#endif
