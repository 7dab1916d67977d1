/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows explain recorded outputs: a search through a whole space of rows.

   A row that fails on an output says why: the fields that decided.  All rows that agree
   in those fields fail as well and need not be run (fit_prune.h).  A row that gives all
   outputs says likewise which others do.  So the search looks at every row of the space
   and runs few. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SEARCH_H
#define BITCUT_ANALYSIS_FIT_FIT_SEARCH_H

#include "analysis/fit/fit.h"
#include "lib/base/progress.h"

/* What a search found.  It fills `report`, except the members on the nearest row and on a
   unit. */
struct search {
    struct bitcut_fit_report report; /* first */
    struct box_list rows; /* those that give every output, as boxes without common rows */
    struct bitcut_unit nearest; /* if report.near: it gives all but a few outputs if a short
                                   search finds such a row, else the most before the first
                                   that it does not, of rows that were run (in the order of
                                   fit->outputs)                                        */
};

/* Search the boxes `from`, each of them part of a frame of the space, or the whole space
   if `from` is NULL.  Any number of threads finds the same; 0 uses all processors.
   BITCUT_UNSUPPORTED if asked to stop; *s is set only on success. */
enum bitcut_status search_run(struct search *s, const struct fit *fit,
                              const struct box_list *from, int threads,
                              const struct progress *progress, struct fault *f);
void search_clear(struct search *s);

/* Whether the row is among those that survive. */
bool search_has(const struct search *s, const struct fit *fit,
                const struct bitcut_unit *row);

#endif
