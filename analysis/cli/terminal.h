/* SPDX-License-Identifier: BSD-3-Clause */
/* Interaction with the terminal: progress on standard error, and Ctrl-C. */
#ifndef BITCUT_ANALYSIS_CLI_TERMINAL_H
#define BITCUT_ANALYSIS_CLI_TERMINAL_H

#include "lib/base/progress.h"

/* A progress that prints percentages, and the time left, to standard error if it is a terminal, and that
   stops when the process is interrupted.  The first SIGINT, SIGTERM or SIGHUP asks long
   work to end.  At a second signal, or if the process still runs a second later,
   give_up() is called in a thread of its own to end it; if it has not done so within half
   a second, the process ends with terminal_status(EXIT_CANNOT).  SIGPIPE ends the process
   as usual, but leaves no temporary file.  After SIGXFSZ the write fails.  Returns false
   if memory runs out. */
bool terminal_progress(struct progress *progress, void (*give_up)(void));

/* Whether the process was asked to stop. */
bool terminal_stopped(void);

/* The exit status of a command that ended with `status`: EXIT_INTERRUPTED if it is
   EXIT_CANNOT and SIGINT came before.  Safe in a signal handler. */
int terminal_status(int status);

/* Set the label of the percentages, such as "report: figure1"; NULL clears the line.
   `name` must stay valid. */
void terminal_label(const char *name);

/* The same of step `step`, from 0 on, of `steps`: the time left is that of all steps. */
void terminal_step(const char *name, size_t step, size_t steps);

#endif
