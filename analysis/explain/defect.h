/* What goes wrong in kernels, as rows. */
#ifndef BITCUT_ANALYSIS_EXPLAIN_DEFECT_H
#define BITCUT_ANALYSIS_EXPLAIN_DEFECT_H

#include "analysis/explain/hypothesis.h"

/* A row of the table of faults.  A fault has kinds, 0 to kinds(s) - 1: which term, which
   rounding.  One of the functions is NULL. */
struct defect {
    const char *name;
    const char *what;                       /* "the product of ... is missing" */
    bool fine;                              /* it changes a few ulps at most      */
    bool of_ranges;                         /* of k, by `alter`: maybe slices      */
    size_t (*kinds)(const struct space *s); /* NULL: 1 */
    bool (*vary)(struct candidate *x, const struct space *s, int kind);
    bool (*alter)(struct candidate *x, const struct space *s, int kind);
    void (*say)(char *text, size_t size, const struct candidate *x, const struct space *s,
                int kind); /* NULL: `what` */
};

extern const struct defect defects[]; /* ended by a row whose name is NULL */

#endif
