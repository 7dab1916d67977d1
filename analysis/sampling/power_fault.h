/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of a kernel as candidates: the faults known to explain, and some others. */
#ifndef BITCUT_ANALYSIS_SAMPLING_POWER_FAULT_H
#define BITCUT_ANALYSIS_SAMPLING_POWER_FAULT_H

#include "analysis/accuracy/gemm_data.h"
#include "analysis/identify/fault.h"
#include "lib/number/rand.h"

/* A fault of a kernel in a run: a change of the computation, or of D afterwards. */
struct power_fault {
    const char *name, *what;
    /* a fault of explain's tables; the other members are NULL then */
    const struct kernel_fault *defect;

    /* Change the GEMM before there is a plan.  Returns false if nothing changes. */
    bool (*vary)(struct bitcut_gemm *g, struct rng *r);

    /* Change how it reads the matrices. */
    void (*alter)(struct candidate *x, const struct block *b, struct rng *r);

    /* Change the data and the epilogue of a GEMM with steps.  Returns false if nothing
       changes.  The calling thread is in the mode of hostfp_enter(). */
    bool (*mislead)(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r);

    /* Change the m x n outputs. */
    void (*spoil)(uint32_t *d, size_t m, size_t n, struct rng *r);
};

/* Fault i, counted from 0, the faults of explain first, those of steps last.  Returns
   false after the last one. */
bool power_fault_nth(struct power_fault *to, size_t i);

/* The candidate for g with the fault, in a variant that is drawn.  Returns false if there
   is none. g is a checked GEMM on a unit; the space has ranges of k. */
bool power_fault_make(struct candidate *x, const struct power_fault *fault,
                      const struct bitcut_gemm *g, const struct space *s,
                      const struct block *b, struct rng *r);

#endif
