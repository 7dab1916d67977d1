/* SPDX-License-Identifier: BSD-3-Clause */
/* A command that another one runs. */
#ifndef BITCUT_ANALYSIS_CLI_COMMAND_CALL_H
#define BITCUT_ANALYSIS_CLI_COMMAND_CALL_H

#include "analysis/cli/command.h"

enum { COMMAND_WORDS_MOST = 64 };

/* A command line without the program's name, and what came of it. */
struct command_call {
    const char *word[COMMAND_WORDS_MOST];
    int words;
    json_t *rows; /* what it would print with --json, without a schema              */
    json_t *says; /* what people would read of the first, as emit_says(); or NULL   */
    int status;   /* its exit status                                                */
};

/* Append a word, which stays where it is. */
void command_call_add(struct command_call *call, const char *word);

/* Run it with the seed, threads and progress of the caller's context: what it has to say
   goes to `rows` and `says`, what is wrong to standard error.  Its own options have the
   values afterwards that they had before.  The exit status. */
int command_call_run(struct command_call *call, const struct command *command,
                     const struct context *x);

/* The line that a shell would run, such as "bitcut gemm -m 3", as a text to be released.
 */
json_t *command_call_line(const struct command_call *call);

void command_call_clear(struct command_call *call);

#endif
