/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/diagnosis_name.h"

#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

static void name_part(struct diagnosed_fault *to, const struct residuals *e,
                      const struct guess *g, int i)
{
    const struct kernel_fault_choice c = g->part[i].fault;
    struct candidate all;
    guess_candidate(&all, e, g);
    *to = (struct diagnosed_fault){ .name = c.row ? c.row->name
                                                  : g->part[i].effect.row->name };
    if (!c.row) {
        k_effect_describe(to->what, sizeof to->what, &g->part[i].effect, &all);
        to->k_first = g->part[i].effect.range.first;
        to->k_end = g->part[i].effect.range.end;
    } else if (c.row->describe)
        c.row->describe(to->what, sizeof to->what, &all, &e->s, c.kind);
    else snprintf(to->what, sizeof to->what, "%s", c.row->what);
}

/* The faults of a guess in words; of rounded operands, what became of them. */
static void describe_guess(char *text, size_t size, const struct residuals *e,
                           const struct guess *g)
{
    if (!g->parts) arithmetic_describe(text, size, &e->arithmetics.at[g->arithmetic]);
    for (int i = 0; i < g->parts; i++) {
        struct diagnosed_fault one;
        name_part(&one, e, g, i);
        text_add(text, size, "%s%s", i ? ", and " : "", one.what);
    }
}

/* Whether another fault says the same in fewer words: a range of all k; a product that is
   scaled until it vanishes. */
static bool is_circuitous(const struct residuals *e, const struct guess *g)
{
    bool any = false;
    for (int i = 0; i < g->parts; i++) {
        const struct guessed *const part = &g->part[i];
        any |= part->fault.row
                   ? part->fault.row->of_residual
                   : !part->effect.range.first && part->effect.range.end == e->b.k;
    }
    return any;
}

/* Other guesses with the same results, each once. */
static void add_same_of(struct diagnosis *to, const struct residuals *e,
                        const struct guess *best, const struct guesses *of)
{
    char own[DIAGNOSIS_TEXT_MAX] = "";
    describe_guess(own, sizeof own, e, best);
    for (size_t i = 0; i < of->count && to->sames < DIAGNOSED_SAME_MAX; i++) {
        const struct guess *const g = &of->at[i];
        char text[DIAGNOSIS_TEXT_MAX] = "";
        if (g == best || g->parts > best->parts || is_circuitous(e, g) ||
            !guesses_are_same(e, best, g))
            continue;
        describe_guess(text, sizeof text, e, g);
        bool known = !strcmp(text, own);
        for (size_t j = 0; j < to->sames; j++) known |= !strcmp(text, to->same[j]);
        if (!known && *text) strcpy(to->same[to->sames++], text);
    }
}

void diagnosis_name(struct diagnosis *to, const struct residuals *e,
                    const struct guess *g, const struct guesses *best,
                    const struct guesses *plain)
{
    to->level = g->parts ? DIAGNOSIS_FAULT : DIAGNOSIS_OPERANDS;
    arithmetic_describe(to->operands, sizeof to->operands,
                        &e->arithmetics.at[g->arithmetic]);
    for (int i = 0; i < g->parts; i++) name_part(&to->fault[to->faults++], e, g, i);
    add_same_of(to, e, g, best);
    add_same_of(to, e, g, plain);
}

void diagnosis_take_faults(struct diagnosis *to, const struct diagnosis *from)
{
    to->level = from->level;
    to->faults = from->faults;
    memcpy(to->fault, from->fault, sizeof to->fault);
    to->sames = from->sames;
    memcpy(to->same, from->same, sizeof to->same);
}
