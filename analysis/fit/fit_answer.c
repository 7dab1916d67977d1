/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_answer.h"

#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* --- finding ---------------------------------------------------------------------- */

/* Whether the row gives every output. */
static bool survives(const struct bitcut_fit *a, const struct bitcut_unit *row)
{
    return fit_explains(&a->fit, row) == a->fit.count;
}

static bool find_in_table(struct bitcut_fit *a)
{
    size_t count = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) count++;
    a->table = calloc(count + 1, sizeof *a->table);
    count = 0;
    for (const struct bitcut_unit *u = units; a->table && u->name; u++)
        if (fit_is_for(&a->fit, u) && survives(a, u)) a->table[count++] = u;
    return a->table != NULL;
}

enum bitcut_status answer_find(struct bitcut_fit *to, const struct fit *fit,
                               const struct bitcut_unit *unit, int threads,
                               const struct progress *progress, struct fault *f)
{
    struct bitcut_fit_report *const r = &to->found.report;
    *to = (struct bitcut_fit){ .fit = *fit };
    const enum bitcut_status status =
        search_run(&to->found, fit, NULL, threads, progress, f);
    if (status != BITCUT_OK) return status;
    if (!find_in_table(to)) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    r->unit_survives = survives(to, unit);
    if (r->near) {
        r->misses = fit_misses(fit, &to->found.nearest);
        r->explains_first = fit_explains(fit, &to->found.nearest);
    }
    return BITCUT_OK;
}

void answer_clear(struct bitcut_fit *a)
{
    search_clear(&a->found);
    fit_clear(&a->fit);
    free(a->table);
    a->table = NULL;
}

/* --- values of fields ------------------------------------------------------------- */

static void add_box(struct group *to, const struct box *box)
{
    struct bitcut_unit row;
    if (!box_row(&row, to->space, box)) return;
    for (int f = 0; f < FIELD_COUNT; f++)
        if (field_used(&fields[f], &row)) to->set[f] |= box->set[f];
}

struct group answer_group(const struct bitcut_fit *a, int group)
{
    const struct box_list *const rows = &a->found.rows;
    struct group to = { .space = &a->fit.space };
    struct box one;
    for (size_t i = 0; i < rows->count; i++)
        if (group == BITCUT_FIT_ALL || (group >= 0 && (size_t)group == i))
            add_box(&to, &rows->at[i]);
    if (group == BITCUT_FIT_NEAREST && a->found.report.near &&
        box_single(&one, to.space, &a->found.nearest))
        add_box(&to, &one);
    return to;
}

bool group_has_one(const struct group *g, int field)
{
    return g->set[field] && !(g->set[field] & (g->set[field] - 1));
}

void group_value(struct bitcut_field *value, const struct group *g, int field, uint64_t set)
{
    const int64_t at = g->space->value[field][__builtin_ctzll(set)];
    char text[FIELD_TEXT_MAX];
    value->name = fields[field].name;
    value->kind = field_value(text, &fields[field], &g->space->base, at);
    snprintf(value->text, sizeof value->text, "%s", text);
}

/* The last position such that all positions from `first` on are in the set, with
   consecutive values. */
static int run_end(const struct group *g, int field, int first)
{
    const struct space *const s = g->space;
    char text[FIELD_TEXT_MAX];
    const bool counts = field_value(text, &fields[field], &s->base,
                                    s->value[field][first]) == BITCUT_NUMBER;
    int last = first;
    while (counts && last + 1 < s->count[field] && g->set[field] >> (last + 1) & 1 &&
           s->value[field][last + 1] == s->value[field][last] + 1)
        last++;
    return last;
}

void group_text(char *text, size_t size, const struct group *g, int field)
{
    const struct space *const s = g->space;
    char value[FIELD_TEXT_MAX], end[FIELD_TEXT_MAX], run[2 * FIELD_TEXT_MAX + 2];
    *text = 0;
    for (int i = 0; i < s->count[field]; i++) {
        if (!(g->set[field] >> i & 1)) continue;
        const int last = run_end(g, field, i);
        field_text(value, sizeof value, &fields[field], &s->base, s->value[field][i]);
        field_text(end, sizeof end, &fields[field], &s->base, s->value[field][last]);
        snprintf(run, sizeof run, "%s%s%s", value, last > i ? ".." : "",
                 last > i ? end : "");
        text_append(text, size, run);
        i = last;
    }
}
