/* SPDX-License-Identifier: BSD-3-Clause */
/* What advice says to people. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_SAY_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_SAY_H

#include "analysis/sampling/advise.h"

/* Sentences (lib/base/record.h), of a struct advise. */
extern const struct record_line advise_lines[];
record_say advise_say_a, advise_say_b, advise_say_want, advise_say_best, advise_say_none,
    advise_say_typical, advise_say_worst_case, advise_say_fastest, advise_say_scales,
    advise_say_command;

/* Append the chips of a trial: the first two, and how many more there are. */
void advise_say_chips(char *text, size_t size, const struct advise_trial *t);

#endif
