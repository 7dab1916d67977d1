/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found out about a result, for other commands. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_TEXT_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_TEXT_H

#include "analysis/cli/command.h"
#include "analysis/identify/explain.h"

/* What computed D of *q, in one sentence.  `seconds` limits the search; 0: no search is
   made, and the sentence is "".  Of a block of a larger result `part` has its lines, else
   it is NULL. Prints and returns an exit status; `sentence` is set whatever that is. */
int explain_sentence(char sentence[SENTENCE_MAX], const struct problem *q,
                     const struct block *part, size_t seconds, const struct context *x);

#endif
