/* SPDX-License-Identifier: BSD-3-Clause */
/* What `advise` found, in words. */
#ifndef BITCUT_ANALYSIS_CLI_ADVISE_SAY_H
#define BITCUT_ANALYSIS_CLI_ADVISE_SAY_H

#include "analysis/cli/emit.h"

extern const struct emit_line advise_lines[];

/* Append the chips of a row, the first two by name and how many more there are. */
void advise_say_chips(char *text, size_t size, const json_t *row);

#endif
