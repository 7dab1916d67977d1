/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of rows and of columns of a result whose parts were computed in several orders
   of k: kernels compute the last rows or columns, or every second group of rows, in
   another order than the others. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_LINE_CLASS_H
#define BITCUT_ANALYSIS_IDENTIFY_LINE_CLASS_H

#include "analysis/identify/hypothesis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLASS_ORDERS_MAX = 8, /* orders: bits of a mask */
    CLASS_RUNS_MAX = 512, /* runs of neighbouring rows or columns */
    CLASSES_MAX = 8,      /* classes of rows or columns */
    CLASS_TEXT_MAX = 200
};

/* Rows or columns [from, end), which belong to class `of`. */
struct line_run {
    size_t from, end;
    int of;
};

/* All rows, or all columns, as runs from the first to the last. */
struct line_classes {
    struct line_run run[CLASS_RUNS_MAX];
    size_t runs;
    int classes;
    bool failed; /* memory ran out */
};

/* The classes, and the order of each pair of a class of rows and a class of columns: one
   that gives all outputs of the pair. */
struct class_grid {
    size_t m, n;
    const uint8_t *gives; /* [m][n]: bit i: order i gives this output */
    struct line_classes rows, cols;
    uint8_t mask[CLASSES_MAX][CLASSES_MAX]; /* the orders that give all of a pair */
    int order[CLASSES_MAX][CLASSES_MAX];
    size_t outputs[CLASS_ORDERS_MAX]; /* of all pairs of an order */
    struct line_run piece[2][CLASS_RUNS_MAX]; /* ranges of rows and columns that are being
                                                 described */
};

/* Make the classes: neighbouring columns are one run as long as in each row one order
   gives all of them; runs that one order gives in each row are one class; then the rows
   in the same way.  Each pair gets the order that gives most outputs of D; if `main` is
   not negative, order `main` comes first.  Returns false if an output is given by no
   order, there are too many classes, or memory runs out (g->rows.failed). */
bool class_grid_make(struct class_grid *g, const uint8_t *gives, size_t m, size_t n,
                     int main);

/* The region of one order. */
struct class_region {
    size_t row, row_end, col, col_end; /* the smallest box that contains it */
    size_t differ; /* its outputs that the order `main` does not give */
    size_t pieces; /* ranges of rows and of columns that describe it; ranges with a
                      period count as one */
    size_t last;   /* pieces that are the last rows or the last columns */
    char where[CLASS_TEXT_MAX]; /* such as "rows 0 to 7, columns 320 to 322" */
};

/* Orders that give all of D together, the order that gives most of it first. */
struct order_classes {
    bool tried; /* whether they were searched */
    struct hypothesis h[CLASS_ORDERS_MAX];
    struct class_region region[CLASS_ORDERS_MAX]; /* of each, except the first */
    size_t count;                                 /* 0: none were found */
    bool has_main; /* whether h[0] gives most of D, even if there are no others */
};

void class_grid_region(struct class_region *r, struct class_grid *g, int order, int main);

#endif
