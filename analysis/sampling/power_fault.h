/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of a kernel as candidates: those that explain knows, and some more. */
#ifndef BITCUT_ANALYSIS_SAMPLING_POWER_FAULT_H
#define BITCUT_ANALYSIS_SAMPLING_POWER_FAULT_H

#include "analysis/identify/fault.h"
#include "lib/number/rand.h"

/* A fault of a kernel in a run: how it computes, or what becomes of D afterwards. */
struct power_fault {
    const char *name, *what;
    const struct kernel_fault *defect; /* of explain's tables; the others are NULL then */

    /* Change the GEMM, before there is a plan; false: it is not another. */
    bool (*vary)(struct bitcut_gemm *g, struct rng *r);

    /* Change how it reads. */
    void (*alter)(struct candidate *x, const struct block *b, struct rng *r);

    /* Change the m x n outputs. */
    void (*spoil)(uint32_t *d, size_t m, size_t n, struct rng *r);
};

/* Fault i, counted from 0, those of explain first; false: there are no more. */
bool power_fault_nth(struct power_fault *to, size_t i);

/* The candidate that is g with the fault, of a kind that is drawn; false: there is none.
 *g is a checked GEMM on a unit, the space has ranges of k. */
bool power_fault_make(struct candidate *x, const struct power_fault *fault,
                      const struct bitcut_gemm *g, const struct space *s,
                      const struct block *b, struct rng *r);

#endif
