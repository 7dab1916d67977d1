/* SPDX-License-Identifier: BSD-3-Clause */
/* The search on one problem: hypotheses are tried on samples, the best one is compared
   with D and improved, and what it leaves is examined. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SEARCH_PROBLEM_H
#define BITCUT_ANALYSIS_IDENTIFY_SEARCH_PROBLEM_H

#include "analysis/identify/explain.h"

/* Search for what computed D of e->q, after ladder_report_make() has filled e->ladder. *e
   has the answer, except for its sentences.  If progress asks to stop, *e has what was
   found until then. Returns BITCUT_NO_MEMORY. */
enum bitcut_status search_problem(struct explanation *e, const struct explain_options *o,
                                  struct fault *f);

/* The outputs of q on which hypotheses are tried; for results in short formats
   distinguishing ones.  *to has to be cleared after BITCUT_OK. */
enum bitcut_status search_screen(struct block *to, const struct ladder_report *l,
                                 const struct problem *q, uint64_t seed, struct fault *f);

/* Forget the nearest hypothesis, which says nothing about D. */
void search_drop_nearest(struct explanation *e);

#endif
