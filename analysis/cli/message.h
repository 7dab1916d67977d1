/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on standard error when the program cannot do what was requested, and their
   exit statuses. */
#ifndef BITCUT_ANALYSIS_CLI_MESSAGE_H
#define BITCUT_ANALYSIS_CLI_MESSAGE_H

#include "analysis/cli/option.h"
#include "lib/base/status.h"
#include "lib/base/table.h"

struct context;

/* Exit statuses. */
enum {
    EXIT_GOOD,   /* success */
    EXIT_FOUND,  /* a comparison or a bound failed                     */
    EXIT_USAGE,  /* the command line is invalid */
    EXIT_CANNOT, /* a file or device cannot be used, or SIGTERM */
    EXIT_INTERRUPTED =
        130 /* SIGINT; set by terminal_status(), commands return EXIT_CANNOT */
};

/* Print "bitcut: WHAT: WHY" to standard error, or "bitcut: WHY" if `what` is NULL.
   Returns the corresponding exit status. */
int fail(const char *what, const struct fault *f);

/* The same for a fault that may name its option; otherwise that of `otherwise`. */
int fail_about(const char *otherwise, const struct fault *f);

/* From now on store the line of a failure in *to, without "bitcut: ", instead of printing
   it.  NULL: print it.  Returns the previous value of `to`. */
struct fault *message_keep(struct fault *to);

/* Print "bitcut: WHAT WHY", a sentence with an option, a command or a variable as its
   subject.  Returns EXIT_USAGE. */
int complain(const char *what, const char *why);

/* Print, once per run, that a name of version 0.1 was read, and its new name. */
void warn_renamed(const char *what, const char *was, const char *name);

/* Print "bitcut: COMMAND: stopped", unless the command printed another message already.
 */
void fail_stopped(const char *command);

/* Complain about the first given option that has no effect in this use of the command,
   one bit of uses->uses.  Returns EXIT_GOOD if there is none. */
int check_use(const struct context *context, const struct option_use *uses, unsigned use);

/* A file, or a folder, that a command reads or writes. */
struct used_file {
    const char *option, *path; /* path NULL: the option was not given */
    bool written;
};

/* Complain about the first written file that is also read, or that is written twice,
   under any of its names (output_same()); then about the first that cannot be written.
   Called before the work, so that no result is lost.  `files` ends with a NULL option. */
int check_files(const struct used_file *files);

/* check_files() without the check that files can be written, for files in a folder that
   may not exist yet. */
int check_distinct_files(const struct used_file *files);

/* Print "bitcut: OPTION: unknown name "NAME"; did you mean ...?".  Returns EXIT_USAGE. */
int fail_unknown(const char *option, const char *name, struct table table);

/* Complain about an input family or a pair of families, and name the table of all
   ("inputs", "pairs"). */
int fail_input(const char *option, const char *list, const struct fault *f);

/* The same as fail_unknown() for --unit, with chips as suggestions where they are
   allowed.  If a chip was given where it is not allowed, the message says so. */
int fail_unit(const char *name, bool takes_chips);

#endif
