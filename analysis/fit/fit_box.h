/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes: sets of rows that are the product of one set of values for each field. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_BOX_H
#define BITCUT_ANALYSIS_FIT_FIT_BOX_H

#include "analysis/evidence/field.h"

/* The rows whose fields all have a value in the field's set.  Bit i of a set is the value
   at position i of a space (fit_space.h).  A field that no row of the box reads has only
   the value at position 0. */
struct box {
    uint64_t set[FIELD_COUNT];
};

/* A growing list of boxes; an empty one is all zeros. */
struct box_list {
    struct box *at;
    size_t count, room;
};

/* The first and the last position of a field that has values. */
int box_lowest(const struct box *box, int field);
int box_highest(const struct box *box, int field);

/* Whether x holds all of y. */
bool box_holds(const struct box *x, const struct box *y);

/* Move `one`, a single row of the box, to the next row.  After the last row, move to the
   first row and return false. */
bool box_next(struct box *one, const struct box *box);

/* The first row of the box. */
struct box box_first(const struct box *box);

/* Add the rows of x that are not in `hole` to the list, as disjoint boxes.  Returns false
   if memory runs out. */
bool box_subtract(struct box_list *to, const struct box *x, const struct box *hole);

/* Returns false if memory runs out. */
bool box_list_add(struct box_list *list, const struct box *box);
void box_list_clear(struct box_list *list);

/* Describe the same rows by fewer boxes: as long as two of the disjoint boxes differ in
   one field only, other than the summation, join them. */
void box_list_join(struct box_list *list);

#endif
