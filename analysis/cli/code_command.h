/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `verify` that have a kernel of the user's own make D, executed. */
#ifndef BITCUT_ANALYSIS_CLI_CODE_COMMAND_H
#define BITCUT_ANALYSIS_CLI_CODE_COMMAND_H

#include "analysis/cli/setup.h"
#include "analysis/verify/code_gemm.h"

/* What those options said. */
struct code_options {
    const char *file, *symbol, *arguments, *grid, *block;
    size_t shared;
};

/* Run the kernel on A, B and C of s, whose elements become those of its formats, for so
   many seconds at most.  `device`, what --device says, may be where the code would run.
   Prints and returns an exit status; EXIT_GOOD sets *to, whose d is to be cleared. */
int code_command_run(struct code_result *to, struct setup *s,
                     const struct code_options *o, const char *device, size_t seconds,
                     const struct context *x);

/* Add to a row what the kernel did: "counts". */
void code_command_describe(json_t *row, const struct code_result *result);

#endif
