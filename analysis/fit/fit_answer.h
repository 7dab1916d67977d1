/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a search for output: groups of rows, and the values of their fields. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_ANSWER_H
#define BITCUT_ANALYSIS_FIT_FIT_ANSWER_H

#include "analysis/fit/fit_search.h"

struct bitcut_fit {
    struct search found; /* must be first; its report covers the whole search */
    struct fit fit;
    const struct bitcut_unit **table; /* units of the table that survive, ended by NULL */
};

/* Search the whole space for rows that give the recorded results of `unit`.  Takes over
   *fit; answer_clear() releases it after any status.  Returns BITCUT_UNSUPPORTED if asked
   to stop. */
enum bitcut_status answer_find(struct bitcut_fit *to, const struct fit *fit,
                               const struct bitcut_unit *unit, int threads,
                               const struct progress *progress, struct fault *f);
void answer_clear(struct bitcut_fit *a);

/* The values of fields in the rows of a group, as positions in the space; 0: no row reads
   the field. */
struct group {
    const struct space *space;
    uint64_t set[FIELD_COUNT];
};

/* The values of group number `group`, or of BITCUT_FIT_ALL or BITCUT_FIT_NEAREST.  All
   sets are empty if the group does not exist. */
struct group answer_group(const struct bitcut_fit *a, int group);

/* Whether a field has one value. */
bool group_has_one(const struct group *g, int field);

/* Write a field's values as text: "25", "-166..-131", "IEEE, Inf". */
void group_text(char *text, size_t size, const struct group *g, int field);

/* The first value of a field in `set`, a subset of g->set[field]; the value "none" comes
   last. */
void group_value(struct bitcut_field *value, const struct group *g, int field, uint64_t set);

#endif
