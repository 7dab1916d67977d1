/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of `bitcut run`, as text and as JSON. */
#ifndef BITCUT_ANALYSIS_CLI_RUN_TEXT_H
#define BITCUT_ANALYSIS_CLI_RUN_TEXT_H

#include "analysis/cli/command.h"
#include "analysis/run/folder.h"

#include <stdio.h>

/* The input of the description. */
struct run_description {
    const struct run_total *total;
    const char *program; /* the file that was run; NULL: unknown */
    double elapsed;      /* duration of the run in seconds; 0: unknown */
    const char *folder; /* folder of the excerpts of an audit; NULL: there was no audit */
    const char *want;   /* required error for advice, or NULL */
    FILE *file;         /* for JSON Lines, or NULL                         */
};

/* Emit a row for each call site, and print a summary to standard error; with --json the
   summary is a last row.  The same rows are written to the file. */
void run_describe(const struct run_description *told, struct context *x);

#endif
