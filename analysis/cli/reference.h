/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line in the form that other programs use: manual pages for man, and
   completion for shells. */
#ifndef BITCUT_ANALYSIS_CLI_REFERENCE_H
#define BITCUT_ANALYSIS_CLI_REFERENCE_H

#include "analysis/cli/command.h"

/* All commands, ended by NULL, and the options shared by all. */
struct reference {
    const struct command *const *commands;
    const struct option_row *shared;
};

/* Print the page of one command, or of the program if it is NULL, to standard output. */
void reference_page(const struct reference *r, const struct command *c);

/* Print the completion script for bash, zsh or fish. */
void reference_bash(const struct reference *r);
void reference_zsh(const struct reference *r);
void reference_fish(const struct reference *r);

/* "--" or "-", before an option's name. */
const char *reference_dashes(const struct option_row *o);

/* Whether an option may be given more than once. */
bool reference_repeats(const struct option_row *o);

/* The possible values of an option's argument or of an operand: a file; a name in tables
   of `bitcut list`, separated by blanks ("": the names of the tables); or a word in
   `words`, separated by blanks.  If none is set, anything. */
struct reference_argument {
    bool file, named;
    char tables[80], words[80];
};

/* The values of the option `o`, a row of `rows`, and of a command's operands. */
struct reference_argument reference_argument(const struct option_row *rows,
                                             const struct option_row *o);
struct reference_argument reference_operands(const struct command *c);

/* The row of -o; its name is NULL if the command has none. */
struct option_row reference_output(const struct command *c);

#endif
