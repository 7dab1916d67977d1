/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/search_problem.h"

#include "analysis/identify/chance_agreement.h"
#include "analysis/identify/distinguishing_output.h"
#include "analysis/identify/find.h"
#include "analysis/identify/order_class.h"
#include "analysis/identify/quick_check.h"
#include "analysis/identify/region.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

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

/* --- after the search ------------------------------------------------------------- */

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

void search_drop_nearest(struct explanation *e)
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
    const bool fault = all.level == DIAGNOSIS_FAULT, right = diagnosis_is_correct(&all) &&
                                                             e->diagnosis.of_rest &&
                                                             agrees_by_chance(e, &all);
    if (status != BITCUT_OK || !(fault || right)) return status;
    if (e->ladder.has_map && all.outside) return status; /* the map says more */
    e->diagnosis = all;
    if (fault) e->ladder.findings = 0;
    if (fault) e->ladder.is_final = false;
    search_drop_nearest(e);
    return status;
}

static bool is_unexplained(const struct explanation *e)
{
    return e->diagnosis.of_rest && e->diagnosis.level == DIAGNOSIS_UNEXPLAINED;
}

/* Whether the nearest hypothesis has a fault, and the outputs that it does not give
   differ from it as those of another order do: then D may be a correct result, too. */
static bool may_be_correct(const struct explanation *e)
{
    return !e->answer.found && e->diagnosis.of_rest &&
           diagnosis_is_correct(&e->diagnosis) && explain_fault(e);
}

/* All of D is a correct result in another order, which is likelier than a fault. */
static enum bitcut_status clear_fault(struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    struct diagnosis all;
    const enum bitcut_status status =
        diagnosis_find(&all, &e->q, o->seed, o->progress, f);
    if (status == BITCUT_OK && diagnosis_is_correct(&all)) e->diagnosis = all;
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
    if (!e->answer.found && e->answer.by_chance > 1) search_drop_nearest(e);
    if (o->no_diagnosis && !e->answer.found) return status;
    if (status == BITCUT_OK && !e->answer.found && !e->ladder.findings && !e->parts &&
        !progress_stopped(o->progress))
        status = diagnosis_find(&e->diagnosis, &e->q, o->seed, o->progress, f);
    else if (status == BITCUT_OK && (is_unexplained(e) || has_weak_findings(e)))
        status = diagnose_all(e, o, f);
    else if (status == BITCUT_OK && may_be_correct(e)) status = clear_fault(e, o, f);
    return status;
}

enum bitcut_status search_screen(struct block *to, const struct ladder_report *l,
                                 const struct problem *q, uint64_t seed, struct fault *f)
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

enum bitcut_status search_problem(struct explanation *e, const struct explain_options *o,
                                  struct fault *f)
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
    enum bitcut_status status = search_screen(&screen, l, &e->q, o->seed, f);
    if (status != BITCUT_OK) return status;
    status = ladder_take(&sample, l, &e->q, smaller(rows, m),
                         smaller(o->samples / rows, n), o->seed, STREAM_SAMPLE, f);
    if (status == BITCUT_OK) status = search_blocks(e, &screen, &sample, o, f);
    block_clear(&screen);
    block_clear(&sample);
    return status;
}
