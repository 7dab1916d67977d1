/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a unit's row, one by one, to read and to change them. */
#ifndef BITCUT_EMU_UNIT_FIELD_H
#define BITCUT_EMU_UNIT_FIELD_H

#include "emu/summation.h"

/* How a field is stored and described. */
struct field_kind {
    int64_t (*get)(const void *at);
    void (*set)(void *at, int64_t value);
    enum bitcut_kind (*tell)(char *text, const struct bitcut_unit *unit, int64_t value);
    const char *const *text; /* or NULL; otherwise the texts of a choice, ended by NULL */
    bool ordered;            /* whether a step goes to the next value, instead of to any
                                other value                                     */
};

/* A row of the table of fields.  Values are passed as integers: the position of an
   enumerator or a flag, a number itself, the position of a format in `formats` (-1:
   none), the bits of an encoding. */
struct field {
    const char *name, *what;
    const struct field_kind *kind;
    size_t offset;                 /* in struct bitcut_unit */
    int reads; /* its bit of enum unit_reads; 0: all summations read it; negative: all
                  rows without block scales read it                               */
};

/* The rows, by position: `&fields[FIELD_BLOCK]`. */
enum {
    FIELD_SUM,
    FIELD_ORDER,
    FIELD_BLOCK,
    FIELD_GROUP,
    FIELD_FRACTION,
    FIELD_ALIGN_MIN,
    FIELD_SUM_FRACTION,
    FIELD_KEEP,
    FIELD_KEEP_MIN,
    FIELD_CARRIER,
    FIELD_PARITY,
    FIELD_NORMALISE,
    FIELD_FLOOR,
    FIELD_VIA,
    FIELD_C_LAST,
    FIELD_FLUSH_INPUTS,
    FIELD_RESULT,
    FIELD_ROUNDING,
    FIELD_OVERFLOW,
    FIELD_FLUSH,
    FIELD_ZERO,
    FIELD_NAN_RULE,
    FIELD_NAN,
    FIELD_COUNT
};

extern const struct field fields[]; /* ended by a row whose name is NULL */

/* Whether the summation of this row reads the field. */
bool field_used(const struct field *f, const struct bitcut_unit *u);

int64_t field_get(const struct field *f, const struct bitcut_unit *u);
void field_set(const struct field *f, struct bitcut_unit *u, int64_t value);

enum { FIELD_TEXT_MAX = 32 };

/* A value as text, and its kind, as bitcut_row_field() returns it: "two-stage", "25",
   "0x7fffffff", "true". */
enum bitcut_kind field_value(char text[FIELD_TEXT_MAX], const struct field *f,
                             const struct bitcut_unit *u, int64_t value);

/* Whether the row reads the field and its evidence does not determine the value.  For a
   row that follows models: every field.  For a row with published vectors or
   observations: the fields that it names.  For recorded rows and definitions: none. */
bool field_is_open(const struct field *f, const struct bitcut_unit *u);

/* Whether two rows compute the same because their k, their formats and every field that
   they read are equal. */
bool field_same(const struct bitcut_unit *x, const struct bitcut_unit *y);

/* Whether an earlier row of the table equals this row of the table. */
bool field_repeats(const struct bitcut_unit *u);

#endif
