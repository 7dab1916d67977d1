/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bench emu --device: GEMMs of other units on a device, verified and timed against
   the emulator on the CPU. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_EMU_DEVICE_H
#define BITCUT_ANALYSIS_CLI_BENCH_EMU_DEVICE_H

#include "analysis/cli/command.h"
#include "lib/gemm/recipe.h"
#include "lib/input/input.h"

/* For each size, time D = A B of n x n matrices by the recipe on --unit, or on every unit
   that was not timed already, with the options of x.  A product is a product of two
   parts: each term of the recipe has n^3 of them.  As many rows of D as the CPU computes
   in a moment are compared bit for bit, including the first and the last row.  The device
   is timed only if no output differs.  Returns an exit status: EXIT_FOUND if an output
   differs. */
int bench_emu_device(struct context *x, const struct input *input,
                     const struct bitcut_recipe *recipe);

#endif
