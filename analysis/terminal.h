/* The person at the terminal: progress on standard error, and Ctrl-C. */
#ifndef BITCUT_ANALYSIS_TERMINAL_H
#define BITCUT_ANALYSIS_TERMINAL_H

#include "lib/progress.h"

/* A progress that prints percentages to standard error if that is a terminal, and that
   stops when the process is interrupted: the first SIGINT or SIGTERM asks long work to
   end, a second one ends the process. */
struct progress terminal_progress(void);

/* What the percentages count from now on, such as "report: figure1"; NULL clears the
   line. `name` must stay valid. */
void terminal_label(const char *name);

#endif
