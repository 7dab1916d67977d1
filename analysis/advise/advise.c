/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/advise/advise.h"

#include "analysis/advise/cost.h"
#include "analysis/error/bound.h"
#include "analysis/error/gemm_data.h"
#include "lib/equilibrate.h"
#include "lib/hostfp.h"
#include "lib/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRODUCTS = 1 << 20, /* of A and B in the first sample, ... */
    CHECKS = 4,         /* ... and times as many in the second */
    EXPONENT_BITS = 8   /* of FP32: words with as many have its range */
};

size_t advise_places(const char *place[ADVISE_PLACES_MOST])
{
    size_t count = 0;
    for (const struct chip *c = chips; c->name && count < ADVISE_PLACES_MOST; c++) {
        bool first = true;
        for (const struct chip *other = chips; other < c; other++)
            first &= strcmp(other->architecture, c->architecture) != 0;
        if (first) place[count++] = c->name;
    }
    return count;
}

/* --- samples ---------------------------------------------------------------------- */

static enum bitcut_status draw(struct weighed *to, const struct advise_question *q,
                               int times, uint64_t seed, int threads,
                               const struct progress *progress, struct fault *f)
{
    size_t rows, cols;
    gemm_data_block(&rows, &cols, q->a->rows, q->b->cols, q->a->cols,
                    (double)PRODUCTS * times);
    if (times > 1 && rows * cols < GEMM_DATA_OUTPUTS_LEAST * (size_t)times) {
        rows *= 2;
        cols *= 2;
    }
    return weighed_draw(to, q->a, q->b, rows, cols, q->metric->even, seed, threads,
                        progress, f);
}

static uint32_t largest_of(const struct matrix *x)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < x->rows * x->cols; i++)
        largest = equilibrate_larger(largest, x->at[i]);
    return largest;
}

enum bitcut_status advise_samples_draw(struct advise_samples *to,
                                       const struct advise_question *q, int threads,
                                       const struct progress *progress, struct fault *f)
{
    struct advise_samples s = { .metric = q->metric,
                                .largest = { largest_of(q->a), largest_of(q->b) },
                                .outputs = (double)q->a->rows * (double)q->b->cols };
    enum bitcut_status status = draw(&s.first, q, 1, q->seed, threads, progress, f);
    if (status != BITCUT_OK) return status;
    status = draw(&s.second, q, CHECKS, q->seed + 1, threads, progress, f);
    if (status == BITCUT_OK) {
        const size_t first = s.first.a.rows * s.first.b.cols,
                     second = s.second.a.rows * s.second.b.cols;
        s.d = memory_allocate(first > second ? first : second, sizeof *s.d);
        if (!s.d) status = fault_set(f, BITCUT_NO_MEMORY, "out of memory for results");
    }
    if (status == BITCUT_OK) *to = s;
    else advise_samples_clear(&s);
    return status;
}

void advise_samples_clear(struct advise_samples *s)
{
    weighed_clear(&s->first);
    weighed_clear(&s->second);
    free(s->d);
    *s = (struct advise_samples){ .d = NULL };
}

/* --- one trial -------------------------------------------------------------------- */

/* Whether no word overflows, of whatever lines are not in the sample. */
static bool words_fit(const struct advise_trial *t, const struct advise_samples *s)
{
    return gemm_equilibrates(&t->gemm) ||
           (equilibrate_spares(&t->plan.split_a, s->largest[0]) &&
            equilibrate_spares(&t->plan.split_b, s->largest[1]));
}

static enum bitcut_status run(struct weighed_error *to, const struct advise_trial *t,
                              const struct advise_samples *s, const struct weighed *w,
                              int threads, const struct progress *progress,
                              struct fault *f)
{
    const struct gemm_options options = { .threads = threads, .progress = progress };
    struct bitcut_gemm g = t->gemm;
    struct hostfp mode;
    gemm_set_dense(&g, s->d, w->a.rows, w->b.cols, w->a.cols, w->a.at, w->b.at, NULL);
    const enum bitcut_status status = gemm_run(&g, &options, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    *to = s->metric->find(w, s->d, s->outputs);
    hostfp_leave(&mode);
    if (!words_fit(t, s)) to->value = to->high = (double)INFINITY;
    return BITCUT_OK;
}

enum bitcut_status advise_try(struct advise_trial *t, const struct advise_samples *s,
                              size_t count, int threads, const struct progress *progress,
                              struct fault *f)
{
    t->checked = t->bound = (double)NAN;
    t->error = (struct weighed_error){ 0, 0 };
    for (size_t i = 0; i < count; i++) {
        struct weighed_error one;
        const enum bitcut_status status =
            run(&one, t, &s[i], &s[i].first, threads, progress, f);
        if (status != BITCUT_OK) return status;
        t->error.value = larger_double(t->error.value, one.value);
        t->error.high = larger_double(t->error.high, one.high);
    }
    return BITCUT_OK;
}

/* What it errs by at most for certain, into *to; NaN: nothing is. */
static enum bitcut_status find_bound(double *to, const struct advise_trial *t,
                                     const struct weighed_metric *metric,
                                     const struct weighed *w, int threads,
                                     const struct progress *progress, struct fault *f)
{
    const struct bound_row *const row = &bounds[BOUND_ALIGNED];
    const struct comparison *const x = &w->judge.comparison;
    struct bound_problem problem;
    char why[BOUND_WHY_MOST];
    *to = (double)NAN;
    enum bitcut_status status =
        bound_problem_make(&problem, &t->gemm, &t->plan, x, true, f);
    if (status != BITCUT_OK || !row->applies(why, &problem)) return status;
    double *const limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "out of memory for limits");
    status = bound_limits(limit, row, &problem, threads, progress, f);
    if (status == BITCUT_OK) {
        struct hostfp mode;
        hostfp_enter(&mode);
        *to = metric->limit(w, limit);
        hostfp_leave(&mode);
    }
    free(limit);
    return status;
}

/* Of one product, as far as those before have set it. */
static enum bitcut_status check(struct advise_trial *t, const struct advise_samples *s,
                                int threads, const struct progress *progress,
                                struct fault *f)
{
    struct weighed_error second;
    double bound;
    enum bitcut_status status = run(&second, t, s, &s->second, threads, progress, f);
    if (status != BITCUT_OK) return status;
    status = find_bound(&bound, t, s->metric, &s->second, threads, progress, f);
    t->checked = larger_double(t->checked, second.value);
    t->error.high = larger_double(t->error.high, second.value);
    t->bound = isnan(bound) ? bound : larger_double(t->bound, bound);
    return status;
}

enum bitcut_status advise_check(struct advise_trial *t, const struct advise_samples *s,
                                size_t count, int threads,
                                const struct progress *progress, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    t->checked = t->bound = 0;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        status = check(t, &s[i], threads, progress, f);
    return status;
}

/* --- what can be tried ------------------------------------------------------------ */

/* How a recipe's row is varied on words whose exponents are short. */
static const struct {
    int scale; /* BITCUT_UNSET: that of the row */
    bool equilibrate;
} variations[] = { { BITCUT_UNSET, false }, { 10, false }, { 11, false },
                   { BITCUT_UNSET, true },  { 10, true },  { 11, true } };

enum { VARIATIONS = sizeof variations / sizeof variations[0], RECIPES_MOST = 64 };

/* Trials at one place. */
struct list {
    struct advise_trial *at;
    size_t count, room;
};

/* Whether a variation says something of its own. */
static bool differs(const struct bitcut_split *s, const struct bitcut_format *words,
                    int v)
{
    const bool scaled = s && s->words > 1 && s->scale > 0;
    if (v == 0) return true;
    if (words->exponent_bits >= EXPONENT_BITS) return false;
    return variations[v].scale == BITCUT_UNSET ||
           (scaled && variations[v].scale != s->scale);
}

static void add(struct list *l, const struct advise_question *q, size_t place,
                const struct bitcut_recipe *r, const struct bitcut_format *words)
{
    const struct bitcut_unit *u = unit_find(q->place[place], words);
    if (!u || (!r->split && (u->a != words || words == &formats[FORMAT_F32]))) return;
    for (int v = 0; v < VARIATIONS && l->count < l->room; v++) {
        struct advise_trial *const t = &l->at[l->count];
        *t = (struct advise_trial){ .place = place, .gemm = gemm_of(r, u) };
        t->gemm.scale = variations[v].scale;
        t->gemm.equilibrate = variations[v].equilibrate;
        if (!differs(r->split, words, v) ||
            gemm_equilibrates(&t->gemm) != variations[v].equilibrate ||
            gemm_plan_on_unit(&t->plan, &t->gemm, NULL) != BITCUT_OK)
            continue;
        t->cost = plan_cost(&t->plan, q->place[place]);
        t->tflops = plan_tflops(&t->plan, q->place[place]);
        l->count++;
    }
}

/* Those of fewer products first, then those without equilibration, then as they are. */
static int compare(const void *x, const void *y)
{
    const struct advise_trial *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    if (a->gemm.equilibrate != b->gemm.equilibrate) return a->gemm.equilibrate ? 1 : -1;
    if (a->gemm.recipe != b->gemm.recipe) return a->gemm.recipe < b->gemm.recipe ? -1 : 1;
    return a->gemm.scale < b->gemm.scale ? -1 : a->gemm.scale > b->gemm.scale;
}

static void fill(struct list *l, const struct advise_question *q, size_t place)
{
    l->count = 0;
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        if (q->recipe && r != q->recipe) continue;
        if (r->split) add(l, q, place, r, r->split->word[0].format);
        for (const struct bitcut_format *f = formats; !r->split && f->name; f++)
            add(l, q, place, r, f);
    }
    qsort(l->at, l->count, sizeof *l->at, compare);
}

/* --- the search ------------------------------------------------------------------- */

/* All that a search shares. */
struct search {
    struct advise *to;
    const struct advise_question *q;
    const struct advise_samples *s;
    size_t count; /* of these */
    int threads;
    const struct progress *progress;
    struct fault *f;
};

static bool errs_less(const struct advise_trial *x, const struct advise_trial *y)
{
    return x->error.value < y->error.value;
}

/* Check what seems to reach it, the best first, until one does. */
static enum bitcut_status check_some(const struct search *x, size_t from,
                                     ptrdiff_t *found)
{
    struct advise *const to = x->to;
    *found = ADVISE_NONE;
    for (;;) {
        ptrdiff_t next = ADVISE_NONE;
        for (size_t i = from; i < to->trials; i++) {
            const struct advise_trial *const t = &to->trial[i];
            if (t->error.high <= x->q->want && isnan(t->checked) &&
                (next == ADVISE_NONE || errs_less(t, &to->trial[next])))
                next = (ptrdiff_t)i;
        }
        if (next == ADVISE_NONE) return BITCUT_OK;
        struct advise_trial *const t = &to->trial[next];
        const enum bitcut_status status =
            advise_check(t, x->s, x->count, x->threads, x->progress, x->f);
        if (status != BITCUT_OK) return status;
        t->reaches = t->error.high <= x->q->want;
        if (!t->reaches) continue;
        *found = next;
        return BITCUT_OK;
    }
}

/* What errs least of trials from there on, checked as well. */
static enum bitcut_status take_least(const struct search *x, size_t from,
                                     ptrdiff_t *found)
{
    struct advise *const to = x->to;
    *found = ADVISE_NONE;
    for (size_t i = from; i < to->trials; i++)
        if (*found == ADVISE_NONE || errs_less(&to->trial[i], &to->trial[*found]))
            *found = (ptrdiff_t)i;
    if (*found == ADVISE_NONE || !isnan(to->trial[*found].checked)) return BITCUT_OK;
    return advise_check(&to->trial[*found], x->s, x->count, x->threads, x->progress,
                        x->f);
}

/* Whether trials are looked at together: as many products, and lines treated alike. */
static bool are_equal(const struct advise_trial *a, const struct advise_trial *b)
{
    return a->cost == b->cost && a->gemm.equilibrate == b->gemm.equilibrate;
}

static enum bitcut_status search_place(const struct search *x, const struct list *l,
                                       ptrdiff_t *found)
{
    struct advise *const to = x->to;
    const size_t first = to->trials;
    *found = ADVISE_NONE;
    for (size_t i = 0; i < l->count && *found == ADVISE_NONE;) {
        const size_t from = to->trials;
        do {
            struct advise_trial *const t = &to->trial[to->trials];
            *t = l->at[i++];
            const enum bitcut_status status =
                advise_try(t, x->s, x->count, x->threads, x->progress, x->f);
            if (status != BITCUT_OK) return status;
            to->trials++;
        } while (i < l->count && are_equal(&l->at[i], &l->at[i - 1]));
        const enum bitcut_status status = check_some(x, from, found);
        if (status != BITCUT_OK) return status;
    }
    return *found == ADVISE_NONE ? take_least(x, first, found) : BITCUT_OK;
}

/* Chips share no unit of time but where their rates are known. */
static bool is_better(const struct advise_trial *x, const struct advise_trial *y)
{
    if (x->tflops != y->tflops) return x->tflops > y->tflops;
    if (!(x->tflops > 0) && x->cost != y->cost) return x->cost < y->cost;
    return errs_less(x, y);
}

/* The best of all places. */
static void choose(struct advise *to, size_t places)
{
    to->choice = ADVISE_NONE;
    for (size_t p = 0; p < places; p++) {
        const ptrdiff_t i = to->best[p];
        if (i == ADVISE_NONE || !to->trial[i].reaches) continue;
        const struct advise_trial *const t = &to->trial[i];
        const struct advise_trial *const best =
            to->choice == ADVISE_NONE ? NULL : &to->trial[to->choice];
        if (!best || is_better(t, best)) to->choice = i;
    }
}

static enum bitcut_status search_all(const struct search *x, struct list *l)
{
    enum bitcut_status status = BITCUT_OK;
    for (size_t p = 0; p < x->q->places && status == BITCUT_OK; p++) {
        progress_report(x->progress, p, x->q->places);
        fill(l, x->q, p);
        status = search_place(x, l, &x->to->best[p]);
    }
    if (status == BITCUT_OK) choose(x->to, x->q->places);
    return status;
}

enum bitcut_status advise_find(struct advise *to, const struct advise_question *q,
                               const struct advise_samples *s, size_t count,
                               int threads, const struct progress *progress,
                               struct fault *f)
{
    struct advise x = { .trials = 0 };
    struct list l = { .room = RECIPES_MOST * VARIATIONS };
    const struct search search = { &x, q, s, count, threads, progress, f };
    l.at = memory_allocate(l.room, sizeof *l.at);
    x.trial = memory_allocate(l.room * q->places, sizeof *x.trial);
    x.best = memory_allocate(q->places, sizeof *x.best);
    enum bitcut_status status =
        l.at && x.trial && x.best
            ? search_all(&search, &l)
            : fault_set(f, BITCUT_NO_MEMORY, "out of memory for recipes");
    free(l.at);
    if (status == BITCUT_OK) *to = x;
    else advise_clear(&x);
    return status;
}

void advise_clear(struct advise *x)
{
    free(x->trial);
    free(x->best);
    *x = (struct advise){ .trial = NULL };
}
