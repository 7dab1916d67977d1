/* SPDX-License-Identifier: BSD-3-Clause */
/* What was said of the computation of D and restricts the search: recipe, unit, steps.  If
   it is wrong, nothing is found. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_TOLD_HINT_H
#define BITCUT_ANALYSIS_IDENTIFY_TOLD_HINT_H

#include "analysis/identify/problem.h"

enum { TOLD_HINT_TEXT_MAX = 240 };

/* The hints of a problem, as bits; bit i is hint i. */
unsigned told_hints(const struct problem *q);

/* The next set of hints to doubt after `last`, 0 at first: each alone, then all; 0: none
   is left. */
unsigned told_hints_next(unsigned hints, unsigned last);

/* Drop hints of the problem. */
void told_hints_drop(struct problem *q, unsigned hints);

/* Append the options that give the values of a GEMM for hints. */
void told_hints_describe(char *text, size_t size, unsigned hints,
                         const struct bitcut_gemm *g);

/* Append the names of their options, and "was" or "were". */
void told_hints_list(char *text, size_t size, unsigned hints);

#endif
