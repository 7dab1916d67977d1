/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench emu: the emulated GEMMs, verified and timed beside a host's SGEMM. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_EMU_H
#define BITCUT_ANALYSIS_CLI_BENCH_EMU_H

#include "analysis/cli/command.h"
#include "lib/input/input.h"

/* Times n x n x n products of the plain recipe on `unit`, a name, or on every unit that a
   fast path takes if it is NULL: one row for each level of vector instructions, first on
   one thread, then on all that *x allows.  The first rows of every product must be those
   of the engine.  `blas_fraction` is relative to the SGEMM that blas_open() finds, on the
   same threads; without one it is left out.  Returns an exit status. */
int bench_emu(struct context *x, size_t n, const struct input *input, const char *unit);

#endif
