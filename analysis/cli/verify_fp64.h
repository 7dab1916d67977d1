/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut verify for kernels of FP64 GEMMs. */
#ifndef BITCUT_ANALYSIS_CLI_VERIFY_FP64_H
#define BITCUT_ANALYSIS_CLI_VERIFY_FP64_H

#include "analysis/cli/command.h"
#include "analysis/verify/fp64_trial.h"

/* Whether a kernel of FP64 GEMMs has that name. */
bool has_fp64_kernel(const struct recorder *r, const char *name);

/* Try the kernels with that name that the device can run, on the GEMMs of a shard; if it
   can run none, report why.  shape: NULL: a grid.  Prints and returns an exit status. */
int verify_fp64_kernels(struct context *x, const struct recorder *r, const char *name,
                        const struct kernel_shape *shape, struct shard shard);

#endif
