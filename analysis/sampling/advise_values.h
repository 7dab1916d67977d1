/* SPDX-License-Identifier: BSD-3-Clause */
/* What splits keep of the values of an operand. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_VALUES_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_VALUES_H

#include "analysis/split/exponents.h"
#include "lib/base/record.h"

/* An operand and how it is read. */
struct advise_values {
    const char *name; /* "A"                                                           */
    struct exponents own, equilibrated; /* as they are; its lines scaled for f16 words */
    int least, most;                    /* exponents of its own; most < least: none    */
};

/* Its fields: how many values there are, and of each exponent. */
extern const struct record_field advise_values_fields[];

/* Whether there are any that are finite and not 0. */
static inline bool advise_values_any(const struct advise_values *v)
{
    return v->most >= v->least;
}

/* Of so many matrices whose lines are their rows, or their columns.  BITCUT_NO_MEMORY
   leaves nothing to clear. */
enum bitcut_status advise_values_take(struct advise_values *to, const char *name,
                                      const struct matrix *x, size_t count, bool columns,
                                      struct fault *f);
void advise_values_clear(struct advise_values *v);

/* What a split keeps of the values of an exponent, or of all. */
struct advise_retained {
    const char *operand;
    const struct bitcut_split *split;
    int scale_from, scale_to; /* which all do the same              */
    bool flush;               /* as units read words that flush     */
    int exponent;
    bool all; /* of every exponent                  */
    struct retention kept;
};

extern const struct record_field advise_retained_fields[];

struct advise_retained_list {
    struct advise_retained *at;
    size_t count, room;
};

/* How it is computed. */
struct advise_how {
    int threads;
    const struct progress *progress;
};

/* Append what splits keep of them, by exponent and in all: every row of the table, of
   those with low words every scale from 0 to 14, those that do the same in one, and also
   as units read them that flush words, if a place has one.  At most 2^14 values of an
   exponent are looked at, evenly chosen. */
enum bitcut_status advise_values_keep(struct advise_retained_list *to,
                                      const struct advise_values *v,
                                      const char *const *place, size_t places,
                                      const struct advise_how *how, struct fault *f);

/* Of all values together, with the scale of the split. */
enum bitcut_status advise_values_all(struct retention *to, const struct advise_values *v,
                                     const struct bitcut_split *split, bool flush,
                                     bool equilibrated, const struct advise_how *how,
                                     struct fault *f);

#endif
