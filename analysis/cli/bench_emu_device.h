/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench emu --device: GEMMs of other units on a device, verified and timed beside
   the emulator on the host's processors. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_EMU_DEVICE_H
#define BITCUT_ANALYSIS_CLI_BENCH_EMU_DEVICE_H

#include "analysis/cli/command.h"
#include "lib/gemm/recipe.h"
#include "lib/input/input.h"

/* Of each size, D = A B of n x n matrices by the recipe on --unit, or without it on every
   unit that is not timed already, by the options of x.  A product is one of two words: of
   each term of the recipe there are n^3.  As many rows of D as the host computes in a
   moment are compared, every bit, the first and the last; if none differs the device is
   then timed.  Returns an exit status: EXIT_FOUND if an output differs. */
int bench_emu_device(struct context *x, const struct input *input,
                     const struct bitcut_recipe *recipe);

#endif
