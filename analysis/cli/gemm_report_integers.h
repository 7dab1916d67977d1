/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about one GEMM of integers.  The exact integers are the reference, so the page
   has no limits, bounds, budgets and recipes. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_INTEGERS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_INTEGERS_H

#include "analysis/cli/gemm_report.h"

/* Look at the file of D: whether it has integers, and whether it is a batch and --index
   does not select one of its GEMMs.  Prints messages and returns an exit status. */
int gemm_report_look(bool *integers, bool *of_batch, const struct gemm_report_options *o);

/* The report, as gemm_report(), for a D whose file has integers. */
int gemm_report_integers(struct context *x, const struct gemm_report_options *o,
                         const char *folder);

#endif
