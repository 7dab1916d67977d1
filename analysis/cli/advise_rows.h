/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of reports about the bits that splits retain (analysis/sampling/advise.h). */
#ifndef BITCUT_ANALYSIS_CLI_ADVISE_ROWS_H
#define BITCUT_ANALYSIS_CLI_ADVISE_ROWS_H

#include "analysis/sampling/advise.h"

#include <jansson.h>

/* Splits, each with the best known recipe that uses it; ended by NULL. */
struct known_split {
    const char *recipe;
    const struct bitcut_split *split;
};

extern const struct known_split known_splits[];

/* The rows of these splits at their own scales for units that do not flush, one for each
   exponent; and the rows of all splits for all exponents together. */
json_t *advise_rows_by_exponent(const struct advise *x);
json_t *advise_rows_in_all(const struct advise *x);

#endif
