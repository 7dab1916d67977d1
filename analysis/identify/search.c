/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/search.h"

#include "analysis/identify/order_skeleton.h"
#include "analysis/identify/order_suggestion.h"
#include "analysis/identify/search_basis.h"
#include "analysis/identify/search_stage.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- stored findings -------------------------------------------------------------- */

static bool better(const struct finding *x, const struct finding *y)
{
    return x->matched != y->matched ? x->matched > y->matched : x->turn < y->turn;
}

static void keep(struct search *s, struct finding now)
{
    size_t at = s->count;
    if (s->count == FINDINGS_MAX && !better(&now, &s->found[FINDINGS_MAX - 1])) return;
    if (s->count < FINDINGS_MAX) s->count++;
    else at--;
    for (; at > 0 && better(&now, &s->found[at - 1]); at--)
        s->found[at] = s->found[at - 1];
    s->found[at] = now;
}

static bool nearer(const struct finding *x, const struct finding *y)
{
    return x->distance != y->distance ? x->distance < y->distance : x->turn < y->turn;
}

/* The same for hypotheses with a change, by distance; among equal ones the first in
   order, whichever thread finds it first. */
static void keep_near(struct search *s, struct finding now)
{
    size_t at = s->near_count;
    if (!(now.distance < INFINITY)) return;
    if (at == NEAR_MAX && !nearer(&now, &s->near[NEAR_MAX - 1])) return;
    if (at < NEAR_MAX) s->near_count++;
    else at--;
    for (; at > 0 && nearer(&now, &s->near[at - 1]); at--) s->near[at] = s->near[at - 1];
    s->near[at] = now;
}

/* --- trying ----------------------------------------------------------------------- */

static void walk_clear(struct walk *w, int threads)
{
    for (int i = 0; w->memory && i < BLOCKS * threads; i++)
        candidate_forget(&w->memory[i]);
    block_clear(&w->few);
    free(w->memory);
    free(w->scratch);
    free(w->basis);
}

/* A few outputs from more than one row: a whole row may be wrong.  As many of a screen
   with few columns or rows. */
static enum bitcut_status take_few(struct walk *w, struct fault *f)
{
    enum { ROWS = 2, FEW = 16 };
    const struct block *const b = w->s->screen;
    size_t row[FEW], col[FEW];
    const size_t cols = smaller(FEW / smaller(ROWS, b->rows), b->cols),
                 rows = smaller(FEW / cols, b->rows);
    for (size_t i = 0; i < rows; i++)
        row[i] = b->row[i ? i * (b->rows - 1) / (rows - 1) : 0];
    for (size_t j = 0; j < cols; j++) col[j] = b->col[j * b->cols / cols];
    return block_take(&w->few, b->q, row, rows, col, cols, f);
}

static struct nearness match(const struct walk *w, const struct candidate *x, int which)
{
    const struct block *const screen = w->s->screen;
    const size_t thread = (size_t)threads_number();
    return candidate_match(x, w->s->space, which ? screen : &w->few,
                           w->scratch + thread * screen->rows * screen->cols,
                           &w->memory[BLOCKS * thread + (size_t)which]);
}

/* A hypothesis that gives too few of the few outputs is not tried on more; its number is
   estimated. */
static struct nearness nearness_of(const struct walk *w, const struct candidate *x)
{
    enum { SHARE = 4 };
    const size_t count = w->few.rows * w->few.cols;
    struct nearness few = match(w, x, 0);
    if (SHARE * few.matched >= count) {
        struct nearness all = match(w, x, 1);
        all.work += few.work;
        return all;
    }
    few.matched = few.matched * w->s->screen->rows * w->s->screen->cols / count;
    return few;
}

/* Try a hypothesis, the one with number `turn`. */
static void try_hypothesis(const struct walk *w, struct hypothesis h, size_t turn)
{
    struct search *s = w->s;
    struct candidate x;
    if (!candidate_make(&x, s->space, h)) return;
    const struct nearness near = nearness_of(w, &x);
#pragma omp critical(explain_keep)
    {
        s->tried++;
        s->effort->spent += near.work;
        keep(s,
             (struct finding){ h, near.matched, w->level, turn, near.distance, false });
        keep_near(
            s, (struct finding){ h, near.matched, w->level, turn, near.distance, false });
    }
}

static void try_one(const struct walk *w, const struct basis *b, size_t index,
                    size_t turn)
{
    const struct hypothesis h = level_nth(w->s, b->h, w->level, index);
    if (level_tries(w->s, w->level, b, &h)) try_hypothesis(w, h, turn);
}

/* Whether the search has to end; `work`: also if its work is spent, which only counts
   between portions of hypotheses, so that the portions are the same for any number of
   threads. */
static bool is_over(const struct search *s, bool work)
{
    return progress_stopped(s->progress) ||
           (work ? effort_is_spent(s->effort) : effort_is_late(s->effort));
}

/* Try hypotheses [i, end) of the bases from `from` on. */
static void try_portion(const struct walk *w, size_t from, size_t each, size_t i,
                        size_t end)
{
    bool over = false;
#pragma omp parallel for schedule(dynamic, 16)                                           \
    num_threads(threads_for(w->s->threads, end - i))
    for (size_t n = i; n < end; n++) {
        const size_t at = from + n / each;
        bool now;
#pragma omp atomic read
        now = over;
        if (now) continue;
        try_one(w, &w->basis[at], n % each,
                ((size_t)w->level << 48) + at * each + n % each);
        if (n % 64 || !is_over(w->s, false)) continue;
#pragma omp atomic write
        over = true;
    }
}

/* Try hypotheses of the bases [from, to) at a level.  Returns false if the search has to
   end. */
static bool try_some(const struct walk *w, size_t from, size_t to)
{
    enum { PORTION = 512 };
    const size_t each = level_size(w->s, w->level), size = (to - from) * each;
    for (size_t i = 0; i < size; i += PORTION) {
        try_portion(w, from, each, i, smaller(i + PORTION, size));
        if (is_over(w->s, true)) return false;
    }
    return true;
}

/* --- bases ------------------------------------------------------------------------ */

/* Make the candidate of a basis; if its GEMM is invalid, with the first other place for
   factors that is possible. */
static bool make_basis(struct candidate *x, struct hypothesis *h, const struct space *s)
{
    if (candidate_make(x, s, *h)) return true;
    for (size_t i = 1; i < s->epilogues && !h->at[AXIS_EPILOGUE]; i++) {
        struct hypothesis other = *h;
        other.at[AXIS_EPILOGUE] = (uint16_t)i;
        if (!epilogue_leads(s, i) || !candidate_make(x, s, other)) continue;
        *h = other;
        return true;
    }
    return false;
}

/* The distance of one unchanged basis; NAN: the GEMM is invalid, or not wanted. */
static double measure_basis(const struct walk *w, size_t index)
{
    struct search *const s = w->s;
    struct hypothesis *const basis = &w->basis[index].h;
    const struct bitcut_recipe *only = s->space->recipe;
    struct candidate x;
    if (only && only != &recipes[basis->at[AXIS_RECIPE]]) return NAN;
    if (!make_basis(&x, basis, s->space)) return NAN;
    const struct hypothesis h = *basis;
    const struct nearness near = match(w, &x, 1);
#pragma omp critical(explain_keep)
    {
        s->tried++;
        s->effort->spent += near.work;
        keep(s, (struct finding){ h, near.matched, 0, index, near.distance, false });
    }
    return near.distance;
}

/* Returns false if the search has to end; some are not measured then. */
static bool measure_bases(const struct walk *w)
{
    const struct search *const s = w->s;
    bool over = false;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(s->threads, w->bases))
    for (size_t i = 0; i < w->bases; i++) {
        const bool now = is_over(s, false);
        w->basis[i].distance = now ? NAN : measure_basis(w, i);
        if (!now) continue;
#pragma omp atomic write
        over = true;
    }
    return !over && !is_over(s, true);
}

/* --- phases ----------------------------------------------------------------------- */

/* The first finding that the caller accepts, from number `turn` on, or NULL.  Refused
   ones are not offered again. */
static const struct finding *accepted(struct search *s, explain_accept *accept,
                                      void *context, size_t from)
{
    const size_t outputs = s->screen->rows * s->screen->cols;
    for (size_t i = 0; i < s->count && s->found[i].matched == outputs && !s->dull &&
                       !progress_stopped(s->progress);
         i++) {
        struct finding *const f = &s->found[i];
        if (f->turn < from || f->refused) continue;
        if (accept(context, f)) return f;
        f->refused = true;
        s->cut_short |= s->dull;
    }
    return NULL;
}

/* Find equivalents: all changes of h on the bases from `from` on. */
static void try_equals(const struct walk *w, struct hypothesis h, size_t from)
{
    const size_t each = level_size(w->s, w->level);
    size_t index = 0;
    while (index < each &&
           memcmp(h.at, level_nth(w->s, h, w->level, index).at, sizeof h.at) != 0)
        index++;
#pragma omp parallel for schedule(dynamic)                                               \
    num_threads(threads_for(w->s->threads, w->bases))
    for (size_t i = from; i < w->bases; i++)
        try_one(w, &w->basis[i], index, ((size_t)w->level << 48) + i * each + index);
}

/* Try a level for the first bases.  Returns true if something was accepted. */
static bool try_level(struct walk *w, int level, size_t bases, explain_accept *accept,
                      void *context)
{
    enum { CHUNK = 1024, PARTS = 1000 };
    struct search *const s = w->s;
    const size_t each = level_size(s, level), step = each ? divide_up(CHUNK, each) : 1;
    w->level = level;
    for (size_t i = 0; i < bases && each && !s->cut_short; i += step) {
        const size_t end = smaller(i + step, bases);
        s->cut_short = !try_some(w, i, end);
        const struct finding *f =
            accepted(s, accept, context, ((size_t)level << 48) + i * each);
        if (f) try_equals(w, f->h, end);
        if (f) return true;
    }
    progress_report(s->progress, (size_t)(s->effort->spent / s->effort->work * PARTS),
                    PARTS);
    return false;
}

/* Levels [from, to) for all bases. */
static bool try_levels(struct walk *w, int from, int to, explain_accept *accept,
                       void *context)
{
    for (int level = from; level < to && !w->s->cut_short; level++)
        if (try_level(w, level, w->bases, accept, context)) return true;
    return false;
}

/* Whether a change brings its recipe so much nearer that another unit may be right. */
static bool is_promising(const struct search *s, const struct finding *f)
{
    enum { NEARER = 2, SHARE = 4 };
    return NEARER * f->distance < s->distance[f->h.at[AXIS_RECIPE]] ||
           SHARE * f->matched >= s->screen->rows * s->screen->cols;
}

/* Try the nearest finding of this level on all bases. */
static bool try_elsewhere(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    struct finding near[2 * NEAR_MAX];
    size_t count = s->near_count;
    memcpy(near, s->near, count * sizeof *near);
    for (size_t i = 0; i < s->count && count < 2 * NEAR_MAX; i++)
        if (s->found[i].level == w->level) near[count++] = s->found[i];
    for (size_t i = 0; i < count && !s->cut_short; i++) {
        if (!is_promising(s, &near[i])) continue;
        try_equals(w, near[i].h, 0);
        s->cut_short = is_over(s, true);
        if (accepted(s, accept, context, (size_t)w->level << 48)) return true;
    }
    return false;
}

/* Try levels [from, to) for the first bases, and after each level its nearest finding for
   all bases. */
static bool try_first(struct walk *w, size_t bases, int from, int to,
                      explain_accept *accept, void *context)
{
    for (int level = from; level < to && !w->s->cut_short; level++) {
        w->s->near_count = 0;
        w->s->first = true;
        const bool found = try_level(w, level, bases, accept, context);
        w->s->first = false;
        if (found || try_elsewhere(w, accept, context)) return true;
    }
    return false;
}

/* If an unchanged hypothesis gives nearly all of the screen, one change of it is likely,
   provided that outputs have enough bits to show it. */
static bool try_nearly_right(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    const size_t outputs = s->screen->rows * s->screen->cols;
    const bool tells = s->space->format == &formats[FORMAT_F32];
    const size_t bases = tells ? bases_bring_nearest(w, outputs - outputs / 8) : 0;
    for (int level = 1; level < LEVEL_PAIRS && bases && !s->cut_short; level++)
        if (level_is_quick(level) && try_level(w, level, bases, accept, context))
            return true;
    return false;
}

/* --- suggested orders ------------------------------------------------------------- */

/* Numbers of suggested hypotheses are above those of bases, and below those of levels. */
enum { SUGGESTED_FROM = 24 };

/* Try the orders from `from` on with one basis. */
static void try_orders(struct walk *w, const struct hypothesis *basis, size_t from)
{
    const size_t count = w->s->space->orders - from;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(w->s->threads, count))
    for (size_t i = 0; i < count; i++) {
        struct hypothesis h = *basis;
        h.at[AXIS_ORDER] = (uint16_t)(from + i);
        try_hypothesis(w, h, ((size_t)1 << SUGGESTED_FROM) + from + i);
    }
}

/* Try the orders that the rounding errors of the sample suggest for a basis. */
static bool try_suggested_for(struct walk *w, const struct basis *b,
                              explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    struct candidate x;
    struct bitcut_order order[SUGGESTED_ORDERS_MAX];
    struct hypothesis base = b->h;
    const size_t from = s->space->orders;
    base.at[AXIS_ORDER] = 0;
    if (base.at[AXIS_FAULT] || !candidate_make(&x, s->space, base) ||
        !orders_are_suggested(s->traced, &x))
        return false;
    const size_t count = orders_suggest(order, s->traced, &x, s->threads);
    s->failed |= explain_space_add_orders(s->space, order, count, NULL) != BITCUT_OK;
    if (s->failed) return false;
    try_orders(w, &b->h, from);
    const struct finding *const f =
        accepted(s, accept, context, (size_t)1 << SUGGESTED_FROM);
    for (size_t i = 0; f && i < w->bases; i++) {
        struct hypothesis h = w->basis[i].h;
        h.at[AXIS_ORDER] = f->h.at[AXIS_ORDER];
        if (&w->basis[i] != b && !h.at[AXIS_FAULT])
            try_hypothesis(w, h, ((size_t)2 << SUGGESTED_FROM) + i);
    }
    return f != NULL;
}

static bool try_suggested(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    for (size_t i = 0; i < w->bases && !s->cut_short; i++) {
        if (try_suggested_for(w, &w->basis[i], accept, context)) return true;
        s->cut_short = is_over(s, true);
    }
    return false;
}

/* --- likely hypotheses ------------------------------------------------------------ */

/* A skeleton and its distance from D. */
struct skeleton {
    size_t order;
    uint64_t misfit;
};

static int compare_skeletons(const void *x, const void *y)
{
    const struct skeleton *a = x, *b = y;
    if (a->misfit != b->misfit) return a->misfit < b->misfit ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Try the orders of the space from `from` on with a basis, on the whole screen. */
static void measure_skeletons(const struct walk *w, struct skeleton *to,
                              const struct basis *b, size_t from)
{
    struct search *const s = w->s;
    const size_t count = s->space->orders - from;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(s->threads, count))
    for (size_t i = 0; i < count; i++) {
        struct hypothesis h = b->h;
        struct candidate x;
        h.at[AXIS_ORDER] = (uint16_t)(from + i);
        to[i] = (struct skeleton){ from + i, UINT64_MAX };
        if (is_over(s, false) || !candidate_make(&x, s->space, h)) continue;
        const struct nearness near = match(w, &x, 1);
        to[i].misfit = near.misfit;
#pragma omp critical(explain_keep)
        {
            s->tried++;
            s->effort->spent += near.work;
            keep(s, (struct finding){ h, near.matched, w->level,
                                      ((size_t)1 << SUGGESTED_FROM) + from + i,
                                      near.distance, false });
        }
    }
}

/* Add the completions of the nearest skeletons to the space. */
static bool add_completions(struct search *s, struct skeleton *all, size_t count)
{
    enum { NEAREST_SKELETONS = 8 };
    struct bitcut_order order[COMPLETIONS_MAX];
    bool enough = true;
    qsort(all, count, sizeof *all, compare_skeletons);
    for (size_t i = 0; i < smaller(count, NEAREST_SKELETONS) && enough; i++) {
        const size_t more = skeleton_complete(order, &s->space->order[all[i].order],
                                              s->space->k, s->space->format);
        enough = explain_space_add_orders(s->space, order, more, NULL) == BITCUT_OK;
    }
    return enough;
}

/* Try skeletons with one basis, and the completions of the nearest ones. */
static bool try_skeletons(struct walk *w, const struct basis *b, explain_accept *accept,
                          void *context)
{
    struct search *const s = w->s;
    const size_t from = s->space->orders, after = ((size_t)1 << SUGGESTED_FROM) + from;
    struct order_list l = skeletons_list(
        s->space->k, s->space->unit[b->h.at[AXIS_UNIT]]->k, s->space->format);
    struct skeleton *const all = memory_allocate(l.count + 1, sizeof *all);
    bool enough = all && !l.failed &&
                  explain_space_add_orders(s->space, l.at, l.count, NULL) == BITCUT_OK;
    free(l.at);
    const size_t count = s->space->orders - from;
    if (enough) measure_skeletons(w, all, b, from);
    bool found = enough && accepted(s, accept, context, after);
    if (enough && !found && !is_over(s, true)) {
        enough = add_completions(s, all, count);
        try_orders(w, &b->h, from + count);
        found = accepted(s, accept, context, after);
    }
    s->failed |= !enough;
    free(all);
    return found;
}

/* Try the orders of libraries with what they compute by default. */
static bool try_likely(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    const size_t likely = s->base ? 0 : bases_bring_likely(w);
    bool found = false;
    for (int level = 1; level < LEVELS && !found && !s->cut_short; level++)
        if (level_is_likely(level)) found = try_level(w, level, likely, accept, context);
    for (size_t i = 0; i < likely && !found && !s->cut_short; i++) {
        w->level = 0;
        found = try_skeletons(w, &w->basis[i], accept, context);
        s->cut_short |= is_over(s, true);
    }
    bases_sort(w);
    return found;
}

/* Whether a hypothesis is what libraries compute by default, on a recorded unit if there
   are any. */
static bool is_conclusive(const struct walk *w, const struct hypothesis *h)
{
    const struct space *const space = w->s->space;
    struct candidate x;
    bool any = false, own = false;
    for (size_t i = 0; i < w->bases; i++) {
        any |= w->basis[i].recorded && space->unit[w->basis[i].h.at[AXIS_UNIT]]->k > 1;
        own |= w->basis[i].recorded && w->basis[i].h.at[AXIS_UNIT] == h->at[AXIS_UNIT];
    }
    return (own || !any) && candidate_make(&x, space, *h) &&
           prior_is_default(w->s->prior, &x);
}

/* Whether an unchanged hypothesis is accepted.  Results in a short format do not
   distinguish hypotheses well, so that the sums of a library in another order are tried
   before an unlikely hypothesis is named. */
static bool try_unchanged(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    const struct finding *const f = accepted(s, accept, context, 0);
    if (!f) return false;
    if (s->space->format != &formats[FORMAT_F32] && !s->as_they_are &&
        !is_conclusive(w, &f->h))
        try_likely(w, accept, context);
    return true;
}

/* Orders that the rounding errors suggest are those of scalars: they come first if A and
   B need FP32. */
static bool try_orders_of_default(struct walk *w, explain_accept *accept, void *context)
{
    const bool first = prior_shows_short(w->s->prior);
    return (first && try_likely(w, accept, context)) ||
           try_suggested(w, accept, context) ||
           (!first && try_likely(w, accept, context));
}

static void try_all(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    s->cut_short = !measure_bases(w);
    bases_sort(w);
    if (try_unchanged(w, accept, context) || s->as_they_are || s->dull) return;
    if (try_orders_of_default(w, accept, context) ||
        (s->settled && s->settled(s, context)) || try_nearly_right(w, accept, context))
        return;
    bases_mark_first(w);
    const size_t kinds = bases_bring_kinds(w);
    if (try_first(w, kinds, 1, LEVEL_ORDERS, accept, context) ||
        (s->settled && s->settled(s, context)) ||
        try_levels(w, LEVEL_ALL_PARTS, LEVEL_ALL_PARTS + 1, accept, context) ||
        try_first(w, kinds, LEVEL_ORDERS, LEVEL_PAIRS, accept, context))
        return;
    if (kinds < w->bases && try_levels(w, 1, LEVEL_PAIRS, accept, context)) return;
    const size_t nearest = bases_bring_nearest(w, 0);
    for (int level = LEVEL_PAIRS; level < LEVELS && !s->cut_short; level++)
        if (try_level(w, level, nearest, accept, context)) return;
    if (nearest < w->bases) try_levels(w, LEVEL_PAIRS, LEVELS, accept, context);
}

enum bitcut_status explain_search(struct search *s, explain_accept *accept, void *context,
                                  struct fault *f)
{
    const size_t outputs = s->screen->rows * s->screen->cols;
    const int threads = threads_for(s->threads, SIZE_MAX);
    struct walk w = { .s = s,
                      .scratch =
                          memory_allocate((size_t)threads, outputs * sizeof *w.scratch),
                      .memory = calloc(BLOCKS * (size_t)threads, sizeof *w.memory) };
    const bool enough =
        w.scratch && w.memory && bases_list(&w) && take_few(&w, NULL) == BITCUT_OK;
    s->count = s->near_count = 0;
    s->cut_short = s->dull = s->failed = false;
    for (int i = 0; i < RECIPES_MAX; i++) s->distance[i] = s->as_it_stands[i] = INFINITY;
    if (enough) try_all(&w, accept, context);
    walk_clear(&w, threads);
    return enough && !s->failed
               ? BITCUT_OK
               : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for outputs");
}
