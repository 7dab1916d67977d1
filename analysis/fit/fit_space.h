/* SPDX-License-Identifier: BSD-3-Clause */
/* Spaces of rows: every row that could be an instruction's. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SPACE_H
#define BITCUT_ANALYSIS_FIT_FIT_SPACE_H

#include "analysis/fit/fit_box.h"

enum { SPACE_VALUES_MAX = 64, SPACE_NANS_MAX = 52 };

/* The values that each field may take in rows of one instruction.  `base` has its
   formats, shape and scales. */
struct space {
    struct bitcut_unit base;
    int count[FIELD_COUNT];
    int64_t value[FIELD_COUNT][SPACE_VALUES_MAX]; /* ascending, except for `nan` */
};

/* All candidate values (field.h) for an instruction with the formats, shape and scales of
   `unit`. */
void space_init(struct space *s, const struct bitcut_unit *unit);

/* Add a candidate for the NaN, an encoding of unit->c; at most SPACE_NANS_MAX. */
void space_add_nan(struct space *s, uint64_t nan);

/* The position of a value in the space, or -1. */
int space_find(const struct space *s, int field, int64_t value);

/* Cut the space into frames: boxes, one for each choice of the summation, exactness,
   block, group, NaN rule, place of adding C, and order of k.  Orders that take k in the
   same way share a frame.  Rows that are not sound are in no frame; an exception are
   frames of rows that read sum_fraction, whose rows with sum_fraction < fraction are not
   rows of the space.  Returns false if memory runs out. */
bool space_frames(struct box_list *to, const struct space *s);

/* The frame with the row.  The row must have a value of the space in each field that it
   reads. */
struct box space_frame(const struct space *s, const struct bitcut_unit *row);

/* The orders of k, as a set of positions, with which the row computes the same because
   all blocks take the same k; its own order is among them. */
uint64_t space_orders(const struct space *s, const struct bitcut_unit *row);

/* Restrict the box to rows with this value of the field; the box is empty if the value is
   not in the space. */
void box_only(struct box *box, const struct space *s, int field, int64_t value);

/* The same for values from `least` up, or up to `most`. */
void box_at_least(struct box *box, const struct space *s, int field, int64_t least);
void box_at_most(struct box *box, const struct space *s, int field, int64_t most);

/* A row of the box, with the highest fraction, sum_fraction and keep, and the first value
   of each other field.  Returns false if the box is empty. */
bool box_row(struct bitcut_unit *row, const struct space *s, const struct box *box);

/* The box of one row.  Returns false if a field that it reads has a value outside the
   space. */
bool box_single(struct box *box, const struct space *s, const struct bitcut_unit *row);

/* The number of rows in the box. */
double box_rows(const struct space *s, const struct box *box);

#endif
