/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench emu: the emulated GEMMs, verified and timed against an SGEMM of the
   machine. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_EMU_H
#define BITCUT_ANALYSIS_CLI_BENCH_EMU_H

#include "analysis/cli/command.h"
#include "lib/input/input.h"

/* Time n x n x n products of the plain recipe on `unit`, a name; if it is NULL, on every
   unit with a fast path.  There is one row for each level of vector instructions, first
   on one thread, then on all threads of *x.  The first rows of every product must equal
   the rows of the engine.  `blas_fraction` is relative to the SGEMM found by blas_open(),
   on the same threads; without a library it is omitted.  Returns an exit status. */
int bench_emu(struct context *x, size_t n, const struct input *input, const char *unit);

#endif
