/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/json_record.h"

#include "lib/base/table.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SAID_MAX = 1 << 10 };

/* An unsigned integer of `bytes` bytes. */
static uint64_t count_at(const char *at, size_t bytes)
{
    unsigned whole;
    unsigned long long large;
    if (bytes == sizeof whole) {
        memcpy(&whole, at, bytes);
        return whole;
    }
    memcpy(&large, at, sizeof large);
    return large;
}

static size_t element_bytes(const struct record_field *f)
{
    return f->kind == RECORD_REALS   ? sizeof(double)
           : f->kind == RECORD_FLAGS ? sizeof(bool)
                                     : sizeof(size_t);
}

static json_t *element_json(const struct record_field *f, const char *at)
{
    return f->kind == RECORD_REALS   ? json_number(*(const double *)at)
           : f->kind == RECORD_FLAGS ? json_boolean(*(const bool *)at)
                                     : json_seed(count_at(at, element_bytes(f)));
}

static json_t *list_json(const struct record_field *f, const char *at)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->bytes; i += element_bytes(f))
        json_array_append_new(list, element_json(f, at + i));
    return list;
}

/* Set the elements of an array by their names, as keys of an object. */
static void set_named(json_t *to, const struct record_field *f, const char *at)
{
    const struct table_row *row = NULL;
    for (size_t i = 0; i < f->bytes; i += element_bytes(f)) {
        row = table_next(f->names, row);
        json_object_set_new(to, row->name, element_json(f, at + i));
    }
}

static json_t *number_json(double x) { return isnan(x) ? json_null() : json_number(x); }

static json_t *text_json(const char *text) { return text ? json_text(text) : json_null(); }

static json_t *object_json(const struct record_field *fields, const void *record)
{
    json_t *const object = json_object();
    record_json(object, fields, record);
    return object;
}

static void append_items(json_t *to, const struct record_field *f, const void *record)
{
    max_align_t room[RECORD_ROOM / sizeof(max_align_t)];
    const void *item;
    for (size_t i = 0; (item = f->item(record, i, room)); i++)
        json_array_append_new(to, f->of ? object_json(f->of, item) : json_text(item));
}

static json_t *items_json(const struct record_field *f, const void *record)
{
    json_t *const list = json_array();
    append_items(list, f, record);
    return list;
}

static json_t *said_json(const struct record_field *f, const void *record)
{
    char text[SAID_MAX] = "";
    f->describe(text, sizeof text, record);
    return text_json(*text ? text : NULL);
}

static json_t *value_json(const struct record_field *f, const void *record)
{
    const char *const at = (const char *)record + f->offset;
    switch (f->kind) {
    case RECORD_FLAG: return json_boolean(*(const bool *)at);
    case RECORD_INT: return json_integer(*(const int *)at);
    case RECORD_INTEGER: return json_integer((json_int_t) * (const int64_t *)at);
    case RECORD_COUNT: return json_seed(count_at(at, f->bytes));
    case RECORD_REAL: return json_number(*(const double *)at);
    case RECORD_NUMBER: return number_json(*(const double *)at);
    case RECORD_TEXT: return text_json(*(const char *const *)at);
    case RECORD_CHARS: return text_json(at);
    case RECORD_ROW: {
        const struct table_row *const row = *(const struct table_row *const *)at;
        return text_json(row ? row->name : NULL);
    }
    case RECORD_DERIVED: return json_boolean(f->flag(record));
    case RECORD_WORD: return text_json(f->word(record));
    case RECORD_COMPUTED: return number_json(f->number(record));
    case RECORD_HEX: return json_encoding(count_at(at, f->bytes), 8 * (int)f->bytes);
    case RECORD_SAID: return said_json(f, record);
    case RECORD_LIST: return items_json(f, record);
    case RECORD_GROUP: return object_json(f->of, at);
    case RECORD_POINTED: {
        const void *const pointed = *(const void *const *)at;
        return pointed ? object_json(f->of, pointed) : json_null();
    }
    default: return list_json(f, at);
    }
}

/* The object that contains a key, created if it does not exist.  *name becomes the last
   component of the key. */
static json_t *object_of(json_t *to, const char **name)
{
    for (const char *dot; (dot = strchr(*name, '.')); *name = dot + 1) {
        char key[40] = "";
        strncat(key, *name, (size_t)(dot - *name));
        json_t *next = json_object_get(to, key);
        if (!next) json_object_set_new(to, key, next = json_object());
        to = next;
    }
    return to;
}

/* Set the keys that a function returns: a value, or a list if a key has several
   values. */
static void set_told(json_t *to, const struct record_field *f, const void *record)
{
    struct bitcut_field one;
    for (size_t i = 0; f->tell(&one, record, i); i++) {
        json_t *const value = json_of_text(one.kind, one.text),
                      *before = json_object_get(to, one.name);
        if (!before) {
            json_object_set_new(to, one.name, value);
            continue;
        }
        if (!json_is_array(before)) {
            json_object_set_new(to, one.name, json_pack("[O]", before));
            before = json_object_get(to, one.name);
        }
        json_array_append_new(before, value);
    }
}

static void set_field(json_t *to, const struct record_field *f, const void *record)
{
    const char *name = f->name;
    if (!*name && f->kind == RECORD_GROUP && f->when(record))
        record_json(to, f->of, record);
    if (f->kind == RECORD_TOLD) set_told(to, f, record);
    if (!*name && !f->names.rows) return;
    json_t *object = object_of(to, &name);
    if (f->names.rows) {
        if (*name) json_object_set_new(object, name, json_object());
        if (*name) object = json_object_get(object, name);
        set_named(object, f, (const char *)record + f->offset);
    } else {
        json_object_set_new(object, name,
                            f->when && !f->when(record) ? json_null()
                                                        : value_json(f, record));
    }
}

void record_json(json_t *to, const struct record_field *field, const void *record)
{
    for (const struct record_field *f = field; f->name; f++) set_field(to, f, record);
}

void record_json_keys(json_t *to, const struct record_field *field, const void *record,
                      const char *const *key)
{
    for (; *key; key++)
        for (const struct record_field *f = field; f->name; f++)
            if (!strcmp(f->name, *key)) set_field(to, f, record);
}

void record_json_items(json_t *to, const struct record_field *field, const void *record,
                       const char *key)
{
    for (const struct record_field *f = field; f->name; f++)
        if (f->kind == RECORD_LIST && !strcmp(f->name, key)) append_items(to, f, record);
}
