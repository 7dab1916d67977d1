/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that a report on one GEMM reads. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_INPUTS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_INPUTS_H

#include "analysis/cli/gemm_report.h"
#include "analysis/cli/report_run.h"

/* Check that -a and -b are there, that --recipe and --unit are known, and that the report
   writes none of its input files.  Append the files to `digests`, an array, each as an
   object of "file" and "sha256".  Prints messages and returns an exit status. */
int gemm_report_inputs(json_t *digests, const struct report *r,
                       const struct gemm_report_options *o);

#endif
