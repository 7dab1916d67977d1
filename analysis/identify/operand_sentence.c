/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/operand_sentence.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <string.h>

/* Whether the high part of a split differs from an element that is a number. */
static bool changes(const struct problem *q, enum bitcut_operand operand,
                    const struct split_part *high)
{
    const size_t lines = operand == BITCUT_A ? problem_m(q) : problem_n(q);
    if (high->format == &formats[FORMAT_F32]) return false;
    for (size_t i = 0; i < lines; i++)
        for (size_t p = 0; p < problem_k(q); p++) {
            const uint32_t x = problem_element(q, operand, i, p);
            if (!f32_is_nan(x) && f32_through(high->format, high->rounding, x) != x)
                return true;
        }
    return false;
}

static void describe_split(char *text, size_t size, const char *which, bool both,
                           const struct bitcut_split *s)
{
    const struct split_part *const high = &s->part[0];
    const char *const are = both ? "are" : "is";
    if (s->parts > 1)
        text_add(text, size, "%s %s split into %d parts, the high part in %s", which, are,
                 s->parts, high->format->name);
    else
        text_add(text, size, "%s %s rounded to %s, %s", which, are, high->format->name,
                 high->rounding ? high->rounding->what : roundings[ROUND_RN].what);
}

/* The formats to which equals with one part round the operands, except that of the best
   hypothesis, each once. */
static void describe_others(char *text, size_t size, const struct explanation *e)
{
    const size_t kept = smaller(e->equals, EQUALS_MAX);
    uint64_t named = (uint64_t)1 << (e->best.x.plan.split_a.part[0].format - formats);
    size_t count = 0;
    for (size_t i = 0; i < kept; i++) {
        const struct bitcut_split *const s = &e->equal[i].x.plan.split_a;
        const uint64_t bit = (uint64_t)1 << (s->part[0].format - formats);
        if (s->parts > 1 || s->part[0].format == &formats[FORMAT_F32] || (named & bit))
            continue;
        named |= bit;
        text_add(text, size, "%s%s", count++ ? ", " : "; the same bits follow from ",
                 s->part[0].format->name);
    }
}

void operands_describe(char *text, size_t size, const struct explanation *e)
{
    const struct candidate *const x = &e->best.x;
    const struct bitcut_split *const a = &x->plan.split_a, *const b = &x->plan.split_b;
    if (!e->answer.found || e->no_product || e->of_integers ||
        format_is_integer(x->unit.c))
        return;
    const bool of_a = changes(&e->q, BITCUT_A, &a->part[0]),
               of_b = changes(&e->q, BITCUT_B, &b->part[0]);
    if (!of_a && !of_b) return;
    if (of_a && of_b && split_same(a, b)) describe_split(text, size, "A and B", true, a);
    else {
        if (of_a) describe_split(text, size, "A", false, a);
        if (of_a && of_b) text_add(text, size, "; ");
        if (of_b) describe_split(text, size, "B", false, b);
    }
    describe_others(text, size, e);
}
