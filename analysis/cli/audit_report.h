/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about the products of a program, from a file written by `bitcut run --audit -o
   FILE`. */
#ifndef BITCUT_ANALYSIS_CLI_AUDIT_REPORT_H
#define BITCUT_ANALYSIS_CLI_AUDIT_REPORT_H

#include "analysis/cli/command.h"

/* Write the report to a folder.  Prints messages and returns an exit status; a file
   without call sites gives EXIT_CANNOT. */
int audit_report(struct context *x, const char *path, const char *folder);

#endif
