/* SPDX-License-Identifier: BSD-3-Clause */
/* What a search found, as it is told: groups of rows, and the values of their fields. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_ANSWER_H
#define BITCUT_ANALYSIS_FIT_FIT_ANSWER_H

#include "analysis/fit/fit_search.h"

struct bitcut_fit {
    struct fit fit;
    struct search found;
    const struct bitcut_unit **table; /* units of the table that survive, ended by NULL */
    size_t misses, gives_first; /* of the nearest row, if there is one: outputs that it
                                   does not give, and those before the first of them */
};

/* Search the whole space.  Takes over *fit, to be cleared by answer_clear() after any
   status.  BITCUT_CANNOT if asked to stop. */
enum bitcut_status answer_find(struct bitcut_fit *to, const struct fit *fit, int threads,
                               const struct progress *progress, struct fault *f);
void answer_clear(struct bitcut_fit *a);

/* Whether the row gives every output. */
bool answer_survives(const struct bitcut_fit *a, const struct bitcut_unit *row);

/* The values that a field has in rows of group `group` or BITCUT_FIT_..., as positions in
   the space; 0: none of them reads the field. */
uint64_t answer_values(const struct bitcut_fit *a, int group, int field);

/* Whether a set has one value. */
bool answer_is_one(uint64_t set);

/* Write a set for people: "25", "-166..-131", "IEEE, Inf". */
void answer_text(char *text, size_t size, const struct bitcut_fit *a, int field,
                 uint64_t set);

#endif
