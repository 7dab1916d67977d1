/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run has done, for people and as JSON. */
#ifndef BITCUT_ANALYSIS_CLI_RUN_TEXT_H
#define BITCUT_ANALYSIS_CLI_RUN_TEXT_H

#include "analysis/cli/command.h"
#include "analysis/run/folder.h"

#include <stdio.h>

/* What there is to say. */
struct run_description {
    const struct run_total *total;
    const char *program; /* the file that was run; NULL: it is not known    */
    double elapsed;      /* how long it took, in seconds; 0: not known      */
    const char *folder;  /* with excerpts of an audit; NULL: none was asked */
    const char *want;    /* of advice, or NULL                              */
    FILE *file;          /* for JSON Lines, or NULL                         */
};

/* Emit a row a place, and print in words, on standard error, what they come to; or with
   --json a last row that has it.  The same rows go to the file. */
void run_describe(const struct run_description *told, struct context *x);

#endif
