/* SPDX-License-Identifier: BSD-3-Clause */
/* What splits keep of the values of a matrix, as `advise` tells it. */
#ifndef BITCUT_ANALYSIS_CLI_ADVISE_VALUES_H
#define BITCUT_ANALYSIS_CLI_ADVISE_VALUES_H

#include "analysis/advise/advise.h"
#include "analysis/cli/command.h"
#include "analysis/error/exponents.h"

/* An operand and how it is read. */
struct advise_values {
    const char *name; /* "A"                                                           */
    struct exponents own, equilibrated; /* as they are; its lines scaled for f16 words */
};

/* Of so many matrices whose lines are their rows, or their columns.  BITCUT_NO_MEMORY
   leaves nothing to clear. */
enum bitcut_status advise_values_take(struct advise_values *to, const char *name,
                                      const struct matrix *x, size_t count, bool columns,
                                      struct fault *f);
void advise_values_clear(struct advise_values *v);

/* How many there are, of each exponent. */
json_t *advise_values_json(const struct advise_values *v);

/* Append to the list `kept` what splits keep of them, by exponent and in all (exponent
   null): every row of the table, of those with low words every scale from 0 to 14, as
   `scale_from` and `scale_to` where neighbours do the same, and also as units read them
   that flush words, if a place of the question has one.  At most 2^14
   values of an exponent are looked at, evenly chosen. */
enum bitcut_status advise_values_keep(json_t *kept, const struct advise_values *v,
                                      const struct advise_question *q,
                                      const struct context *x, struct fault *f);

/* Of all values together, with a scale of their own. */
enum bitcut_status advise_values_all(struct retention *to, const struct advise_values *v,
                                     const struct bitcut_split *split, int scale,
                                     bool flush, bool equilibrated,
                                     const struct context *x, struct fault *f);

#endif
