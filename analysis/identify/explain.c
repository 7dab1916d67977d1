/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/explain.h"

#include "analysis/identify/integers.h"
#include "analysis/identify/operand_sentence.h"
#include "analysis/identify/quick_check.h"
#include "analysis/identify/search_problem.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- additional searches ----------------------------------------------------------- */

/* Whether a fault of a kernel brings the exact product nearer to D: then the search can
   name the finding. */
static enum bitcut_status has_fault(bool *has, struct explanation *e,
                                    const struct explain_options *o, struct fault *f)
{
    struct block screen;
    struct space s;
    enum bitcut_status status = search_screen(&screen, &e->ladder, &e->q, o->seed, f);
    if (status != BITCUT_OK) return status;
    status = explain_space_make(&s, &screen, f);
    if (status == BITCUT_OK) {
        *has = s.suggestions;
        explain_space_clear(&s);
    }
    block_clear(&screen);
    return status;
}

/* Options for a search beside the one that was asked for: a small part of its effort. */
static struct explain_options few_of(const struct explain_options *o)
{
    enum { PART = 16 };
    struct explain_options few = *o;
    few.effort = (o->effort > 0 ? o->effort : 1) / PART;
    few.like = NULL;
    few.no_diagnosis = true;
    return few;
}

/* Search for what remains if alpha is the number that the ladder found.  *found: whether
   a hypothesis without a fault gives D; otherwise *e is as before the search, except for
   the number of hypotheses tried. */
static enum bitcut_status confirm_alpha(bool *found, struct explanation *e,
                                        const struct explain_options *o, struct fault *f)
{
    const struct problem given = e->q;
    const struct explain_options few = few_of(o);
    const bool is_final = e->ladder.is_final;
    e->q = ladder_rest(&e->ladder, &given);
    e->of_rest = true;
    e->ladder.is_final = false;
    const enum bitcut_status status = search_problem(e, &few, f);
    *found = status == BITCUT_OK && e->answer.found && !e->best.h.at[AXIS_FAULT];
    if (status != BITCUT_OK || *found) return status;
    const struct ladder_report ladder = e->ladder;
    const size_t tried = e->answer.tried;
    explain_space_clear(&e->space);
    memset(e, 0, sizeof *e);
    e->q = given;
    e->ladder = ladder;
    e->ladder.is_final = is_final;
    e->ladder.has_rest = false;
    e->answer.tried = tried;
    return BITCUT_OK;
}

/* Search for what the findings of the ladder leave. */
static enum bitcut_status search_rest(struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    const struct problem given = e->q;
    bool has = false;
    enum bitcut_status status = BITCUT_OK;
    if (e->ladder.has_rest || e->ladder.is_final) {
        status = has_fault(&has, e, o, f);
        has &= !e->ladder.has_zero; /* these are certain */
        e->ladder.is_final &= !has;
        e->of_rest = e->ladder.has_rest && !has;
        if (e->of_rest) e->q = ladder_rest(&e->ladder, &given);
    }
    return status == BITCUT_OK ? search_problem(e, o, f) : status;
}

/* Climb the ladder, and search for what remains. */
static enum bitcut_status
climb_and_search(struct explanation *e, const struct explain_options *o, struct fault *f)
{
    const struct problem given = e->q;
    bool found = false;
    enum bitcut_status status = ladder_report_make(&e->ladder, &e->q, o->seed, f);
    if (status == BITCUT_OK && e->ladder.is_guess)
        status = confirm_alpha(&found, e, o, f);
    if (status == BITCUT_OK && !found) status = search_rest(e, o, f);
    e->q = given;
    return status;
}

/* Whether GEMMs run on the only unit, if there is one: each part of a recipe must be an
   operand of the unit. */
static enum bitcut_status check_unit(const struct problem *q, struct fault *f)
{
    struct gemm_plan plan;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.unit = q->unit;
    return q->unit ? gemm_plan_on_values(&plan, &g, f) : BITCUT_OK;
}

/* Convert boxes in rows and columns of the block to boxes of the whole result.
   Descriptions of positions within the block are dropped. */
static void place_parts(struct explanation *e, const struct block *part)
{
    for (size_t i = 0; i < e->parts && i < PARTS_MAX; i++) {
        struct box *b = &e->part[i];
        b->row_end = part->row[b->row_end - 1] + 1;
        b->row = part->row[b->row];
        b->col_end = part->col[b->col_end - 1] + 1;
        b->col = part->col[b->col];
        b->where[0] = 0;
        if (b->fault && !strcmp(b->fault, "moved"))
            box_set_contents(b, b->fault, "hold results of other positions");
    }
    if (e->diagnosis.outside)
        snprintf(e->diagnosis.place, sizeof e->diagnosis.place, "in some places");
}

static bool same_term(struct recipe_term x, struct recipe_term y)
{
    return x.a == y.a && x.b == y.b && x.accumulator == y.accumulator &&
           x.scaled == y.scaled;
}

bool explain_says_all(const struct verdict *v)
{
    struct gemm_plan plan;
    if (!v->sampled || v->h.at[AXIS_FAULT] ||
        gemm_plan_on_values(&plan, &v->x.gemm, NULL) != BITCUT_OK)
        return false;
    bool same = plan.terms == v->x.plan.terms;
    for (int t = 0; t < plan.terms && same; t++)
        same = same_term(plan.term[t], v->x.plan.term[t]);
    return same;
}

/* Whether the ladder says what D is, and the nearest hypothesis gives less than half of
   the outputs that were written. */
static bool is_explained_by_ladder(const struct explanation *e)
{
    const struct bitcut_explanation *const a = &e->answer;
    const size_t unwritten = smaller(e->ladder.unwritten, a->differ);
    return e->ladder.findings && !a->found && !e->interrupted &&
           (a->differ - unwritten) * 2 >= a->compared - unwritten;
}

/* Whether the GEMM of the hypothesis reads the caller's A and B: in their places, and
   less their zero points on a unit of integers alone. */
static bool reads_as_given(const struct explanation *e)
{
    const struct ladder_report *const l = &e->ladder;
    bool same =
        format_is_integer(e->best.x.unit.c) || (!e->space.zero[0] && !e->space.zero[1]);
    for (int side = 0; side < 2 && e->of_rest; side++)
        same &= !l->gathered[side] || l->has_zero;
    return same;
}

/* The answer for callers, once everything else is known. */
static void conclude(struct explanation *e)
{
    struct bitcut_explanation *const a = &e->answer;
    if (is_explained_by_ladder(e)) search_drop_nearest(e);
    a->size = sizeof *a;
    a->runs =
        a->compared && !a->differ && explain_says_all(&e->best) && reads_as_given(e);
    a->gemms = 1;
    a->explained = a->found;
    a->gemm = a->found;
    const bool correct =
        !a->found && diagnosis_is_correct(&e->diagnosis) && !e->diagnosis.of_rest;
    a->fault = explain_names_nearest(e) && !correct ? explain_fault(e) : NULL;
    if (!a->fault && e->diagnosis.faults) a->fault = e->diagnosis.fault[0].name;
    a->findings = e->ladder.findings;
    memcpy(a->finding, e->ladder.finding, sizeof a->finding);
    a->rounded = e->ladder.rounded;
    memcpy(a->within, e->ladder.within, sizeof a->within);
    a->matched = e->best.matched;
    a->sampled = e->best.sampled;
    operands_describe(e->operands, sizeof e->operands, e);
    explain_describe(a->text, e);
}

static void conclude_diagnosis(struct explanation *e)
{
    if (e->answer.found) e->diagnosis.level = DIAGNOSIS_IDENTICAL;
    e->answer.diagnosis = diagnosis_levels[e->diagnosis.level].name;
    e->answer.before = e->diagnosis.before;
    e->answer.after = e->diagnosis.after;
}

/* Whether the nearest hypothesis gives nearly all of D, which has enough bits to show it.
 */
static bool is_nearly_found(const struct explanation *e)
{
    enum { PART = 8 };
    return e->answer.compared && !problem_is_short(&e->q) &&
           PART * e->answer.differ <= e->answer.compared;
}

/* If nothing is found with what was said of the computation: whether D is found without a
   part of it. */
static enum bitcut_status doubt_hints(struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    struct explanation *const x = malloc(sizeof *x);
    const struct explain_options few = few_of(o);
    enum bitcut_status status = BITCUT_OK;
    if (!x) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (unsigned some = 0; status == BITCUT_OK && !*e->better &&
                            !progress_stopped(o->progress) &&
                            (some = told_hints_next(e->hints, some));) {
        memset(x, 0, sizeof *x);
        x->q = e->q;
        told_hints_drop(&x->q, some);
        status = climb_and_search(x, &few, f);
        if (status == BITCUT_OK && x->answer.found && !x->no_product &&
            !x->best.h.at[AXIS_FAULT])
            told_hints_describe(e->better, sizeof e->better, some, &x->best.x.gemm);
        e->answer.tried += x->answer.tried;
        explain_clear(x);
    }
    free(x);
    return status;
}

/* Explain D of matrices of FP32 values. */
static enum bitcut_status
search_matrices(struct explanation *x, const struct explain_options *o, struct fault *f)
{
    enum bitcut_status status = check_unit(&x->q, f);
    if (status == BITCUT_OK) status = quick_check_read(&x->q, o->seed, f);
    if (status == BITCUT_OK && (!problem_m(&x->q) || !problem_n(&x->q)))
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "D is empty");
    if (status == BITCUT_OK && !problem_k(&x->q))
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "A and B have no products: k is 0");
    if (status == BITCUT_OK) status = climb_and_search(x, o, f);
    if (status != BITCUT_OK || x->answer.found || x->q.of_batch || o->part ||
        is_nearly_found(x))
        return status;
    x->hints = told_hints(&x->q);
    return doubt_hints(x, o, f);
}

/* The same, after a search for changed products of integers, if all values are some. */
static enum bitcut_status explain_values(struct explanation *x, const struct problem *q,
                                         const struct explain_options *o, struct fault *f)
{
    struct integer_problem integers = { .as_given = false };
    enum bitcut_status status = BITCUT_OK;
    if (!q->recipe && !q->unit && !q->chip && !q->of_batch && !problem_is_told(q))
        status = integers_of_values(&integers, q, f);
    if (integers.d.at) status = explain_integers(x, &integers, o, f);
    if (status == BITCUT_OK && !integers_are_changed(x)) {
        *x = (struct explanation){ .of_integers = false };
        x->q = *q;
    }
    integer_problem_clear(&integers);
    if (status == BITCUT_NO_MEMORY || x->of_integers) return status;
    return search_matrices(x, o, f);
}

enum bitcut_status explain_run(struct explanation *e, const struct problem *q,
                               const struct explain_options *o, struct fault *f)
{
    struct explanation *const x =
        calloc(1, sizeof *x); /* too large for a thread's stack */
    const double start = seconds_now();
    if (!x) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    x->q = *q;
    enum bitcut_status status =
        !q->integers         ? explain_values(x, q, o, f)
        : problem_is_told(q) ? fault_set(f, BITCUT_BAD_ARGUMENT,
                                         "products of integers are explained without a "
                                         "bias, factors, a start or steps of an epilogue")
                             : explain_integers(x, q->integers, o, f);
    x->interrupted = progress_stopped(o->progress);
    x->seconds = seconds_now() - start;
    if (status == BITCUT_OK) {
        if (o->part) place_parts(x, o->part);
        if (!x->of_integers) conclude(x);
        conclude_diagnosis(x);
        *e = *x;
    } else explain_clear(x);
    free(x);
    return status;
}

void explain_clear(struct explanation *e)
{
    explain_space_clear(&e->space);
    ladder_report_clear(&e->ladder);
}
