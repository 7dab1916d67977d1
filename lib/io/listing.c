/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/listing.h"

#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------- */

/* Whether the next field is the field that is wanted.  If so, it is begun. */
static bool begins(struct field_writer *w, const char *name, enum bitcut_kind kind)
{
    if (w->position++ != w->index) return false;
    w->field->name = name;
    w->field->kind = kind;
    w->field->text[0] = 0;
    return true;
}

void write_line_field(struct field_writer *w, const char *name, const char *form, ...)
{
    va_list values;
    if (!begins(w, name, BITCUT_TEXT)) return;
    va_start(values, form);
    text_add_list(w->field->text, sizeof w->field->text, form, values);
    va_end(values);
}

void write_list_field(struct field_writer *w, const char *name, enum bitcut_kind kind)
{
    begins(w, name, kind);
}

void write_item_field(struct field_writer *w, const char *form, ...)
{
    va_list values;
    if (w->position != w->index + 1) return;
    va_start(values, form);
    text_add_list(w->field->text, sizeof w->field->text, form, values);
    va_end(values);
    text_add(w->field->text, sizeof w->field->text, "\n");
}

void write_value_field(struct field_writer *w, const char *name, enum bitcut_kind kind,
                       const char *value)
{
    if (begins(w, name, kind))
        snprintf(w->field->text, sizeof w->field->text, "%s", value);
}

void write_text_field(struct field_writer *w, const char *name, const char *value)
{
    write_value_field(w, name, value ? BITCUT_TEXT : BITCUT_NULL, value ? value : "");
}

void write_format_field(struct field_writer *w, const char *name,
                        const struct bitcut_format *f)
{
    write_text_field(w, name, f ? f->name : NULL);
}

void write_flag_field(struct field_writer *w, const char *name, bool value)
{
    write_value_field(w, name, BITCUT_BOOL, value ? "true" : "false");
}

void write_integer_field(struct field_writer *w, const char *name, long long value)
{
    char text[REAL_TEXT_MAX];
    snprintf(text, sizeof text, "%lld", value);
    write_value_field(w, name, BITCUT_NUMBER, text);
}

void write_real_field(struct field_writer *w, const char *name, double value)
{
    char text[REAL_TEXT_MAX + 2];
    real_text(text, value, 17);
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    write_value_field(w, name, BITCUT_NUMBER, text);
}

/* A character that is not a digit, a sign or an exponent is the decimal point of some
   locale. */
void real_text(char text[REAL_TEXT_MAX], double x, int digits)
{
    char local[REAL_TEXT_MAX];
    snprintf(local, sizeof local, "%.*g", digits, x);
    const size_t before = strspn(local, "+-0123456789");
    const char *after = local + before;
    while (*after && !strchr("+-0123456789e", *after)) after++;
    snprintf(text, REAL_TEXT_MAX, "%.*s%s%s", (int)before, local,
             after > local + before ? "." : "", after);
}

/* --- walking ---------------------------------------------------------------------- */

const char *bitcut_table_name(const struct bitcut_table *t) { return t->name; }
const char *bitcut_table_what(const struct bitcut_table *t) { return t->what; }

const void *bitcut_row_next(const struct bitcut_table *t, const void *row)
{
    return table_next(t->rows, row);
}

const char *bitcut_row_name(const void *row)
{
    return ((const struct table_row *)row)->name;
}
const char *bitcut_row_what(const void *row)
{
    return ((const struct table_row *)row)->what;
}

bool bitcut_row_field(struct bitcut_field *field, const struct bitcut_table *t,
                      const void *row, size_t index)
{
    struct field_writer w = { field, index, 0 };
    if (t->describe) t->describe(&w, row);
    return w.position > index;
}
