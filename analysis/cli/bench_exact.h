/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench exact: the exact reference, verified and timed beside MPFR. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_EXACT_H
#define BITCUT_ANALYSIS_CLI_BENCH_EXACT_H

#include "analysis/cli/command.h"
#include "lib/input/input.h"

/* Times each layer of the exact reference on an n x n x n product, the cascade of them,
   what a result is compared with, and the same by the device of x->offload, if there is
   one: a row for each, whose `ratio` is to an MPFR loop on one thread.  Every result that
   was settled must be that of the exact integer sums.  Returns an exit status. */
int bench_exact(struct context *x, size_t n, const struct input *input);

#endif
