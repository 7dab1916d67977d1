/* What an output depends on: which other rows come to the same output by the same way. */
#ifndef BITCUT_ANALYSIS_FIT_PRUNE_H
#define BITCUT_ANALYSIS_FIT_PRUNE_H

#include "analysis/fit_output.h"

/* Cut *box, which must hold the row, down to rows that give the row's output: every step
   the same sum, rounded to the same.  The row is always left; not all such rows need
   be. */
void prune_same(struct box *box, const struct space *s, const struct observed *o,
                const struct bitcut_unit *row);

/* The same for a row that does not give o->d: cut *box down to rows that do not, among
   them this one. */
void prune_wrong(struct box *box, const struct space *s, const struct observed *o,
                 const struct bitcut_unit *row);

#endif
