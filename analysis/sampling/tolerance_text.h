/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tolerance says to people. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TOLERANCE_TEXT_H
#define BITCUT_ANALYSIS_SAMPLING_TOLERANCE_TEXT_H

#include "analysis/sampling/checked_result.h"
#include "analysis/sampling/power.h"
#include "emu/gemm_sentence.h"

/* All that was found: limits; what D is by them, NULL if it was not asked for; what they
   reject, likewise. */
struct tolerance_answer {
    struct gemm_description gemm; /* first; not seeded, though it has the seed */
    const struct tolerance *found;
    const struct tolerance_problem *problem;
    bool shuffled; /* runs are of the same elements, k in another order each */
    const struct tolerance_given *given;
    const struct power *power;
};

/* Sentences (lib/base/record.h), of a struct tolerance_answer. */
extern const struct record_line tolerance_lines[];
record_describe tolerance_describe_given, tolerance_describe_component,
    tolerance_describe_typical, tolerance_describe_worst_case;

#endif
