/* SPDX-License-Identifier: BSD-3-Clause */
/* The command lines that give the answers in a report about one GEMM. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_LINE_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_LINE_H

#include "analysis/cli/gemm_report_answers.h"

/* The command line with the same answer; the caller releases the text. */
json_t *gemm_question_line(const struct gemm_answers *a, enum gemm_problem problem);

#endif
