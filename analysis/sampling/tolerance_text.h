/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a tolerance. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TOLERANCE_TEXT_H
#define BITCUT_ANALYSIS_SAMPLING_TOLERANCE_TEXT_H

#include "analysis/fp64/fp64_answer.h"
#include "analysis/sampling/checked_result.h"
#include "analysis/sampling/power.h"
#include "analysis/sampling/quantization_error.h"
#include "emu/gemm_sentence.h"

/* The results: limits; the verdict on D, NULL if none was requested; the power of the
   limits, NULL if it was not requested. */
struct tolerance_answer {
    struct gemm_description gemm; /* must be first; not seeded, though it has the seed */
    const struct tolerance *found;
    const struct tolerance_problem *problem;
    const struct fp64_answer *fp64; /* of an FP64 GEMM by a scheme: what computes it */
    bool shuffled; /* runs have the same elements, with k in another order each */
    const struct tolerance_given *given;
    const struct quantization_error *quantization; /* NULL: there are no originals */
    const struct power *power;
};

/* Sentences (lib/base/record.h) about a struct tolerance_answer. */
extern const struct record_line tolerance_lines[], tolerance_scheme_lines[];
record_describe tolerance_describe_given, tolerance_describe_component,
    tolerance_describe_typical, tolerance_describe_worst_case;

#endif
