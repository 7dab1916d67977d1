/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found out about a result, for people, and for other commands. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_SAY_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_SAY_H

#include "analysis/cli/command.h"
#include "analysis/explain/explain.h"

/* The lines of a row of `explain`; ended by one whose key is NULL. */
extern const struct emit_line explain_lines[];

/* Keys of that row: [{"from":2,"to":3,"count":7}, ...], bins of struct spread that have
   outputs, both null of what no number of steps is between; {"rows":16,"columns":null};
   and [{"name":"plain","ulps":3.0}, ...], the nearest first. */
json_t *explain_ulps(const struct explanation *e);
json_t *explain_period(const struct explanation *e);
json_t *explain_distances(const struct explanation *e);

/* What computed D of *q, in one sentence, of which `seconds` look at everything; "" if
   seconds is 0.  Of a block of a larger result `part` has its lines, else it is NULL.
   Prints and returns an exit status; `sentence` is set whatever that is. */
int explain_sentence(char sentence[SENTENCE_MOST], const struct question *q,
                     const struct block *part, size_t seconds, const struct context *x);

#endif
