/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of the rows of a table, beyond name and purpose, one after the other. */
#ifndef BITCUT_LIB_IO_LISTING_H
#define BITCUT_LIB_IO_LISTING_H

#include "lib/base/table.h"
#include "lib/bitcut.h"
#include "lib/number/format.h"

/* Destination of fields.  Only the field at one position is written. */
struct field_writer {
    struct bitcut_field *field;
    size_t index;    /* position of the field that is wanted */
    size_t position; /* position of the next field */
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

/* Write a field: a value as text; an integer; a real to 17 digits, with a '.' or an
   exponent; a text, NULL for null; a text made as by printf(); the name of a format, NULL
   for null. */
void write_value_field(struct field_writer *w, const char *name, enum bitcut_kind kind,
                       const char *value);
void write_integer_field(struct field_writer *w, const char *name, long long value);
void write_real_field(struct field_writer *w, const char *name, double value);
void write_flag_field(struct field_writer *w, const char *name, bool value);
void write_text_field(struct field_writer *w, const char *name, const char *value);
void write_format_field(struct field_writer *w, const char *name,
                        const struct bitcut_format *value);
void write_line_field(struct field_writer *w, const char *name, const char *form, ...);

/* Write a list, BITCUT_TEXTS or BITCUT_NUMBERS: first its name, then each of its
   items. */
void write_list_field(struct field_writer *w, const char *name, enum bitcut_kind kind);
void write_item_field(struct field_writer *w, const char *form, ...);

/* Write x with `digits` digits, as printf("%.*g") does in the C locale. */
enum { REAL_TEXT_MAX = 32 };
void real_text(char text[REAL_TEXT_MAX], double x, int digits);

#endif
