/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench exact: the exact reference, verified and timed against MPFR. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_EXACT_H
#define BITCUT_ANALYSIS_CLI_BENCH_EXACT_H

#include "analysis/cli/command.h"
#include "lib/input/input.h"

/* Time each stage of the exact reference on an n x n x n product, all stages together,
   the reference that results are compared with, and the reference on the device of
   x->offload, if there is one.  Each has a row; `ratio` is relative to an MPFR loop on
   one thread.  Every settled result must equal the exact integer sums.  Returns an exit
   status. */
int bench_exact(struct context *x, size_t n, const struct input *input);

#endif
