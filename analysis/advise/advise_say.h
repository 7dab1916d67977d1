/* SPDX-License-Identifier: BSD-3-Clause */
/* What advice says to people. */
#ifndef BITCUT_ANALYSIS_ADVISE_ADVISE_SAY_H
#define BITCUT_ANALYSIS_ADVISE_ADVISE_SAY_H

#include "analysis/advise/advise.h"

/* Sentences (lib/record.h), of a struct advise. */
extern const struct record_line advise_lines[];

/* Append chips of a list of names, the first two and how many more there are. */
void advise_say_chips(char *text, size_t size, const char *all);

#endif
