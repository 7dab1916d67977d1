/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about one FP64 GEMM and its result D. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_FP64_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_FP64_H

#include "analysis/cli/command.h"
#include "analysis/cli/gemm_report.h"

/* Whether the report is about an FP64 GEMM: a scheme was given, or D has FP64 numbers
   that are not FP32 numbers. */
bool gemm_report_is_fp64(const struct gemm_report_options *o);

/* As gemm_report(). */
int gemm_report_fp64(struct context *x, const struct gemm_report_options *o,
                     const char *folder);

#endif
