/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/emit_table.h"

#include "analysis/cli/screen.h"
#include "analysis/study/claim.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32 };

/* What stands for a value that there is not. */
static const char nothing[] = "-";

/* --- one cell --------------------------------------------------------------------- */

void emit_cell(char text[EMIT_CELL_MAX], const json_t *value)
{
    if (json_is_string(value)) {
        snprintf(text, EMIT_CELL_MAX, "%s", json_string_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, EMIT_CELL_MAX, "%.6g", json_real_value(value));
    } else if (json_is_null(value)) {
        snprintf(text, EMIT_CELL_MAX, "%s", nothing);
    } else if (json_is_object(value)) {
        snprintf(text, EMIT_CELL_MAX, "below");
    } else {
        const size_t n =
            json_dumpb(value, text, EMIT_CELL_MAX - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        text[n < EMIT_CELL_MAX ? n : EMIT_CELL_MAX - 1] = 0;
    }
    text_clean(text);
}

/* --- tables ----------------------------------------------------------------------- */

/* The columns of a table: the keys of its first row. */
struct columns {
    int count;
    int width[COLUMNS_MAX];
    bool number[COLUMNS_MAX]; /* right-aligned */
};

static struct columns measure(json_t *rows)
{
    struct columns c = { 0 };
    const char *key;
    json_t *unused;
    json_object_foreach(json_array_get(rows, 0), key, unused)
    {
        if (c.count == COLUMNS_MAX) break;
        c.width[c.count] = (int)strlen(key);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            char text[EMIT_CELL_MAX];
            const json_t *cell = json_object_get(json_array_get(rows, i), key);
            emit_cell(text, cell);
            const int length = (int)strlen(text);
            if (length > c.width[c.count]) c.width[c.count] = length;
            c.number[c.count] |= json_is_number(cell);
        }
        c.count++;
    }
    return c;
}

/* The blanks and cells before column `i`, after `indent` blanks. */
static int column_at(const struct columns *c, int i, int indent)
{
    int at = indent;
    for (int before = 0; before < i; before++) at += c->width[before] + EMIT_GAP;
    return at;
}

/* The colour of a cell in the column of verdicts. */
static enum screen_verdict cell_verdict(const char *key, const char *text)
{
    if (strcmp(key, "verdict") != 0) return SCREEN_NEUTRAL;
    return !strcmp(text, verdicts[VERDICT_AGREES].name)    ? SCREEN_GOOD
           : !strcmp(text, verdicts[VERDICT_DIFFERS].name) ? SCREEN_BAD
                                                           : SCREEN_NEUTRAL;
}

/* A text in the last column wraps within the column. */
static void print_cell(const char *text, const struct columns *c, int column, int indent,
                       enum screen_verdict verdict)
{
    const bool last = column == c->count - 1, number = c->number[column];
    if (last && !number) {
        screen_wrap(screen_columns(0), column_at(c, column, indent), indent, text,
                    verdict);
        return;
    }
    screen_begin(verdict);
    text_print(stdout, number ? "%*s" : "%-*s", c->width[column], text);
    screen_end(verdict);
    fputs(last ? "\n" : "  ", stdout);
}

static void print_columns(json_t *rows, int indent)
{
    const struct columns c = measure(rows);
    json_t *first = json_array_get(rows, 0);
    const char *key;
    json_t *unused;
    int column = 0;
    text_print(stdout, "%*s", indent, "");
    json_object_foreach(first, key, unused)
    {
        if (column < c.count) print_cell(key, &c, column++, indent, SCREEN_NEUTRAL);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        column = 0;
        text_print(stdout, "%*s", indent, "");
        json_object_foreach(first, key, unused)
        {
            char text[EMIT_CELL_MAX];
            emit_cell(text, json_object_get(json_array_get(rows, i), key));
            if (column < c.count)
                print_cell(text, &c, column++, indent, cell_verdict(key, text));
        }
    }
}

/* --- tables that are wider than the screen ---------------------------------------- */

/* Whether all of it has room; a text in the last column may wrap. */
static bool has_room(const struct columns *c, int indent, bool wraps)
{
    const int room = screen_columns(0), last = c->count - 1;
    const bool whole = !wraps || (last >= 0 && c->number[last]);
    return !room || last < 0 ||
           column_at(c, last, indent) + (whole ? c->width[last] : 0) <= room;
}

static bool is_constant(json_t *rows, const char *key)
{
    const json_t *const first = json_object_get(json_array_get(rows, 0), key);
    for (size_t i = 1; i < json_array_size(rows); i++)
        if (!json_equal(first, json_object_get(json_array_get(rows, i), key)))
            return false;
    return json_array_size(rows) > 1;
}

static void delete_column(json_t *rows, const char *key)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_object_del(json_array_get(rows, i), key);
}

/* What is the same in all rows: a line above the others, without null; returns the rows
   without it. */
static json_t *print_constants(json_t *rows, int indent)
{
    const struct columns c = measure(rows);
    char all[EMIT_CELL_MAX] = "";
    const char *key;
    json_t *unused, *rest = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_array_append_new(rest, json_copy(json_array_get(rows, i)));
    int column = 0;
    json_object_foreach(json_array_get(rows, 0), key, unused)
    {
        char text[EMIT_CELL_MAX];
        if (column++ == c.count - 1 || !is_constant(rows, key)) continue;
        emit_cell(text, unused);
        if (!json_is_null(unused))
            text_add(all, sizeof all, "%s%s %s", *all ? ", " : "", key, text);
        delete_column(rest, key);
    }
    text_print(stdout, "%*s", indent, "");
    if (*all) screen_wrap(screen_columns(0), indent, indent, all, SCREEN_NEUTRAL);
    return rest;
}

/* The key of a row's column `at`, copied, as columns are deleted. */
static void key_at(char key[EMIT_CELL_MAX], json_t *row, int at)
{
    void *member = json_object_iter(row);
    while (at--) member = json_object_iter_next(row, member);
    snprintf(key, EMIT_CELL_MAX, "%s", json_object_iter_key(member));
}

/* Rows of the first columns of `rest` for which there is room, two at least.  All but the
   first, which names the rows, are deleted there. */
static json_t *take_columns(json_t *rest, int indent)
{
    json_t *const block = json_array(), *const first = json_array_get(rest, 0);
    const size_t rows = json_array_size(rest);
    for (size_t i = 0; i < rows; i++) json_array_append_new(block, json_object());
    for (int taken = 0; !taken || json_object_size(first) > 1; taken++) {
        char key[EMIT_CELL_MAX];
        const bool ends = json_object_size(first) == 2;
        key_at(key, first, taken ? 1 : 0);
        for (size_t i = 0; i < rows; i++)
            json_object_set(json_array_get(block, i), key,
                            json_object_get(json_array_get(rest, i), key));
        const struct columns c = measure(block);
        if (taken > 1 && !has_room(&c, indent, ends)) {
            delete_column(block, key);
            break;
        }
        if (taken) delete_column(rest, key);
    }
    return block;
}

/* A table; one that is wider than the screen in blocks of columns, one below the other,
   each with the column that names the rows. */
void emit_table(json_t *rows, int indent)
{
    const struct columns c = measure(rows);
    if (has_room(&c, indent, true)) {
        print_columns(rows, indent);
        return;
    }
    json_t *const rest = print_constants(rows, indent);
    do {
        json_t *const block = take_columns(rest, indent);
        print_columns(block, indent);
        json_decref(block);
        if (json_object_size(json_array_get(rest, 0)) > 1) putchar('\n');
    } while (json_object_size(json_array_get(rest, 0)) > 1);
    json_decref(rest);
}

/* --- chosen columns --------------------------------------------------------------- */

/* The value in the form shown in the column. */
static json_t *shown(json_t *value, int digits)
{
    char text[EMIT_CELL_MAX];
    if (!value || json_is_null(value)) return json_string(nothing);
    if (!json_is_real(value)) return json_incref(value);
    snprintf(text, sizeof text, "%.*g", digits, json_real_value(value));
    return json_real(strtod(text, NULL));
}

static bool all_typical(json_t *rows, const struct emit_column *c)
{
    for (size_t i = 0; c->usual && i < json_array_size(rows); i++) {
        char text[EMIT_CELL_MAX];
        json_t *value =
            shown(json_object_get(json_array_get(rows, i), c->key), c->digits);
        emit_cell(text, value);
        json_decref(value);
        if (strcmp(text, c->usual) != 0) return false;
    }
    return c->usual != NULL;
}

json_t *emit_chosen(json_t *rows, const struct emit_column *columns)
{
    json_t *few = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_array_append_new(few, json_object());
    for (const struct emit_column *c = columns; c->key; c++) {
        if (all_typical(rows, c)) continue;
        for (size_t i = 0; i < json_array_size(rows); i++) {
            json_t *value = json_object_get(json_array_get(rows, i), c->key);
            json_object_set_new(json_array_get(few, i), c->heading,
                                shown(value, c->digits));
        }
    }
    return few;
}
