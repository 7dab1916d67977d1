/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs that tell hypotheses apart which agree nearly everywhere, as results of few
   bits do that were added in two orders. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DISTINGUISHING_OUTPUT_H
#define BITCUT_ANALYSIS_IDENTIFY_DISTINGUISHING_OUTPUT_H

#include "analysis/identify/problem.h"

enum { TELLING_MAX = 8 };

/* The last of those that were taken, by row and column of D as it is read; all zeros:
   none. */
struct distinguishing {
    size_t row[TELLING_MAX], col[TELLING_MAX];
    size_t taken; /* so many, also beyond those kept */
};

/* Two results side by side, rows x cols; row and col say which of D they are, NULL: the
   first ones. */
struct compared {
    const uint32_t *d, *h;
    size_t rows, cols;
    const size_t *row, *col;
};

/* Take at most so many outputs in which the two differ, which lie spread.  False, and
   nothing is taken: there are none; or they are many, or lie side by side, as what a
   kernel got wrong in a tile or a line. */
bool distinguishing_take(struct distinguishing *t, const struct compared *x, size_t most);

/* The block of their rows and columns, and of as many more of those of another one as
   make `rows` and `cols`.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status distinguishing_block(struct block *to, const struct distinguishing *t,
                                        const struct block *other, size_t rows,
                                        size_t cols, struct fault *f);

#endif
