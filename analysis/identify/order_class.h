/* SPDX-License-Identifier: BSD-3-Clause */
/* Several orders of k that give all of D together, each a class of rows and columns.

   A kernel of a processor computes rows or columns that fill no register, or every second
   group of them, by another loop than the others.  The orders are found one after the
   other: the next one is searched on outputs that no order so far gives. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ORDER_CLASS_H
#define BITCUT_ANALYSIS_IDENTIFY_ORDER_CLASS_H

#include "analysis/identify/explain.h"

/* Search for the orders within the effort.  `first`: a hypothesis that
   gives most of D and remains the first, or NULL.  The orders are added to e->space, the
   hypotheses tried to e->answer.tried.  to->count is 0 unless FP32 units with one product
   can have computed D, and a few orders give all of it, each on rows and columns that a
   few ranges describe.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status order_classes_find(struct order_classes *to, struct explanation *e,
                                      const struct hypothesis *first,
                                      struct effort *effort,
                                      const struct explain_options *o, struct fault *f);

/* Set e->best to the first order of e->classes, as it agrees with a sample. */
void order_classes_take_best(struct explanation *e, const struct block *sample,
                             const struct explain_options *o);

/* Set the regions of *e to those of e->classes. */
void order_classes_take_parts(struct explanation *e);

#endif
