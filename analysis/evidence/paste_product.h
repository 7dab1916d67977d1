/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a paste with operands of the same formats, and the rows of the unit table
   that give them. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_PASTE_PRODUCT_H
#define BITCUT_ANALYSIS_EVIDENCE_PASTE_PRODUCT_H

#include "analysis/evidence/paste_row.h"
#include "lib/base/progress.h"

enum { PASTE_NAME_MAX = 80 };

/* A row, and how many groups of rows of D it gives, of all short lines of its product. */
struct paste_trial {
    struct paste_row row;
    size_t agreeing;
    size_t first; /* the first row of the product that computes the same by its fields */
    unsigned slices; /* the lengths of slices in its orders, a sum of powers of two; 0:
                        one accumulator in all lines */
    bool filled;     /* some line needs k to be filled up with +0 to a tile */
    struct paste_k lanes; /* the last of its orders with several lanes, else ascending */
};

/* The lines whose formats, accumulator and block scales are equal. */
struct paste_product {
    char name[PASTE_NAME_MAX]; /* such as "e5m2 x e4m3" */
    const struct paste_line *line[PASTE_LINES_MAX];
    size_t lines;   /* all of them */
    size_t decides; /* short matrix products that ran: they decide which rows survive */
    size_t groups;  /* groups of rows of these lines */
    size_t missing; /* lines that did not run */
    struct paste_trial trial[PASTE_ROWS_MAX];
    size_t trials, survivors;
    bool any_order; /* survivors have other orders than the ascending one */
};

/* Whether a line decides which rows survive. */
bool paste_decides(const struct paste_line *x);

/* Whether the row gives all lines of the product that decide; false if there are none. */
bool paste_survives(const struct paste_product *p, const struct paste_trial *t);

/* The products of a paste, which the caller frees, in the order of their first lines, and
   their rows: with k ascending in one accumulator; if no row gives all lines, with any of
   `paste_orders` in each line.  The result does not depend on threads.
   Returns BITCUT_UNSUPPORTED if asked to stop; BITCUT_NO_MEMORY. */
enum bitcut_status paste_products(struct paste_product **to, size_t *count,
                                  const struct paste *p, int threads,
                                  const struct progress *progress, struct fault *f);

/* The place of the bias with which the row gives a line with a bias, in one of the
   orders; BIAS_PLACES: none.  BITCUT_NO_MEMORY is the only failure. */
enum bitcut_status paste_bias_place(int *place, const struct paste_line *x,
                                    const struct paste_row *row, struct fault *f);

#endif
