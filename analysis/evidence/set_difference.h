/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between the outputs of a model and of a recording. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_DIFFERENCE_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_DIFFERENCE_H

#include "analysis/evidence/set.h"

#include <jansson.h>

struct difference {
    size_t outputs, mismatches;
    size_t first; /* flat index of the first mismatch, if there is one */
};

/* Compare all elements of `got` with the D of the set, which has the same count, bit for
   bit except for the freedom in set_has(). */
struct difference difference_of(const struct array *got, const struct set *want);

/* A mismatch as an object with these keys:
   - "at" (fragment, row, column);
   - the operands of that output, "a", "b", for a unit with block scales "scale_a",
     "scale_b", and "c";
   - "got" and "want", each of these as encoding and decoded;
   - "ulps" and "differ", how they differ (json_set_distance());
   - "steps", how the unit computes its output (trace_json());
   - for a unit that adds C last "c_last", that addition.

   `flat` is the output's index in `got`; fragments are counted from `from`. */
json_t *difference_json(const struct bitcut_unit *unit, const struct fragments *x,
                        struct fragment_shape shape, const struct array *got,
                        const struct array *want, size_t flat, size_t from);

#endif
