/* SPDX-License-Identifier: BSD-3-Clause */
/* The hypotheses of each level of the search, and the bases from which they start. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SEARCH_STAGE_H
#define BITCUT_ANALYSIS_IDENTIFY_SEARCH_STAGE_H

#include "analysis/identify/search.h"

/* The levels in the order in which they are tried: the last level that has all orders,
   the first level at which two axes vary, and the number of levels. */
enum { LEVEL_ALL_PARTS = 15, LEVEL_ORDERS = 18, LEVEL_PAIRS = 19, LEVELS = 33 };

/* The number of hypotheses of one basis at a level, and the hypothesis at `index`. */
size_t level_size(const struct search *s, int level);
struct hypothesis level_nth(const struct search *s, struct hypothesis basis, int level,
                            size_t index);

/* Whether a hypothesis is tried: the level includes it, and nothing known excludes it. */
bool level_tries(const struct search *s, int level, const struct basis *b,
                 const struct hypothesis *h);

/* Whether a level has few orders, if any. */
bool level_is_quick(int level);

/* Whether a level has the orders of libraries, of sums with one product. */
bool level_is_likely(int level);

/* Whether a basis is so far from D that only a coarse fault explains it; whether no order
   of the same sums explains it. */
bool basis_is_far(const struct search *s, const struct basis *b);
bool basis_is_off(const struct search *s, const struct basis *b);

/* Fraction bits that sums of a unit retain, at most those of its accumulator. */
int unit_bits_retained(const struct bitcut_unit *u);

#endif
