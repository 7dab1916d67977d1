/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut replay of what kit/settle.py prints. */
#ifndef BITCUT_ANALYSIS_CLI_REPLAY_PASTE_H
#define BITCUT_ANALYSIS_CLI_REPLAY_PASTE_H

#include "analysis/cli/command.h"

/* Whether a regular file has the begin of a paste. */
bool replay_paste_is(const char *path);

/* Print the rows of the unit table that give the lines of the paste, and the lines that
   no row gives.  Returns an exit status: EXIT_FOUND if there are such lines. */
int replay_paste(struct context *x, const char *path);

#endif
