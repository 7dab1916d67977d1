/* SPDX-License-Identifier: BSD-3-Clause */
/* A report on one GEMM: its values, what recipes make of them, its result. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_H

#include "analysis/cli/command.h"

/* What was asked for; a text that is NULL was not. */
struct gemm_report_options {
    const char *a, *b, *c, *d; /* files; a and b are needed                        */
    const char *alpha, *beta;  /* numbers, as they were given                      */
    const char *recipe, *unit; /* of the result; both or neither                   */
    const char *want;          /* of advise: a number, as it was given             */
    const char *seconds;       /* of explain: a count likewise                     */
};

/* Make it in a folder.  Prints and returns an exit status: EXIT_FOUND if D is rejected,
   beyond a bound, or not what recipe and unit give. */
int gemm_report(struct context *x, const struct gemm_report_options *o,
                const char *folder);

#endif
