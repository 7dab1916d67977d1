/* SPDX-License-Identifier: BSD-3-Clause */
/* What the operands became before they were multiplied. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_OPERAND_SENTENCE_H
#define BITCUT_ANALYSIS_IDENTIFY_OPERAND_SENTENCE_H

#include "analysis/identify/explain.h"

/* Append how the best hypothesis of an explanation rounds or splits A and B, as "A and B
   are rounded to tf32, toward zero"; and the formats to which its equals round them.
   Nothing if the hypothesis does not give D, or if no element of A and B is changed.
   Reads all elements of A and B. */
void operands_describe(char *text, size_t size, const struct explanation *e);

#endif
