/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/cli/emit.h"

#include "analysis/evidence/json_value.h"
#include "lib/file/output.h"
#include "lib/size.h"
#include "lib/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MOST = 1 << 14, COLUMNS_MOST = 32, INDENT = 2, SCHEMA = 1 };

/* The whole line or nothing of it: only making it needs memory. */
static bool print_json(const json_t *row)
{
    char *line = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!line) return false;
    json_put(stdout, line);
    putchar('\n');
    fflush(stdout);
    free(line);
    return true;
}

void emit_schema(json_t *row, const char *command)
{
    json_object_set_new(row, "schema", json_sprintf("bitcut-%s/%d", command, SCHEMA));
}

static void print_row(struct emitter *e, json_t *row)
{
    if (e->schema && row) emit_schema(row, e->schema);
    e->broken |= !print_json(row);
    json_decref(row);
}

static void keep_row(struct emitter *e, json_t *row)
{
    if (!e->rows) e->rows = json_array();
    e->broken |= json_array_append_new(e->rows, row) != 0;
}

void emit_row(struct emitter *e, json_t *row)
{
    flockfile(stdout);
    if (e->json) print_row(e, row);
    else keep_row(e, row);
    funlockfile(stdout);
}

/* --- one cell --------------------------------------------------------------------- */

/* The text of one value, without quotes, fit to print. */
static void cell_text(char text[CELL_MOST], const json_t *value)
{
    if (json_is_string(value)) {
        snprintf(text, CELL_MOST, "%s", json_string_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, CELL_MOST, "%.6g", json_real_value(value));
    } else if (json_is_object(value)) {
        snprintf(text, CELL_MOST, "below");
    } else {
        const size_t n =
            json_dumpb(value, text, CELL_MOST - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        text[n < CELL_MOST ? n : CELL_MOST - 1] = 0;
    }
    text_clean(text);
}

static bool has_objects(const json_t *value)
{
    return json_is_object(json_array_get(value, 0));
}

static bool has_texts(const json_t *value)
{
    return json_is_string(json_array_get(value, 0));
}

/* Whether a value needs lines of its own. */
static bool is_deep(const json_t *value)
{
    return json_is_object(value) || has_objects(value) || has_texts(value);
}

static bool is_flat(json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (is_deep(value)) return false;
    }
    return true;
}

/* --- tables ----------------------------------------------------------------------- */

/* The columns of a table: the keys of its first row. */
struct columns {
    int count;
    int width[COLUMNS_MOST];
    bool number[COLUMNS_MOST]; /* to the right */
};

static struct columns measure(json_t *rows)
{
    struct columns c = { 0 };
    const char *key;
    json_t *unused;
    json_object_foreach(json_array_get(rows, 0), key, unused)
    {
        if (c.count == COLUMNS_MOST) break;
        c.width[c.count] = (int)strlen(key);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            char text[CELL_MOST];
            const json_t *cell = json_object_get(json_array_get(rows, i), key);
            cell_text(text, cell);
            const int length = (int)strlen(text);
            if (length > c.width[c.count]) c.width[c.count] = length;
            c.number[c.count] |= json_is_number(cell);
        }
        c.count++;
    }
    return c;
}

static void print_cell(const char *text, const struct columns *c, int column)
{
    const bool last = column == c->count - 1, number = c->number[column];
    if (last && !number) text_print(stdout, "%s", text);
    else text_print(stdout, number ? "%*s" : "%-*s", c->width[column], text);
    fputs(last ? "\n" : "  ", stdout);
}

static void print_table(json_t *rows, int indent)
{
    const struct columns c = measure(rows);
    json_t *first = json_array_get(rows, 0);
    const char *key;
    json_t *unused;
    int column = 0;
    text_print(stdout, "%*s", indent, "");
    json_object_foreach(first, key, unused)
    {
        if (column < c.count) print_cell(key, &c, column++);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        column = 0;
        text_print(stdout, "%*s", indent, "");
        json_object_foreach(first, key, unused)
        {
            char text[CELL_MOST];
            cell_text(text, json_object_get(json_array_get(rows, i), key));
            if (column < c.count) print_cell(text, &c, column++);
        }
    }
}

/* --- chosen columns --------------------------------------------------------------- */

static const char nothing[] = "-";

/* The value as the column shows it. */
static json_t *shown(json_t *value, int digits)
{
    char text[CELL_MOST];
    if (!value || json_is_null(value)) return json_string(nothing);
    if (!json_is_real(value)) return json_incref(value);
    snprintf(text, sizeof text, "%.*g", digits, json_real_value(value));
    return json_real(strtod(text, NULL));
}

static bool all_usual(json_t *rows, const struct emit_column *c)
{
    for (size_t i = 0; c->usual && i < json_array_size(rows); i++) {
        char text[CELL_MOST];
        json_t *value =
            shown(json_object_get(json_array_get(rows, i), c->key), c->digits);
        cell_text(text, value);
        json_decref(value);
        if (strcmp(text, c->usual) != 0) return false;
    }
    return c->usual != NULL;
}

static json_t *chosen(json_t *rows, const struct emit_column *columns)
{
    json_t *few = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_array_append_new(few, json_object());
    for (const struct emit_column *c = columns; c->key; c++) {
        if (all_usual(rows, c)) continue;
        for (size_t i = 0; i < json_array_size(rows); i++) {
            json_t *value = json_object_get(json_array_get(rows, i), c->key);
            json_object_set_new(json_array_get(few, i), c->heading,
                                shown(value, c->digits));
        }
    }
    return few;
}

/* --- objects ---------------------------------------------------------------------- */

static void print_line(const char *key, const json_t *value, int indent, int width)
{
    char text[CELL_MOST];
    cell_text(text, value);
    text_print(stdout, "%*s%-*s  %s\n", indent, "", width, key, text);
}

static void print_object(json_t *object, int indent);

/* A list of objects or texts: a table, or one after the other, or a line each. */
static void print_list(const char *key, json_t *list, int indent)
{
    char name[CELL_MOST];
    if (has_objects(list) && is_flat(json_array_get(list, 0))) {
        text_print(stdout, "%*s%s\n", indent, "", key);
        print_table(list, indent + INDENT);
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        snprintf(name, sizeof name, "%s[%zu]", key, i);
        json_t *value = json_array_get(list, i);
        if (has_texts(list)) print_line(name, value, indent, (int)strlen(key) + 4);
        else
            text_print(stdout, "%*s%s\n", indent, "", name),
                print_object(value, indent + INDENT);
    }
}

/* A field a line; under it, what lies deeper. */
static void print_object(json_t *object, int indent)
{
    const char *key;
    json_t *value;
    int width = 0;
    json_object_foreach(object, key, value)
    {
        if (!is_deep(value) && (int)strlen(key) > width) width = (int)strlen(key);
    }
    json_object_foreach(object, key, value)
    {
        if (!is_deep(value)) {
            print_line(key, value, indent, width);
        } else if (json_is_array(value)) {
            print_list(key, value, indent);
        } else {
            text_print(stdout, "%*s%s\n", indent, "", key);
            print_object(value, indent + INDENT);
        }
    }
}

/* The objects that a table has no room for, each under its row's first field. */
static void print_below(json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *key;
        json_t *value, *row = json_array_get(rows, i);
        json_object_foreach(row, key, value)
        {
            char text[CELL_MOST];
            if (!json_is_object(value)) continue;
            cell_text(text, json_object_iter_value(json_object_iter(row)));
            text_print(stdout, "\n%s, %s\n", text, key);
            print_object(value, INDENT);
        }
    }
}

/* --- lines ------------------------------------------------------------------------ */

/* What the line says of the row; false: it is left out. */
static bool line_says(char text[CELL_MOST], const struct emit_line *line,
                      const json_t *row)
{
    const json_t *value = json_object_get(row, line->key);
    text[0] = 0;
    if (!value || json_is_null(value) || !line->say(text, CELL_MOST, line, row))
        return false;
    text_clean(text);
    return true;
}

/* The lines of a row that are printed by then, with their words in a column. */
static void print_lines(const json_t *row, const struct emit_line *lines, unsigned when,
                        int indent)
{
    char text[CELL_MOST];
    int width = 0;
    for (const struct emit_line *line = lines; line->key; line++)
        if (when & 1u << line->when && line_says(text, line, row))
            width = larger_int(width, (int)strlen(line->words));
    for (const struct emit_line *line = lines; line->key; line++) {
        if (!(when & 1u << line->when) || !line_says(text, line, row)) continue;
        text_print(stdout, "%*s%-*s  %s%s%s\n", indent, "", width, line->words, text,
                   line->unit ? " " : "", line->unit ? line->unit : "");
    }
}

json_t *emit_says(const struct emitter *e)
{
    const json_t *const row = json_array_get(e->rows, 0);
    if (!e->lines || !row) return NULL;
    json_t *const list = json_array();
    for (const struct emit_line *line = e->lines; line->key; line++) {
        char text[CELL_MOST];
        if (line->when == LINE_VERBOSE || !line_says(text, line, row)) continue;
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "what", line->words, "says",
                            json_sprintf("%s%s%s", text, line->unit ? " " : "",
                                         line->unit ? line->unit : "")));
    }
    return list;
}

static bool is_said(const struct emit_line *lines, const char *key, const json_t *row)
{
    char text[CELL_MOST];
    for (; lines->key; lines++)
        if (lines->when == LINE_VERBOSE && !strcmp(lines->key, key) &&
            line_says(text, lines, row))
            return true;
    return false;
}

/* All lines of a row, and then its keys. */
static void print_verbose(json_t *row, const struct emit_line *lines)
{
    json_t *rest = json_copy(row);
    const char *key;
    json_t *value;
    print_lines(row, lines, ~0u, 0);
    putchar('\n');
    json_object_foreach(row, key, value)
    {
        if (is_said(lines, key, row)) json_object_del(rest, key);
    }
    print_object(rest, 0);
    json_decref(rest);
}

/* What lines have to say below a table, under the first field of each row. */
static void print_lines_below(json_t *rows, const struct emit_line *lines,
                              const struct emit_column *columns)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char text[CELL_MOST];
        json_t *row = json_array_get(rows, i);
        const struct emit_line *line = lines;
        while (line->key && !(line->when == LINE_BELOW && line_says(text, line, row)))
            line++;
        if (!line->key) continue;
        cell_text(text, columns ? json_object_get(row, columns->key)
                                : json_object_iter_value(json_object_iter(row)));
        text_print(stdout, "\n%s\n", text);
        print_lines(row, lines, 1u << LINE_BELOW, INDENT);
    }
}

/* Rows that have lines. */
static void print_rows_by_lines(const struct emitter *e)
{
    const size_t count = json_array_size(e->rows);
    const unsigned usual = 1u << LINE_ALWAYS | 1u << LINE_BELOW;
    for (size_t i = 0; e->verbose && i < count; i++) {
        if (i) putchar('\n');
        print_verbose(json_array_get(e->rows, i), e->lines);
    }
    if (e->verbose) return;
    if (count == 1) {
        print_lines(json_array_get(e->rows, 0), e->lines, usual, 0);
        return;
    }
    json_t *few = e->columns ? chosen(e->rows, e->columns) : json_incref(e->rows);
    print_table(few, 0);
    json_decref(few);
    print_lines_below(e->rows, e->lines, e->columns);
}

/* --- all of it -------------------------------------------------------------------- */

static void print_rows(struct emitter *e)
{
    if (e->rows && e->lines) {
        print_rows_by_lines(e);
    } else if (e->rows && json_array_size(e->rows) == 1 && !e->table) {
        print_object(json_array_get(e->rows, 0), 0);
    } else if (e->rows && e->columns) {
        json_t *few = chosen(e->rows, e->columns);
        print_table(few, 0);
        json_decref(few);
    } else if (e->rows) {
        print_table(e->rows, 0);
        print_below(e->rows);
    }
    json_decref(e->rows);
    e->rows = NULL;
}

int emit_end(struct emitter *e)
{
    flockfile(stdout);
    print_rows(e);
    const int error = output_flush(stdout);
    funlockfile(stdout);
    return error || !e->broken ? error : ENOMEM;
}
