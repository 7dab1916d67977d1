/* SPDX-License-Identifier: BSD-3-Clause */
/* A report about one attention: what computed O, its errors and where they come from, and
   which algorithm is more accurate on these Q, K and V. */
#ifndef BITCUT_ANALYSIS_CLI_ATTENTION_REPORT_H
#define BITCUT_ANALYSIS_CLI_ATTENTION_REPORT_H

#include "analysis/cli/attention_setup.h"

/* Write the report to a folder.  `o` has files of Q, K and V, and of O in path[O] or
   NULL; `seconds` is the time limit for explaining O, 0: none.  Prints messages and
   returns an exit status: EXIT_FOUND if O is rejected. */
int attention_report(struct context *x, const struct attention_setup_options *o,
                     double seconds, const char *folder);

#endif
