/* What a run has done, for people and as JSON. */
#ifndef BITCUT_ANALYSIS_CLI_RUN_SAY_H
#define BITCUT_ANALYSIS_CLI_RUN_SAY_H

#include "analysis/cli/command.h"
#include "analysis/run/folder.h"

#include <stdio.h>

/* Emit a row a place, and print in words, on standard error, what they come to; or with
   --json a last row that has it.  The same rows go to `file`, as JSON Lines, if it is not
   NULL.  `program` is the file that was run; NULL: it is not known. */
void run_say(const struct run_total *total, const char *program, FILE *file,
             struct context *x);

#endif
