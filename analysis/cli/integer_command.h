/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm and verify on units of integers. */
#ifndef BITCUT_ANALYSIS_CLI_INTEGER_COMMAND_H
#define BITCUT_ANALYSIS_CLI_INTEGER_COMMAND_H

#include "analysis/cli/setup.h"

/* Compute D of s, write it to `path` unless that is NULL, and print how it compares with
   the exact result: a D of integers with these, another D, if it is `wanted`, by the
   metrics of all units.  Takes over the row.  Returns an exit status. */
int integer_gemm(struct context *x, const struct setup *s, const char *path, bool wanted,
                 json_t *row);

/* Compare the D of the file `path` with the D of s.  Prints and returns an exit status. */
int integer_verify(struct context *x, struct setup *s, const char *path);

#endif
