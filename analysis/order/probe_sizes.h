/* SPDX-License-Identifier: BSD-3-Clause */
/* How many products are added together by the time two of them meet.

   All products are units, but product i is +M and product j is -M: M so large that a unit
   added to it is lost.  Units that were added to something with one of the two are gone
   when they meet and cancel, and all others are left in D.  Row r of A has M where i is,
   column c of B has -M where j is: so one run tells of as many pairs as D has outputs. */
#ifndef BITCUT_ANALYSIS_ORDER_PROBE_SIZES_H
#define BITCUT_ANALYSIS_ORDER_PROBE_SIZES_H

#include "lib/base/progress.h"
#include "lib/gemm/matrix.h"
#include "lib/number/format.h"

/* Run the program under test: allocate *d and fill it with A B, FP32 encodings.  *d is
   set only on success.  The fault is the program's. */
typedef enum bitcut_status probe_program(struct matrix *d, void *context,
                                         const struct matrix *a, const struct matrix *b,
                                         struct fault *f);

/* A format of inputs: M = 2^(big + unit) and a unit 2^(2 unit), products of powers of two
   that it holds, are lost and kept in FP32 for so many k. */
struct probe_input {
    const struct bitcut_format *format;
    int big, unit;
    size_t k_most;
};

extern const struct probe_input probe_inputs[]; /* ended by a row whose format is NULL */

/* What is probed. */
struct probe {
    probe_program *run;
    void *context;
    size_t m, n, k;
    const struct probe_input *input;
    uint64_t seed;
    int threads;
    const struct progress *progress;
};

/* Positions of k, ascending, and of any two of them how many products are added together
   by the time they meet, both included: below[x * count + y]. */
struct probe_sizes {
    size_t k, count;
    size_t *at;
    uint32_t *below;
    size_t calls; /* of the program */
};

/* All k, or of many k a sample: the first, the last, and others, most with a neighbour.
   A few runs of the program are enough.  Only after BITCUT_OK is there something to
   clear. */
enum bitcut_status probe_sizes_make(struct probe_sizes *s, const struct probe *p,
                                    struct fault *f);
void probe_sizes_clear(struct probe_sizes *s);

static inline size_t probe_below(const struct probe_sizes *s, size_t x, size_t y)
{
    return s->below[x * s->count + y];
}

#endif
