/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the faults of a guess. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIAGNOSIS_NAME_H
#define BITCUT_ANALYSIS_IDENTIFY_DIAGNOSIS_NAME_H

#include "analysis/identify/diagnosis.h"
#include "analysis/identify/guess.h"

/* Set the level, the operands and the faults of a diagnosis to those of a guess, and add
   the guesses of two lists that have the same results. */
void diagnosis_name(struct diagnosis *to, const struct residuals *e,
                    const struct guess *g, const struct guesses *best,
                    const struct guesses *plain);

/* Set the level and the faults to those of another diagnosis. */
void diagnosis_take_faults(struct diagnosis *to, const struct diagnosis *from);

#endif
