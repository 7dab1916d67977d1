/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of a report about one GEMM, and the assertion that reproduces it. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_VERDICT_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_VERDICT_H

#include "analysis/cli/gemm_report_answers.h"
#include "analysis/cli/result_report.h"

/* Set the banner of struct page from the answers so far.  A result is rejected if it has
   another shape, exceeds a limit for a test, or violates a rigorous bound.  It is
   accepted if both checks were made and neither rejects it. */
void gemm_report_judge(struct result_report *r, const struct gemm_answers *a);

/* Append the tests with the computed limits, as `code` of struct page. */
void gemm_report_code(struct result_report *r, const struct gemm_answers *a);

#endif
