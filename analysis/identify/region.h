/* SPDX-License-Identifier: BSD-3-Clause */
/* All of D beside what a hypothesis gives, and the parts that differ. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_REGION_H
#define BITCUT_ANALYSIS_IDENTIFY_REGION_H

#include "analysis/identify/explain.h"

/* D as it is read, what the best hypothesis gives, and C; all, or its first rows. */
struct whole {
    struct pair_of x;
    uint32_t *d, *h, *c;
};

void whole_clear(struct whole *w);

/* What the best hypothesis gives of as many rows as the time allows, and at least of the
   first ones, up to a stop, which is no failure.  BITCUT_NO_MEMORY; there is something to
   clear then, too. */
enum bitcut_status whole_compare(struct whole *w, const struct explanation *e,
                                 const struct explain_options *o, struct fault *f);

/* How many outputs differ. */
size_t whole_differ(const struct whole *w);

/* Explain what differs: the largest box, then the largest of what is left, each whole D
   of what gave one of them; what is explained no longer differs in *w.  BITCUT_NO_MEMORY.
 */
enum bitcut_status explain_parts(struct explanation *e, struct whole *w,
                                 const struct explain_options *o, struct fault *f);

/* Say what is in all of D, if that is plain. */
void explain_whole(struct explanation *e, const struct whole *w);

#endif
