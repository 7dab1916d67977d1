/* SPDX-License-Identifier: BSD-3-Clause */
/* A search through a whole space of rows for those that explain recorded outputs.  If a
   row fails on an output, the fields that decided are known.  All rows with the same
   values of these fields fail as well, and need not be run (fit_prune.h).  If a row gives
   all outputs, the same argument finds other rows that do.  So the search covers every
   row of the space, but runs few. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SEARCH_H
#define BITCUT_ANALYSIS_FIT_FIT_SEARCH_H

#include "analysis/fit/fit.h"
#include "lib/base/progress.h"

/* The result of a search.  The search fills `report`, except the members about the
   nearest row and about a unit. */
struct search {
    struct bitcut_fit_report report; /* must be first */
    struct box_list rows; /* the rows that give every output, as disjoint boxes */
    /* if report.near: a row that gives all except a few outputs, if a short search finds
       one; otherwise, among the rows that were run, the row with the most outputs before
       its first mismatch (in the order of fit->outputs) */
    struct bitcut_unit nearest;
};

/* Search the boxes `from`, each part of a frame of the space, or the whole space if
   `from` is NULL.  The result does not depend on the number of threads; 0 uses all
   processors.  Returns BITCUT_UNSUPPORTED if asked to stop; *s is set only on success. */
enum bitcut_status search_run(struct search *s, const struct fit *fit,
                              const struct box_list *from, int threads,
                              const struct progress *progress, struct fault *f);
void search_clear(struct search *s);

/* Whether the row survives. */
bool search_has(const struct search *s, const struct fit *fit,
                const struct bitcut_unit *row);

#endif
