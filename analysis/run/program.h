/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting an unmodified program with a library preloaded, and waiting for its end. */
#ifndef BITCUT_ANALYSIS_RUN_PROGRAM_H
#define BITCUT_ANALYSIS_RUN_PROGRAM_H

#include "lib/base/status.h"

#include <stdbool.h>

/* Exit statuses as those of env(1), nohup(1) and timeout(1). */
enum {
    PROGRAM_OWN_FAILURE = 125, /* of who starts it         */
    PROGRAM_CANNOT_RUN = 126,  /* it is there, but ...     */
    PROGRAM_NOT_FOUND = 127,
    PROGRAM_BY_SIGNAL = 128 /* and the signal's number  */
};

enum { PROGRAM_PATH_MAX = 4096 };

/* The file that a name means, looked for as a shell does.  0; or PROGRAM_NOT_FOUND or
   PROGRAM_CANNOT_RUN, and *f says why. */
int program_find(char path[PROGRAM_PATH_MAX], const char *name, struct fault *f);

/* Whether the loader takes `library` into that program, or into what interprets it: it is
   no file for another machine, not linked statically, and does not run with rights that
   its caller has not.  0; or PROGRAM_OWN_FAILURE, and *f says which. */
int program_check(const char *path, const char *library, struct fault *f);

/* Whether the file has a function of one of the names (ended by NULL) in itself; the
   first that it has, or NULL: none that its symbols tell. */
const char *program_has(const char *path, const char *const *names);

/* Run it with those words and that environment until it ends.  Meanwhile signals from the
   terminal are the program's alone, and SIGTERM and SIGHUP are sent on to it.  Its exit
   status, or 128 + its signal's number; PROGRAM_CANNOT_RUN or PROGRAM_OWN_FAILURE and
   *failed is true, with *f. */
int program_run(bool *failed, const char *path, char *const *words,
                char *const *environment, struct fault *f);

#endif
