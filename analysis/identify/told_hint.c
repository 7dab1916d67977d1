/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/told_hint.h"

#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/gemm/recipe.h"

static bool tells_recipe(const struct problem *q) { return q->recipe; }

static void drop_recipe(struct problem *q) { q->recipe = NULL; }

static void describe_recipe(char *text, size_t size, const struct bitcut_gemm *g)
{
    text_add(text, size, " %s", g->recipe->name);
}

static bool tells_unit(const struct problem *q) { return q->unit || q->chip; }

static void drop_unit(struct problem *q)
{
    q->unit = NULL;
    q->chip = NULL;
}

static void describe_unit(char *text, size_t size, const struct bitcut_gemm *g)
{
    text_add(text, size, " %s", g->unit->name);
}

static bool tells_steps(const struct problem *q) { return q->steps_told; }

static void describe_steps(char *text, size_t size, const struct bitcut_gemm *g)
{
    char steps[EPILOGUE_TEXT_MAX];
    epilogue_write(steps, g->epilogue);
    text_add(text, size, " %s", *steps ? steps : epilogues->name);
    if (g->start) text_add(text, size, " --start %s", starts[g->start].name);
}

static const struct hint {
    const char *option;
    bool (*tells)(const struct problem *q);
    void (*drop)(struct problem *q);
    void (*describe)(char *text, size_t size, const struct bitcut_gemm *g);
} hints[] = {
    { "--epilogue", tells_steps, problem_leave_steps, describe_steps },
    { "--unit", tells_unit, drop_unit, describe_unit },
    { "--recipe", tells_recipe, drop_recipe, describe_recipe },
};

enum { HINTS = sizeof hints / sizeof *hints };

unsigned told_hints(const struct problem *q)
{
    unsigned told = 0;
    for (int i = 0; i < HINTS; i++) told |= (unsigned)hints[i].tells(q) << i;
    return told;
}

unsigned told_hints_next(unsigned told, unsigned last)
{
    const bool one = !(told & (told - 1));
    if (last && last == told) return 0;
    for (unsigned bit = last ? 2 * last : 1; bit < 1u << HINTS; bit *= 2)
        if (told & bit) return bit;
    return one ? 0 : told;
}

void told_hints_drop(struct problem *q, unsigned dropped)
{
    for (int i = 0; i < HINTS; i++)
        if (dropped >> i & 1) hints[i].drop(q);
}

void told_hints_describe(char *text, size_t size, unsigned some,
                         const struct bitcut_gemm *g)
{
    for (int i = 0; i < HINTS; i++) {
        if (!(some >> i & 1)) continue;
        text_add(text, size, "%s%s", *text ? " " : "", hints[i].option);
        hints[i].describe(text, size, g);
    }
}

void told_hints_list(char *text, size_t size, unsigned some)
{
    const unsigned all = some;
    for (int i = 0; i < HINTS; i++) {
        if (!(some >> i & 1)) continue;
        some &= ~(1u << i);
        text_add(text, size, "%s%s", hints[i].option,
                 !some               ? ""
                 : some & (some - 1) ? ", "
                                     : " and ");
    }
    text_add(text, size, " %s", all & (all - 1) ? "were" : "was");
}
