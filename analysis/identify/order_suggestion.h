/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k that the rounding errors of a result suggest.

   The error of D, R = D - (exact sum), is the sum of the rounding errors of all
   additions. A kernel that adds the products of a slice of k in lanes makes the same
   errors there, whatever it does with the remaining k.  So the errors of these lanes,
   which are computed for the slice alone, are correlated with R; errors of other lanes
   are not.  The correlation grows with the length of the slice and falls beyond its end.
 */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ORDER_SUGGESTION_H
#define BITCUT_ANALYSIS_IDENTIFY_ORDER_SUGGESTION_H

#include "analysis/identify/hypothesis.h"

enum { SUGGESTED_ORDERS_MAX = 512 };

/* Whether orders can be suggested for the outputs of a block and a candidate: its unit
   adds one product at a time in FP32, D has FP32 results, and the recipe has one product.
 */
bool orders_are_suggested(const struct block *b, const struct candidate *x);

/* Orders of k for the candidate, the likeliest first.  Returns their number: 0 if no
   lanes are correlated with the errors of D, or memory runs out. */
size_t orders_suggest(struct bitcut_order to[SUGGESTED_ORDERS_MAX], const struct block *b,
                      const struct candidate *x, int threads);

#endif
