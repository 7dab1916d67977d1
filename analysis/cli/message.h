/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program says on standard error when it cannot do what it was asked to, and the
   exit status that goes with it. */
#ifndef BITCUT_ANALYSIS_CLI_MESSAGE_H
#define BITCUT_ANALYSIS_CLI_MESSAGE_H

#include "analysis/cli/option.h"
#include "lib/base/status.h"
#include "lib/base/table.h"

struct context;

/* Exit statuses. */
enum {
    EXIT_GOOD,             /* all is well                                        */
    EXIT_FOUND,            /* a comparison or a bound failed                     */
    EXIT_USAGE,            /* the command line makes no sense                    */
    EXIT_CANNOT,           /* a file or device cannot be used, or SIGTERM        */
    EXIT_INTERRUPTED = 130 /* SIGINT; of terminal_status(), commands say CANNOT  */
};

/* Print "bitcut: what: why" to standard error, or "bitcut: why" if `what` is NULL, and
   return the exit status that fits. */
int fail(const char *what, const struct fault *f);

/* From now on keep the line of a failure in *to, without "bitcut: ", in place of printing
   it; NULL: print it.  Returns what `to` was before. */
struct fault *message_keep(struct fault *to);

/* Print "bitcut: WHAT WHY", a sentence whose subject is an option, a command or a
   variable; return EXIT_USAGE. */
int complain(const char *what, const char *why);

/* Print once in a run that a name of version 0.1 is read, and what it is now. */
void warn_renamed(const char *what, const char *was, const char *name);

/* Print "bitcut: COMMAND: stopped", unless something was said since the command was: what
   it met then. */
void fail_stopped(const char *command);

/* Complain of the first option that was given although it does nothing in this use of the
   command, one bit of uses->uses; EXIT_GOOD: there is none. */
int check_use(const struct context *context, const struct option_use *uses, unsigned use);

/* A file, or a folder, that a command reads or writes. */
struct used_file {
    const char *option, *path; /* path NULL: the option was not given */
    bool written;
};

/* Complain of the first file written that is also read, or written twice, whatever its
   names (output_same()); `files` end with an option that is NULL. */
int check_files(const struct used_file *files);

/* Print "bitcut: OPTION: unknown name "NAME"; did you mean ...?" and return EXIT_USAGE. */
int fail_unknown(const char *option, const char *name, struct table table);

/* Complain of an input or a pair of them, and name the list of all ("inputs", "pairs").
 */
int fail_input(const char *option, const char *list, const struct fault *f);

/* The same as fail_unknown() for --unit, with the chips where they may be named; a chip
   that may not is told so. */
int fail_unit(const char *name, bool takes_chips);

#endif
