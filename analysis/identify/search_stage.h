/* SPDX-License-Identifier: BSD-3-Clause */
/* What is tried at each level of the search, and of which bases. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SEARCH_STAGE_H
#define BITCUT_ANALYSIS_IDENTIFY_SEARCH_STAGE_H

#include "analysis/identify/search.h"

/* Levels in the order in which they are tried: of those that have all orders the last,
   the first at which two axes vary, and how many. */
enum { LEVEL_ORDERS = 16, LEVEL_PAIRS = 17, LEVELS = 29 };

/* Hypotheses of one basis at a level, and that at `index`. */
size_t level_size(const struct search *s, int level);
struct hypothesis level_nth(const struct search *s, struct hypothesis basis, int level,
                            size_t index);

/* Whether it is tried: the level has it, and nothing that is known speaks against it. */
bool level_tries(const struct search *s, int level, const struct basis *b,
                 const struct hypothesis *h);

/* Whether a level has few orders, if any. */
bool level_is_quick(int level);

/* Whether a basis is so far from D that only a coarse fault makes D of it; or that no
   order of the same sums does. */
bool basis_is_far(const struct search *s, const struct basis *b);
bool basis_is_off(const struct search *s, const struct basis *b);

/* Fraction bits that sums of a unit keep, of those that its accumulator has. */
int unit_bits_retained(const struct bitcut_unit *u);

#endif
