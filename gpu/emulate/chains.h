/* SPDX-License-Identifier: BSD-3-Clause */
/* The chains of a GEMM to be emulated: for each sequence of k (lib/gemm/order.h) and each
   accumulator, which products are added in which order, and what happens between them.
   The terms of an accumulator take turns, but of other accumulators they know nothing; so
   a chain is one long dot product, of values that its runs gather.  Compiled into modules
   as well. */
#ifndef BITCUT_GPU_EMULATE_CHAINS_H
#define BITCUT_GPU_EMULATE_CHAINS_H

#include "gpu/emulate/rule.h"
#include "lib/gemm/order.h"
#include "lib/gemm/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Products from number `from` of the chain on, up to the next run's, or the last one:
   word a of A times word b of B.  They are whole instructions.  The first one is of place
   `at` among the k-steps, where element[at] of struct k_parts says which k it is, and so
   on; in each instruction in the order that the unit's rule says. */
struct chain_run {
    uint32_t from, at;
    uint8_t a, b;
};

/* What happens to the accumulator before product `at`, or after the last; in this order:
   it is added to the FP32 register, to nearest, and becomes +0; it is multiplied by
   2^-scale, rounded to nearest; it becomes +0 if it is large or no number. */
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

/* The chain of an accumulator over sequence `sequence` of parts.  BITCUT_NO_MEMORY;
   BITCUT_UNSUPPORTED: more products than 32 bits count.  *to is set only on success;
   chain_clear() ends it. */
enum bitcut_status chain_make(struct chain *to, const struct gpu_emulation *e,
                              const struct gemm_plan *plan, const struct k_parts *parts,
                              size_t sequence, int accumulator);
void chain_clear(struct chain *x);

#ifdef __cplusplus
}
#endif

#endif
