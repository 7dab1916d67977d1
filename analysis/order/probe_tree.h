/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree by which an order adds k products: what probe_sizes_make() would find of it.
 */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_TREE_H
#define BITCUT_ANALYSIS_ORDER_PROBE_TREE_H

#include "lib/base/status.h"
#include "lib/gemm/order.h"

/* How a block of products joins a sum. */
enum probe_join {
    PROBE_CUT, /* all at once, aligned to the largest and cut: units are lost beside M */
    PROBE_EXACT, /* all at once, exactly: those of its own block are kept beside M      */
    PROBE_PAIRS  /* neighbours are added, then neighbours among these; then they join   */
};

/* How an output is added: an order of whole blocks; and each of its sums, but the first
   of each `promote` k, begins anew and is added when they are full. */
struct probe_guess {
    struct bitcut_order order;
    size_t promote; /* k; 0: never */
    size_t block;   /* products; of 1 all ways to join are the same */
    enum probe_join join;
};

struct probe_tree {
    struct probe_guess guess;
    struct k_parts parts; /* steps are blocks                                    */
    size_t *place;        /* [k]: where it is in the order, padding counted      */
    size_t *real;         /* [steps + 1]: products before a step, none of padding */
    size_t *part;         /* [steps]: to which sequence it belongs               */
    size_t *parent; /* [2 count]: sequences, then sums of them: what it is added to */
    size_t *size;   /* [2 count]: products of each                         */
};

/* The tree of k products; tile and turn of the order are whole blocks.  BITCUT_NO_MEMORY
   leaves nothing to clear. */
enum bitcut_status probe_tree_make(struct probe_tree *t, const struct probe_guess *g,
                                   size_t k);
void probe_tree_clear(struct probe_tree *t);

/* How many products are added together, as a probe sees it, when i and j meet; i != j. */
size_t probe_tree_below(const struct probe_tree *t, size_t i, size_t j);

#endif
