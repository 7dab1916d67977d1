/* bitcut bench gpu of batches: kernels for small GEMMs beside those of cuBLAS. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_BATCH_H
#define BITCUT_ANALYSIS_CLI_BENCH_BATCH_H

#include "analysis/cli/bench_gpu.h"
#include "analysis/cli/bench_plan.h"

/* A bench of batches: every shape in batches of every count. */
struct bench_batch {
    struct context *context;
    const struct bench_gpu *options;
    const struct bench_study *study;
    const struct recorder *recorder;
    const struct option_counts *counts;
    const struct kernel_shape *shape;
    size_t shapes;
};

/* Verify and time, as bench_gpu() does whole GEMMs, the kernels for the smallest sizes
   that take a shape, or those called options->kernel, and all peers: by strides and by
   pointers, one row each.  Last, for each count and addressing, the mean over the shapes
   of up to 32, on which it was timed, of how much faster the first kernel of a shape is
   than each peer; null for a peer that was not timed on one of them.  Returns
   an exit status: EXIT_FOUND if a kernel does not give its model's bits. */
int bench_batch(const struct bench_batch *bench);

#endif
