/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `verify` that have a kernel of the user's own make D, executed. */
#ifndef BITCUT_ANALYSIS_CLI_CODE_COMMAND_H
#define BITCUT_ANALYSIS_CLI_CODE_COMMAND_H

#include "analysis/cli/setup.h"
#include "analysis/device/code_gemm.h"

/* What those options said. */
struct code_options {
    const char *file, *symbol, *arguments, *grid, *block;
    size_t shared;
};

extern struct code_options code_options;

#define CODE_OPTIONS                                                                     \
    { "hsaco", "D is what a kernel of this code object for an AMD GPU makes, executed",  \
      OPTION_TEXT, &code_options.file, "FILE" },                                         \
        { "symbol", "name of that kernel", OPTION_TEXT, &code_options.symbol, "S" },     \
        { "args",                                                                        \
          "what it takes: a, b, c, d (bt: column-major; a:f16), m, n, k, lda, ..., "     \
          "alpha, beta, numbers",                                                        \
          OPTION_TEXT, &code_options.arguments, "LIST" },                                \
        { "grid", "its work-groups, such as n/128,m/128", OPTION_TEXT,                   \
          &code_options.grid, "LIST" },                                                  \
        { "block", "work-items of one", OPTION_TEXT, &code_options.block, "LIST" },      \
    {                                                                                    \
        "shared", "bytes of LDS beside what it names", OPTION_COUNT,                     \
            &code_options.shared, "N"                                                    \
    }

/* Run the kernel on A, B and C of s, whose elements become those of its formats, for so
   many seconds at most.  Prints and returns an exit status; EXIT_GOOD sets *to, whose d
   is to be cleared. */
int code_command_run(struct code_result *to, struct setup *s, size_t seconds,
                     const struct context *x);

/* Add to a row what the kernel did: "counts". */
void code_command_describe(json_t *row, const struct code_result *result);

#endif
