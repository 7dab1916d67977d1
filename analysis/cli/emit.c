/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/cli/emit.h"

#include "analysis/cli/screen.h"
#include "analysis/study/claim.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/io/json_value.h"
#include "lib/io/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 1 << 14, COLUMNS_MAX = 32, INDENT = 2, GAP = 2, SCHEMA = 1 };

/* Print the whole line or nothing: only building it needs memory. */
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

/* Store a row and its sentences; both are taken over. */
static void keep_row(struct emitter *e, json_t *row, json_t *said)
{
    if (!e->rows) {
        e->rows = json_array();
        e->said = json_array();
    }
    e->broken |= json_array_append_new(e->rows, row) != 0;
    e->broken |= json_array_append_new(e->said, said) != 0;
}

/* What stands for a value that there is not. */
static const char nothing[] = "-";

/* --- one cell --------------------------------------------------------------------- */

/* The text of one value, without quotes, safe to print. */
static void cell_text(char text[CELL_MAX], const json_t *value)
{
    if (json_is_string(value)) {
        snprintf(text, CELL_MAX, "%s", json_string_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, CELL_MAX, "%.6g", json_real_value(value));
    } else if (json_is_null(value)) {
        snprintf(text, CELL_MAX, "%s", nothing);
    } else if (json_is_object(value)) {
        snprintf(text, CELL_MAX, "below");
    } else {
        const size_t n =
            json_dumpb(value, text, CELL_MAX - 1, JSON_ENCODE_ANY | JSON_COMPACT);
        text[n < CELL_MAX ? n : CELL_MAX - 1] = 0;
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
            char text[CELL_MAX];
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

/* The blanks and cells before column `i`, after `indent` blanks. */
static int column_at(const struct columns *c, int i, int indent)
{
    int at = indent;
    for (int before = 0; before < i; before++) at += c->width[before] + GAP;
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
        screen_wrap(screen_columns(0), column_at(c, column, indent), indent, text, verdict);
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
            char text[CELL_MAX];
            cell_text(text, json_object_get(json_array_get(rows, i), key));
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
    char all[CELL_MAX] = "";
    const char *key;
    json_t *unused, *rest = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_array_append_new(rest, json_copy(json_array_get(rows, i)));
    int column = 0;
    json_object_foreach(json_array_get(rows, 0), key, unused)
    {
        char text[CELL_MAX];
        if (column++ == c.count - 1 || !is_constant(rows, key)) continue;
        cell_text(text, unused);
        if (!json_is_null(unused))
            text_add(all, sizeof all, "%s%s %s", *all ? ", " : "", key, text);
        delete_column(rest, key);
    }
    text_print(stdout, "%*s", indent, "");
    if (*all) screen_wrap(screen_columns(0), indent, indent, all, SCREEN_NEUTRAL);
    return rest;
}

/* The key of a row's column `at`, copied, as columns are deleted. */
static void key_at(char key[CELL_MAX], json_t *row, int at)
{
    void *member = json_object_iter(row);
    while (at--) member = json_object_iter_next(row, member);
    snprintf(key, CELL_MAX, "%s", json_object_iter_key(member));
}

/* Rows of the first columns of `rest` for which there is room, two at least.  All but the
   first, which names the rows, are deleted there. */
static json_t *take_columns(json_t *rest, int indent)
{
    json_t *const block = json_array(), *const first = json_array_get(rest, 0);
    const size_t rows = json_array_size(rest);
    for (size_t i = 0; i < rows; i++) json_array_append_new(block, json_object());
    for (int taken = 0; !taken || json_object_size(first) > 1; taken++) {
        char key[CELL_MAX];
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
static void print_table(json_t *rows, int indent)
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
    char text[CELL_MAX];
    if (!value || json_is_null(value)) return json_string(nothing);
    if (!json_is_real(value)) return json_incref(value);
    snprintf(text, sizeof text, "%.*g", digits, json_real_value(value));
    return json_real(strtod(text, NULL));
}

static bool all_typical(json_t *rows, const struct emit_column *c)
{
    for (size_t i = 0; c->usual && i < json_array_size(rows); i++) {
        char text[CELL_MAX];
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
        if (all_typical(rows, c)) continue;
        for (size_t i = 0; i < json_array_size(rows); i++) {
            json_t *value = json_object_get(json_array_get(rows, i), c->key);
            json_object_set_new(json_array_get(few, i), c->heading,
                                shown(value, c->digits));
        }
    }
    return few;
}

/* --- objects ---------------------------------------------------------------------- */

/* A label in a column of that width, and its text, which wraps. */
static void print_labelled(const char *label, const char *text, int indent, int width,
                           enum screen_verdict verdict)
{
    text_print(stdout, "%*s%-*s%*s", indent, "", width, label, GAP, "");
    screen_wrap(screen_columns(0), indent + width + GAP, indent, text, verdict);
}

static void print_line(const char *key, const json_t *value, int indent, int width)
{
    char text[CELL_MAX];
    cell_text(text, value);
    print_labelled(key, text, indent, width, SCREEN_NEUTRAL);
}

static void print_object(json_t *object, int indent);

/* A list of objects or texts: a table, one object after the other, or one line for each.
 */
static void print_list(const char *key, json_t *list, int indent)
{
    char name[CELL_MAX];
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

/* One line for each field, with nested values below it. */
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

/* The objects that do not fit into a table, each under its row's first field. */
static void print_below(json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *key;
        json_t *value, *row = json_array_get(rows, i);
        json_object_foreach(row, key, value)
        {
            char text[CELL_MAX];
            if (!json_is_object(value)) continue;
            cell_text(text, json_object_iter_value(json_object_iter(row)));
            text_print(stdout, "\n%s, %s\n", text, key);
            print_object(value, INDENT);
        }
    }
}

/* --- lines ------------------------------------------------------------------------ */

json_t *emit_sentence(record_describe *describe, const void *answer)
{
    char text[CELL_MAX] = "";
    describe(text, CELL_MAX, answer);
    text_clean(text);
    return *text ? json_string(text) : NULL;
}

/* One line of an answer; `says` is taken over. */
static void append_said(json_t *said, const struct record_line *line, json_t *says)
{
    json_array_append_new(
        said, json_pack("{s:s, s:o, s:s, s:i}", "what", line->label, "says", says, "key",
                        line->instead ? line->instead : "", "when", 1 << line->when));
}

/* Lines of code, one each. */
static void append_code(json_t *said, const struct record_line *line, const void *answer)
{
    char text[CELL_MAX] = "";
    line->describe(text, CELL_MAX, answer);
    for (char *at = text, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        if (*end) *end++ = 0;
        text_clean(at);
        append_said(said, line, json_string(at));
    }
}

/* The sentences of an answer: objects with the label of a line, "what", and its sentence,
   "says"; with the "key" that the line replaces, and, as a bit, "when" it is printed. */
static json_t *answer_said(const struct record_line *lines, const void *answer)
{
    json_t *const said = json_array();
    for (const struct record_line *line = lines; line && line->label; line++) {
        json_t *const sentence =
            line->when == RECORD_CODE ? NULL : emit_sentence(line->describe, answer);
        if (line->when == RECORD_CODE) append_code(said, line, answer);
        if (sentence) append_said(said, line, sentence);
    }
    return said;
}

static bool is_printed(const json_t *one, unsigned when)
{
    return when & (unsigned)json_integer_value(json_object_get(one, "when"));
}

static const char *text_of(const json_t *one, const char *key)
{
    return json_string_value(json_object_get(one, key));
}

/* The line with the verdict of the command's only answer. */
static enum screen_verdict line_verdict(const struct emitter *e, const char *label)
{
    if (strcmp(label, LABEL_VERDICT) != 0 ||
        (json_array_size(e->rows) != 1 && !e->summary))
        return SCREEN_NEUTRAL;
    return e->failed ? SCREEN_BAD : SCREEN_GOOD;
}

/* The lines to print at this time, with their texts in a column. */
static void print_lines(const struct emitter *e, const json_t *said, unsigned when,
                        int indent)
{
    int width = 0;
    size_t i;
    const json_t *one;
    json_array_foreach(said, i, one)
    {
        if (is_printed(one, when))
            width = larger_int(width, (int)strlen(text_of(one, "what")));
    }
    json_array_foreach(said, i, one)
    {
        if (!is_printed(one, when)) continue;
        if (is_printed(one, 1u << RECORD_CODE))
            text_print(stdout, "%*s%-*s%*s%s\n", indent, "", width, text_of(one, "what"),
                       GAP, "", text_of(one, "says"));
        else
            print_labelled(text_of(one, "what"), text_of(one, "says"), indent, width,
                           line_verdict(e, text_of(one, "what")));
    }
}

json_t *emit_lines(const struct record_line *lines, const void *answer)
{
    json_t *const said = answer_said(lines, answer);
    for (size_t i = json_array_size(said); i--;)
        if (is_printed(json_array_get(said, i), 1u << RECORD_VERBOSE))
            json_array_remove(said, i);
    return said;
}

/* All lines of a row, followed by its keys. */
static void print_verbose(const struct emitter *e, json_t *row, const json_t *said)
{
    json_t *rest = json_copy(row);
    size_t i;
    const json_t *one;
    print_lines(e, said, ~0u, 0);
    putchar('\n');
    json_array_foreach(said, i, one)
    {
        if (is_printed(one, 1u << RECORD_VERBOSE)) json_object_del(rest, text_of(one, "key"));
    }
    print_object(rest, 0);
    json_decref(rest);
}

/* The sentences below a table, under the first field of each row. */
static void print_lines_below(const struct emitter *e)
{
    const unsigned below = 1u << RECORD_BELOW;
    for (size_t i = 0; i < json_array_size(e->rows); i++) {
        char text[CELL_MAX];
        json_t *const row = json_array_get(e->rows, i);
        const json_t *const said = json_array_get(e->said, i);
        size_t n = 0;
        while (n < json_array_size(said) && !is_printed(json_array_get(said, n), below)) n++;
        if (n == json_array_size(said)) continue;
        cell_text(text, e->columns ? json_object_get(row, e->columns->key)
                                   : json_object_iter_value(json_object_iter(row)));
        text_print(stdout, "\n%s\n", text);
        print_lines(e, said, below, INDENT);
    }
}

/* Rows that have lines. */
static void print_rows_by_lines(const struct emitter *e)
{
    const size_t count = json_array_size(e->rows);
    const unsigned usual = 1u << RECORD_ALWAYS | 1u << RECORD_BELOW | 1u << RECORD_CODE;
    for (size_t i = 0; e->verbose && i < count; i++) {
        if (i) putchar('\n');
        print_verbose(e, json_array_get(e->rows, i), json_array_get(e->said, i));
    }
    if (e->verbose) return;
    if (count == 1) {
        print_lines(e, json_array_get(e->said, 0), usual, 0);
        return;
    }
    json_t *few = e->columns ? chosen(e->rows, e->columns) : json_incref(e->rows);
    print_table(few, 0);
    json_decref(few);
    print_lines_below(e);
}

/* --- the whole -------------------------------------------------------------------- */

void emit_answer(struct emitter *e, json_t *row, const struct record_line *lines,
                 const void *answer)
{
    flockfile(stdout);
    e->answers |= lines != NULL;
    if (e->json) {
        print_row(e, row);
    } else {
        keep_row(e, row, answer_said(lines, answer));
    }
    funlockfile(stdout);
}

void emit_row(struct emitter *e, json_t *row) { emit_answer(e, row, NULL, NULL); }

void emit_summary(struct emitter *e, const struct record_line *lines, const void *answer)
{
    if (!e->json) e->summary = answer_said(lines, answer);
}

void emit_ending(struct emitter *e, json_t *row)
{
    if (e->json) {
        emit_row(e, row);
        return;
    }
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(row, next, key, value)
    {
        if (json_is_null(value)) json_object_del(row, key);
    }
    e->ending = row;
}

static void print_summary(struct emitter *e)
{
    if (!e->summary) return;
    if (e->rows) putchar('\n');
    print_lines(e, e->summary, ~0u, 0);
    json_decref(e->summary);
    e->summary = NULL;
}

static void print_ending(struct emitter *e)
{
    if (!e->ending) return;
    if (e->rows) putchar('\n');
    print_object(e->ending, 0);
    json_decref(e->ending);
    e->ending = NULL;
}

static void print_rows(struct emitter *e)
{
    if (e->rows && e->answers) {
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
    if (e->note && !e->json) {
        putchar('\n');
        screen_wrap(screen_columns(0), 0, 0, e->note, SCREEN_NEUTRAL);
    }
    print_summary(e);
    print_ending(e);
    json_decref(e->rows);
    json_decref(e->said);
    e->rows = e->said = NULL;
}

int emit_end(struct emitter *e)
{
    flockfile(stdout);
    print_rows(e);
    const int error = output_flush(stdout);
    funlockfile(stdout);
    return error || !e->broken ? error : ENOMEM;
}
