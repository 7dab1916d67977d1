/* What outputs say by themselves of every row that gives them: how precise its steps must
   be at least. */
#ifndef BITCUT_ANALYSIS_BOUND_H
#define BITCUT_ANALYSIS_BOUND_H

#include "analysis/observed.h"

/* The values of `result`, and of `keep` of a row whose last sum is cut to it, with which a row can give all
   outputs, as sets of positions in the space. */
struct bound {
    uint64_t results, keeps;
};

/* The bound of rows that add C in their steps; and, with c_last, of those that add it to
   what their steps give.  A row may miss `misses` of the outputs.  Sound, not tight. */
struct bound bound_of(const struct space *s, const struct observed *outputs, size_t count,
                      bool c_last, size_t misses);

/* Cut the box, one of space_boxes(), down to what the bound of its c_last allows. */
void bound_cut(struct box *box, const struct space *s, const struct bound *bound);

#endif
