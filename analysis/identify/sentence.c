/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of the search, in words. */
#include "analysis/identify/epilogue_choice.h"
#include "analysis/identify/explain.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>

void verdict_describe(char *text, size_t size, const struct verdict *v,
                      const struct space *s)
{
    text[0] = 0;
    for (int i = 0; i < AXES; i++) {
        char part[300] = "";
        if (!v->h.at[i] || !axes[i].describe) continue;
        axes[i].describe(part, sizeof part, &v->x, s, v->h.at[i]);
        text_add(text, size, "%s%s", *text ? ", and " : "", part);
    }
}

const char *explain_fault(const struct explanation *e)
{
    const size_t fault = e->best.h.at[AXIS_FAULT];
    const bool gives = e->answer.found || e->diagnosis.level != DIAGNOSIS_UNEXPLAINED;
    if (fault) return gives ? fault_name(&e->space, fault) : NULL;
    return e->parts ? e->part[0].fault : NULL;
}

/* ", with the zero points 7 of A and -3 of B" */
static void describe_zeros(char *text, const int32_t zero[2])
{
    const char *between =
        zero[0] && zero[1] ? ", with the zero points " : ", with the zero point ";
    for (int side = 0; side < 2; side++) {
        if (!zero[side]) continue;
        text_add(text, SENTENCE_MAX, "%s%d of %c", between, (int)zero[side],
                 side ? 'B' : 'A');
        between = " and ";
    }
}

static void name_hypothesis(char *text, const struct explanation *e)
{
    const struct verdict *v = &e->best;
    char changes[CHANGES_MAX];
    text_add(text, SENTENCE_MAX, "%s on %s", v->x.gemm.recipe->name,
             v->x.gemm.unit->name);
    describe_zeros(text, e->space.zero);
    if (e->space.format != &formats[FORMAT_F32] &&
        (!problem_infers_format(&e->q) || v->stored))
        text_add(text, SENTENCE_MAX, ", rounded to %s", e->space.format->name);
    if (!v->h.at[AXIS_EPILOGUE] && problem_is_told(&e->q) &&
        !(e->q.steps_told && (e->q.scaling_told || !gemm_has_scales(&e->q.told)))) {
        epilogue_choice_describe(changes, sizeof changes, &v->x.gemm, e->space.format);
        if (*changes) text_add(text, SENTENCE_MAX, ", where %s", changes);
    }
    verdict_describe(changes, sizeof changes, v, &e->space);
    if (*changes) text_add(text, SENTENCE_MAX, ", but %s", changes);
}

static void describe_reading(char *text, const struct problem *q)
{
    const struct {
        bool transposed;
        const char *name;
    } one[] = { { q->transposed_a, "A" },
                { q->transposed_b, "B" },
                { q->c.at && q->transposed_c, "C" },
                { q->transposed_d, "D" } };
    const char *between = q->by_columns ? "; stored by columns: " : "; transposed: ";
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (one[i].transposed) {
            text_add(text, SENTENCE_MAX, "%s%s", between, one[i].name);
            between = ", ";
        }
}

/* The recipes of the equivalents, each once, with the first of its units. */
static void describe_equals(char *text, const struct explanation *e)
{
    enum { SAID = 2 };
    const size_t kept = e->equals < EQUALS_MAX ? e->equals : EQUALS_MAX;
    size_t recipes_said = 0;
    for (size_t i = 0; i < kept; i++) {
        const struct bitcut_gemm *const g = &e->equal[i].x.gemm;
        size_t before = 0, more = 0;
        for (size_t j = 0; j < i; j++) before += e->equal[j].x.gemm.recipe == g->recipe;
        for (size_t j = i + 1; j < kept; j++)
            more += e->equal[j].x.gemm.recipe == g->recipe;
        if (before) continue;
        if (recipes_said++ == SAID) {
            text_add(text, SENTENCE_MAX, "; ...");
            return;
        }
        text_add(text, SENTENCE_MAX, "%s%s on %s", recipes_said > 1 ? "; " : "",
                 g->recipe->name, g->unit->name);
        if (more) text_add(text, SENTENCE_MAX, " and %zu more", more);
    }
    if (e->equals > kept) text_add(text, SENTENCE_MAX, "; ...");
}

/* Whether D has few bits, and a changed sum. */
static bool is_changed(const struct explanation *e)
{
    char changes[CHANGES_MAX];
    verdict_describe(changes, sizeof changes, &e->best, &e->space);
    return problem_is_short(&e->q) && *changes;
}

/* A result in few bits agrees with a changed sum more often than one in FP32 does, so one
   of many such hypotheses may agree by chance. */
static bool may_be_chance(const struct explanation *e)
{
    enum { MANY = 1000 };
    return is_changed(e) && e->answer.tried > MANY;
}

/* Whether nearly all outputs that were examined are the exact results, rounded to the
   format of D. */
static bool is_exact(const struct explanation *e)
{
    enum { NEARLY = 99 };
    const struct ladder_report *const l = &e->ladder;
    return l->rounded && l->within[1] == l->rounded &&
           l->within[0] * 100 >= l->rounded * NEARLY;
}

/* Whether D has few bits, which any accurate unit gives, and the unit that was found is
   an unlikely one. */
static bool hides_unit(const struct explanation *e)
{
    return problem_is_short(&e->q) && is_exact(e) && !e->parts && !e->q.unit &&
           !e->q.chip && prior_unit_is_rare(e->best.x.gemm.unit);
}

static void describe_counts(char *text, const struct explanation *e)
{
    const size_t same = e->answer.compared - e->answer.differ;
    if (e->classes.count > 1)
        text_add(text, SENTENCE_MAX,
                 ": all %zu outputs agree with the order of their "
                 "rows and columns",
                 e->answer.compared);
    else
        text_add(text, SENTENCE_MAX, ": %zu of %zu outputs agree", same,
                 e->answer.compared);
    if (e->is_batch)
        text_add(text, SENTENCE_MAX, ", in all %zu %ss", e->answer.gemms,
                 explain_noun(&e->q));
    if (e->answer.compared < e->answer.total)
        text_add(text, SENTENCE_MAX, " (D has %zu%s)", e->answer.total,
                 e->interrupted ? "" : "; more --effort looks at more");
    const struct ladder_report *const l = &e->ladder;
    if (hides_unit(e)) return;
    if (is_changed(e) && is_exact(e))
        text_add(
            text, SENTENCE_MAX,
            ", as most accurate computations give: %zu of %zu outputs examined are the "
            "exact result, rounded to %s",
            l->within[0], l->rounded, e->q.format->name);
    else if (e->answer.by_chance > 0.01)
        text_add(
            text, SENTENCE_MAX,
            ", which %s chance: two correct kernels with different orders of k agree "
            "on about %.2g %% of them",
            e->answer.by_chance > 1 ? "is probably" : "may be", 100 * e->agreeing);
    else if (may_be_chance(e))
        text_add(text, SENTENCE_MAX,
                 ", which may be chance: results in %s have %d bits, and %zu hypotheses "
                 "were tried",
                 e->q.format->name, e->q.format->fraction_bits + 1, e->answer.tried);
}

static void describe_tried(char *text, const struct explanation *e)
{
    text_add(text, SENTENCE_MAX, "; %zu hypothes%s tried", e->answer.tried,
             e->answer.tried == 1 ? "is was" : "es were");
    if (!e->equals) return;
    text_add(text, SENTENCE_MAX,
             ", and %zu other%s the same D for these A and B: ", e->equals,
             e->equals == 1 ? " gives" : "s give");
    describe_equals(text, e);
}

static void describe_parts(char *text, const struct explanation *e)
{
    for (size_t i = 0; i < e->parts && i < PARTS_MAX; i++) {
        const struct box *b = &e->part[i];
        text_add(text, SENTENCE_MAX, "%s ", i ? "; in" : ", but in");
        box_describe(text, SENTENCE_MAX, b);
        text_add(text, SENTENCE_MAX, "%s (%zu differ)%s%s",
                 b->elsewhere ? " and elsewhere" : "", b->differ, *b->what ? ": " : "",
                 b->what);
    }
    if (e->parts > PARTS_MAX)
        text_add(text, SENTENCE_MAX, "; and in %zu more places", e->parts - PARTS_MAX);
}

/* A hypothesis that does not give all GEMMs of a batch. */
static bool is_of_some(const struct explanation *e)
{
    return e->is_batch && e->answer.explained < e->answer.gemms && e->best.sampled &&
           !(e->interrupted && !e->answer.compared);
}

/* Two correct orders agree on a share of the outputs; a hypothesis with the right sum in
   a wrong order has that share, too, and is not known to be nearer. */
bool explain_names_nearest(const struct explanation *e)
{
    const size_t same = e->answer.compared - e->answer.differ;
    const double share = (1 + e->diagnosis.agreeing) / 2;
    return e->best.sampled &&
           (e->answer.found || e->parts ||
            (same && (double)same > share * (double)e->answer.compared));
}

/* A hypothesis that misses a single output is still only the nearest. */
void explain_describe_nearest(char *text, size_t size, const void *answer)
{
    enum { FEW = 100 };
    const struct explanation *const e = answer;
    const size_t same = e->answer.compared - e->answer.differ;
    char nearest[SENTENCE_MAX] = "";
    if (e->answer.found || !same || e->of_integers || is_of_some(e)) return;
    if (explain_names_nearest(e)) {
        text_add(nearest, sizeof nearest, "%zu of %zu outputs: ", same,
                 e->answer.compared);
        name_hypothesis(nearest, e);
        describe_parts(nearest, e);
    } else if (same > e->answer.compared / FEW && e->diagnosis.level != DIAGNOSIS_NONE)
        text_add(
            nearest, sizeof nearest,
            "%zu of %zu outputs; two correct kernels with different orders of k agree on "
            "about %.2g %% of them",
            same, e->answer.compared, 100 * e->diagnosis.agreeing);
    text_add(text, size, "%s", nearest);
}

/* What ended a search that is not complete. */
static const char *limit_of(const struct explanation *e)
{
    return e->answer.complete ? ""
           : e->late          ? " in the seconds given"
                              : " within --effort";
}

/* What is known of a D that no hypothesis gives: findings and the diagnosis. */
static void describe_known(char *text, const struct explanation *e)
{
    const bool findings = e->ladder.findings,
               known = e->diagnosis.level != DIAGNOSIS_NONE;
    ladder_describe(text, SENTENCE_MAX, &e->ladder);
    if (findings && known) text_add(text, SENTENCE_MAX, "; ");
    diagnosis_describe(text, SENTENCE_MAX, &e->diagnosis);
}

static void describe_missed(char *text, size_t size, const struct explanation *e)
{
    text_add(text, size, "no hypothesis gives every bit of D, of %zu tried%s",
             e->answer.tried, limit_of(e));
}

/* How many hypotheses were tried, if none gives D. */
void explain_describe_search(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    char known[SENTENCE_MAX] = "";
    if (e->answer.found || e->of_integers || is_of_some(e) || e->ladder.is_final ||
        (e->interrupted && !e->answer.compared))
        return;
    describe_known(known, e);
    if (*known) describe_missed(text, size, e);
}

/* A sentence begins with a capital letter. */
static void capitalize(char *text) { *text = (char)toupper((unsigned char)*text); }

/* The answer if no hypothesis gives D: what is known of it comes first. */
static void describe_none(char *text, const struct explanation *e)
{
    describe_known(text, e);
    if (!*text) describe_missed(text, SENTENCE_MAX, e);
    capitalize(text);
}

static void describe_nearest(char *text, const struct explanation *e)
{
    char nearest[SENTENCE_MAX] = "", search[SENTENCE_MAX] = "";
    describe_none(text, e);
    explain_describe_search(search, sizeof search, e);
    explain_describe_nearest(nearest, sizeof nearest, e);
    if (*search) text_add(text, SENTENCE_MAX, "; %s", search);
    if (*nearest) text_add(text, SENTENCE_MAX, "; the nearest gives %s", nearest);
}

/* If nothing of D was compared: the nearest hypothesis so far. */
static void describe_interrupted_search(char *text, const struct explanation *e)
{
    const struct verdict *v = &e->best;
    text_add(text, SENTENCE_MAX, "Interrupted after %zu hypothes%s", e->answer.tried,
             e->answer.tried == 1 ? "is" : "es");
    if (!v->matched) return;
    text_add(text, SENTENCE_MAX,
             "; the nearest gives %zu of %zu outputs of a sample: ", v->matched,
             v->sampled);
    name_hypothesis(text, e);
}

static void describe_interrupted(char *text, const struct explanation *e)
{
    const size_t n = problem_n(&e->q);
    text_add(text, SENTENCE_MAX, "; interrupted when %zu of %zu rows were compared",
             e->answer.compared / n, e->answer.total / n);
}

/* Whether all of D holds what it holds if nothing was written. */
static bool says_nothing(const struct explanation *e)
{
    const struct ladder_report *const l = &e->ladder;
    return l->findings && !e->no_product && !strcmp(l->finding[0].name, "not written") &&
           l->finding[0].outputs == e->answer.total;
}

bool explain_says_findings(const struct explanation *e)
{
    return e->ladder.findings &&
           (!e->answer.found || e->of_rest || says_nothing(e) || e->ladder.unwritten);
}

/* What all outputs hold. */
static void describe_no_product(char *text, const struct explanation *e)
{
    const struct box *const all = &e->part[0];
    text_add(text, SENTENCE_MAX, "D is not the product of A and B: %s%s",
             *all->holds ? "its outputs " : "", *all->holds ? all->holds : all->what);
}

/* The findings come before a hypothesis that follows from them, or that gives what D
   holds if nothing was written; and after another one. */
static void describe_found(char *text, const struct explanation *e)
{
    const bool first = e->of_rest || says_nothing(e);
    char findings[SENTENCE_MAX] = "";
    ladder_describe(findings, sizeof findings, &e->ladder);
    if (first)
        text_add(text, SENTENCE_MAX, "%s; %s", findings, e->of_rest ? "then " : "");
    if (e->no_product) describe_no_product(text, e);
    else {
        text_add(text, SENTENCE_MAX, "D is ");
        if (hides_unit(e))
            text_add(text, SENTENCE_MAX,
                     "the exact result, rounded to %s (%zu of %zu outputs examined), as "
                     "accurate units of any architecture give",
                     e->q.format->name, e->ladder.within[0], e->ladder.rounded);
        else name_hypothesis(text, e);
        describe_parts(text, e);
    }
    if (!first && e->ladder.unwritten) text_add(text, SENTENCE_MAX, "; %s", findings);
}

/* The GEMMs that it gives, the GEMMs that it does not give, and what computed one of
   these. */
static void describe_some(char *text, const struct explanation *e)
{
    if (e->answer.explained) {
        text_add(text, SENTENCE_MAX, "D of %s is ", e->given);
        name_hypothesis(text, e);
        describe_parts(text, e);
        describe_reading(text, &e->q);
        text_add(text, SENTENCE_MAX, ": %zu of %zu %ss; D of %s is not",
                 e->answer.explained, e->answer.gemms, explain_noun(&e->q), e->others);
    } else {
        text_add(text, SENTENCE_MAX,
                 "No hypothesis gives D of a whole %s, of %zu tried%s; the nearest of "
                 "%s %zu is ",
                 explain_noun(&e->q), e->answer.tried, limit_of(e), explain_noun(&e->q),
                 e->searched);
        name_hypothesis(text, e);
    }
    if (*e->other)
        text_add(text, SENTENCE_MAX, ". %s %zu: %s",
                 e->q.of_groups || e->q.of_k ? "Group" : "GEMM", e->other_gemm, e->other);
}

/* Lines have what was tried, what else gives the same, and what is nearest. */
void explain_describe_verdict(char *text, size_t size, const void *answer)
{
    const struct explanation *const e = answer;
    char all[SENTENCE_MAX] = "";
    if (is_of_some(e)) {
        describe_some(all, e);
        text_add(text, size, "%s", all);
        return;
    }
    if (e->of_integers) text_add(all, sizeof all, "%s", e->answer.text);
    else if (e->interrupted && !e->answer.compared) describe_interrupted_search(all, e);
    else if (e->answer.found) describe_found(all, e);
    else describe_none(all, e);
    if (!e->of_integers) describe_reading(all, &e->q);
    if (e->answer.found && !e->of_integers && !e->no_product) describe_counts(all, e);
    if (e->interrupted && e->answer.compared && !e->of_integers)
        describe_interrupted(all, e);
    text_add(text, size, "%s", all);
}

void explain_describe(char text[SENTENCE_MAX], const struct explanation *e)
{
    text[0] = 0;
    if (is_of_some(e)) {
        describe_some(text, e);
        return;
    }
    if (e->interrupted && !e->answer.compared) describe_interrupted_search(text, e);
    else if (e->answer.found) describe_found(text, e);
    else describe_nearest(text, e);
    describe_reading(text, &e->q);
    if (*e->operands) text_add(text, SENTENCE_MAX, "; %s", e->operands);
    if (e->answer.found && !e->no_product) describe_counts(text, e);
    if (e->answer.found) describe_tried(text, e);
    if (e->interrupted && e->answer.compared) describe_interrupted(text, e);
}
