/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the k of a GEMM are added: struct bitcut_order (lib/bitcut.h),
   applied to a number of k and an instruction. */
#ifndef BITCUT_LIB_GEMM_ORDER_H
#define BITCUT_LIB_GEMM_ORDER_H

#include "lib/base/table.h"
#include "lib/bitcut.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indexed by enum bitcut_reduction; ended by a row whose name is NULL. */
extern const struct table_row reductions[];

/* Whether the order of lanes is listed, and not 0, 1, 2, ... */
bool order_lists_lanes(const struct bitcut_order *order);

/* Whether a listed order of lanes has each lane once. */
bool order_is_sound(const struct bitcut_order *order);

/* The largest number of sums that are retained at a time: for slices and for lanes, one
   for each bit of their number, and one more. */
enum { K_PARTS_KEPT_MAX = 64 };

/* The order of all k: sequences of whole k-steps, one for each lane of each slice that
   has steps, in the order in which they are computed and reduced. */
struct k_parts {
    size_t steps;    /* number of steps in all sequences                              */
    size_t count;    /* number of sequences                                           */
    size_t *first;   /* [count + 1]: the first step of each                           */
    uint8_t *adds;   /* [count]: number of sums retained before, latest first, that are
                        added to the sum of a sequence, which is then retained        */
    uint8_t *stored; /* [count]: if sums of slices are stored in another format: after
                        how many of these additions, and one more, the sum is the sum of
                        a slice; 0: it is not.  NULL: sums are not stored            */
    bool *resumes;   /* [count]: whether the accumulators of a sequence start from the
                        latest retained sum, which is then no longer retained, instead of
                        +0; NULL: none does                                           */
    int kept;        /* largest number of sums retained at a time                     */
    size_t *element; /* [steps k of a step]: the k at each position, SIZE_MAX: none, so
                        +0; NULL: every k is at its own position, and positions from k on
                        are +0                                                        */
};

/* Whether accumulators of a sequence start from the latest retained sum. */
static inline bool k_parts_resumes(const struct k_parts *x, size_t sequence)
{
    return x->resumes && x->resumes[sequence];
}

/* Make the order of `k` elements in steps of `step` from an order that gemm_take()
   accepted.  BITCUT_NO_MEMORY leaves *x cleared. */
enum bitcut_status k_parts_make(struct k_parts *x, const struct bitcut_order *order,
                                size_t k, size_t step);
void k_parts_clear(struct k_parts *x);

#ifdef __cplusplus
}
#endif

#endif
