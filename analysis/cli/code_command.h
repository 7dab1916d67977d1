/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `verify` that compute D by executing a kernel supplied by the user. */
#ifndef BITCUT_ANALYSIS_CLI_CODE_COMMAND_H
#define BITCUT_ANALYSIS_CLI_CODE_COMMAND_H

#include "analysis/cli/setup.h"
#include "analysis/verify/code_gemm.h"

/* The options. */
struct code_options {
    const char *file, *symbol, *arguments, *grid, *block;
    size_t shared;
};

/* Run the kernel on A, B and C of s for at most `seconds`.  The elements of the matrices
   are rounded to the formats of the kernel.  `device` is the value of --device, on which
   the code would run.  Prints messages and returns an exit status; EXIT_GOOD sets *to,
   whose d has to be cleared. */
int code_command_run(struct code_result *to, struct setup *s,
                     const struct code_options *o, const char *device, size_t seconds,
                     const struct context *x);

/* Add the counts of the kernel to a row: "counts". */
void code_command_describe(json_t *row, const struct code_result *result);

#endif
