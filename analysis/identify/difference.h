/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a result differs from a hypothesis, and what is there instead. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_H
#define BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_H

#include "lib/base/record.h"
#include "lib/gemm/matrix.h"

enum { DIFFERENCE_TEXT_MAX = 300 };

/* Rows [row, row_end) by columns [col, col_end) of D; `differ` of its outputs do. */
struct box {
    size_t row, row_end, col, col_end, differ;
    size_t elsewhere;  /* of those that differ: outside, where the same was done  */
    const char *fault; /* the name of what is there; NULL: not known */
    char what[DIFFERENCE_TEXT_MAX]; /* and in words                               */
};

/* An output that differs: FP32 encodings. */
struct differing {
    size_t row, col;
    uint32_t given, expected;
};

enum { DIFFERING_MAX = 16 };

extern const struct record_field differing_fields[];

/* Say those of a list from one on, the first few: "D[0, 3] is 0x3f800001 for 0x3f800000;
   ...", indices and encodings as Python takes them. */
void differing_describe(char *text, size_t size, const struct differing *first,
                        size_t count, size_t from);

/* A result and what it should be: row-major m x n without gaps; c may be NULL. */
struct pair_of {
    size_t m, n;
    const uint32_t *d, *h, *c;
};

/* The boxes that hold all differences, the largest first: rows of cells of 8 x 8 in which
   the same cells differ, and in each such strip neighbouring cells.  Returns how many
   there are; the first `most` of them are written. */
size_t difference_boxes(struct box *box, size_t most, const struct pair_of *x);

/* The first outputs that differ, row by row; returns how many of them are written. */
size_t difference_first(struct differing first[DIFFERING_MAX], const struct pair_of *x);

/* Say what is in a box, if all of its differences are plain: zeros, NaN, one number, C,
   or outputs from elsewhere.  False: nothing of that. */
bool difference_describe(struct box *box, const struct pair_of *x);

/* The same where all of a box differ and its values do not go with those that should be
   there: no more than numbers drawn at random do, of 3 standard errors of their
   correlation. Host floating point; not a word on bits. */
bool difference_foreign(struct box *box, const struct pair_of *x);

#endif
