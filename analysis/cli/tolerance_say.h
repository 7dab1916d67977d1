/* SPDX-License-Identifier: BSD-3-Clause */
/* What `tolerance` says: its row, and the lines for people. */
#ifndef BITCUT_ANALYSIS_CLI_TOLERANCE_SAY_H
#define BITCUT_ANALYSIS_CLI_TOLERANCE_SAY_H

#include "analysis/cli/emit.h"
#include "analysis/tolerance/given.h"
#include "analysis/tolerance/power.h"

/* Add the keys of limits, and with a power that is not NULL of what tests reject in so
   many runs. */
void tolerance_describe(json_t *row, const struct tolerance *t,
                        const struct tolerance_question *q);
void power_describe(json_t *row, const struct power *p, size_t runs);

/* Add what became of a D that was given, n columns wide. */
void given_describe(json_t *row, const struct tolerance_given *g, size_t n);

/* The lines, after those of what the GEMM is; ended by a NULL key. */
extern const struct emit_line tolerance_lines[];

#endif
