/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of products that are in one sum by the time two given products meet.

   All products are one unit, except product i, +M, and product j, -M.  M is so large that
   a unit added to it is lost.  Units that were added to a sum with one of these two are
   lost when the two meet and cancel; all other units remain in D.  Row r of A has M at
   its i, column c of B has -M at its j, so one run measures as many pairs as D has
   outputs. */
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

/* A format of inputs.  It contains the factors of M = 2^(big + unit) and of the unit 2^(2
   unit).  In FP32, units are lost next to M, and sums of units are exact for this number
   of k. */
struct probe_input {
    const struct bitcut_format *format;
    int big, unit;
    size_t k_most;
};

extern const struct probe_input probe_inputs[]; /* ended by a row whose format is NULL */

/* The program, the sizes and the format of a probe. */
struct probe {
    probe_program *run;
    void *context;
    size_t m, n, k;
    const struct probe_input *input;
    uint64_t seed;
    int threads;
    const struct progress *progress;
};

/* Positions of k, ascending; for any two of them, the number of products in their sum
   when they meet, both included: below[x * count + y]. */
struct probe_sizes {
    size_t k, count;
    size_t *at;
    uint32_t *below;
    size_t calls; /* runs of the program */
};

/* Measure all k.  If there are many k, a sample is measured: the first, the last, and
   others, most with a neighbour, which takes a few runs of the program.  Only after
   BITCUT_OK the result has to be cleared. */
enum bitcut_status probe_sizes_make(struct probe_sizes *s, const struct probe *p,
                                    struct fault *f);
void probe_sizes_clear(struct probe_sizes *s);

static inline size_t probe_below(const struct probe_sizes *s, size_t x, size_t y)
{
    return s->below[x * s->count + y];
}

#endif
