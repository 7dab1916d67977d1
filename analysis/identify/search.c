/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/search.h"

#include "analysis/identify/order_suggestion.h"
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

enum { BLOCKS = 2 }; /* a few outputs, and the screen */

/* State of the search through levels. */
struct walk {
    struct search *s;
    struct basis *basis; /* the nearest first */
    size_t bases;
    int level;
    struct block few;                /* a few outputs of the screen */
    uint32_t *scratch;               /* space for each thread */
    struct candidate_memory *memory; /* the same, for both blocks */
};

static void walk_clear(struct walk *w, int threads)
{
    for (int i = 0; w->memory && i < BLOCKS * threads; i++)
        candidate_forget(&w->memory[i]);
    block_clear(&w->few);
    free(w->memory);
    free(w->scratch);
    free(w->basis);
}

/* A few outputs from more than one row: a whole row may be wrong. */
static enum bitcut_status take_few(struct walk *w, struct fault *f)
{
    enum { ROWS = 2, COLS = 8 };
    const struct block *const b = w->s->screen;
    const size_t rows = smaller(ROWS, b->rows), cols = smaller(COLS, b->cols);
    size_t row[ROWS], col[COLS];
    for (size_t i = 0; i < rows; i++) row[i] = b->row[i * (b->rows - 1)];
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

/* Bases that are not far come first; among them recorded units, then the nearest. */
static int nearer_basis(const void *x, const void *y)
{
    const struct basis *a = x, *b = y;
    const struct hypothesis *g = &a->h, *h = &b->h;
    if (a->far != b->far) return a->far - b->far;
    if (!a->far && a->recorded != b->recorded) return b->recorded - a->recorded;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    if (g->at[AXIS_RECIPE] != h->at[AXIS_RECIPE])
        return g->at[AXIS_RECIPE] - h->at[AXIS_RECIPE];
    return g->at[AXIS_UNIT] != h->at[AXIS_UNIT] ? g->at[AXIS_UNIT] - h->at[AXIS_UNIT]
                                                : g->at[AXIS_FAULT] - h->at[AXIS_FAULT];
}

/* Sort the bases, the nearest first. */
static void sort_bases(struct walk *w)
{
    struct search *const s = w->s;
    size_t kept = 0;
    for (size_t i = 0; i < w->bases; i++) {
        const struct basis b = w->basis[i];
        double *const least = &s->distance[b.h.at[AXIS_RECIPE]];
        if (isnan(b.distance)) continue;
        if (b.distance < *least) *least = b.distance;
        double *const stands = &s->as_it_stands[b.h.at[AXIS_RECIPE]];
        if (!b.h.at[AXIS_FAULT] && b.distance < *stands) *stands = b.distance;
        w->basis[kept++] = b;
    }
    w->bases = kept;
    for (size_t i = 0; i < kept; i++) {
        struct basis *const b = &w->basis[i];
        const struct bitcut_unit *u = s->space->unit[b->h.at[AXIS_UNIT]];
        b->far = basis_is_far(s, b);
        b->off = basis_is_off(s, b);
        b->recorded = u->evidence == EVIDENCE_RECORDED || u->k == 1;
    }
    qsort(w->basis, kept, sizeof *w->basis, nearer_basis);
}

/* Every recipe on every unit, or the one base; each also with every fault that brings the
   exact product nearer to D. */
static bool list_bases(struct walk *w)
{
    const struct search *const s = w->s;
    const size_t recipes_count = axes[AXIS_RECIPE].count(s->space),
                 units_count = axes[AXIS_UNIT].count(s->space),
                 right = s->base ? 1 : recipes_count * units_count;
    w->bases = right * (1 + s->space->suggestions);
    w->basis = memory_allocate(w->bases, sizeof *w->basis);
    for (size_t i = 0; w->basis && i < w->bases; i++) {
        struct hypothesis *const h = &w->basis[i].h;
        const size_t of = i % right;
        if (s->base) *h = *s->base;
        else
            *h = (struct hypothesis){ { [AXIS_RECIPE] = (uint16_t)(of / units_count),
                                        [AXIS_UNIT] = (uint16_t)(of % units_count) } };
        if (i >= right) h->at[AXIS_FAULT] = (uint16_t)s->space->suggested[i / right - 1];
    }
    return w->basis != NULL;
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

/* Whether a hypothesis belongs to a basis. */
static bool is_of(const struct basis *b, const struct hypothesis *h)
{
    const bool has_fault = b->h.at[AXIS_FAULT] != 0;
    return b->h.at[AXIS_RECIPE] == h->at[AXIS_RECIPE] &&
           b->h.at[AXIS_UNIT] == h->at[AXIS_UNIT] &&
           (!has_fault || b->h.at[AXIS_FAULT] == h->at[AXIS_FAULT]);
}

enum { NEAREST = 16 };

/* Move to the front the bases of the nearest findings that give at least this many
   outputs of the screen.  Returns their number. */
static size_t bring_forward(struct walk *w, size_t least)
{
    size_t count = 0;
    for (size_t i = 0; i < w->s->count && count < NEAREST; i++) {
        const struct hypothesis *h = &w->s->found[i].h;
        if (w->s->found[i].matched < least) break;
        size_t at = 0;
        while (at < w->bases && !is_of(&w->basis[at], h)) at++;
        if (at == w->bases || at < count) continue;
        const struct basis b = w->basis[at];
        memmove(&w->basis[count + 1], &w->basis[count], (at - count) * sizeof *w->basis);
        w->basis[count++] = b;
    }
    return count;
}

/* Whether two bases differ only in the rounding of their units and in the number of steps
   that these add.  Units with one product are few, and whether the product is rounded
   changes most outputs. */
static bool alike(const struct walk *w, const struct basis *x, const struct basis *y)
{
    const struct bitcut_unit *const u = w->s->space->unit[x->h.at[AXIS_UNIT]],
                                    *const v = w->s->space->unit[y->h.at[AXIS_UNIT]];
    return x->h.at[AXIS_RECIPE] == y->h.at[AXIS_RECIPE] &&
           x->h.at[AXIS_FAULT] == y->h.at[AXIS_FAULT] && u->k == v->k && u->k > 1 &&
           u->a == v->a && u->c == v->c && unit_bits_retained(u) == unit_bits_retained(v);
}

/* Mark the nearest basis of each recipe, and of each fault, that accumulates in f32. */
static void mark_first(struct walk *w)
{
    for (size_t i = 0; i < w->bases; i++) {
        struct basis *const b = &w->basis[i];
        b->first = w->s->space->unit[b->h.at[AXIS_UNIT]]->c == &formats[FORMAT_F32];
        for (size_t j = 0; j < i && b->first; j++)
            b->first = !(w->basis[j].first &&
                         w->basis[j].h.at[AXIS_RECIPE] == b->h.at[AXIS_RECIPE] &&
                         w->basis[j].h.at[AXIS_FAULT] == b->h.at[AXIS_FAULT]);
    }
}

/* Move to the front the nearest of similar bases.  Returns their number. */
static size_t bring_kinds(struct walk *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->bases; i++) {
        size_t at = 0;
        while (at < count && !alike(w, &w->basis[at], &w->basis[i])) at++;
        if (at < count) continue;
        const struct basis b = w->basis[i];
        memmove(&w->basis[count + 1], &w->basis[count], (i - count) * sizeof *w->basis);
        w->basis[count++] = b;
    }
    return count;
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
    const size_t bases = tells ? bring_forward(w, outputs - outputs / 8) : 0;
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
    if (explain_space_add_orders(s->space, order, count, NULL) != BITCUT_OK) return false;
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

static void try_all(struct walk *w, explain_accept *accept, void *context)
{
    struct search *const s = w->s;
    s->cut_short = !measure_bases(w);
    sort_bases(w);
    if (accepted(s, accept, context, 0) || s->as_they_are || s->dull) return;
    if (try_suggested(w, accept, context) || (s->settled && s->settled(s, context)) ||
        try_nearly_right(w, accept, context))
        return;
    mark_first(w);
    const size_t kinds = bring_kinds(w);
    if (try_first(w, kinds, 1, LEVEL_ORDERS, accept, context) ||
        (s->settled && s->settled(s, context)) ||
        try_first(w, kinds, LEVEL_ORDERS, LEVEL_PAIRS, accept, context))
        return;
    if (kinds < w->bases && try_levels(w, 1, LEVEL_PAIRS, accept, context)) return;
    const size_t nearest = bring_forward(w, 0);
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
        w.scratch && w.memory && list_bases(&w) && take_few(&w, NULL) == BITCUT_OK;
    s->count = s->near_count = 0;
    s->cut_short = s->dull = false;
    for (int i = 0; i < RECIPES_MAX; i++) s->distance[i] = s->as_it_stands[i] = INFINITY;
    if (enough) try_all(&w, accept, context);
    walk_clear(&w, threads);
    return enough ? BITCUT_OK
                  : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for outputs");
}
