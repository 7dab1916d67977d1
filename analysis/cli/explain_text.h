/* SPDX-License-Identifier: BSD-3-Clause */
/* The explanation of a result, for other commands. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_TEXT_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_TEXT_H

#include "analysis/cli/command.h"
#include "analysis/identify/explain.h"

/* What computed D of *q, in brief.  `seconds` limits the search; with 0 there is no
   search, and the sentence is "".  If D is a block of a larger result, `part` has its
   rows and columns; otherwise it is NULL.  Prints messages and returns an exit status;
   *to is set for any status. */
int explain_briefly(struct brief_explanation *to, const struct problem *q,
                    const struct block *part, size_t seconds, const struct context *x);

#endif
