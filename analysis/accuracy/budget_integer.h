/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact sums of one output of a unit of integers. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_INTEGER_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_INTEGER_H

#include "analysis/accuracy/budget_parts.h"

/* The sums of products of elements less their zero points, as budget_stage_sums() has
   them: of the elements (STAGE_EXACT, STAGE_GIVEN), of the elements rounded to integers
   (STAGE_PARTS, STAGE_SMALL), and of these limited to the range of the operands
   (STAGE_REAL).  Elements must be finite. */
void budget_integer_sums(mpz_t to[STAGES], const struct gemm_plan *plan,
                         const struct bitcut_gemm *g, const struct budget_lines *x);

#endif
