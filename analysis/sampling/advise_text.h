/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of advice. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_TEXT_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_TEXT_H

#include "analysis/sampling/advise.h"

/* Sentences (lib/base/record.h) about a struct advise. */
extern const struct record_line advise_lines[];
record_describe advise_describe_a, advise_describe_b, advise_describe_want,
    advise_describe_best, advise_describe_none, advise_describe_typical,
    advise_describe_worst_case, advise_describe_fastest, advise_describe_scales,
    advise_describe_command;

/* Append the chips of a trial: the first two, and the number of others. */
void advise_describe_chips(char *text, size_t size, const struct advise_trial *t);

#endif
