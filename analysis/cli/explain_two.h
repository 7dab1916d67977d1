/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut explain of two results: how they differ, as a row. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_TWO_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_TWO_H

#include "analysis/explain/two.h"

#include <jansson.h>

/* The row of a pair that was compared, from two files. */
json_t *explain_two_json(const struct two *t, const struct explanation e[2],
                         const char *const file[2]);

#endif
