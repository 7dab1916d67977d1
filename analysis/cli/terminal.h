/* SPDX-License-Identifier: BSD-3-Clause */
/* Interaction with the terminal: progress on standard error, and Ctrl-C. */
#ifndef BITCUT_ANALYSIS_CLI_TERMINAL_H
#define BITCUT_ANALYSIS_CLI_TERMINAL_H

#include "lib/base/progress.h"

/* A progress that prints percentages to standard error if that is a terminal, and that
   stops when the process is interrupted: the first SIGINT, SIGTERM or SIGHUP asks long
   work to end.  If there is a second one, or the process is still there a second later, wherever
   it is, give_up() is called in a thread of its own, to end it; if it has not in half a
   second, the process ends as terminal_status(EXIT_CANNOT) says.  SIGPIPE ends the process
   as ever, but leaves no temporary file, and after SIGXFSZ the write fails.  False if there
   is no memory for that. */
bool terminal_progress(struct progress *progress, void (*give_up)(void));

/* Whether the process was asked to stop. */
bool terminal_stopped(void);

/* The exit status of a command that ended with `status`: EXIT_INTERRUPTED if it is
   EXIT_CANNOT and SIGINT came before.  Safe in a signal handler. */
int terminal_status(int status);

/* Set the label of the percentages, such as "report: figure1"; NULL clears the line.
   `name` must stay valid. */
void terminal_label(const char *name);

#endif
