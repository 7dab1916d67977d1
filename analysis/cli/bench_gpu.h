/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench gpu: kernels on the device, verified and timed against cuBLAS. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_GPU_H
#define BITCUT_ANALYSIS_CLI_BENCH_GPU_H

#include "analysis/cli/command.h"

/* The options of `bench`. */
struct bench_options {
    struct option_counts sizes;
    const char *input; /* input family of A and B, unless the shapes have their own */
    const char *device;
    const char *unit, *recipe; /* for bench emu; the other members are for bench gpu */
    const char *study, *kernel, *tile;
    struct option_texts shapes;
    struct option_counts batches;
    size_t rounds, sustained_milliseconds;
    bool equilibrate; /* for kernels only; peers multiply the matrices as they are */
};

/* Print the rows of benchmark_run() (analysis/bench/benchmark.h) with the options of x,
   as workloads finish.  Returns an exit status: EXIT_FOUND if a kernel does not give the
   bits of its model. */
int bench_gpu(struct context *x);

#endif
