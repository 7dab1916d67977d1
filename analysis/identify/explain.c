/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/explain.h"

#include "analysis/identify/chance_agreement.h"
#include "analysis/identify/distinguishing_output.h"
#include "analysis/identify/find.h"
#include "analysis/identify/integers.h"
#include "analysis/identify/operand_sentence.h"
#include "analysis/identify/order_class.h"
#include "analysis/identify/quick_check.h"
#include "analysis/identify/region.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Among the hypotheses that the sample does not distinguish, select the one that gives
   the most of D: the best one, compared in *w, or another.  *w is then the comparison
   with the selected one. */
static enum bitcut_status choose_best(struct whole *w, struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    struct effort effort = explain_effort(o, WORK_COMPARE);
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0;
         i < e->equals && i < EQUALS_MAX && e->answer.differ && status == BITCUT_OK &&
         !effort_is_spent(&effort) && !progress_stopped(o->progress);
         i++) {
        const struct verdict before = e->best;
        struct whole other;
        e->best = e->equal[i];
        status = whole_compare(&other, e, &effort, o, f);
        const size_t differ =
            status == BITCUT_OK && other.x.m == w->x.m ? whole_differ(&other) : SIZE_MAX;
        if (differ < e->answer.differ) {
            struct whole kept = other;
            other = *w;
            *w = kept;
            e->answer.differ = differ;
            e->equal[i] = before;
        } else e->best = before;
        whole_clear(&other);
    }
    return status;
}

/* Compare the best hypothesis with as much of D as the effort allows. */
static enum bitcut_status compare_best(struct whole *w, struct explanation *e,
                                       const struct explain_options *o, struct fault *f)
{
    struct effort effort = explain_effort(o, WORK_COMPARE);
    enum bitcut_status status = whole_compare(w, e, &effort, o, f);
    e->answer.compared = w->x.m * w->x.n;
    if (status == BITCUT_OK) e->answer.differ = whole_differ(w);
    return status;
}

/* Search again on outputs that the best hypothesis does not give, and on a sample with
   them, within the effort. */
static enum bitcut_status search_again(struct explanation *e,
                                       const struct distinguishing *t,
                                       const struct block *sample, struct effort *effort,
                                       const struct explain_options *o, struct fault *f)
{
    struct block screen, more;
    enum bitcut_status status =
        distinguishing_block(&screen, t, sample, TELLING_MAX, TELLING_MAX, f);
    if (status != BITCUT_OK) return status;
    status = distinguishing_block(&more, t, sample, sample->rows, sample->cols, f);
    if (status == BITCUT_OK) {
        e->best = (struct verdict){ .sampled = 0 };
        e->equals = 0;
        status = explain_find(e, &screen, &more, &more, NULL, effort, o, f);
        block_clear(&more);
    }
    block_clear(&screen);
    return status;
}

static bool take_distinguishing(struct distinguishing *t, const struct whole *w)
{
    const struct compared x = { w->x.d, w->x.h, w->x.m, w->x.n, NULL, NULL };
    return distinguishing_take(t, &x, TELLING_MAX / 2);
}

/* Search again.  If the result gives more of D than *w does, *w and *e are set to it;
   more: it gives nearly all, and distinguishing outputs exist. */
static enum bitcut_status narrow_once(struct whole *w, struct explanation *e,
                                      struct distinguishing *t, bool *more,
                                      const struct block *sample, struct effort *effort,
                                      const struct explain_options *o, struct fault *f)
{
    struct explanation *const before = malloc(sizeof *before);
    struct whole now = { .d = NULL };
    if (!before) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    *before = *e;
    enum bitcut_status status = search_again(e, t, sample, effort, o, f);
    if (status == BITCUT_OK && e->best.sampled) status = compare_best(&now, e, o, f);
    const bool whole = status == BITCUT_OK && now.x.m == w->x.m;
    *more = whole && take_distinguishing(t, &now);
    if (whole && e->answer.differ < before->answer.differ) {
        const struct whole old = *w;
        *w = now;
        now = old;
    } else {
        before->answer.tried = e->answer.tried;
        before->answer.complete &= e->answer.complete;
        before->space = e->space; /* orders may have been added, after the others */
        *e = *before;
    }
    free(before);
    whole_clear(&now);
    return status;
}

/* If a hypothesis gives the whole sample, and all of D except a few outputs in a short
   format, the right one is another order of the same sums: search on these outputs for a
   better one. */
static enum bitcut_status narrow_down(struct whole *w, struct explanation *e,
                                      const struct block *sample, struct effort *effort,
                                      const struct explain_options *o, struct fault *f)
{
    enum { ROUNDS = 16 };
    struct distinguishing t = { .taken = 0 };
    enum bitcut_status status = BITCUT_OK;
    bool more = problem_is_short(&e->q) && take_distinguishing(&t, w);
    for (int i = 0; i < ROUNDS && more && !effort_is_spent(effort) &&
                    !progress_stopped(o->progress) && status == BITCUT_OK;
         i++)
        status = narrow_once(w, e, &t, &more, sample, effort, o, f);
    if (more) e->answer.complete = false;
    return status;
}

/* A hypothesis for a part may give all of D; then no region differs any more. */
static enum bitcut_status look_at_parts(struct explanation *e, struct whole *w,
                                        struct effort *effort,
                                        const struct explain_options *o, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    if (!e->classes.tried && w->x.m == problem_m(&e->q))
        status = order_classes_find(&e->classes, e, &e->best.h, effort, o, f);
    if (status == BITCUT_OK && e->classes.count) {
        order_classes_take_parts(e);
        return status;
    }
    if (status == BITCUT_OK) status = explain_parts(e, w, o, f);
    if (status != BITCUT_OK || e->answer.differ) return status;
    e->firsts = 0;
    return spread_find(&e->spread, &w->x, e->q.format, f);
}

/* Compare D with the best hypothesis as far as the effort allows, and examine the
   differences, unless nearly everything differs.  Hypotheses that give nearly all are
   improved within the effort of the search. */
static enum bitcut_status finish(struct explanation *e, const struct block *sample,
                                 struct effort *effort, const struct explain_options *o,
                                 struct fault *f)
{
    struct whole w;
    if (e->classes.has_main) order_classes_take_best(e, sample, o);
    enum bitcut_status status = compare_best(&w, e, o, f);
    if (status == BITCUT_OK) status = narrow_down(&w, e, sample, effort, o, f);
    if (status == BITCUT_OK) status = choose_best(&w, e, o, f);
    e->answer.found = e->answer.compared && !e->answer.differ;
    if (status == BITCUT_OK) status = spread_find(&e->spread, &w.x, e->q.format, f);
    if (status == BITCUT_OK) e->firsts = difference_first(e->first, &w.x);
    const size_t differ = e->answer.differ,
                 unwritten = smaller(e->ladder.unwritten, differ);
    if (status == BITCUT_OK && e->classes.count) order_classes_take_parts(e);
    else if (status == BITCUT_OK && differ &&
             differ - unwritten <= (e->answer.compared - unwritten) / 2)
        status = look_at_parts(e, &w, effort, o, f);
    else if (status == BITCUT_OK && differ) explain_whole(e, &w);
    whole_clear(&w);
    return status;
}

/* --- the whole -------------------------------------------------------------------- */

/* Whether all outputs are one number, or NaN: hardly a product. */
static bool is_plain(const struct block *b)
{
    bool same = b->rows * b->cols > 1, nan = same;
    for (size_t i = 0; i < b->rows * b->cols; i++) {
        same &= b->d[i] == b->d[0];
        nan &= f32_is_nan(b->d[i]);
    }
    return same || nan;
}

/* Forget the nearest hypothesis. */
static void drop_nearest(struct explanation *e)
{
    e->best = (struct verdict){ .sampled = 0 };
    e->spread = (struct spread){ .row_period = 0 };
    e->equals = e->parts = e->firsts = 0;
    e->answer.compared = e->answer.differ = 0;
    for (size_t i = 0; i < RECIPES_MAX; i++) e->distance[i] = INFINITY;
}

/* Whether D and the nearest hypothesis agree on no more outputs than two correct orders
   of k, as in a short format.  Then the hypothesis is not the kernel. */
static bool agrees_by_chance(const struct explanation *e, const struct diagnosis *all)
{
    return e->answer.compared && (double)(e->answer.compared - e->answer.differ) <
                                     all->agreeing * (double)e->answer.compared;
}

/* A fault may explain all of D, if the outputs that the nearest hypothesis does not give
   are unexplained, as if a short format hides the fault in most outputs; or if the
   findings of the ladder, which are nearer than D without them, do not give it.  Or all
   of D is near the exact result, and only the hypothesis is far from it. */
static enum bitcut_status diagnose_all(struct explanation *e,
                                       const struct explain_options *o, struct fault *f)
{
    struct diagnosis all;
    const enum bitcut_status status =
        diagnosis_find(&all, &e->q, o->seed, o->progress, f);
    const bool fault = all.level == DIAGNOSIS_FAULT,
               right =
                   (all.level == DIAGNOSIS_ROUNDING || all.level == DIAGNOSIS_OPERANDS) &&
                   e->diagnosis.of_rest && agrees_by_chance(e, &all);
    if (status != BITCUT_OK || !(fault || right)) return status;
    if (e->ladder.has_map && all.outside) return status; /* the map says more */
    e->diagnosis = all;
    if (fault) e->ladder.findings = 0;
    if (fault) e->ladder.is_final = false;
    drop_nearest(e);
    return status;
}

static bool is_unexplained(const struct explanation *e)
{
    return e->diagnosis.of_rest && e->diagnosis.level == DIAGNOSIS_UNEXPLAINED;
}

static bool is_correct(const struct diagnosis *d)
{
    return d->level == DIAGNOSIS_ROUNDING || d->level == DIAGNOSIS_OPERANDS;
}

/* Whether the nearest hypothesis has a fault, and the outputs that it does not give
   differ from it as those of another order do: then D may be a correct result, too. */
static bool may_be_correct(const struct explanation *e)
{
    return !e->answer.found && e->diagnosis.of_rest && is_correct(&e->diagnosis) &&
           explain_fault(e);
}

/* All of D is a correct result in another order, which is likelier than a fault. */
static enum bitcut_status clear_fault(struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    struct diagnosis all;
    const enum bitcut_status status =
        diagnosis_find(&all, &e->q, o->seed, o->progress, f);
    if (status == BITCUT_OK && is_correct(&all)) e->diagnosis = all;
    return status;
}

/* Whether there are findings, but not of outputs that hold no results, and no hypothesis
   gives the rest. */
static bool has_weak_findings(const struct explanation *e)
{
    return e->ladder.findings && !e->answer.found && !e->of_rest && !e->parts &&
           !e->ladder.unwritten && !e->ladder.clipped;
}

static enum bitcut_status search_blocks(struct explanation *e, const struct block *screen,
                                        const struct block *sample,
                                        const struct explain_options *o, struct fault *f)
{
    struct effort effort = explain_effort(o, WORK_SEARCH);
    e->error = quick_check_error(screen, e->q.alpha, e->q.beta);
    enum bitcut_status status = explain_space_make(&e->space, screen, f);
    if (status == BITCUT_OK && o->like) status = explain_find_like(e, sample, o, f);
    if (e->ladder.is_final) e->answer.complete = true;
    if (status == BITCUT_OK && !e->answer.complete)
        status = explain_find(e, screen, sample, sample, NULL,
                              is_plain(sample) ? NULL : &effort, o, f);
    e->late = effort_is_late(&effort);
    if (status == BITCUT_OK && e->best.sampled) status = finish(e, sample, &effort, o, f);
    if (status == BITCUT_OK) status = explain_count_chance(e, sample, o->seed, f);
    if (status == BITCUT_OK) status = explain_space_status(&e->space, f);
    if (!e->answer.found && e->answer.by_chance > 1) drop_nearest(e);
    if (o->no_diagnosis && !e->answer.found) return status;
    if (status == BITCUT_OK && !e->answer.found && !e->ladder.findings && !e->parts &&
        !progress_stopped(o->progress))
        status = diagnosis_find(&e->diagnosis, &e->q, o->seed, o->progress, f);
    else if (status == BITCUT_OK && (is_unexplained(e) || has_weak_findings(e)))
        status = diagnose_all(e, o, f);
    else if (status == BITCUT_OK && may_be_correct(e)) status = clear_fault(e, o, f);
    return status;
}

/* The outputs on which hypotheses are tried; for results in short formats distinguishing
   ones. */
static enum bitcut_status take_screen(struct block *to, const struct ladder_report *l,
                                      const struct problem *q, uint64_t seed,
                                      struct fault *f)
{
    enum { WIDE = 512, ROWS_MAX = 4 };
    const bool is_short = problem_is_short(q);
    const size_t wanted = smaller(screen_cols(q), ROWS_MAX * SCREEN_COLS);
    size_t col[ROWS_MAX * SCREEN_COLS];
    struct block wide;
    enum bitcut_status status =
        ladder_take(is_short ? &wide : to, l, q, screen_rows(q), is_short ? WIDE : wanted,
                    seed, STREAM_SCREEN, f);
    if (status != BITCUT_OK || !is_short) return status;
    const size_t cols =
        quick_check_ties(col, wanted, &wide, q->format, q->alpha, q->beta);
    for (size_t j = 0; j < cols; j++) col[j] = wide.col[col[j]];
    status =
        cols ? block_take(to, q, wide.row, wide.rows, col, cols, f)
             : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for outputs near ties");
    block_clear(&wide);
    return status;
}

static enum bitcut_status search_problem(struct explanation *e,
                                         const struct explain_options *o, struct fault *f)
{
    const struct ladder_report *const l = &e->ladder;
    const size_t m = l->rows.at ? l->rows.count : problem_m(&e->q),
                 n = l->cols.at ? l->cols.count : problem_n(&e->q),
                 side = (size_t)sqrt((double)o->samples),
                 rows = m < side   ? m
                        : n < side ? o->samples / n
                                   : side;
    struct block screen, sample = { 0 };
    e->answer.total = problem_m(&e->q) * problem_n(&e->q);
    enum bitcut_status status = take_screen(&screen, l, &e->q, o->seed, f);
    if (status != BITCUT_OK) return status;
    status = ladder_take(&sample, l, &e->q, smaller(rows, m),
                         smaller(o->samples / rows, n), o->seed, STREAM_SAMPLE, f);
    if (status == BITCUT_OK) status = search_blocks(e, &screen, &sample, o, f);
    block_clear(&screen);
    block_clear(&sample);
    return status;
}

/* Whether a fault of a kernel brings the exact product nearer to D: then the search can
   name the finding. */
static enum bitcut_status has_fault(bool *has, struct explanation *e,
                                    const struct explain_options *o, struct fault *f)
{
    struct block screen;
    struct space s;
    enum bitcut_status status = take_screen(&screen, &e->ladder, &e->q, o->seed, f);
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
    if (is_explained_by_ladder(e)) drop_nearest(e);
    a->size = sizeof *a;
    a->runs =
        a->compared && !a->differ && explain_says_all(&e->best) && reads_as_given(e);
    a->gemms = 1;
    a->explained = a->found;
    a->gemm = a->found;
    const bool correct = !a->found && is_correct(&e->diagnosis) && !e->diagnosis.of_rest;
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
    return e->answer.compared && !problem_is_short(&e->q) && PART * e->answer.differ <= e->answer.compared;
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
    struct integer_problem integers = integers_of_values(q);
    enum bitcut_status status = BITCUT_UNSUPPORTED;
    if (integers.d.at && !q->recipe && !q->unit && !q->chip && !q->of_batch &&
        !problem_is_told(q))
        status = explain_integers(x, &integers, o, f);
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
