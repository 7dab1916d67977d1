/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rungs of the ladder share: exact values of some outputs, and lists of lines.
 */
#ifndef BITCUT_ANALYSIS_IDENTIFY_RUNG_H
#define BITCUT_ANALYSIS_IDENTIFY_RUNG_H

#include "analysis/identify/ladder.h"

/* Outputs with their exact values and the sums of the magnitudes of all terms, in
   binary64, both with alpha, C and everything that was given; and D as binary64. */
struct view {
    struct block b;
    double *exact, *size, *d; /* rows x cols */
};

/* Rows and columns; NULL: the first ones.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status view_take(struct view *to, const struct problem *q, const size_t *row,
                             size_t rows, const size_t *col, size_t cols,
                             struct fault *f);
void view_clear(struct view *v);

/* The outputs that a view may have if the work is to be small beside a search: their
   products are at most 2^27, or 2^22 if something was told, which costs more. */
size_t view_area(const struct problem *q);

/* What every rung reads. */
struct rung_input {
    const struct problem *q;
    size_t m, n, k;
    const uint32_t *d; /* D as it is read, m x n */
    uint64_t seed;
    struct view sample; /* of written rows and columns; empty on the first rung */
};

/* The distance of results from exact values, relative to the magnitudes of these, after
   each is divided by |A||B|: above RESULT_FAR they are not theirs, below RESULT_NEAR they
   are, also if elements have 4 bits. */
#define RESULT_FAR  0.5
#define RESULT_NEAR 0.125

/* Below this magnitude of elements no format of a unit overflows.  fp8's e4m3 of AMD ends
   at 240. */
#define ELEMENT_MAX 240.0

/* With fewer k, lines are multiples of others, or nearly. */
enum { MOVED_K_MIN = 4 };

/* The smallest normal number of the format of D. */
double least_normal(const struct problem *q);

/* A new finding for all of D; NULL: there is no room. */
struct bitcut_finding *ladder_add(struct ladder_report *l, const struct rung_input *x,
                                  const char *name);

/* "rows 1 to 15, 17 to 31", "all rows except 0, 16", or "one row in 4, from row 1": the
   lines below `count` that are set. */
void lines_describe(char *text, size_t size, const bool *set, size_t count,
                    const char *noun);

typedef enum bitcut_status rung_find(struct ladder_report *l, const struct rung_input *x,
                                     struct fault *f);
rung_find rung_contents, rung_operand, rung_lines, rung_tiles, rung_k, rung_growth,
    rung_negative, rung_constant, rung_reading, rung_blocks, rung_zeros;

#endif
