/* SPDX-License-Identifier: BSD-3-Clause */
/* A report on the products of a program, from what `bitcut run --audit -o FILE` wrote. */
#ifndef BITCUT_ANALYSIS_CLI_AUDIT_REPORT_H
#define BITCUT_ANALYSIS_CLI_AUDIT_REPORT_H

#include "analysis/cli/command.h"

/* Make it in a folder.  Prints and returns an exit status; a file without places is
   EXIT_CANNOT. */
int audit_report(struct context *x, const char *path, const char *folder);

#endif
