/* SPDX-License-Identifier: BSD-3-Clause */
/* Pruning: other rows that are decided by running one row on an output. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_PRUNE_H
#define BITCUT_ANALYSIS_FIT_FIT_PRUNE_H

#include "analysis/fit/fit_output.h"

/* Restrict *box, part of a frame of the space which must contain the row, to rows that
   behave on the output as the row does (`one` is the box of the row alone).  If the row
   gives o->d, they give it because every step has the same result; if it does not, they
   do not either.  The row always stays in the box; some such rows may be missing.
   Returns false if memory runs out; *box is then the row alone. */
bool prune(struct box *box, const struct space *s, const struct observed *o,
           const struct bitcut_unit *row, const struct box *one);

#endif
