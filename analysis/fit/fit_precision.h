/* SPDX-License-Identifier: BSD-3-Clause */
/* What outputs say by themselves of every row that gives them: how precise its steps must
   be at least. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_PRECISION_H
#define BITCUT_ANALYSIS_FIT_FIT_PRECISION_H

#include "analysis/fit/fit_output.h"

/* The values of `result`, and of `keep` of a row whose last sum is cut to it, with which
   a row can give all outputs, as sets of positions in the space. */
struct precision {
    uint64_t results, keeps;
};

/* Of rows that add C in their steps; or, with c_last, of those that add it to what their
   steps give.  A row may miss `misses` of the outputs.  Sound, not tight. */
struct precision precision_of(const struct space *s, const struct observed *outputs,
                              size_t count, bool c_last, size_t misses);

/* Cut the box, part of a frame of the space, down to what the precision of its c_last
   allows. */
void precision_cut(struct box *box, const struct space *s,
                   const struct precision precision[2]);

#endif
