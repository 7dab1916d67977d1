/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table tells of its rows beside name and purpose: fields, one after the other. */
#ifndef BITCUT_LIB_IO_LISTING_H
#define BITCUT_LIB_IO_LISTING_H

#include "lib/base/table.h"
#include "lib/bitcut.h"
#include "lib/number/format.h"

/* Where fields go: only that of one position is written. */
struct field_writer {
    struct bitcut_field *field;
    size_t index;    /* of the field wanted        */
    size_t position; /* of the one that comes next */
};

/* A table that can be walked. */
struct bitcut_table {
    const char *name, *what;
    struct table rows;
    void (*describe)(struct field_writer *w, const void *row); /* NULL: no fields */
};

/* The rows of an array, for `rows`. */
#define ROWS(array)                                                                      \
    {                                                                                    \
        (array), sizeof(array)[0]                                                        \
    }

/* Tell a field: a value as text; an integer; a real to 17 digits, with a '.' or an
   exponent; a text, NULL for null; a text as printf() makes it; a format's name, NULL for
   null. */
void tell_value(struct field_writer *w, const char *name, enum bitcut_kind kind,
                const char *value);
void tell_integer(struct field_writer *w, const char *name, long long value);
void tell_real(struct field_writer *w, const char *name, double value);
void tell_flag(struct field_writer *w, const char *name, bool value);
void tell_text(struct field_writer *w, const char *name, const char *value);
void tell_format(struct field_writer *w, const char *name,
                 const struct bitcut_format *value);
void tell_line(struct field_writer *w, const char *name, const char *form, ...);

/* Tell a list, BITCUT_TEXTS or BITCUT_NUMBERS: its name, then each of its items. */
void tell_list(struct field_writer *w, const char *name, enum bitcut_kind kind);
void tell_item(struct field_writer *w, const char *form, ...);

/* x to so many digits as printf("%.*g") in the C locale. */
enum { REAL_TEXT_MAX = 32 };
void real_text(char text[REAL_TEXT_MAX], double x, int digits);

#endif
