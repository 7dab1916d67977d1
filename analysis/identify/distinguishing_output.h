/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs that distinguish hypotheses which agree nearly everywhere, such as results in
   short formats that were summed in two orders. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DISTINGUISHING_OUTPUT_H
#define BITCUT_ANALYSIS_IDENTIFY_DISTINGUISHING_OUTPUT_H

#include "analysis/identify/problem.h"

enum { TELLING_MAX = 8 };

/* The outputs selected so far, the latest ones, by row and column of D as it is read.
   All zeros: none. */
struct distinguishing {
    size_t row[TELLING_MAX], col[TELLING_MAX];
    size_t taken; /* number selected, including those no longer stored */
};

/* Two results side by side, rows x cols. row and col are their positions in D; NULL: the
   first ones. */
struct compared {
    const uint32_t *d, *h;
    size_t rows, cols;
    const size_t *row, *col;
};

/* Select at most `most` outputs in which the two results differ and which are spread over
   D.  Returns false, and selects nothing, if there are none, or if they are many or
   adjacent, as for a fault in a tile, row or column. */
bool distinguishing_take(struct distinguishing *t, const struct compared *x, size_t most);

/* The block of their rows and columns, filled up with rows and columns of another block
   to `rows` and `cols`.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status distinguishing_block(struct block *to, const struct distinguishing *t,
                                        const struct block *other, size_t rows,
                                        size_t cols, struct fault *f);

#endif
