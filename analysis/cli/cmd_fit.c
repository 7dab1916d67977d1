/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut fit: which rows explain recorded sets. */
#include "analysis/cli/command.h"
#include "analysis/evidence/field_json.h"
#include "analysis/evidence/set_find.h"
#include "analysis/fit/fit_answer.h"
#include "analysis/fit/fit_read.h"
#include "analysis/fit/fit_separate.h"
#include "lib/clock.h"
#include "lib/file/output.h"
#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t outputs = 1000, cases = 64;
static const char *next;
static bool together;

static const struct option_row options[] = {
    { "outputs", "of each set, spread evenly over it (default 1000; 0: all)",
      OPTION_COUNT, &outputs, "N" },
    { "together", "take all sets for recordings of one instruction", OPTION_FLAG,
      &together, NULL },
    { "next", "write inputs there on which the rows differ that survive", OPTION_TEXT,
      &next, "DIR" },
    { "cases", "at most so many inputs (default 64)", OPTION_COUNT, &cases, "N" },
    { 0 }
};

/* What was asked, and found. */
struct answer {
    const struct set *sets;
    const char *name; /* of the sets */
    struct bitcut_fit found;
    struct separation separation; /* with --next */
    double seconds;
};

/* --- values of fields ------------------------------------------------------------- */

static json_t *value_json(const struct space *s, int field, int at)
{
    return field_json(&fields[field], &s->base, s->value[field][at]);
}

/* One value, or a list. */
static json_t *set_json(const struct space *s, int field, uint64_t set)
{
    if (answer_is_one(set)) return value_json(s, field, __builtin_ctzll(set));
    json_t *list = json_array();
    for (; set; set &= set - 1)
        json_array_append_new(list, value_json(s, field, __builtin_ctzll(set)));
    return list;
}

/* The fields that rows of the group read. */
static json_t *group_json(const struct answer *a, int group)
{
    json_t *object = json_object();
    for (int f = 0; f < FIELD_COUNT; f++) {
        const uint64_t set = answer_values(&a->found, group, f);
        if (set)
            json_object_set_new(object, fields[f].name,
                                set_json(&a->found.fit.space, f, set));
    }
    return object;
}

enum { ANSWER_TEXT_MOST = 512 };

static void say_set(char text[ANSWER_TEXT_MOST], const struct answer *a, int field,
                    uint64_t set)
{
    const size_t used = strlen(text);
    answer_text(text + used, ANSWER_TEXT_MOST - used, &a->found, field, set);
}

/* The fields of which the survivors have one value, or if `open`, more. */
static json_t *names_json(const struct answer *a, bool open)
{
    json_t *list = json_array();
    for (int f = 0; f < FIELD_COUNT; f++) {
        const uint64_t set = answer_values(&a->found, BITCUT_FIT_ALL, f);
        if (set && answer_is_one(set) != open)
            json_array_append_new(list, json_string(fields[f].name));
    }
    return list;
}

/* --- one answer ------------------------------------------------------------------- */

/* The rows of the unit table that survive. */
static json_t *table_json(const struct answer *a)
{
    json_t *list = json_array();
    for (size_t i = 0; a->found.table[i]; i++)
        json_array_append_new(list, json_string(a->found.table[i]->name));
    return list;
}

/* Whether the row of the set's own unit does; null if the table does not have it. */
static json_t *own_json(const struct answer *a)
{
    if (!a->sets->known) return json_null();
    return json_boolean(answer_survives(&a->found, &a->sets->unit));
}

static json_t *nearest_json(const struct answer *a)
{
    if (!a->found.found.near) return json_null();
    return json_pack("{s:o, s:o, s:o}", "misses", json_count(a->found.misses),
                     "explains_first", json_count(a->found.gives_first), "row",
                     group_json(a, BITCUT_FIT_NEAREST));
}

static json_t *differ_json(const struct separation *s)
{
    json_t *list = json_array();
    for (int f = 0; f < FIELD_COUNT; f++)
        if (s->differ[f]) json_array_append_new(list, json_string(fields[f].name));
    return list;
}

static json_t *next_json(const struct answer *a)
{
    const struct separation *s = &a->separation;
    if (!next) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "folder",
                     s->count ? json_text(next) : json_null(), "cases",
                     json_count(s->count), "rows", json_count(s->rows), "groups",
                     json_count(s->groups), "left", json_count(s->left), "differ",
                     differ_json(s));
}

static json_t *answer_json(const struct answer *a)
{
    const struct search *const found = &a->found.found;
    json_t *rows = json_array();
    for (size_t i = 0; i < found->rows.count; i++)
        json_array_append_new(rows, group_json(a, (int)i));
    return json_pack(
        "{s:o, s:s, s:o, s:I, s:o, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "set", json_text(a->name), "unit", a->sets->unit.name, "outputs",
        json_count(a->found.fit.count), "space", (json_int_t)found->space, "tried",
        json_count(found->tried), "survivors", (json_int_t)found->survivors, "complete",
        (int)found->complete, "rows", rows, "open", names_json(a, true), "decided",
        names_json(a, false), "table", table_json(a), "unit_survives", own_json(a),
        "nearest", nearest_json(a), "next", next_json(a), "seconds",
        json_number(a->seconds));
}

/* --- for people ------------------------------------------------------------------- */

static json_t *names_text(const struct answer *a, bool open)
{
    char text[ANSWER_TEXT_MOST] = "";
    json_t *list = names_json(a, open);
    for (size_t i = 0; i < json_array_size(list); i++) {
        say_more(text, sizeof text, "%s%s", i ? " " : "",
                 json_string_value(json_array_get(list, i)));
    }
    json_decref(list);
    return json_string(text);
}

/* A line for each field that survivors read. */
static json_t *fields_text(const struct answer *a)
{
    json_t *object = json_object();
    for (int f = 0; f < FIELD_COUNT; f++) {
        char text[ANSWER_TEXT_MOST] = "";
        const uint64_t set = answer_values(&a->found, BITCUT_FIT_ALL, f);
        if (!set) continue;
        say_set(text, a, f, set);
        if (!answer_is_one(set)) say_more(text, sizeof text, " (open)");
        json_object_set_new(object, fields[f].name, json_string(text));
    }
    return object;
}

/* What is special to one group of several: the fields that have not all values there that
   survive. */
static json_t *group_text(const struct answer *a, int group)
{
    char text[ANSWER_TEXT_MOST] = "";
    for (int f = 0; f < FIELD_COUNT; f++) {
        const uint64_t set = answer_values(&a->found, group, f);
        if (!set || set == answer_values(&a->found, BITCUT_FIT_ALL, f)) continue;
        say_more(text, sizeof text, "%s%s ", *text ? "; " : "", fields[f].name);
        say_set(text, a, f, set);
    }
    return json_string(text);
}

/* Survivors that are no product of values of each field: groups that are. */
static json_t *groups_text(const struct answer *a)
{
    enum { SHOWN = 12 };
    const size_t count = a->found.found.rows.count;
    json_t *list = json_array();
    for (size_t i = 0; i < count && i < SHOWN; i++)
        json_array_append_new(list, group_text(a, (int)i));
    if (count > SHOWN)
        json_array_append_new(
            list, json_sprintf("and %zu more: --json has all", count - SHOWN));
    return list;
}

static json_t *answer_text_row(const struct answer *a, bool alone)
{
    json_t *row = answer_json(a);
    const char *const deep[] = { "rows", "open", "decided", "table", "nearest", "next" };
    if (alone) {
        json_object_del(row, "open");
        json_object_del(row, "decided");
        json_object_set_new(row, "rows", fields_text(a));
        if (a->found.found.rows.count > 1)
            json_object_set_new(row, "groups", groups_text(a));
        return row;
    }
    for (size_t i = 0; i < sizeof deep / sizeof deep[0]; i++)
        json_object_del(row, deep[i]);
    json_object_set_new(row, "open", names_text(a, true));
    return row;
}

/* --- the work --------------------------------------------------------------------- */

static enum bitcut_status separate(struct answer *a, const struct context *x,
                                   struct fault *f)
{
    if (!next || a->found.found.survivors == 0) return BITCUT_OK;
    const enum bitcut_status status =
        separate_run(&a->separation, &a->found.fit, &a->found.found, cases, x->seed,
                     x->threads, &x->progress, f);
    if (status != BITCUT_OK || a->separation.count == 0) return status;
    return separation_write(next, &a->separation, &a->sets->unit, f);
}

/* Sets that are recordings of one instruction, and the exit status. */
static int fit_sets(struct context *x, const struct set *sets, int count,
                    const char *name, bool alone)
{
    struct fault f;
    struct fit fit;
    struct answer a = { .sets = sets, .name = name };
    const double start = seconds_now();
    enum bitcut_status status = fit_read(&fit, sets, count, outputs, &f);
    if (status != BITCUT_OK) return fail(name, &f);
    status = answer_find(&a.found, &fit, x->threads, &x->progress, &f);
    a.seconds = seconds_now() - start;
    if (status == BITCUT_OK) status = separate(&a, x, &f);
    if (status == BITCUT_OK)
        emit_row(&x->emitter,
                 x->emitter.json ? answer_json(&a) : answer_text_row(&a, alone));
    const bool found = a.found.found.survivors > 0;
    separation_clear(&a.separation);
    answer_clear(&a.found);
    if (status != BITCUT_OK) return fail(name, &f);
    return found ? EXIT_GOOD : EXIT_FOUND;
}

/* Each set by itself. */
static int fit_each(struct context *x, const struct found_list *list)
{
    static const struct fault stopped = { BITCUT_CANNOT, "stopped" };
    int worst = EXIT_GOOD;
    for (size_t i = 0; i < list->count; i++) {
        struct set s;
        struct fault f;
        const char *name = list->at[i].folder;
        if (progress_stopped(&x->progress)) return fail("fit", &stopped);
        const bool good = found_read(&s, &list->at[i], SET_RECORDED, &f) == BITCUT_OK;
        const int status =
            good ? fit_sets(x, &s, 1, name, list->count == 1) : fail(name, &f);
        if (good) set_clear(&s);
        if (status > worst) worst = status;
    }
    return worst;
}

/* The names of all sets with " + " between, to be freed. */
static char *join_names(const struct found_list *list)
{
    size_t length = 1;
    for (size_t i = 0; i < list->count; i++) length += strlen(list->at[i].folder) + 3;
    char *names = calloc(length, 1), *to = names;
    for (size_t i = 0; names && i < list->count; i++)
        to += sprintf(to, "%s%s", i ? " + " : "", list->at[i].folder);
    return names;
}

static int fit_together(struct context *x, const struct found_list *list)
{
    struct set *sets = calloc(list->count + 1, sizeof *sets);
    char *names = join_names(list);
    struct fault f = { BITCUT_NO_MEMORY, "no memory" };
    int count = 0, status = EXIT_GOOD;
    if (!sets || !names) status = fail("fit", &f);
    while (status == EXIT_GOOD && count < (int)list->count) {
        if (found_read(&sets[count], &list->at[count], SET_RECORDED, &f) != BITCUT_OK)
            status = fail(list->at[count].folder, &f);
        else count++;
    }
    if (status == EXIT_GOOD) status = fit_sets(x, sets, count, names, true);
    while (count > 0) set_clear(&sets[--count]);
    free(sets);
    free(names);
    return status;
}

/* What --next writes may not replace a set. */
static int check_next(const struct found_list *list)
{
    if (next && !together && list->count > 1)
        return complain("--next", "takes one set, or --together");
    for (size_t i = 0; next && i < list->count; i++)
        if (output_same(next, list->at[i].folder))
            return complain(next, "is a set to be read; name another with --next");
    return EXIT_GOOD;
}

static int run(struct context *x)
{
    struct found_list list = { 0 };
    struct fault f;
    enum bitcut_status status = BITCUT_OK;
    if (x->operand_count == 0) return complain("fit", "name at least one folder");
    if (next && cases == 0) return complain("--cases", "must be at least 1");
    for (int i = 0; i < x->operand_count && status == BITCUT_OK; i++)
        status = set_find(&list, x->operands[i], &x->progress, &f);
    int result = status == BITCUT_OK ? check_next(&list) : fail("fit", &f);
    if (result == EXIT_GOOD)
        result = together ? fit_together(x, &list) : fit_each(x, &list);
    found_clear(&list);
    return result;
}

const struct command command_fit = {
    .name = "fit",
    .what = "Find the rows of a unit that explain recorded sets",
    .run = run,
    .own = options,
    .operands = "SET...",
    .operands_most = OPERANDS_MOST,
};
