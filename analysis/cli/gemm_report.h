/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about one GEMM: its values, the accuracy of recipes on them, and its result.
 */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_H

#include "analysis/cli/fp64_setup.h"

/* The options of the report.  A text is NULL if its option was not given. */
struct gemm_report_options {
    struct setup_options setup; /* a and b are required; recipe and unit are those of the
                                   result: both or neither; without variations */
    struct fp64_options fp64;   /* of an FP64 GEMM: its scheme */
    const char *d;              /* the result, or NULL */
    const char *want;           /* required error, for advise: a number as text */
    const char *seconds;        /* time limit, for explain: a number as text */
};

/* Write the report to a folder.  *o is the first member of the command's options, x->own.
   Prints messages and returns an exit status: EXIT_FOUND
   if D is rejected, exceeds a bound, or differs from the given recipe and unit. */
int gemm_report(struct context *x, const struct gemm_report_options *o,
                const char *folder);

#endif
