/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k in two steps.  A skeleton is an order that gives the errors of long parts
   of the sum: the chains within slices, or lanes.  Sums of the right skeleton are nearer
   to D than those of others, also if its slices are reduced in another way than in D,
   because the errors within the chains are equal.  The skeletons nearest to D are then
   completed: by each reduction, the format of the sums, and balanced tails. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ORDER_SKELETON_H
#define BITCUT_ANALYSIS_IDENTIFY_ORDER_SKELETON_H

#include "analysis/identify/hypothesis.h"

enum { COMPLETIONS_MAX = 48 };

/* A list of orders, which the caller frees. */
struct order_list {
    struct bitcut_order *at;
    size_t count, room;
    bool failed; /* memory ran out */
};

/* The skeletons for sums of k products on a unit with `step` products, and results in a
   format: slices of the lengths that libraries choose, each with its partial tile last or
   first; and lanes.  None if k is above 2^20. */
struct order_list skeletons_list(size_t k, int step, const struct bitcut_format *format);

/* The orders that complete a skeleton, without itself.  Returns their number. */
size_t skeleton_complete(struct bitcut_order to[COMPLETIONS_MAX],
                         const struct bitcut_order *skeleton, size_t k,
                         const struct bitcut_format *format);

#endif
