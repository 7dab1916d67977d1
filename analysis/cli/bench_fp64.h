/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench fp64: kernels of FP64 GEMMs by slices, verified and timed. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_FP64_H
#define BITCUT_ANALYSIS_CLI_BENCH_FP64_H

#include "analysis/cli/bench_gpu.h"
#include "analysis/cli/command.h"

/* For each size, time the FP64 GEMMs of the vendor's library and then the kernels with
   several numbers of parts, on one n x n x n product without the copies to the device.
   Outputs of some rows and columns must equal the emulator's, and are compared with the
   exact result.  Each has a row; `ratio` is relative to the first one.  Returns an exit
   status. */
int bench_fp64(struct context *x);

#endif
