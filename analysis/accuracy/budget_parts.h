/* SPDX-License-Identifier: BSD-3-Clause */
/* What the words of an operand stand for, exactly. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_PARTS_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_PARTS_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/dyadic.h"

/* What the words of an element stand for, further from it with each stage. */
enum stage { STAGE_EXACT, STAGE_WORDS, STAGE_SMALL, STAGE_REAL, STAGES };

/* The exponent by which the line is equilibrated: values are 2^exponent of it. */
int budget_values_exponent(const struct budget_values *x);

/* The sum of products at each stage, times 2^(both exponents). */
void budget_stage_sums(mpz_t to[STAGES], const struct budget_values *a,
                       const struct budget_values *b);

#endif
