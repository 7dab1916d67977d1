/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact values that the parts of an operand stand for. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_PARTS_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_PARTS_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/dyadic.h"

/* The values that the parts of an element stand for, one for each stage of rounding.
   STAGE_GIVEN is the element that is split: times its factor, rounded, if factors are
   applied to elements. */
enum stage { STAGE_EXACT, STAGE_GIVEN, STAGE_PARTS, STAGE_SMALL, STAGE_REAL, STAGES };

/* The exponent by which the row or column is equilibrated: the values are those of the
   elements times 2^exponent. */
int budget_values_exponent(const struct budget_values *x);

/* The sum of products, each times its factors except those that steps apply, at each
   stage, times 2^(both exponents). */
void budget_stage_sums(mpz_t to[STAGES], const struct budget_values *a,
                       const struct budget_values *b);

#endif
