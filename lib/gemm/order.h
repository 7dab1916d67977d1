/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the k of a GEMM are taken: struct bitcut_order (lib/bitcut.h) for a
   number of k and an instruction. */
#ifndef BITCUT_LIB_GEMM_ORDER_H
#define BITCUT_LIB_GEMM_ORDER_H

#include "lib/base/table.h"
#include "lib/bitcut.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By enum bitcut_reduction; ended by a row whose name is NULL. */
extern const struct table_row reductions[];

/* Sums that are kept at a time, at most: of slices and of lanes one for each bit of their
   number, and one more. */
enum { K_PARTS_KEPT_MAX = 64 };

/* Where the k go: sequences of whole k-steps, one for each lane of each slice that has
   any, in the order in which they are computed and reduced. */
struct k_parts {
    size_t steps;    /* all together                                                  */
    size_t count;    /* sequences                                                     */
    size_t *first;   /* [count + 1]: the first step of each                           */
    uint8_t *adds;   /* [count]: to the sum of a sequence so many of those kept before
                        are added, the latest first; then it is kept                  */
    int kept;        /* sums that are kept at a time                                  */
    size_t *element; /* [steps k of a step]: which k is where, SIZE_MAX: none, so +0;
                        NULL: each is in its own place, and those from k on are +0    */
};

/* The order of `k` in steps of `step`, for an order that gemm_take() took.
   BITCUT_NO_MEMORY leaves *x cleared. */
enum bitcut_status k_parts_make(struct k_parts *x, const struct bitcut_order *order,
                                size_t k, size_t step);
void k_parts_clear(struct k_parts *x);

#ifdef __cplusplus
}
#endif

#endif
