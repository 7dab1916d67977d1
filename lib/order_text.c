/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/order_text.h"

#include "lib/format.h"
#include "lib/k_parts.h"
#include "lib/text.h"

#include <stdlib.h>
#include <string.h>

/* The items that are numbers. */
static const struct {
    const char *name;
    size_t at; /* of an int in struct bitcut_order   */
    int none;  /* up to that it says nothing         */
} counts[] = {
    { "slices", offsetof(struct bitcut_order, slices), 1 },
    { "tile", offsetof(struct bitcut_order, tile), 0 },
    { "cut", offsetof(struct bitcut_order, cut), 0 },
    { "halve", offsetof(struct bitcut_order, halve), 0 },
    { "lanes", offsetof(struct bitcut_order, lanes), 1 },
    { "turn", offsetof(struct bitcut_order, turn), 0 },
};

enum { COUNTS = sizeof counts / sizeof counts[0], VALUE_MOST = 60 };

static enum bitcut_status bad_item(const char *what, struct fault *f)
{
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%.*s: it is a list such as tile=32,rest-first,cut=4,lanes=2,turn=8,"
                     "reduction=tree,sums=f16",
                     text_fit(what, VALUE_MOST), what);
}

/* The row that a value names; or NULL, and what would be near it. */
static const void *named_row(struct table table, const char *value, struct fault *f)
{
    char hint[TABLE_HINT_MOST];
    const void *const row = table_find(table, value);
    if (row) return row;
    table_hint(hint, table, value);
    fault_set(f, BITCUT_BAD_ARGUMENT, "%.*s: unknown%s", text_fit(value, VALUE_MOST),
              value, hint);
    return NULL;
}

/* A count of at most nine digits; false: the text is none. */
static bool read_count(int *to, const char *value)
{
    const size_t digits = value ? strspn(value, "0123456789") : 0;
    if (!digits || digits > 9 || value[digits]) return false;
    *to = atoi(value);
    return true;
}

enum bitcut_status order_read_item(struct bitcut_order *o, const char *name,
                                   const char *value, struct fault *f)
{
    for (size_t i = 0; i < COUNTS; i++)
        if (!strcmp(name, counts[i].name))
            return read_count((int *)(void *)((char *)o + counts[i].at), value)
                       ? BITCUT_OK
                       : bad_item(name, f);
    if (!strcmp(name, "rest-first") && !value) {
        o->rest_first = true;
        return BITCUT_OK;
    }
    if (!strcmp(name, "sums") && value) {
        const struct bitcut_format *const sums = named_row(TABLE(formats), value, f);
        if (sums) o->sums = sums;
        return sums ? BITCUT_OK : BITCUT_BAD_ARGUMENT;
    }
    if (strcmp(name, "reduction") != 0 || !value) return bad_item(name, f);
    const struct table_row *const row = named_row(TABLE(reductions), value, f);
    if (row) o->reduction = (enum bitcut_reduction)(row - reductions);
    return row ? BITCUT_OK : BITCUT_BAD_ARGUMENT;
}

enum bitcut_status order_read(struct bitcut_order *order, const char *list,
                              struct fault *f)
{
    struct bitcut_order o = *order;
    char text[ORDER_TEXT_MOST];
    if (strlen(list) >= sizeof text) return bad_item("too long", f);
    strcpy(text, list);
    for (char *item = text, *next; item && *item; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = 0;
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        const enum bitcut_status status = order_read_item(&o, item, value, f);
        if (status != BITCUT_OK) return status;
    }
    *order = o;
    return BITCUT_OK;
}

void order_write(char text[ORDER_TEXT_MOST], const struct bitcut_order *o)
{
    text[0] = 0;
    for (size_t i = 0; i < COUNTS; i++) {
        const int count = *(const int *)(const void *)((const char *)o + counts[i].at);
        if (count > counts[i].none)
            say_more(text, ORDER_TEXT_MOST, ",%s=%d", counts[i].name, count);
    }
    say_more(text, ORDER_TEXT_MOST, "%s%s%s%s%s", o->rest_first ? ",rest-first" : "",
             o->reduction != BITCUT_ASCENDING ? ",reduction=" : "",
             o->reduction != BITCUT_ASCENDING ? reductions[o->reduction].name : "",
             o->sums ? ",sums=" : "", o->sums ? o->sums->name : "");
}

enum bitcut_status bitcut_order_read(struct bitcut_order *order, const char *line,
                                     char *why)
{
    struct fault f;
    const enum bitcut_status status =
        order && line ? order_read(order, line, &f)
                      : fault_set(&f, BITCUT_BAD_ARGUMENT, "no order, or no line");
    return fault_tell(why, status, &f);
}

void bitcut_order_write(char line[BITCUT_ORDER_MOST], const struct bitcut_order *order)
{
    char text[ORDER_TEXT_MOST];
    order_write(text, order);
    strcpy(line, *text ? text + 1 : text);
}
