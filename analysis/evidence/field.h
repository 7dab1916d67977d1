/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a unit's row: to print them, to change them by a step, to search over
   them. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_FIELD_H
#define BITCUT_ANALYSIS_EVIDENCE_FIELD_H

#include "emu/unit_field.h"

#include <stddef.h>

enum { FIELD_VALUES_MAX = 160 };

/* A value for people: "two-stage", "25", "0x7fffffff"; false is "no", no format "none".
 */
void field_text(char *text, size_t size, const struct field *f,
                const struct bitcut_unit *u, int64_t value);

/* All values that a search over rows with the formats and k of `u` tries, ascending,
   whether or not `u` reads the field or would be sound with them.  Returns how many. */
int field_candidates(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                     const struct bitcut_unit *u);

/* The values worth trying in place of the row's own, which is among them: those for which
   the row with nothing else changed is sound (unit_sound()).  Returns how many; 0 if the
   row does not read the field. */
int field_values(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                 const struct bitcut_unit *u);

/* The values one step from the row's own: the next lower and the next higher number, or
   every other choice.  As field_values(), without the own one. */
int field_steps(int64_t values[FIELD_VALUES_MAX], const struct field *f,
                const struct bitcut_unit *u);

#endif
