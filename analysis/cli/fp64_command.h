/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm, verify and explain for FP64 GEMMs by a scheme. */
#ifndef BITCUT_ANALYSIS_CLI_FP64_COMMAND_H
#define BITCUT_ANALYSIS_CLI_FP64_COMMAND_H

#include "analysis/cli/fp64_setup.h"

/* Run the command with a scheme.  Prints and returns an exit status. */
int fp64_gemm(struct context *x, const struct fp64_request *r);
int fp64_verify(struct context *x, const struct fp64_request *r);

/* Whether the file of D has FP64 numbers that are not FP32 numbers. */
bool fp64_is_result(const char *path, const struct matrix_options *files);

/* Find the scheme that computed D, for explain.  Prints and returns an exit status. */
int fp64_explain(struct context *x, const struct fp64_request *r);

#endif
