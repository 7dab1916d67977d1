/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fitted.h"

#include "lib/base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(offsetof(struct fitted, fit.found.report) == 0,
              "members are found by their position");

enum { SAID_MAX = 512 };

/* --- groups ----------------------------------------------------------------------- */

/* Value i among all values of a group's fields. */
static bool value_at(struct bitcut_field *value, const void *group, size_t i)
{
    const struct group *const g = group;
    for (int f = 0; f < FIELD_COUNT; f++)
        for (uint64_t set = g->set[f]; set; set &= set - 1)
            if (i-- == 0) {
                group_value(value, g, f, set);
                return true;
            }
    return false;
}

/* The values of the i-th field that rows read, as text. */
static bool said_at(struct bitcut_field *field, const void *group, size_t i)
{
    const struct group *const g = group;
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (!g->set[f] || i-- > 0) continue;
        field->name = fields[f].name;
        field->kind = BITCUT_TEXT;
        group_text(field->text, SAID_MAX, g, f);
        if (!group_has_one(g, f)) text_add(field->text, SAID_MAX, " (open)");
        return true;
    }
    return false;
}

static const struct record_field value_fields[] = {
    RECORD_KEYS(value_at, "a value or a list for each field"), { 0 }
};

static const struct record_field said_fields[] = {
    RECORD_KEYS(said_at, "the values of each field"), { 0 }
};

static const void *group_at(const void *answer, size_t i, void *room)
{
    const struct bitcut_fit *const a = answer;
    if (i >= a->found.rows.count) return NULL;
    *(struct group *)room = answer_group(a, (int)i);
    return room;
}

/* The fields special to one of several groups: fields that do not have all values of the
   survivors. */
static const void *special_at(const void *answer, size_t i, void *room)
{
    enum { SHOWN = 12 };
    const struct fitted *const a = answer;
    const size_t count = a->fit.found.rows.count;
    char *const text = room;
    *text = 0;
    if (i >= count || i > SHOWN) return NULL;
    const struct group g = answer_group(&a->fit, (int)i);
    if (i == SHOWN)
        snprintf(text, SAID_MAX, "and %zu more: --json has all", count - SHOWN);
    for (int f = 0; f < FIELD_COUNT && i < SHOWN; f++) {
        if (!g.set[f] || g.set[f] == a->all.set[f]) continue;
        text_add(text, SAID_MAX, "%s%s ", *text ? "; " : "", fields[f].name);
        const size_t used = strlen(text);
        group_text(text + used, SAID_MAX - used, &g, f);
    }
    return text;
}

/* --- names ------------------------------------------------------------------------ */

/* The name of the i-th selected field, or NULL. */
static const char *name_at(const bool chosen[FIELD_COUNT], size_t i)
{
    for (int f = 0; f < FIELD_COUNT; f++)
        if (chosen[f] && i-- == 0) return fields[f].name;
    return NULL;
}

/* The name of field number i with one value in all survivors, or, if `open`, with
   several. */
static const char *field_at(const struct fitted *a, bool open, size_t i)
{
    bool chosen[FIELD_COUNT];
    for (int f = 0; f < FIELD_COUNT; f++)
        chosen[f] = a->all.set[f] && group_has_one(&a->all, f) != open;
    return name_at(chosen, i);
}

static const void *open_at(const void *answer, size_t i, void *room)
{
    (void)room;
    return field_at(answer, true, i);
}

static const void *decided_at(const void *answer, size_t i, void *room)
{
    (void)room;
    return field_at(answer, false, i);
}

static const void *differ_at(const void *answer, size_t i, void *room)
{
    (void)room;
    return name_at(((const struct fitted *)answer)->separation.differ, i);
}

static const void *unit_at(const void *answer, size_t i, void *room)
{
    const struct bitcut_unit *const u = ((const struct bitcut_fit *)answer)->table[i];
    (void)room;
    return u ? u->name : NULL;
}

void fitted_look(struct fitted *a)
{
    const char *name;
    a->all = answer_group(&a->fit, BITCUT_FIT_ALL);
    a->nearest = answer_group(&a->fit, BITCUT_FIT_NEAREST);
    *a->open = 0;
    for (size_t i = 0; (name = field_at(a, true, i)); i++)
        text_add(a->open, sizeof a->open, "%s%s", i ? " " : "", name);
}

/* --- fields ----------------------------------------------------------------------- */

#define HAS(name, condition)                                                             \
    static bool name(const void *answer)                                                 \
    {                                                                                    \
        const struct fitted *const a = answer;                                           \
        return condition;                                                                \
    }

HAS(is_known, a->known)
HAS(has_near, a->fit.found.report.near)
HAS(has_next, a->next)
HAS(has_cases, a->separation.count)
HAS(has_groups, a->fit.found.rows.count > 1)

#define OF(place, key, what) RECORD_INNER(struct fitted, place, key, "", what)
#define REPORTED_IF(condition, place, key, what)                                         \
    RECORD_MEMBER_IF(struct fitted, fit.found.report.place, #place, key, "", what,       \
                     condition)
#define REPORTED(place, key, what) REPORTED_IF(NULL, place, key, what)

/* clang-format off */
const struct record_field fit_nearest_fields[] = {
    OF(fit.found.report.misses, "misses", "outputs that the row does not give"),
    OF(fit.found.report.explains_first, "explains_first",
       "number of outputs that it gives before the first mismatch, in the order in which "
       "rows are tested"),
    RECORD_STRUCT(struct fitted, nearest, value_fields, "row", "fields of the row"),
    { 0 }
}, fit_next_fields[] = {
    RECORD_INNER_IF(struct fitted, next, "folder", "",
       "folder of the inputs; null: there are none",
                    has_cases),
    OF(separation.count, "cases", "inputs on which surviving rows differ"),
    OF(separation.rows, "rows", "survivors that were compared"),
    OF(separation.groups, "groups", "groups of survivors that the inputs distinguish"),
    OF(separation.left, "left", "rows in groups of more than one row"),
    RECORD_ITEMS(differ_at, NULL, "differ",
       "the fields in which the rows of such a group differ"),
    { 0 }
};

static const struct record_field groups_fields[] = {
    RECORD_ITEMS(special_at, NULL, "groups",
       "groups of rows, with the fields special to each"),
    { 0 }
};

#define THE_SEARCH                                                                       \
    OF(set, "set", "the recorded set, or all sets with \" + \" between them"),           \
    OF(unit, "unit", "the unit of the recording, according to the set"),                 \
    REPORTED(outputs, "outputs", "outputs that were compared"),                          \
    REPORTED(space, "space", "number of rows in the search space"),                      \
    REPORTED(tried, "tried", "rows that were run"),                                      \
    REPORTED(survivors, "survivors", "rows that give every output"),                     \
    REPORTED(complete, "complete",                                                       \
             "false: part of the search space was not searched, since too many rows "    \
             "survive or had to be run there")
#define UNIT_SURVIVES                                                                    \
    REPORTED_IF(is_known, unit_survives, "unit_survives",                                \
                "whether the unit's own row survives; null: the table lacks the unit")
#define WHAT_ELSE                                                                        \
    RECORD_ITEMS(unit_at, NULL, "table", "units of the table that survive"),             \
    UNIT_SURVIVES,                                                                       \
    RECORD_TOGETHER(has_near, fit_nearest_fields, "nearest",                             \
                    "the row that gives most outputs; null: some rows give all, or "     \
                    "none gives any"),                                                   \
    RECORD_TOGETHER(has_next, fit_next_fields, "next", "inputs to record (--next)"),       \
    SECONDS
#define SECONDS                                                                          \
    RECORD_INNER(struct fitted, seconds, "seconds", "s", "time that the search took")

const struct record_field fit_fields[] = {
    THE_SEARCH,
    RECORD_ITEMS(group_at, value_fields, "rows",
       "surviving rows: objects with a value or a list for each field; every combination "
       "survives"),
    RECORD_ITEMS(open_at, NULL, "open", "fields with several values among the survivors"),
    RECORD_ITEMS(decided_at, NULL, "decided", "fields with one value in all survivors"),
    WHAT_ELSE,
    REPORTED(near, "", "whether there is a nearest row"),
    REPORTED(groups, "", "number of objects in `rows`"),
    REPORTED(misses, "", "the same as in `nearest`"),
    REPORTED(explains_first, "", "the same as in `nearest`"),
    { 0 }
}, fit_alone_fields[] = {
    THE_SEARCH,
    RECORD_STRUCT(struct fitted, all, said_fields, "rows", "the values of each field"),
    WHAT_ELSE,
    RECORD_TOGETHER(has_groups, groups_fields, "", "groups of rows, if there are several"),
    { 0 }
}, fit_table_fields[] = {
    THE_SEARCH,
    UNIT_SURVIVES,
    SECONDS,
    OF(open, "open", "fields with several values among the survivors"),
    { 0 }
};
/* clang-format on */
