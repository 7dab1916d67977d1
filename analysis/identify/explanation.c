/* SPDX-License-Identifier: BSD-3-Clause */
/* An explanation: its fields, and its lines. */
#include "analysis/identify/explain.h"
#include "analysis/order/order_sentence.h"
#include "emu/gemm_sentence.h"
#include "emu/gemm_text.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* --- lists ------------------------------------------------------------------------ */

static const void *part_at(const void *answer, size_t i, void *room)
{
    const struct explanation *const e = answer;
    (void)room;
    return i < smaller(e->parts, PARTS_MAX) ? &e->part[i] : NULL;
}

static const void *finding_at(const void *answer, size_t i, void *room)
{
    const struct explanation *const e = answer;
    (void)room;
    return i < e->ladder.findings ? &e->ladder.finding[i] : NULL;
}

static const void *differing_at(const void *answer, size_t i, void *room)
{
    const struct explanation *const e = answer;
    (void)room;
    return i < e->firsts ? &e->first[i] : NULL;
}

/* A hypothesis and its space. */
struct ranked {
    const struct verdict *v;
    const struct space *space;
};

static const void *equal_at(const void *answer, size_t i, void *room)
{
    const struct explanation *const e = answer;
    struct ranked *const to = room;
    *to = (struct ranked){ &e->equal[i], &e->space };
    return i < smaller(e->equals, EQUALS_MAX) ? to : NULL;
}

/* A bin that has outputs: the range of its distances, or `last`, whose values are not
   both numbers. */
struct bin {
    int i;
    bool last;
    size_t from, to, count;
};

static const void *bin_at(const void *answer, size_t i, void *room)
{
    const size_t *const count = ((const struct explanation *)answer)->spread.bin;
    int b = 0;
    while (b < SPREAD_BINS && (!count[b] || i--)) b++;
    if (b == SPREAD_BINS) return NULL;
    const size_t from = b ? (size_t)1 << (b - 1) : 0;
    struct bin *const to = room;
    *to = (struct bin){ b, b == SPREAD_BINS - 1, from, b ? 2 * from - 1 : 0, count[b] };
    return to;
}

/* An unchanged recipe; recipes that a unit runs, the nearest first. */
struct distance {
    const char *name;
    double ulps;
};

static const void *distance_at(const void *answer, size_t i, void *room)
{
    const double *const ulps = ((const struct explanation *)answer)->distance;
    for (size_t r = 0; r < RECIPES_MAX && recipes[r].name; r++) {
        size_t before = 0;
        for (size_t s = 0; s < RECIPES_MAX && recipes[s].name; s++)
            before += ulps[s] < ulps[r] || (ulps[s] == ulps[r] && s < r);
        if (before != i || !isfinite(ulps[r])) continue;
        struct distance *const to = room;
        *to = (struct distance){ recipes[r].name, ulps[r] };
        return to;
    }
    return NULL;
}

/* --- fields ----------------------------------------------------------------------- */

static bool was_tried(const void *answer)
{
    return ((const struct explanation *)answer)->best.sampled;
}

static bool has_row_period(const void *answer)
{
    return ((const struct explanation *)answer)->spread.row_period;
}

static bool has_col_period(const void *answer)
{
    return ((const struct explanation *)answer)->spread.col_period;
}

static bool are_numbers(const void *bin) { return !((const struct bin *)bin)->last; }

static void write_gemm(char *text, size_t size, const void *answer)
{
    char line[CONFIGURATION_LINE_MAX];
    configuration_line_write(line, &((const struct explanation *)answer)->best.x.gemm);
    text_add(text, size, "%s", line);
}

static void write_order(char *text, size_t size, const void *answer)
{
    order_options(text, size, &((const struct explanation *)answer)->best.x.plan.order);
}

static void write_changes(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    verdict_describe(text, smaller(size, CHANGES_MAX), &e->best, &e->space);
}

static void write_operands(char *text, size_t size, const void *answer)
{
    text_add(text, size, "%s", ((const struct explanation *)answer)->operands);
}

static void write_placed(char *text, size_t size, const void *placed)
{
    const struct ranked *const p = placed;
    verdict_describe(text, smaller(size, CHANGES_MAX), p->v, p->space);
}

static const char *recipe_of(const void *placed)
{
    return ((const struct ranked *)placed)->v->x.gemm.recipe->name;
}

static const char *unit_of(const void *placed)
{
    return ((const struct ranked *)placed)->v->x.gemm.unit->name;
}

#define OF_ALL(place, key, unit, what)                                                   \
    RECORD_INNER(struct explanation, place, key, unit, what)

/* clang-format off */
const struct record_field explain_best_fields[] = {
    RECORD_SENTENCE(write_gemm, "gemm", "the GEMM as one line of text, without the fault"),
    RECORD_SENTENCE(write_changes, "changes", "the differences from the recipe's row, or "
                                              "null"),
    RECORD_SENTENCE(write_order, "order", "its order of k, in the notation of --split-k "
                                          "and --order"),
    RECORD_SENTENCE(write_operands, "operands", "what it makes of A and B before it multiplies them, "
                                                "or null: they are used whole"),
    OF_ALL(answer.fault, "fault", "", "the name of the fault, or null"),
    OF_ALL(answer.matched, "matched", "", "outputs of the sample that this GEMM gives"),
    OF_ALL(answer.sampled, "sampled", "", "outputs of the sample"),
    { 0 }
}, explain_part_fields[] = {
    RECORD_PAIR(struct box, row, "rows", "", "the first row, and the row after the last"),
    RECORD_PAIR(struct box, col, "columns", "", "the first column, and the column after the last"),
    RECORD_INNER(struct box, differ, "differ", "", "differing outputs in this region"),
    RECORD_INNER(struct box, fault, "fault", "", "the name of the fault in this region, "
                                                 "or null"),
    RECORD_INNER(struct box, what, "what", "", "the fault in words"),
    RECORD_INNER(struct box, where, "where", "", "the rows and columns in words, if they do "
                                                 "not fill that box; or empty"),
    { 0 }
}, explain_equal_fields[] = {
    RECORD_TEXT_OF(recipe_of, "recipe", "its recipe"),
    RECORD_TEXT_OF(unit_of, "unit", "its unit"),
    RECORD_SENTENCE(write_placed, "changes", "the differences from the recipe's row, or "
                                             "null"),
    { 0 }
}, explain_bin_fields[] = {
    RECORD_INNER_IF(struct bin, from, "from", "ulps", "smallest distance from the GEMM "
                                                      "to D in this bin; null: not both "
                                                      "are numbers",
                    are_numbers),
    RECORD_INNER_IF(struct bin, to, "to", "ulps", "largest distance in this bin", are_numbers),
    RECORD_INNER(struct bin, count, "count", "", "outputs"),
    { 0 }
}, explain_distance_fields[] = {
    RECORD_INNER(struct distance, name, "name", "", "the recipe"),
    RECORD_INNER(struct distance, ulps, "ulps", "ulps", "the median distance of its "
                                                        "outputs"),
    { 0 }
};
/* clang-format on */

#define ANSWER(place, key, what)                                                         \
    RECORD_MEMBER(struct explanation, answer.place, #place, key, "", what)

static bool is_batch(const void *answer)
{
    return ((const struct explanation *)answer)->is_batch;
}

static bool has_others(const void *answer)
{
    return *((const struct explanation *)answer)->others;
}

static bool has_other(const void *answer)
{
    return *((const struct explanation *)answer)->other;
}

const struct record_field explain_batch_fields[] = {
    OF_ALL(answer.gemms, "gemms", "", "GEMMs of the batch"),
    OF_ALL(answer.explained, "explained", "", "GEMMs whose D the hypothesis gives"),
    OF_ALL(searched, "searched", "", "GEMM on which the hypothesis was found"),
    RECORD_INNER_IF(struct explanation, others, "others", "",
                    "GEMMs whose D it does not give, or null", has_others),
    RECORD_INNER_IF(struct explanation, other_gemm, "other_gemm", "",
                    "one of these GEMMs, or null", has_other),
    RECORD_INNER_IF(struct explanation, other, "other", "",
                    "what computed its D, or null", has_other),
    { 0 }
};

const struct record_field explain_fields[] = {
    /* clang-format off */
    RECORD_TOGETHER(is_batch, explain_batch_fields, "", "GEMMs of a batch"),
    RECORD_TOGETHER(was_tried, explain_best_fields, "", "the hypothesis that gives most "
                                                        "of D"),
    OF_ALL(q.name, "d", "", "the file of D"),
    ANSWER(text, "hypothesis", "one sentence with the whole answer"),
    RECORD_ITEMS(finding_at, ladder_finding_fields, "findings", "what the checks before the search "
                                                         "found"),
    ANSWER(rounded, "rounded.outputs", "outputs that were compared with the correctly rounded "
                                       "exact result"),
    RECORD_MEMBER(struct explanation, answer.within, "within", "rounded.within", "",
                  "outputs within 0, 1, 2 and 8 ulps of it"),
    ANSWER(found, "found", "whether one hypothesis gives everything that was compared"),
    ANSWER(compared, "compared", "outputs that were compared"),
    ANSWER(differ, "differ", "outputs that the hypothesis does not give"),
    ANSWER(total, "total", "outputs of D"),
    ANSWER(tried, "tried", "hypotheses that were tried"),
    ANSWER(by_chance, "by_chance", "hypotheses tried that would give as much of a small D by chance"),
    OF_ALL(error, "error", "2^-24 |A||B|", "the median distance of D from the exact result"),
    RECORD_STRUCT(struct explanation, diagnosis, diagnosis_fields, "diagnosis", "what the error of D consists of"),
    RECORD_ITEMS(part_at, explain_part_fields, "parts", "regions in which D differs"),
    RECORD_ITEMS(equal_at, explain_equal_fields, "equal", "other hypotheses that give the "
                                                          "whole sample"),
    OF_ALL(equals, "equals", "", "number of such hypotheses"),
    ANSWER(complete, "complete", "whether the search was completed within the time limit"),
    OF_ALL(interrupted, "interrupted", "", "whether the search was interrupted"),
    OF_ALL(seconds, "seconds", "s", "time that the search took"),
    RECORD_ITEMS(differing_at, differing_fields, "differing", "the first outputs that the "
                                                              "hypothesis does not give"),
    RECORD_ITEMS(bin_at, explain_bin_fields, "ulps", "outputs by their distance from the "
                                                     "hypothesis; -0 and +0 are one step "
                                                     "apart"),
    RECORD_INNER_IF(struct explanation, spread.row_period, "period.rows", "",
                    "number of rows after which differences repeat, or null", has_row_period),
    RECORD_INNER_IF(struct explanation, spread.col_period, "period.columns", "",
                    "number of columns after which differences repeat, or null", has_col_period),
    RECORD_ITEMS(distance_at, explain_distance_fields, "distances", "distance of recipes from D, "
                                                                    "the nearest first"),
    ANSWER(runs, "", "whether bitcut_gemm() gives D with the GEMM returned here"),
    ANSWER(fault, "", "the name of the fault, or none"),
    ANSWER(matched, "", "outputs of the sample that this GEMM gives"),
    ANSWER(sampled, "", "outputs of the sample"),
    ANSWER(gemms, "", "GEMMs"),
    ANSWER(explained, "", "GEMMs whose D the hypothesis gives"),
    ANSWER(gemm, "", "first GEMM whose D it does not give"),
    ANSWER(findings, "", "number of findings"),
    RECORD_ARRAY(struct explanation, answer.finding, "finding", ladder_finding_fields,
                 "what the checks before the search found"),
    ANSWER(diagnosis, "", "what the error of D consists of"),
    ANSWER(before, "", "median distance of D from the exact result"),
    ANSWER(after, "", "the same from the exact result with these effects"),
    { 0 }
    /* clang-format on */
};

/* --- lines ------------------------------------------------------------------------ */

void explain_describe_text(char *text, size_t size, const void *answer)
{
    text_add(text, size, "%s", ((const struct explanation *)answer)->answer.text);
}

void explain_describe_error(char *text, size_t size, const void *answer)
{
    char error[NUMBER_SAID_MAX];
    const struct explanation *const e = answer;
    if (isnan(e->error)) return;
    number_said(error, e->error, 3);
    text_add(text, size, "%s u |A||B| from the exact result, the median (u = 2^-24)",
             error);
    if (e->diagnosis.outside && !e->answer.found)
        text_add(text, size, "; %zu of %zu outputs are farther away",
                 e->diagnosis.outside, e->diagnosis.outputs);
}

void explain_describe_distances(char *text, size_t size, const void *answer)
{
    enum { SHOWN = 5 };
    struct distance r;
    for (size_t i = 0; i < SHOWN && distance_at(answer, i, &r); i++)
        text_add(text, size, "%s%s %.3g", i ? ", " : "", r.name, r.ulps);
    if (*text)
        text_add(text, size,
                 " (median distance of D in ulps from each recipe, on the unit that is "
                 "nearest)");
}

void explain_describe_sum(char *text, size_t size, const void *answer)
{
    const struct verdict *const v = &((const struct explanation *)answer)->best;
    const struct gemm_description told = { .gemm = &v->x.gemm, .plan = &v->x.plan };
    if (explain_names_nearest(answer)) gemm_describe_sum(text, size, &told);
}

void explain_describe_spread(char *text, size_t size, const void *answer)
{
    struct bin b;
    for (size_t i = 0; explain_names_nearest(answer) && bin_at(answer, i, &b); i++)
        if (!b.last) text_add_bin(text, size, b.i, b.count);
        else text_add(text, size, "%sNaN or infinite: %zu", i ? ", " : "", b.count);
    if (*text) text_add(text, size, " (ulps: outputs)");
}

/* The sentence has the contents. */
void explain_describe_boxes(char *text, size_t size, const void *answer)
{
    const struct box *b;
    for (size_t i = 0; (b = part_at(answer, i, NULL)); i++) {
        if (i) text_add(text, size, "; ");
        box_describe(text, size, b);
        text_add(text, size, ": %zu (%s)", b->differ,
                 b->fault   ? b->fault
                 : *b->what ? b->what
                            : "cause unknown");
    }
}

static void describe_first(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    if (explain_names_nearest(e)) differing_describe(text, size, e->first, e->firsts, 0);
}

void explain_describe_period(char *text, size_t size, const void *answer)
{
    const struct spread *const s = &((const struct explanation *)answer)->spread;
    if (!explain_names_nearest(answer)) return;
    if (s->row_period) text_add(text, size, "every %zu rows", s->row_period);
    if (s->col_period)
        text_add(text, size, "%severy %zu columns", *text ? ", " : "", s->col_period);
}

/* Whether both are the same recipe with the same changes, on any units. */
static bool are_alike(const struct explanation *e, size_t i, size_t j)
{
    const struct verdict *const x = &e->equal[i], *const y = &e->equal[j];
    char of_x[CHANGES_MAX], of_y[CHANGES_MAX];
    if (x->x.gemm.recipe != y->x.gemm.recipe) return false;
    verdict_describe(of_x, sizeof of_x, x, &e->space);
    verdict_describe(of_y, sizeof of_y, y, &e->space);
    return !strcmp(of_x, of_y);
}

/* Append the recipe from `first` on, with its first units.  Returns how many entries of
   the list this covers. */
static size_t describe_units(char *text, size_t size, const struct explanation *e,
                             size_t first)
{
    enum { SAID = 3 };
    char changes[CHANGES_MAX];
    size_t count = 0;
    text_add(text, size, "%s%s on", *text ? "; " : "",
             e->equal[first].x.gemm.recipe->name);
    for (size_t i = first; i < smaller(e->equals, EQUALS_MAX); i++)
        if (are_alike(e, first, i) && count++ < SAID)
            text_add(text, size, "%s %s", count > 1 ? "," : "",
                     e->equal[i].x.gemm.unit->name);
    if (count > SAID) text_add(text, size, " and %zu more units", count - SAID);
    verdict_describe(changes, sizeof changes, &e->equal[first], &e->space);
    if (*changes) text_add(text, size, ", but %s", changes);
    return count;
}

/* Each recipe once, with the units on which it gives the same. */
void explain_describe_equal(char *text, size_t size, const void *answer)
{
    enum { SHOWN = 3 };
    const struct explanation *const e = answer;
    size_t told = 0, recipes_told = 0;
    for (size_t i = 0; i < smaller(e->equals, EQUALS_MAX) && recipes_told < SHOWN; i++) {
        bool before = false;
        for (size_t j = 0; j < i && !before; j++) before = are_alike(e, j, i);
        if (before) continue;
        told += describe_units(text, size, e, i);
        recipes_told++;
    }
    if (e->equals > told) text_add(text, size, "; and %zu more", e->equals - told);
}

/* The first sentence may have them. */
static void describe_findings(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    if (!explain_says_findings(e)) ladder_describe(text, size, &e->ladder);
}

static void describe_ulps(char *text, size_t size, const void *answer)
{
    ladder_describe_ulps(text, size, &((const struct explanation *)answer)->ladder);
}

static void describe_looked(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    if (e->answer.compared)
        text_add(text, size, "%zu of %zu outputs", e->answer.compared, e->answer.total);
    else text_add(text, size, "a sample of %zu outputs", e->answer.total);
    text_add(text, size, "; %zu hypothes%s%s; %.2g s", e->answer.tried,
             e->answer.tried == 1 ? "is" : "es",
             e->answer.complete ? ""
             : e->late          ? "; --seconds ended the search"
                                : "; more --effort tries more",
             e->seconds);
}

static void describe_device(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    if (e->device) text_add(text, size, "%s", e->device);
}

static void describe_next(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    const bool faulty = e->answer.fault && e->diagnosis.level != DIAGNOSIS_NONE;
    if (e->answer.found) return;
    if (*e->better) {
        text_add(text, size, "D is found with %s", e->better);
        return;
    }
    const bool shown = faulty || (e->ladder.has_map && !e->ladder.is_final);
    text_add(text, size, "%s",
             diagnosis_levels[shown ? DIAGNOSIS_FAULT : e->diagnosis.level].next);
    if (!e->hints) return;
    text_add(text, size, "%s", *text ? "; " : "");
    told_hints_list(text, size, e->hints);
    text_add(text, size, " taken as given");
}

const struct record_line explain_lines[] = {
    { .label = LABEL_VERDICT, .describe = explain_describe_verdict },
    { .label = "operands", .describe = write_operands },
    { .label = "findings", .describe = describe_findings },
    { .label = "next step", .describe = describe_next },
    { .label = "search", .describe = explain_describe_search },
    { .label = "nearest", .describe = explain_describe_nearest },
    { .label = "error of D", .describe = explain_describe_error },
    { .label = "rounding", .describe = describe_ulps },
    { .label = "recipes", .describe = explain_describe_distances },
    { .label = "sum over k", .describe = explain_describe_sum },
    { .label = "distance of D", .describe = explain_describe_spread },
    { .label = "differs in", .describe = explain_describe_boxes },
    { .label = "first differences", .describe = describe_first },
    { .label = "period", .describe = explain_describe_period },
    { .label = "same bits", .describe = explain_describe_equal },
    { .label = "compared", .describe = describe_looked },
    { .label = "computed by", .describe = describe_device },
    { 0 }
};
