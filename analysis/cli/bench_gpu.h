/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench gpu: kernels on the device, verified and timed beside cuBLAS. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_GPU_H
#define BITCUT_ANALYSIS_CLI_BENCH_GPU_H

#include "analysis/cli/command.h"

/* The options of `bench`. */
struct bench_options {
    struct option_counts sizes;
    const char *input;         /* family of A and B, unless the shapes have their own */
    const char *device;
    const char *unit, *recipe; /* of bench emu; the others are of bench gpu           */
    const char *study, *kernel, *tile;
    struct option_texts shapes;
    struct option_counts batches;
    size_t rounds, sustained_milliseconds;
    bool equilibrate; /* what kernels, not peers, multiply */
};

/* Print the rows of benchmark_run() (analysis/bench/benchmark.h) by the options of x, as
   workloads finish.  Returns an exit status: EXIT_FOUND if a kernel does not give its
   model's bits. */
int bench_gpu(struct context *x);

#endif
