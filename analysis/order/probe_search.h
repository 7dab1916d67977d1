/* SPDX-License-Identifier: BSD-3-Clause */
/* The orders that are consistent with measured sizes. */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_SEARCH_H
#define BITCUT_ANALYSIS_ORDER_PROBE_SEARCH_H

#include "analysis/order/probe_sizes.h"
#include "analysis/order/probe_tree.h"

enum { PROBE_GUESSES_MAX = 8 };

/* Find the orders that give all measured sizes, the simplest first, at most
   PROBE_GUESSES_MAX.  Some orders have the same tree with other blocks: short blocks
   cannot be distinguished.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to
   stop. */
enum bitcut_status probe_search(struct probe_guess *to, size_t *count,
                                const struct probe_sizes *s,
                                const struct progress *progress, struct fault *f);

/* If no order was found: the lengths of the sums of neighbours that all k form,
   ascending; at most `most` are written.  Returns their number, or 0 if there are none.
 */
size_t probe_sums(size_t *to, size_t most, const struct probe_sizes *s);

#endif
