/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a unit's row: to print them, to change them by a step, to search over
   them. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_FIELD_H
#define BITCUT_ANALYSIS_EVIDENCE_FIELD_H

#include "emu/unit_field.h"

#include <stddef.h>

enum { FIELD_VALUES_MAX = 160 };

/* The value of a field as text: "two-stage", "25", "0x7fffffff"; false is "no", no format
   is "none". */
void field_text(char *text, size_t size, const struct field *f,
                const struct bitcut_unit *u, int64_t value);

/* All values of a field for a search over rows with the formats and k of `u`, ascending,
   whether or not `u` reads the field or would be sound with them.  Returns their number.
 */
int field_candidates(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                     const struct bitcut_unit *u);

/* The values that can replace the row's own value, which is among them: with such a
   value, and nothing else changed, the row is sound (unit_sound()).  Returns their
   number; 0 if the row does not read the field. */
int field_values(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                 const struct bitcut_unit *u);

/* The values one step from the row's own value: the next lower and the next higher
   number, or every other choice.  As field_values(), without the row's own value. */
int field_steps(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                const struct bitcut_unit *u);

#endif
