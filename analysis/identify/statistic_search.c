/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/statistic_search.h"

#include "analysis/identify/effort.h"
#include "analysis/identify/prior.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/exact/exact.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the GEMMs ---------------------------------------------------------------------- */

/* The problem as blocks of explain: every GEMM with all its outputs.  D of a block is the
   exact product: the space of hypotheses asks for a D. */
struct whole {
    const struct statistic_problem *p;
    struct problem *q;     /* one for each GEMM */
    struct block *block;   /* likewise */
    uint32_t *exact;       /* all outputs, one GEMM after the other */
    size_t gemms, outputs; /* outputs: of all GEMMs */
    struct space space;
    struct prior prior;
};

static size_t each_of(const struct whole *w) { return w->outputs / w->gemms; }

static enum bitcut_status exact_make(struct whole *w, struct fault *f)
{
    const size_t each = each_of(w);
    const struct exact_options options = { .threads = w->p->threads,
                                           .progress = w->p->progress };
    enum bitcut_status status = BITCUT_OK;
    uint64_t *const c64 = memory_allocate(each, sizeof *c64);
    if (!c64) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the products");
    for (size_t g = 0; g < w->gemms && status == BITCUT_OK; g++) {
        const struct problem *const q = &w->q[g];
        struct hostfp saved;
        status = exact_gemm(NULL, c64, NULL, NULL, &options, q->a.rows, q->b.cols,
                            q->a.cols, q->a.at, q->b.at, f);
        hostfp_enter(&saved);
        for (size_t i = 0; i < each && status == BITCUT_OK; i++)
            w->exact[g * each + i] = f32_of_double(double_of_bits(c64[i]));
        hostfp_leave(&saved);
    }
    free(c64);
    return status;
}

/* Matrix g of a batch, or the one matrix. */
static struct matrix nth(const struct matrix *m, size_t g)
{
    return (struct matrix){ .rows = m->rows,
                            .cols = m->cols,
                            .at = m->at + (m->is_batch ? g * m->rows * m->cols : 0) };
}

static void problems_set(struct whole *w)
{
    const struct statistic_problem *const p = w->p;
    for (size_t g = 0; g < w->gemms; g++)
        w->q[g] =
            (struct problem){ .a = nth(&p->a, g),
                              .b = nth(&p->b, g),
                              .d = { .rows = p->a.rows,
                                     .cols = p->b.cols,
                                     .at = w->exact + g * each_of(w) },
                              .format = p->format ? p->format : &formats[FORMAT_F32],
                              .alpha = F32_ONE,
                              .recipe = p->recipe,
                              .unit = p->unit,
                              .chip = p->chip,
                              .gemms = 1 };
}

static enum bitcut_status blocks_take(struct whole *w, struct fault *f)
{
    const size_t m = w->p->a.rows, n = w->p->b.cols, most = m > n ? m : n;
    size_t *const line = memory_allocate(most, sizeof *line);
    enum bitcut_status status =
        line ? BITCUT_OK
             : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for indices");
    for (size_t i = 0; line && i < most; i++) line[i] = i;
    for (size_t g = 0; g < w->gemms && status == BITCUT_OK; g++)
        status = block_take(&w->block[g], &w->q[g], line, m, line, n, f);
    free(line);
    return status;
}

static void whole_clear(struct whole *w)
{
    for (size_t g = 0; w->block && g < w->gemms; g++) block_clear(&w->block[g]);
    explain_space_clear(&w->space);
    free(w->block);
    free(w->q);
    free(w->exact);
}

static enum bitcut_status whole_make(struct whole *w, const struct statistic_problem *p,
                                     struct fault *f)
{
    *w = (struct whole){ .p = p, .gemms = matrix_count(p->a.is_batch ? &p->a : &p->b) };
    w->outputs = w->gemms * p->a.rows * p->b.cols;
    w->q = memory_allocate(w->gemms, sizeof *w->q);
    w->block = calloc(w->gemms, sizeof *w->block);
    w->exact = memory_allocate(w->outputs, sizeof *w->exact);
    if (!w->q || !w->block || !w->exact)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the products");
    problems_set(w);
    enum bitcut_status status = exact_make(w, f);
    if (status == BITCUT_OK) status = blocks_take(w, f);
    if (status == BITCUT_OK) status = explain_space_make(&w->space, &w->block[0], f);
    if (status == BITCUT_OK) w->prior = prior_of(&w->block[0]);
    return status;
}

/* --- trying ------------------------------------------------------------------------- */

/* A hypothesis and its statistics. */
struct tried {
    struct hypothesis h;
    double value[STATISTICS], agreement, work;
    uint64_t digest; /* of D */
    bool ran, gives;
};

/* The hypotheses of a level. */
struct level {
    struct tried *at;
    size_t count, room;
    bool failed;
};

static void level_add(struct level *l, struct hypothesis h, double work)
{
    if (l->count == l->room && !l->failed) {
        const size_t room = l->room ? 2 * l->room : 256;
        struct tried *const more = realloc(l->at, room * sizeof *more);
        if (more) l->at = more, l->room = room;
        l->failed = !more;
    }
    if (!l->failed) l->at[l->count++] = (struct tried){ .h = h, .work = work };
}

/* FNV-1a of the encodings, a word at a time. */
static uint64_t digest_of(const uint32_t *d, size_t count)
{
    uint64_t digest = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++) digest = (digest ^ d[i]) * 0x100000001b3;
    return digest;
}

/* Run a hypothesis on all GEMMs, each with its stored parts; `d` has room for all
   outputs. */
static void run(struct tried *t, const struct whole *w, uint32_t *d,
                struct gemm_parts *parts, int threads)
{
    struct gemm_options options = { .threads = threads };
    struct candidate x;
    bool ran = candidate_make(&x, &w->space, t->h);
    for (size_t g = 0; g < w->gemms && ran; g++) {
        options.parts = &parts[g];
        ran = candidate_run(d + g * each_of(w), &x, &w->space, &w->block[g], &options,
                            NULL) == BITCUT_OK;
    }
    t->ran = t->gives = ran;
    if (!ran) return;
    t->digest = digest_of(d, w->outputs);
    if (w->p->agreement) {
        t->agreement = w->p->agreement(d, w->p->context);
        t->gives = t->agreement >= 1;
        return;
    }
    statistics_of(t->value, &(struct statistic_data){ d, w->exact, w->outputs });
    for (int i = 0; i < STATISTICS; i++)
        t->gives &= statistic_agrees(i, &w->p->published[i], t->value, w->outputs);
}

/* The number of hypotheses of the level that the remaining work allows. */
static size_t affordable(const struct level *l, struct effort *e)
{
    size_t n = 0;
    while (n < l->count && e->spent < e->work) e->spent += l->at[n++].work;
    return n;
}

/* Run the hypotheses of a level, several at once, or a large one on all threads. */
static enum bitcut_status level_run(struct level *l, const struct whole *w,
                                    struct fault *f)
{
    enum { LARGE = 1 << 24 };
    const bool large = l->count && l->at[0].work > LARGE;
    const int threads = large ? 1 : threads_for(w->p->threads, l->count);
    const size_t count = (size_t)threads * w->gemms;
    uint32_t *const d = memory_allocate((size_t)threads, w->outputs * sizeof *d);
    struct gemm_parts *const parts = calloc(count + 1, sizeof *parts);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t i = 0; i < l->count; i++) {
        const size_t thread = (size_t)threads_number();
        if (d && parts && !progress_stopped(w->p->progress))
            run(&l->at[i], w, d + thread * w->outputs, parts + thread * w->gemms,
                large ? w->p->threads : 1);
    }
    for (size_t i = 0; parts && i < count; i++) gemm_parts_clear(&parts[i]);
    const bool enough = d && parts;
    free(parts);
    free(d);
    if (!enough) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for outputs");
    return progress_stopped(w->p->progress) ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
                                            : BITCUT_OK;
}

/* --- levels ------------------------------------------------------------------------- */

/* Add a hypothesis if its GEMM is valid. */
static void consider(struct level *l, const struct whole *w, struct hypothesis h)
{
    struct candidate x;
    if (candidate_make(&x, &w->space, h))
        level_add(l, h, (double)w->gemms * candidate_work(&x, each_of(w), w->p->a.cols));
}

/* The likelier one first, then the earlier one. */
struct likely {
    struct candidate x;
    struct tried t;
    const struct prior *prior;
};

static int compare_likely(const void *first, const void *second)
{
    const struct likely *const a = first, *const b = second;
    const int by = prior_compare(a->prior, (struct contender){ &a->x, &a->t.h, false },
                                 (struct contender){ &b->x, &b->t.h, false });
    return by ? by : memcmp(&a->t.h, &b->t.h, sizeof a->t.h);
}

static bool level_sort(struct level *l, const struct whole *w)
{
    struct likely *const r = memory_allocate(l->count + 1, sizeof *r);
    for (size_t i = 0; r && i < l->count; i++) {
        r[i].t = l->at[i], r[i].prior = &w->prior;
        candidate_make(&r[i].x, &w->space, r[i].t.h);
    }
    if (r) qsort(r, l->count, sizeof *r, compare_likely);
    for (size_t i = 0; r && i < l->count; i++) l->at[i] = r[i].t;
    free(r);
    return r != NULL;
}

/* Every recipe on every unit, the likeliest first. */
static void add_bases(struct level *l, const struct whole *w)
{
    struct hypothesis h = { .at = { 0 } };
    for (size_t r = 0; r < axes[AXIS_RECIPE].count(&w->space); r++)
        for (size_t u = 0; u < axes[AXIS_UNIT].count(&w->space); u++) {
            h.at[AXIS_RECIPE] = (uint16_t)r, h.at[AXIS_UNIT] = (uint16_t)u;
            if (!w->p->recipe || w->p->recipe == &recipes[r]) consider(l, w, h);
        }
    l->failed |= !level_sort(l, w);
}

/* Every split and rounding of operands, on each of these. */
static void add_operands(struct level *l, const struct level *bases,
                         const struct whole *w)
{
    for (size_t value = 1; value < axes[AXIS_PARTS].count(&w->space); value++)
        for (size_t i = 0; i < bases->count; i++) {
            struct hypothesis h = bases->at[i].h;
            h.at[AXIS_PARTS] = (uint16_t)value;
            consider(l, w, h);
        }
}

/* Every change of one other axis, on one of these. */
static void add_changes(struct level *l, const struct tried *t, const struct whole *w)
{
    static const int changed[] = { AXIS_ORDER, AXIS_PROMOTE, AXIS_TERMS, AXIS_TILE,
                                   AXIS_LINES };
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        for (size_t value = 1; value < axes[changed[i]].count(&w->space); value++) {
            struct hypothesis h = t->h;
            h.at[changed[i]] = (uint16_t)value;
            consider(l, w, h);
        }
}

/* The relative difference of the first statistic that is given. */
static double miss_of(const struct tried *t, const struct whole *w)
{
    int i = 0;
    if (w->p->agreement) return t->ran ? 1 - t->agreement : (double)INFINITY;
    while (!w->p->published[i].given) i++;
    return t->ran ? statistic_miss(&w->p->published[i], t->value[i]) : (double)INFINITY;
}

/* --- the answer --------------------------------------------------------------------- */

static void name_of(char *text, size_t size, const struct verdict *v,
                    const struct space *s)
{
    char changes[CHANGES_MAX];
    text_add(text, size, "%s on %s", v->x.gemm.recipe->name, v->x.gemm.unit->name);
    verdict_describe(changes, sizeof changes, v, s);
    if (*changes) text_add(text, size, ", but %s", changes);
}

/* Roundings are simpler changes of operands than other splits, and a recipe without a
   split of its own says more than one whose split was replaced. */
static int split_cost(const struct candidate *x)
{
    return 2 * ((x->gemm.split_a != NULL) + (x->gemm.split_b != NULL)) +
           (x->gemm.recipe->split != NULL);
}

/* Whether t is the better answer: it gives every digit and is likelier, or it is nearer.
 */
static bool is_better(const struct tried *t, const struct tried *than,
                      const struct whole *w)
{
    struct candidate x, y;
    if (t->gives != than->gives) return t->gives;
    if (!t->gives) return miss_of(t, w) < miss_of(than, w);
    candidate_make(&x, &w->space, t->h);
    candidate_make(&y, &w->space, than->h);
    if (t->h.at[AXIS_PARTS] && split_cost(&x) != split_cost(&y))
        return split_cost(&x) < split_cost(&y);
    return prior_compare(&w->prior, (struct contender){ &x, &t->h, false },
                         (struct contender){ &y, &than->h, false }) < 0;
}

/* The hypotheses of a level that give every digit. */
static void count_equals(struct statistic_answer *to, const struct level *l,
                         const struct tried *best, const struct whole *w)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct tried *const t = &l->at[i];
        if (!t->gives) continue;
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = l->at[j].gives && l->at[j].digest == t->digest;
        to->gives++;
        to->results += !seen;
        if (!memcmp(&t->h, &best->h, sizeof t->h) || t->digest != best->digest) continue;
        struct verdict v = { .h = t->h };
        candidate_make(&v.x, &w->space, t->h);
        if (to->equals < STATISTIC_EQUALS_MAX)
            name_of(to->equal[to->equals], STATISTIC_NAME_MAX, &v, &w->space);
        to->equals++;
    }
}

static void pairs_set(struct statistic_answer *to, const struct tried *best,
                      const struct whole *w)
{
    for (int i = 0; i < STATISTICS; i++)
        if (w->p->published[i].given)
            to->pair[to->pairs++] =
                (struct statistic_pair){ .row = &statistics[i],
                                         .published = w->p->published[i],
                                         .ours = best->value[i],
                                         .agrees =
                                             statistic_agrees(i, &w->p->published[i],
                                                              best->value, w->outputs) };
    to->miss = miss_of(best, w);
}

static void answer_set(struct statistic_answer *to, const struct tried *best,
                       const struct whole *w)
{
    to->named = best->ran;
    if (!best->ran) return;
    to->found = best->gives;
    to->best = (struct verdict){ .h = best->h };
    candidate_make(&to->best.x, &w->space, best->h);
    name_of(to->name, sizeof to->name, &to->best, &w->space);
    pairs_set(to, best, w);
}

/* --- the search --------------------------------------------------------------------- */

/* The levels that were tried, and the best hypothesis of them. */
struct search_state {
    const struct whole *w;
    struct statistic_answer *to;
    struct effort effort;
    struct tried best;
};

/* Run the hypotheses of a level.  The search ends with a level that has the answer, and
   when the work is spent. */
static enum bitcut_status level_try(struct search_state *s, struct level *l,
                                    struct fault *f)
{
    if (l->failed)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for hypotheses");
    const size_t count = affordable(l, &s->effort);
    s->to->complete &= count == l->count;
    s->to->tried += l->count = count;
    const enum bitcut_status status = level_run(l, s->w, f);
    for (size_t i = 0; i < l->count && status == BITCUT_OK; i++)
        if (l->at[i].ran && (!s->best.ran || is_better(&l->at[i], &s->best, s->w)))
            s->best = l->at[i];
    if (status == BITCUT_OK && s->best.gives) count_equals(s->to, l, &s->best, s->w);
    return status;
}

static bool is_over(const struct search_state *s)
{
    return s->best.gives || !s->to->complete;
}

/* A hypothesis and its relative difference. */
struct ranked {
    const struct tried *t;
    double miss;
    int cost;
    bool again; /* a simpler one has the same D */
};

/* First those whose D is new; the nearest; of the same D the simplest. */
static int compare_miss(const void *first, const void *second)
{
    const struct ranked *const a = first, *const b = second;
    if (a->again != b->again) return a->again - b->again;
    if (a->miss != b->miss) return a->miss < b->miss ? -1 : 1;
    if (a->t->digest != b->t->digest) return a->t->digest < b->t->digest ? -1 : 1;
    if (a->cost != b->cost) return a->cost - b->cost;
    return a->t < b->t ? -1 : a->t > b->t;
}

/* The hypotheses of a level, the nearest first, but those last whose D another one has.
   NULL: no memory. */
static struct ranked *nearest(const struct level *l, const struct whole *w)
{
    struct ranked *const r = memory_allocate(l->count + 1, sizeof *r);
    for (size_t i = 0; r && i < l->count; i++) {
        struct candidate x;
        candidate_make(&x, &w->space, l->at[i].h);
        r[i] = (struct ranked){ &l->at[i], miss_of(&l->at[i], w), split_cost(&x), false };
    }
    if (!r) return NULL;
    qsort(r, l->count, sizeof *r, compare_miss);
    for (size_t i = 1; i < l->count; i++)
        r[i].again = r[i].t->ran && r[i].t->digest == r[i - 1].t->digest;
    qsort(r, l->count, sizeof *r, compare_miss);
    return r;
}

/* Changes of one other axis: in turn of the likeliest recipe and unit without a change,
   and of the nearest with other operands. */
static enum bitcut_status try_changes(struct search_state *s, const struct level *bases,
                                      const struct level *operands, struct fault *f)
{
    struct ranked *const near = nearest(operands, s->w);
    enum bitcut_status status =
        near ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a list");
    const size_t most = bases->count > operands->count ? bases->count : operands->count;
    for (size_t i = 0; i < 2 * most && status == BITCUT_OK && !is_over(s); i++) {
        const struct level *const from = i % 2 ? operands : bases;
        struct level l = { .count = 0 };
        if (i / 2 >= from->count) continue;
        add_changes(&l, i % 2 ? near[i / 2].t : &bases->at[i / 2], s->w);
        status = level_try(s, &l, f);
        free(l.at);
    }
    free(near);
    return status;
}

static enum bitcut_status search(struct statistic_answer *to, const struct whole *w,
                                 struct fault *f)
{
    struct search_state s = { .w = w,
                              .to = to,
                              .effort = effort_of(WORK_SEARCH * w->p->effort, 0) };
    struct level bases = { .count = 0 }, operands = { .count = 0 };
    to->complete = true;
    add_bases(&bases, w);
    enum bitcut_status status = level_try(&s, &bases, f);
    if (status == BITCUT_OK && !is_over(&s)) {
        add_operands(&operands, &bases, w);
        status = level_try(&s, &operands, f);
    }
    if (status == BITCUT_OK && !is_over(&s))
        status = try_changes(&s, &bases, &operands, f);
    if (status == BITCUT_OK) status = explain_space_status(&w->space, f);
    if (status == BITCUT_OK) answer_set(to, &s.best, w);
    free(bases.at);
    free(operands.at);
    return status;
}

enum bitcut_status statistic_search(struct statistic_answer *to,
                                    const struct statistic_problem *p, struct fault *f)
{
    struct whole w;
    bool given = p->agreement != NULL;
    for (int i = 0; i < STATISTICS; i++) given |= p->published[i].given;
    if (!given || !p->a.rows || !p->b.cols || !p->a.cols)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         given ? "the GEMM has no outputs" : "no statistic is given");
    *to = (struct statistic_answer){ .m = p->a.rows, .n = p->b.cols, .k = p->a.cols };
    enum bitcut_status status = whole_make(&w, p, f);
    to->gemms = w.gemms;
    to->outputs = w.outputs;
    if (status == BITCUT_OK) status = search(to, &w, f);
    whole_clear(&w);
    return status;
}
