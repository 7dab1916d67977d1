/* SPDX-License-Identifier: BSD-3-Clause */
/* Spaces of rows: every row that could be an instruction's. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SPACE_H
#define BITCUT_ANALYSIS_FIT_FIT_SPACE_H

#include "analysis/fit/fit_box.h"

enum { SPACE_VALUES_MAX = 64, SPACE_NANS_MAX = 52 };

/* The values that each field may take in rows of one instruction; `base` has its formats,
   shape and scales. */
struct space {
    struct bitcut_unit base;
    int count[FIELD_COUNT];
    int64_t value[FIELD_COUNT][SPACE_VALUES_MAX]; /* ascending, but for `nan` */
};

/* All candidates of field.h for an instruction with the formats, shape and scales of
   `unit`. */
void space_init(struct space *s, const struct bitcut_unit *unit);

/* Another candidate for the NaN, an encoding of unit->c; no more than SPACE_NANS_MAX. */
void space_add_nan(struct space *s, uint64_t nan);

/* The position of a value in the space, or -1. */
int space_find(const struct space *s, int field, int64_t value);

/* Cut the space into frames: boxes, one for each way to choose the summation, whether it
   is exact, the block, the group, the NaN rule, when C is added and the order of k;
   orders that take k in the same way are in one frame.  Rows that are not sound are in
   none; but in frames of rows that read sum_fraction, those with sum_fraction < fraction
   are not rows of the space.  False if there is no memory. */
bool space_frames(struct box_list *to, const struct space *s);

/* The frame that holds the row, of a value of the space in each field that it reads. */
struct box space_frame(const struct space *s, const struct bitcut_unit *row);

/* The orders of k, as a set of positions, with which the row computes the same because
   all blocks take the same k; its own is among them. */
uint64_t space_orders(const struct space *s, const struct bitcut_unit *row);

/* Let box hold only rows with this value of the field; none if it is not in the space. */
void box_only(struct box *box, const struct space *s, int field, int64_t value);

/* ... with values from `least` up, or up to `most`. */
void box_at_least(struct box *box, const struct space *s, int field, int64_t least);
void box_at_most(struct box *box, const struct space *s, int field, int64_t most);

/* A row of the box, or false if it has none: with the highest fraction, sum_fraction and
   keep, and the first value of each other field. */
bool box_row(struct bitcut_unit *row, const struct space *s, const struct box *box);

/* The box of one row; false if a field that it reads has a value that the space does not
   have. */
bool box_single(struct box *box, const struct space *s, const struct bitcut_unit *row);

/* How many rows the box has. */
double box_rows(const struct space *s, const struct box *box);

#endif
