/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for what computed a line of a paste that no row gives in one accumulator. */
#ifndef BITCUT_ANALYSIS_CLI_PASTE_SEARCH_H
#define BITCUT_ANALYSIS_CLI_PASTE_SEARCH_H

#include "analysis/evidence/paste_row.h"
#include "analysis/identify/statistic_search.h"

/* Try the hypotheses of explain (analysis/identify/statistic_search.h): recipes on units,
   splits, roundings and orders of k, by the digests of the line; first on `unit`, unless
   it is NULL, then on every unit.  The line has no block scales and no bias, and its
   operands fit FP32.  Statuses as of statistic_search(). */
enum bitcut_status paste_search(struct statistic_answer *to, const struct paste_line *x,
                                const struct bitcut_unit *unit, int threads,
                                const struct progress *progress, struct fault *f);

/* Whether it can be asked about the line. */
bool paste_search_takes(const struct paste_line *x);

#endif
