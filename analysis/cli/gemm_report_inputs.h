/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that a report on one GEMM reads. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_INPUTS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_INPUTS_H

#include "analysis/cli/gemm_report.h"
#include "analysis/cli/result_report.h"

/* Check that -a and -b are there, that --recipe and --unit are known, and that the report
   writes none of its input files, which become its inputs.  Prints messages and returns
   an exit status. */
int gemm_report_inputs(struct result_report *r, const struct gemm_report_options *o);

#endif
