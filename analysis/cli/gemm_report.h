/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about one GEMM: its values, the accuracy of recipes on them, and its result.
 */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_H

#include "analysis/cli/matrix_option.h"

/* The options of the report.  A text is NULL if its option was not given. */
struct gemm_report_options {
    const char *a, *b, *c, *d; /* files; a and b are required */
    const char *alpha, *beta;  /* numbers, as texts */
    const char *recipe, *unit; /* of the result; both or neither */
    const char *want;          /* required error, for advise: a number as text */
    const char *seconds;       /* time limit, for explain: a number as text */
    struct matrix_options files; /* what the files hold */
};

/* Write the report to a folder.  Prints messages and returns an exit status: EXIT_FOUND
   if D is rejected, exceeds a bound, or differs from the given recipe and unit. */
int gemm_report(struct context *x, const struct gemm_report_options *o,
                const char *folder);

#endif
