/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting an unmodified program with a library preloaded, and waiting for its end. */
#ifndef BITCUT_ANALYSIS_RUN_PROGRAM_H
#define BITCUT_ANALYSIS_RUN_PROGRAM_H

#include "lib/base/status.h"

#include <stdbool.h>

/* Exit statuses, as for env(1), nohup(1) and timeout(1). */
enum {
    PROGRAM_OWN_FAILURE = 125, /* the starting program failed */
    PROGRAM_CANNOT_RUN = 126,  /* the program exists, but cannot be run */
    PROGRAM_NOT_FOUND = 127,
    PROGRAM_BY_SIGNAL = 128 /* plus the number of the signal */
};

enum { PROGRAM_PATH_MAX = 4096 };

/* The file of a command name, found as a shell does.  Returns 0; or PROGRAM_NOT_FOUND or
   PROGRAM_CANNOT_RUN with the reason in *f. */
int program_find(char path[PROGRAM_PATH_MAX], const char *name, struct fault *f);

/* Whether the loader preloads `library` into that program, or into its interpreter: it is
   built for this machine, not linked statically, and has no rights beyond its caller's.
   Returns 0; or PROGRAM_OWN_FAILURE with the reason in *f. */
int program_check(const char *path, const char *library, struct fault *f);

/* Whether the file itself contains a function with one of the names (ended by NULL).
   Returns the first such name, or NULL if its symbols show none. */
const char *program_has(const char *path, const char *const *names);

/* Run the program with those arguments and that environment until it ends.  Meanwhile
   signals from the terminal go to the program alone, and SIGTERM and SIGHUP are forwarded
   to it.  Returns its exit status, or 128 + the number of its signal; or
   PROGRAM_CANNOT_RUN or PROGRAM_OWN_FAILURE with `failed` true and the reason in *f. */
int program_run(bool *failed, const char *path, char *const *words,
                char *const *environment, struct fault *f);

#endif
