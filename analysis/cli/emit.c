/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/cli/emit.h"

#include "analysis/cli/screen.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/io/json_value.h"
#include "lib/io/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, SCHEMA = 1 };

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

/* --- values ---------------------------------------------------------------------- */

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

/* --- objects ---------------------------------------------------------------------- */

/* A label in a column of that width, and its text, which wraps. */
static void print_labelled(const char *label, const char *text, int indent, int width,
                           enum screen_verdict verdict)
{
    text_print(stdout, "%*s%-*s%*s", indent, "", width, label, EMIT_GAP, "");
    screen_wrap(screen_columns(0), indent + width + EMIT_GAP, indent, text, verdict);
}

static void print_line(const char *key, const json_t *value, int indent, int width)
{
    char text[EMIT_CELL_MAX];
    emit_cell(text, value);
    print_labelled(key, text, indent, width, SCREEN_NEUTRAL);
}

static void print_object(json_t *object, int indent);

/* A list of objects or texts: a table, one object after the other, or one line for each.
 */
static void print_list(const char *key, json_t *list, int indent)
{
    char name[EMIT_CELL_MAX];
    if (has_objects(list) && is_flat(json_array_get(list, 0))) {
        text_print(stdout, "%*s%s\n", indent, "", key);
        emit_table(list, indent + INDENT);
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
            char text[EMIT_CELL_MAX];
            if (!json_is_object(value)) continue;
            emit_cell(text, json_object_iter_value(json_object_iter(row)));
            text_print(stdout, "\n%s, %s\n", text, key);
            print_object(value, INDENT);
        }
    }
}

/* --- lines ------------------------------------------------------------------------ */

json_t *emit_sentence(record_describe *describe, const void *answer)
{
    char text[EMIT_CELL_MAX] = "";
    describe(text, EMIT_CELL_MAX, answer);
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
    char text[EMIT_CELL_MAX] = "";
    line->describe(text, EMIT_CELL_MAX, answer);
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
                       EMIT_GAP, "", text_of(one, "says"));
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
        char text[EMIT_CELL_MAX];
        json_t *const row = json_array_get(e->rows, i);
        const json_t *const said = json_array_get(e->said, i);
        size_t n = 0;
        while (n < json_array_size(said) && !is_printed(json_array_get(said, n), below)) n++;
        if (n == json_array_size(said)) continue;
        emit_cell(text, e->columns ? json_object_get(row, e->columns->key)
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
    json_t *few = e->columns ? emit_chosen(e->rows, e->columns) : json_incref(e->rows);
    emit_table(few, 0);
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
        json_t *few = emit_chosen(e->rows, e->columns);
        emit_table(few, 0);
        json_decref(few);
    } else if (e->rows) {
        emit_table(e->rows, 0);
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

void emit_drop(struct emitter *e)
{
    json_t **const all[] = { &e->rows, &e->said, &e->summary, &e->ending };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_decref(*all[i]);
        *all[i] = NULL;
    }
}

int emit_end(struct emitter *e)
{
    flockfile(stdout);
    print_rows(e);
    const int error = output_flush(stdout);
    funlockfile(stdout);
    return error || !e->broken ? error : ENOMEM;
}
