/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of an output as JSON. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_TRACE_JSON_H
#define BITCUT_ANALYSIS_EVIDENCE_TRACE_JSON_H

#include "emu/trace.h"

#include <jansson.h>

/* A list with one object for each step of the chain.

   "k": the products it takes; "c": the accumulator; "special": what NaN or infinity
   decided the step, or null; "d": the step's result.  Unless something special decided:

   "terms": each with "term" ("a0 b0", "c", or "s0" for part 0 below), "exponent" by which
   it aligns (null for a zero), "significand" and "unit" (it is exactly significand *
   2^unit), and, where terms are cut to integers of one unit, "aligned", what is left.
   "exponent", only where terms are cut: the largest, at which they were aligned.
   "sum" and "unit": the terms add up to sum * 2^unit; with "inexact" true to something
   more, of less than 2^unit.
   "kept" and "kept_unit", only where the sum is cut before it is rounded: what is left.
   "parts", only where sums go before: a list of such objects, with a "name" such as "s0
   products", and "d" only if they are rounded.

   Integers beyond 2^53 are strings of decimal digits; encodings are as json_decoded()
   has them. */
json_t *trace_json(const struct bitcut_unit *unit, const struct unit_trace *trace);

/* The addition of C to a chain that started from zero: "sum", "c" and "d". */
json_t *trace_c_last_json(const struct bitcut_unit *unit, const struct unit_trace *trace);

#endif
