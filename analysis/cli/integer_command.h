/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm and verify on units of integers. */
#ifndef BITCUT_ANALYSIS_CLI_INTEGER_COMMAND_H
#define BITCUT_ANALYSIS_CLI_INTEGER_COMMAND_H

#include "analysis/cli/budget_command.h"
#include "analysis/cli/setup.h"

/* Whether D is compared with real numbers: it has no integers, and the steps first make
   FP32 of the sums. */
bool integer_gemm_is_measured(const struct bitcut_gemm *g);

/* Compute D of s, write it to `path` unless that is NULL, and print how it compares with
   the exact result: a D of integers with these, another D, if it is `wanted`, by the
   metrics of all units.  Budgets require a D that is measured.  Takes over the row.
   Returns an exit status. */
int integer_gemm(struct context *x, const struct setup *s, const char *path, bool wanted,
                 const struct budget_options *budget, json_t *row);

/* Compare the D of the file `path` with the D of s, and print the budgets that are asked
   for.  Prints and returns an exit status. */
int integer_verify(struct context *x, struct setup *s, const char *path,
                   const struct budget_options *budget);

#endif
