/* Spaces of rows: every row that could be an instruction's, and parts of such a space. */
#ifndef BITCUT_ANALYSIS_SPACE_H
#define BITCUT_ANALYSIS_SPACE_H

#include "analysis/field.h"

enum { SPACE_VALUES_MOST = 64 };

/* The values that each field may take in rows of one instruction; `base` has its formats,
   shape and scales. */
struct space {
    struct bitcut_unit base;
    int count[FIELD_COUNT];
    int64_t value[FIELD_COUNT][SPACE_VALUES_MOST]; /* ascending, but for `nan` */
};

/* A part of a space: the rows whose fields all have a value of the field's set.  Bit i of
   a set is value[i] of the space.  A field that no row of the box reads has one value. */
struct box {
    uint64_t set[FIELD_COUNT];
};

/* A growing list of boxes. */
struct box_list {
    struct box *at;
    size_t count, room;
};

/* All candidates of field.h for an instruction with the formats, shape and scales of
   `unit`, and `nans` (at most SPACE_NANS_MOST, encodings of unit->c, which may repeat) as
   candidates for the NaN. */
enum { SPACE_NANS_MOST = 48 };
void space_init(struct space *s, const struct bitcut_unit *unit, const uint64_t *nans,
                int nan_count);

/* Cut the space into boxes, one for each way to choose the summation, whether it is exact,
   the block, the group, the NaN rule, when C is added and the order of k; orders that take
   k in the same way are in one box.  Rows that are not sound are in none; but in boxes of
   two-stage rows, those with sum_fraction < fraction are not rows of the space.  False if
   there is no memory. */
bool space_boxes(struct box_list *to, const struct space *s);

/* The orders of k, as a set of positions, with which the row computes the same because the
   same products meet, whatever its `parity`; its own is among them. */
uint64_t space_orders(const struct space *s, const struct bitcut_unit *row);

/* The position of a value in the space, or -1. */
int space_find(const struct space *s, int field, int64_t value);

/* Let box hold only rows with this value of the field. */
void box_only(struct box *box, const struct space *s, int field, int64_t value);

/* ... with values from `least` up, or up to `most`. */
void box_at_least(struct box *box, const struct space *s, int field, int64_t least);
void box_at_most(struct box *box, const struct space *s, int field, int64_t most);

/* Let x hold only what y holds too. */
void box_intersect(struct box *x, const struct box *y);

/* Whether x holds all of y. */
bool box_holds(const struct box *x, const struct box *y);

/* A row of the box, or false if it has none: with the highest fraction, sum_fraction and
   keep, and the first value of each other field. */
bool box_row(struct bitcut_unit *row, const struct space *s, const struct box *box);

/* The box of one row; false if a field that it reads has a value that the space does not
   have. */
bool box_single(struct box *box, const struct space *s, const struct bitcut_unit *row);

/* How many rows the box has. */
double box_rows(const struct space *s, const struct box *box);

/* Add the rows of x that are not in `hole` to the list as boxes without common rows.
   False if there is no memory. */
bool box_subtract(struct box_list *to, const struct box *x, const struct box *hole);

bool box_list_add(struct box_list *list, const struct box *box);
void box_list_clear(struct box_list *list);

/* Say the same rows with few boxes: of boxes without common rows, join what can be, however
   the rows were cut into boxes before.  False if there is no memory. */
bool box_list_join(struct box_list *list);

#endif
