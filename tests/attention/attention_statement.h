/* SPDX-License-Identifier: BSD-3-Clause */
/* Attentions to compute, and an independent definition of their results: query by query
   and key by key, from the fields of emu/attention/attention_row.h, instructions by
   tests/emu/spec.h, FP32 operations by the processor, other functions by MPFR. */
#ifndef BITCUT_TESTS_ATTENTION_ATTENTION_STATEMENT_H
#define BITCUT_TESTS_ATTENTION_ATTENTION_STATEMENT_H

#include "emu/attention/attention_plan.h"

/* O of all heads, FP32 values before they are rounded to the format of O, and the
   logarithms of the sums.  Floating point is in its default mode. */
void attention_statement(float *o, float *lse, const struct attention_plan *plan);

#endif
