/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of an output as JSON. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_TRACE_JSON_H
#define BITCUT_ANALYSIS_EVIDENCE_TRACE_JSON_H

#include "emu/trace.h"

#include <jansson.h>

/* A list with one object for each step of the chain.  Its keys are
   - "k": the products that the step takes;
   - "c": the accumulator;
   - "special": the NaN or infinity that decided the step, or null;
   - "d": the result of the step.

   Unless a special value decided the step, it also has
   - "terms": each with "term" ("a0 b0", "c", or "s0" for part 0 below), "exponent" by
     which it is aligned (null for a zero), "significand" and "unit" (the term is exactly
     significand * 2^unit); where terms are cut to integers of one unit, "aligned" is the
     value after the cut;
   - "exponent", only where terms are cut: the largest exponent, at which they are
     aligned;
   - "sum" and "unit": the terms add up to sum * 2^unit; if "inexact" is true, to slightly
     more, by less than 2^unit;
   - "retained" and "retained_unit", only where the sum is cut before it is rounded: the
   sum after the cut;
   - "parts", only where partial sums are formed first: a list of such objects, with a
     "name" such as "s0 products", and "d" only if they are rounded.

   Integers beyond 2^53 are strings of decimal digits.  Encodings have the form of
   json_decoded(). */
json_t *trace_json(const struct bitcut_unit *unit, const struct unit_trace *trace);

/* The addition of C to a chain that started from zero: "sum", "c" and "d". */
json_t *trace_c_last_json(const struct bitcut_unit *unit, const struct unit_trace *trace);

#endif
