/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_answer.h"

#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- finding ---------------------------------------------------------------------- */

bool answer_survives(const struct bitcut_fit *a, const struct bitcut_unit *row)
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
        if (fit_is_for(&a->fit, u) && answer_survives(a, u)) a->table[count++] = u;
    return a->table != NULL;
}

enum bitcut_status answer_find(struct bitcut_fit *to, const struct fit *fit, int threads,
                               const struct progress *progress, struct fault *f)
{
    *to = (struct bitcut_fit){ .fit = *fit };
    const enum bitcut_status status =
        search_run(&to->found, fit, NULL, threads, progress, f);
    if (status != BITCUT_OK) return status;
    if (!find_in_table(to)) return fault_set(f, BITCUT_NO_MEMORY, "no memory");
    if (to->found.near) {
        to->misses = fit_misses(fit, &to->found.nearest);
        to->gives_first = fit_explains(fit, &to->found.nearest);
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

bool answer_is_one(uint64_t set) { return set && !(set & (set - 1)); }

static uint64_t box_values(const struct space *s, const struct box *box, int field)
{
    struct bitcut_unit row;
    const bool read = box_row(&row, s, box) && field_used(&fields[field], &row);
    return read ? box->set[field] : 0;
}

uint64_t answer_values(const struct bitcut_fit *a, int group, int field)
{
    const struct space *const s = &a->fit.space;
    const struct box_list *const rows = &a->found.rows;
    struct box one;
    uint64_t set = 0;
    if (group == BITCUT_FIT_NEAREST)
        return a->found.near && box_single(&one, s, &a->found.nearest)
                   ? box_values(s, &one, field)
                   : 0;
    if (group >= 0)
        return (size_t)group < rows->count ? box_values(s, &rows->at[group], field) : 0;
    if (group != BITCUT_FIT_ALL) return 0;
    for (size_t i = 0; i < rows->count; i++) set |= box_values(s, &rows->at[i], field);
    return set;
}

/* The last position such that all from `first` on are of the set and count up by one. */
static int run_end(const struct bitcut_fit *a, int field, uint64_t set, int first)
{
    const struct space *const s = &a->fit.space;
    char text[FIELD_TEXT_MOST];
    const bool counts = field_value(text, &fields[field], &s->base,
                                    s->value[field][first]) == BITCUT_NUMBER;
    int last = first;
    while (counts && last + 1 < s->count[field] && set >> (last + 1) & 1 &&
           s->value[field][last + 1] == s->value[field][last] + 1)
        last++;
    return last;
}

void answer_text(char *text, size_t size, const struct bitcut_fit *a, int field,
                 uint64_t set)
{
    const struct space *const s = &a->fit.space;
    char value[FIELD_TEXT_MOST], end[FIELD_TEXT_MOST], run[2 * FIELD_TEXT_MOST + 2];
    *text = 0;
    for (int i = 0; i < s->count[field]; i++) {
        if (!(set >> i & 1)) continue;
        const int last = run_end(a, field, set, i);
        field_text(value, sizeof value, &fields[field], &s->base, s->value[field][i]);
        field_text(end, sizeof end, &fields[field], &s->base, s->value[field][last]);
        snprintf(run, sizeof run, "%s%s%s", value, last > i ? ".." : "",
                 last > i ? end : "");
        text_append(text, size, run);
        i = last;
    }
}
