/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/paste_mutant.h"

#include "lib/base/text.h"

#include <stdlib.h>

/* The inputs of the lines that decide, made once. */
struct lines {
    const struct paste_line *line[PASTE_LINES_MAX];
    struct paste_operands operands[PASTE_LINES_MAX];
    size_t count;
    uint64_t *d; /* room for a result */
};

static void lines_clear(struct lines *x)
{
    while (x->count) paste_operands_clear(&x->operands[--x->count]);
    free(x->d);
    free(x);
}

static struct lines *lines_make(const struct paste_product *p, struct fault *f)
{
    struct lines *const x = calloc(1, sizeof *x);
    enum bitcut_status status = x ? BITCUT_OK : BITCUT_NO_MEMORY;
    if (x) x->d = memory_allocate(PASTE_SIDE_MAX * PASTE_SIDE_MAX, sizeof *x->d);
    if (x && !x->d) status = BITCUT_NO_MEMORY;
    for (size_t i = 0; i < p->lines && status == BITCUT_OK; i++) {
        if (!paste_decides(p->line[i])) continue;
        x->line[x->count] = p->line[i];
        status = paste_operands_make(&x->operands[x->count], p->line[i], f);
        x->count += status == BITCUT_OK;
    }
    if (status == BITCUT_OK) return x;
    if (x) lines_clear(x);
    fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    return NULL;
}

/* Whether a row gives all lines. */
static enum bitcut_status gives_all(bool *all, const struct lines *x,
                                    const struct paste_row *row, bool any_order)
{
    enum bitcut_status status = BITCUT_OK;
    *all = true;
    for (size_t i = 0; i < x->count && *all && status == BITCUT_OK; i++) {
        struct paste_k order;
        status = paste_find_order(&order, x->d, x->line[i], &x->operands[i], row,
                                  any_order, NULL);
        *all = status == BITCUT_OK && order.lanes;
    }
    return status;
}

static void add(struct paste_mutants *to, const struct paste_row *row,
                const struct mutant *m)
{
    char name[PASTE_MUTANT_TEXT];
    if (to->count == PASTE_MUTANTS_MAX) return;
    char *const text = to->text[to->count++];
    mutant_name(name, sizeof name, m);
    *text = 0;
    text_add(text, PASTE_MUTANT_TEXT, "%s with %s", row->unit->name, name);
    if (row->operands)
        text_add(text, PASTE_MUTANT_TEXT, ", operands rounded by %s",
                 row->operands->name);
}

static enum bitcut_status try_mutants(struct paste_mutants *to, const struct lines *x,
                                      const struct paste_row *row, bool any_order)
{
    static _Thread_local struct mutant list[MUTANTS_MAX];
    const int count = mutants_list(list, row->unit);
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < count && status == BITCUT_OK; i++) {
        const struct paste_row mutant = { &list[i].unit, row->operands };
        bool all = false;
        if (list[i].proof) continue;
        status = gives_all(&all, x, &mutant, any_order);
        if (all) add(to, row, &list[i]);
    }
    return status;
}

enum bitcut_status paste_mutants_find(struct paste_mutants *to,
                                      const struct paste_product *p,
                                      const struct progress *progress, struct fault *f)
{
    to->count = 0;
    if (!p->decides || !p->trials) return BITCUT_OK;
    struct lines *const x = lines_make(p, f);
    if (!x) return BITCUT_NO_MEMORY;
    enum bitcut_status status = BITCUT_OK;
    bool done = false;
    for (size_t i = 0; i < p->trials && !done && status == BITCUT_OK; i++) {
        const struct paste_trial *const t = &p->trial[i];
        if (progress_stopped(progress)) status = BITCUT_UNSUPPORTED;
        else if (t->first == i && (!p->survivors || paste_survives(p, t)))
            status = try_mutants(to, x, &t->row, p->any_order);
        done = p->survivors && paste_survives(p, t);
    }
    lines_clear(x);
    return status == BITCUT_UNSUPPORTED ? fault_set(f, status, "stopped")
           : status != BITCUT_OK        ? fault_set(f, status, "not enough memory")
                                        : status;
}
