/* SPDX-License-Identifier: BSD-3-Clause */
/* The orders that give sizes which were measured. */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_SEARCH_H
#define BITCUT_ANALYSIS_ORDER_PROBE_SEARCH_H

#include "analysis/order/probe_sizes.h"
#include "analysis/order/probe_tree.h"

enum { PROBE_GUESSES_MAX = 8 };

/* Find orders by which all sizes are as measured, the plainest first, at most
   PROBE_GUESSES_MAX.  Some have the same tree but other blocks: short ones look alike.
   BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED: asked to stop. */
enum bitcut_status probe_search(struct probe_guess *to, size_t *count,
                                const struct probe_sizes *s,
                                const struct progress *progress, struct fault *f);

/* Where no order was found: how many k the sums of neighbours have, ascending, of which
   all k are made; at most `most` are written.  Returns how many, or 0: there are none. */
size_t probe_sums(size_t *to, size_t most, const struct probe_sizes *s);

#endif
