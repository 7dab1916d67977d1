/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of a report about one GEMM, and the assertion that reproduces it. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_VERDICT_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_VERDICT_H

#include "analysis/cli/gemm_report_answers.h"
#include "analysis/report/report.h"

/* Set the banner of struct page from the answers so far.  A result is rejected if it has
   another shape, exceeds a limit for a test, or violates a rigorous bound.  It is
   accepted if both checks were made and neither rejects it. */
void gemm_report_judge(json_t *banner, const struct gemm_answers *a);

/* Set the banner: the verdict, why, and an error with its limit; NaN: there is none. */
void gemm_report_banner(json_t *banner, enum report_outcome outcome, const char *reason,
                        double error, double limit);

/* The exit status of the report, whose sections had the exit status `worst`, and the
   question that judges D the status `unjudged`.  Prints why there is no verdict. */
int gemm_report_end(const json_t *banner, int unjudged, int worst);

/* Append the sentence that answers a question, if there is one; found == NULL: it was not
   asked. */
void gemm_report_answer(json_t *answers, const char *question, record_describe *describe,
                        const void *found);

/* Whether an answer has the same sentence as a line of a section. */
bool gemm_report_is_answered(const json_t *line, const json_t *answers);

/* Append the tests with the computed limits, as `code` of struct page. */
void gemm_report_code(json_t *code, const struct gemm_answers *a);

#endif
