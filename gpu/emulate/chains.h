/* SPDX-License-Identifier: BSD-3-Clause */
/* The chains of an emulated GEMM: for each sequence of k (lib/gemm/order.h) and each
   accumulator, the products in the order of their addition, and the events between them.
   The terms of one accumulator are interleaved, but accumulators are independent.  So a
   chain is one long dot product of values that its runs gather.  Modules compile this
   file as well. */
#ifndef BITCUT_GPU_EMULATE_CHAINS_H
#define BITCUT_GPU_EMULATE_CHAINS_H

#include "gpu/emulate/rule.h"
#include "lib/gemm/order.h"
#include "lib/gemm/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run: products from number `from` of the chain on, up to the start of the next run, or
   to the last product: part a of A times part b of B.  A run has whole instructions.  Its
   first product has position `at` in the k-steps, where element[at] of struct k_parts
   gives its k, and so on.  In each instruction the products have the order of the unit's
   rule. */
struct chain_run {
    uint32_t from, at;
    uint8_t a, b;
};

/* Events of the accumulator before product `at`, or after the last one, in this order: it
   is added to the FP32 register, rounded to nearest, and becomes +0; it is multiplied by
   2^-scale, rounded to nearest; it becomes +0 if it is large or NaN. */
enum { CHAIN_PROMOTE = 1, CHAIN_SCALE = 2, CHAIN_ZERO = 4 };

struct chain_event {
    uint32_t at, what;
};

struct chain {
    uint32_t products; /* whole instructions */
    struct chain_run *run;
    struct chain_event *event; /* ascending */
    size_t runs, events;
};

/* Make the chain of an accumulator over sequence `sequence` of parts.  BITCUT_NO_MEMORY.
   BITCUT_UNSUPPORTED: there are more products than 32 bits can count.  *to is set only on
   success; chain_clear() frees it. */
enum bitcut_status chain_make(struct chain *to, const struct gpu_emulation *e,
                              const struct gemm_plan *plan, const struct k_parts *parts,
                              size_t sequence, int accumulator);
void chain_clear(struct chain *x);

#ifdef __cplusplus
}
#endif

#endif
