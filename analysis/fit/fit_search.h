/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows explain recorded outputs: a search through a whole space of rows.

   A row that fails on an output says why: the fields that decided.  All rows that agree
   in those fields fail as well and need not be run (fit_prune.h).  A row that gives all
   outputs says likewise which others do.  So the search looks at every row of the space
   and runs few. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SEARCH_H
#define BITCUT_ANALYSIS_FIT_FIT_SEARCH_H

#include "analysis/fit/fit.h"
#include "lib/progress.h"

/* What a search found. */
struct search {
    struct box_list
        rows;         /* the rows that give every output, as boxes without common rows */
    double survivors; /* how many these are                                            */
    double space;     /* how many rows there were                                      */
    size_t tried;     /* how many of them were run                                     */
    bool complete;    /* false: in some part of the space too many rows survive to be
                         listed, or had to be run, and the rest of it was not searched */
    bool near; /* no row survives, but `nearest` gives some outputs: all but a few if
                  a short search finds such a row, else the most before the first that
                  it does not, of rows that were run (in the order of fit->outputs) */
    struct bitcut_unit nearest;
};

/* Search the boxes `from`, each of them part of a frame of the space, or the whole space
   if `from` is NULL.  Any number of threads finds the same; 0 uses all processors.
   BITCUT_CANNOT if asked to stop; *s is set only on success. */
enum bitcut_status search_run(struct search *s, const struct fit *fit,
                              const struct box_list *from, int threads,
                              const struct progress *progress, struct fault *f);
void search_clear(struct search *s);

/* Whether the row is among those that survive. */
bool search_has(const struct search *s, const struct fit *fit,
                const struct bitcut_unit *row);

#endif
