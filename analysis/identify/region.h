/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison of all of D with a hypothesis, and the regions that differ. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_REGION_H
#define BITCUT_ANALYSIS_IDENTIFY_REGION_H

#include "analysis/identify/explain.h"

/* D as it is read, the results of the best hypothesis, and C; all rows, or the first
   ones. */
struct whole {
    struct pair_of x;
    uint32_t *d, *h, *c;
};

void whole_clear(struct whole *w);

/* Compute the best hypothesis for as many rows as the effort allows, and at least for the
   first ones.  A stop ends the computation, and is no failure.  Returns BITCUT_NO_MEMORY;
   even then there is something to clear. */
enum bitcut_status whole_compare(struct whole *w, const struct explanation *e,
                                 struct effort *effort, const struct explain_options *o,
                                 struct fault *f);

/* How many outputs differ. */
size_t whole_differ(const struct whole *w);

/* Explain the differences: the largest box, then the largest box of the remaining
   differences.  For each explanation, all outputs of D that it gives no longer count as
   different in *w.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status explain_parts(struct explanation *e, struct whole *w,
                                 const struct explain_options *o, struct fault *f);

/* Describe the contents of all of D, if they are simple. */
void explain_whole(struct explanation *e, const struct whole *w);

#endif
