/* SPDX-License-Identifier: BSD-3-Clause */
/* Pruning: which other rows one row's run on an output settles with it. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_PRUNE_H
#define BITCUT_ANALYSIS_FIT_FIT_PRUNE_H

#include "analysis/fit/fit_output.h"

/* Cut *box, part of a frame of the space which must hold the row, down to rows that do
   with the output as the row does, alone in box `one`: give o->d because every step comes
   to the same result; or if the row does not give o->d, do not give it either.  The row
   is always left; not all such rows need be.  False: there is no memory, and *box is the
   row alone. */
bool prune(struct box *box, const struct space *s, const struct observed *o,
           const struct bitcut_unit *row, const struct box *one);

#endif
