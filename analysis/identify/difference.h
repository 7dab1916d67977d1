/* SPDX-License-Identifier: BSD-3-Clause */
/* The places where a result differs from a hypothesis, and their contents. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_H
#define BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_H

#include "lib/base/record.h"
#include "lib/gemm/matrix.h"

enum {
    DIFFERENCE_TEXT_MAX = 300,
    DIFFERENCE_PLACE_MAX = 200,
    DIFFERENCE_HOLDS_MAX = 200
};

/* Rows [row, row_end) by columns [col, col_end) of D, in which `differ` outputs differ.
 */
struct box {
    size_t row, row_end, col, col_end, differ;
    size_t elsewhere;  /* differing outputs outside the box that were computed in the same
                          way */
    const char *fault; /* name of the fault; NULL: unknown */
    char what[DIFFERENCE_TEXT_MAX];   /* the same in words */
    char holds[DIFFERENCE_HOLDS_MAX]; /* if `what` is "they" and a verb: the verb and the
                                        rest, such as "hold zeros"; or "" */
    char where[DIFFERENCE_PLACE_MAX]; /* the rows and columns in words, if they do not
                                         fill the box; or "" */
};

/* An output that differs: FP32 encodings. */
struct differing {
    size_t row, col;
    uint32_t given, expected;
    bool of_batch; /* whether it belongs to GEMM `gemm` of a batch */
    size_t gemm;
};

enum { DIFFERING_MAX = 16 };

extern const struct record_field differing_fields[];

/* Append the first entries of a list, "D[0, 3] is 0x3f800001, expected 0x3f800000; ...";
   the first index is the GEMM of a batch.
   Indices and encodings are in Python's notation. */
void differing_describe(char *text, size_t size, const struct differing *first,
                        size_t count, size_t from);

/* Append a place, such as "rows 0 to 7, column 320": of a region, or of a box. */
void region_describe(char *text, size_t size, size_t row, size_t row_end, size_t col,
                     size_t col_end);
void box_describe(char *text, size_t size, const struct box *b);

/* Set the fault of a box, and what its outputs do, such as "hold zeros". */
__attribute__((format(printf, 3, 4))) void
box_set_contents(struct box *b, const char *fault, const char *format, ...);

/* A result and its expected value: row-major m x n, contiguous; c may be NULL. */
struct pair_of {
    size_t m, n;
    const uint32_t *d, *h, *c;
};

/* The boxes that contain all differences, the largest first.  A box is a range of rows of
   8 x 8 cells in which the same cells differ and, within this strip, a range of
   neighbouring cells.  Returns their number; the first `most` of them are written. */
size_t difference_boxes(struct box *box, size_t most, const struct pair_of *x);

/* The first outputs that differ, row by row.  Returns how many are written. */
size_t difference_first(struct differing first[DIFFERING_MAX], const struct pair_of *x);

/* Describe the contents of a box if all its differences are of one simple kind: zeros,
   NaN, one number, C, or outputs from other positions.  Returns false otherwise. */
bool difference_describe(struct box *box, const struct pair_of *x);

/* The same if all outputs of the box differ and its values are not correlated with the
   expected values more than random numbers are, to within 3 standard errors.  Uses
   floating point of the C library; no result bit depends on it. */
bool difference_foreign(struct box *box, const struct pair_of *x);

#endif
