/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of reports on what splits keep of values (analysis/sampling/advise.h). */
#ifndef BITCUT_ANALYSIS_CLI_ADVISE_ROWS_H
#define BITCUT_ANALYSIS_CLI_ADVISE_ROWS_H

#include "analysis/sampling/advise.h"

#include <jansson.h>

/* Splits, each with the recipe that it is best known for; ended by NULL. */
struct known_split {
    const char *recipe;
    const struct bitcut_split *split;
};

extern const struct known_split known_splits[];

/* Of these at their own scales, where a unit flushes nothing, for each exponent; and of all
   splits, for all exponents together. */
json_t *advise_rows_by_exponent(const struct advise *x);
json_t *advise_rows_in_all(const struct advise *x);

#endif
