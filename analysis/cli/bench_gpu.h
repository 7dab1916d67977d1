/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench gpu: kernels on the device, verified and timed beside cuBLAS. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_GPU_H
#define BITCUT_ANALYSIS_CLI_BENCH_GPU_H

#include "analysis/cli/command.h"

/* What of it the command line chose; NULL and 0: nothing. */
struct bench_gpu {
    const char *study, *kernel, *tile;
    const struct option_texts *shapes;
    const struct option_counts *sizes, *batches;
    const char *input; /* family of A and B, unless the shapes have their own */
    size_t rounds, sustained_milliseconds;
    bool equilibrate; /* what kernels, not peers, multiply */
};

/* Print the rows of race_run() (analysis/device/race.h) as heats finish.  Returns an exit
   status: EXIT_FOUND if a kernel does not give its model's bits. */
int bench_gpu(struct context *x, const struct bench_gpu *options);

#endif
