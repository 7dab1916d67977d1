/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree by which an order adds k products: the sizes that probe_sizes_make() would
   measure. */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_TREE_H
#define BITCUT_ANALYSIS_ORDER_PROBE_TREE_H

#include "lib/base/status.h"
#include "lib/gemm/order.h"

/* How a block of products joins a sum. */
enum probe_join {
    PROBE_CUT, /* all at once, aligned to the largest and cut: units are lost next to M */
    PROBE_EXACT, /* all at once, exactly: units of its own block are retained next to M */
    PROBE_PAIRS /* neighbours are added, then neighbours of these sums; the last sum joins
                 */
};

/* How an output is added: an order of whole blocks.  With `promote`, each sum after the
   first `promote` k starts from zero, and full sums are added. */
struct probe_guess {
    struct bitcut_order order;
    size_t promote; /* number of k; 0: never */
    size_t block;   /* products; with 1 all ways to join are the same */
    enum probe_join join;
};

struct probe_tree {
    struct probe_guess guess;
    struct k_parts parts; /* steps are blocks */
    size_t *place;        /* [k]: position in the order, with padding counted */
    size_t *real;         /* [steps + 1]: products before a step, without padding */
    size_t *part;         /* [steps]: the sequence of the step */
    size_t *before;       /* [count]: products in the sum from which a sequence starts */
    size_t *parent; /* [2 count]: sequences, then sums of them: the node to which each is
                       added, or which begins with it */
    size_t *size;   /* [2 count]: products of each */
};

/* The tree of k products.  The tile and the chunk of the order are whole blocks.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status probe_tree_make(struct probe_tree *t, const struct probe_guess *g,
                                   size_t k);
void probe_tree_clear(struct probe_tree *t);

/* The number of products in one sum, as a probe measures it, when i and j meet; i != j.
 */
size_t probe_tree_below(const struct probe_tree *t, size_t i, size_t j);

#endif
