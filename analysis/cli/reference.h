/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command line takes, as other programs want it: pages of a manual for man, and
   completion for bash. */
#ifndef BITCUT_ANALYSIS_CLI_REFERENCE_H
#define BITCUT_ANALYSIS_CLI_REFERENCE_H

#include "analysis/cli/command.h"

/* All commands, ended by NULL, and the options that each has besides its own. */
struct reference {
    const struct command *const *commands;
    const struct option_row *shared;
};

/* Print the page of one command, or of the program if it is NULL, to standard output. */
void reference_page(const struct reference *r, const struct command *c);

/* Print the script. */
void reference_completion(const struct reference *r);

#endif
