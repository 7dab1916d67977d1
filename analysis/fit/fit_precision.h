/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds on the precision of steps that follow from outputs alone, for every row
   that gives them. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_PRECISION_H
#define BITCUT_ANALYSIS_FIT_FIT_PRECISION_H

#include "analysis/fit/fit_output.h"

/* The values of `result`, and of `keep` for a row whose last sum is cut to it, with which
   a row can give all outputs, as sets of positions in the space. */
struct precision {
    uint64_t results, keeps;
};

/* The bounds for rows that add C in their steps; with c_last, for rows that add C to the
   result of their steps.  A row may miss `misses` of the outputs.  The bounds are sound,
   not tight. */
struct precision precision_of(const struct space *s, const struct observed *outputs,
                              size_t count, bool c_last, size_t misses);

/* Restrict the box, part of a frame of the space, to rows allowed by the precision bounds
   for its c_last. */
void precision_cut(struct box *box, const struct space *s,
                   const struct precision precision[2]);

#endif
