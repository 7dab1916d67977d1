/* The fields of a unit's row, one by one: to print them, to change them by a step, to
   search over them. */
#ifndef BITCUT_ANALYSIS_FIELD_H
#define BITCUT_ANALYSIS_FIELD_H

#include "emu/summation.h"

#include <jansson.h>

enum { FIELD_VALUES_MOST = 160 };

/* A row of the table of fields.  Values travel as integers: an enumeration's or a flag's
   position, a number itself, the position of a format in `formats` (-1: none), an
   encoding's bits. */
struct field {
    const char *name, *what;
    const struct field_kind *kind; /* private to field.c */
    size_t offset;                 /* in struct bitcut_unit */
    int reads;     /* its place in enum unit_reads; 0: all summations read it; less: all
                      without block scales                                            */
    /* The values that a search tries, ascending; NULL: all that the kind has. */
    int (*range)(int64_t values[FIELD_VALUES_MOST], const struct bitcut_unit *u);
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

const struct field *field_find(const char *name);

/* Whether the sum of this row reads the field at all. */
bool field_used(const struct field *f, const struct bitcut_unit *u);

int64_t field_get(const struct field *f, const struct bitcut_unit *u);
void field_set(const struct field *f, struct bitcut_unit *u, int64_t value);

/* A value for people and for JSON: "two-stage", "25", "0x7fffffff". */
json_t *field_json(const struct field *f, const struct bitcut_unit *u, int64_t value);
void field_text(char *text, size_t size, const struct field *f,
                const struct bitcut_unit *u, int64_t value);

/* All values that a search over rows with the formats and k of `u` tries, ascending,
   whether or not `u` reads the field or would be sound with them.  Returns how many. */
int field_candidates(int64_t values[FIELD_VALUES_MOST], const struct field *f,
                     const struct bitcut_unit *u);

/* The values worth trying in place of the row's own, which is among them: those for which
   the row with nothing else changed is sound (unit_sound()).  Returns how many; 0 if the
   row does not read the field. */
int field_values(int64_t values[FIELD_VALUES_MOST], const struct field *f,
                 const struct bitcut_unit *u);

/* The values one step from the row's own: the next lower and the next higher number, or
   every other choice.  As field_values(), without the own one. */
int field_steps(int64_t values[FIELD_VALUES_MOST], const struct field *f,
                const struct bitcut_unit *u);

/* Whether the row reads the field and its evidence does not show which value it has: of a
   row that follows models, every field; of one with published vectors or observations,
   those it names; of recorded ones and definitions none. */
bool field_is_open(const struct field *f, const struct bitcut_unit *u);

/* Whether two rows compute the same because every field that they read is the same, and
   so are their k and formats. */
bool field_same(const struct bitcut_unit *x, const struct bitcut_unit *y);

/* Whether an earlier row of the table is the same as this row of it. */
bool field_repeats(const struct bitcut_unit *u);

#endif
