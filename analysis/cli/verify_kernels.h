/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut verify --kernel: kernels on a device, or its split pass, against the emulator.
 */
#ifndef BITCUT_ANALYSIS_CLI_VERIFY_KERNELS_H
#define BITCUT_ANALYSIS_CLI_VERIFY_KERNELS_H

#include "analysis/cli/setup.h"
#include "analysis/verify/kernel_trial.h"

/* The selection on the command line. */
struct verify_kernels {
    const struct setup_options *setup;
    const char *device;
    const char *name; /* a kernel, or the beginning of names; split: the split pass */
    struct kernel_shape shape; /* SIZE_MAX: a grid of shapes; all three or none */
    struct shard shard;        /* of the GEMMs of each kernel */
    size_t samples,
        seconds; /* values of the split, 0: all; time limit for explanations */
};

/* Print a row for each kernel, or for the split.  Returns an exit status: EXIT_FOUND if a
   kernel gives other bits than its model. */
int verify_kernels(struct context *x, const struct verify_kernels *what);

#endif
