/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut verify --kernel: kernels on a device, or its split pass, against the emulator.
 */
#ifndef BITCUT_ANALYSIS_CLI_VERIFY_KERNELS_H
#define BITCUT_ANALYSIS_CLI_VERIFY_KERNELS_H

#include "analysis/cli/setup.h"
#include "analysis/verify/kernel_trial.h"

/* What the command line chose. */
struct verify_kernels {
    const struct setup_options *setup;
    const char *device;
    const char *name; /* of a kernel, or how names begin; split: the split pass  */
    struct kernel_shape shape; /* SIZE_MAX: a grid of them; none or all */
    size_t samples, seconds; /* values of the split, 0: all; to explain what differs    */
};

/* Print a row for each kernel, or split.  Returns an exit status: EXIT_FOUND if one has
   other bits than its model. */
int verify_kernels(struct context *x, const struct verify_kernels *what);

#endif
