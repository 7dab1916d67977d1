/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/find.h"

#include "analysis/identify/distinguishing_output.h"
#include "analysis/identify/fault.h"
#include "analysis/identify/order_class.h"
#include "analysis/identify/prior.h"
#include "lib/base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum bitcut_status window_take(struct block *to, const struct problem *q, struct window w,
                               size_t rows, size_t cols, uint64_t seed, uint64_t stream,
                               struct fault *f)
{
    rows = smaller(rows, w.row_end - w.row);
    cols = smaller(cols, w.col_end - w.col);
    size_t *const row = memory_allocate(rows, sizeof *row), *const col = memory_allocate(
                                                                cols, sizeof *col);
    enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) {
        lines_draw(row, rows, w.row_end - w.row, seed, stream);
        lines_draw(col, cols, w.col_end - w.col, seed, stream + 1);
        for (size_t i = 0; i < rows; i++) row[i] += w.row;
        for (size_t j = 0; j < cols; j++) col[j] += w.col;
        status = block_take(to, q, row, rows, col, cols, f);
    }
    free(row);
    free(col);
    return status;
}

/* --- confirming ------------------------------------------------------------------- */

/* State of the confirmation of hypotheses on the sample. */
struct confirmation {
    struct explanation *e;
    const struct explain_options *o;
    const struct block *sample;
    uint32_t *scratch;
    struct gemm_parts parts; /* of the sample */
    struct gemm_options all;
    struct search *s;              /* NULL: no search is in progress */
    struct distinguishing telling; /* outputs by which hypotheses were refused */
    size_t enough;                 /* number of them from which they form a new screen */
    struct prior prior;
};

/* Outputs of the sample that a candidate gives, rounded to the format of the space. */
static size_t count_matched(struct confirmation *c, const struct candidate *x,
                            const struct space *s)
{
    const size_t count = c->sample->rows * c->sample->cols;
    struct gemm_options all = c->all;
    size_t matched = 0;
    all.parts = &c->parts;
    if (candidate_run(c->scratch, x, s, c->sample, &all, NULL) == BITCUT_OK)
        for (size_t i = 0; i < count; i++) matched += c->scratch[i] == c->sample->d[i];
    return matched;
}

/* Whether D has its format only because that contains all of D, and a candidate that
   gives D does so only by the rounding to it. */
static bool is_stored(struct confirmation *c, const struct candidate *x)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    struct space unrounded = c->e->space;
    unrounded.format = f32;
    return problem_infers_format(&c->e->q) &&
           count_matched(c, x, &unrounded) < c->sample->rows * c->sample->cols;
}

/* Computes the hypothesis into c->scratch. */
static struct verdict judge(struct confirmation *c, struct hypothesis h)
{
    struct verdict v = { .h = h, .sampled = c->sample->rows * c->sample->cols };
    if (!candidate_make(&v.x, &c->e->space, h)) return v;
    v.matched = count_matched(c, &v.x, &c->e->space);
    return v;
}

/* The same, and how its sums become D. */
static struct verdict judge_stored(struct confirmation *c, struct hypothesis h)
{
    struct verdict v = judge(c, h);
    v.stored = v.matched == v.sampled && is_stored(c, &v.x);
    return v;
}

/* For results in short formats, the screen accepts hypotheses that the sample refuses.
   After enough refusals, the refusing outputs form a better screen. */
static bool confirm(void *context, const struct finding *f)
{
    struct confirmation *const c = context;
    const struct block *const b = c->sample;
    const struct compared x = { b->d, c->scratch, b->rows, b->cols, b->row, b->col };
    const struct verdict v = judge(c, f->h);
    if (v.matched > c->e->best.matched || !c->e->best.sampled) c->e->best = v;
    if (v.matched == v.sampled) return true;
    if (problem_is_short(&c->e->q) && distinguishing_take(&c->telling, &x, 1))
        c->s->dull = c->telling.taken >= c->enough;
    return false;
}

/* Whether a hypothesis is the recipe on the unit that were said to have computed D. */
static bool is_said(const struct confirmation *c, const struct verdict *v)
{
    const struct bitcut_gemm *const said = c->e->q.said;
    return said && v->x.gemm.recipe == said->recipe && v->x.gemm.unit == said->unit;
}

/* Whether the first of two hypotheses with the same results comes before the second: the
   GEMM that was said to have computed D; then the likelier one. */
static bool comes_before(const struct confirmation *c, const struct verdict *x,
                         const struct verdict *y)
{
    const bool of_x = is_said(c, x), of_y = is_said(c, y);
    if (of_x != of_y) return of_x;
    return prior_compare(&c->prior, (struct contender){ &x->x, &x->h, x->stored },
                         (struct contender){ &y->x, &y->h, y->stored }) < 0;
}

/* Add a hypothesis to the best one and its equals.  The likeliest equals are kept, in
   order. */
static void add_equal(struct confirmation *c, struct verdict v)
{
    struct explanation *const e = c->e;
    const size_t kept = smaller(e->equals, EQUALS_MAX);
    bool known = !memcmp(&v.h, &e->best.h, sizeof v.h);
    for (size_t i = 0; i < kept; i++) known |= !memcmp(&v.h, &e->equal[i].h, sizeof v.h);
    if (known) return;
    size_t at = kept;
    e->equals++;
    if (comes_before(c, &v, &e->best)) {
        const struct verdict other = e->best;
        e->best = v;
        v = other;
    }
    if (at == EQUALS_MAX && !comes_before(c, &v, &e->equal[--at])) return;
    for (; at > 0 && comes_before(c, &v, &e->equal[at - 1]); at--)
        e->equal[at] = e->equal[at - 1];
    e->equal[at] = v;
}

/* If there was a stop before anything was confirmed: the nearest hypothesis on the
   outputs on which it was tried. */
static void take_screened(struct explanation *e, const struct search *s)
{
    if (e->best.sampled || !s->count || !s->found[0].matched) return;
    e->best = (struct verdict){ .h = s->found[0].h,
                                .matched = s->found[0].matched,
                                .sampled = s->screen->rows * s->screen->cols };
    candidate_make(&e->best.x, &e->space, e->best.h);
}

/* Among the hypotheses that give all of the block: those, other than the best, that give
   the whole sample; if there is none, the best of the nearest ones. */
static void compare_findings(struct confirmation *c, const struct search *s)
{
    struct explanation *const e = c->e;
    const bool all = e->best.matched == e->best.sampled && e->best.sampled;
    const size_t outputs = s->screen->rows * s->screen->cols;
    const struct hypothesis first = e->best.h;
    if (progress_stopped(s->progress)) take_screened(e, s);
    if (all) e->best.stored = is_stored(c, &e->best.x);
    for (size_t i = 0; i < s->count && !progress_stopped(s->progress) &&
                       (all ? s->found[i].matched == outputs : i < 64);
         i++) {
        const struct verdict v = judge_stored(c, s->found[i].h);
        const bool same = !memcmp(&v.h, &first, sizeof v.h);
        if (all && !same && v.matched == v.sampled) add_equal(c, v);
        if (!all && (v.matched > e->best.matched || !e->best.sampled)) e->best = v;
    }
}

/* --- results with wrong regions --------------------------------------------------- */

/* Outputs of a few contiguous cells of D, computed by a candidate: whether most cells
   agree as a whole, and the others do not differ in whole rows or columns. */
static bool agrees_in_cells(const struct block *b, const uint32_t *d)
{
    enum { CELL = 8, LEAST = 4, SHARE = 3 };
    size_t cells = 0, agree = 0, differ = 0, filled = 0;
    for (size_t i = 0; i + CELL <= b->rows; i += CELL)
        for (size_t j = 0; j + CELL <= b->cols; j += CELL) {
            size_t count = 0;
            unsigned rows = 0, cols = 0;
            for (size_t at = 0; at < CELL * CELL; at++) {
                const size_t y = at / CELL, x = at % CELL,
                             place = (i + y) * b->cols + j + x;
                if (b->d[place] == d[place]) continue;
                count++, rows |= 1u << y, cols |= 1u << x;
            }
            cells++, agree += !count, differ += count;
            filled += (size_t)__builtin_popcount(rows) * (size_t)__builtin_popcount(cols);
            if (count && count < LEAST) return false;
        }
    return SHARE * agree >= cells && agree < cells && 2 * differ >= filled;
}

/* The same for columns, or for rows: most agree completely, and in the others most
   outputs differ.  Lines of few outputs say nothing: two correct orders agree there, too.
 */
static bool agrees_in_lines(const struct block *b, const uint32_t *d, bool columns)
{
    enum { SHARE = 3, LINE_MIN = 8 };
    const size_t lines = columns ? b->cols : b->rows, each = columns ? b->rows : b->cols;
    size_t agree = 0, differ = 0;
    if (each < LINE_MIN) return false;
    for (size_t line = 0; line < lines; line++) {
        size_t count = 0;
        for (size_t i = 0; i < each; i++) {
            const size_t at = columns ? i * b->cols + line : line * b->cols + i;
            count += b->d[at] != d[at];
        }
        agree += !count, differ += count;
    }
    return SHARE * agree >= lines && agree < lines &&
           2 * differ >= (lines - agree) * each;
}

/* Whether the best hypothesis on the block is right except for some regions of D: then
   the search ends, and these regions are examined. */
static bool is_right_in_part(const struct search *s, void *context)
{
    enum { SIDE = 128, ENOUGH = 4 };
    const struct confirmation *const c = context;
    const struct problem *const q = &c->e->q;
    const size_t m = problem_m(q), n = problem_n(q);
    const struct window w = { 0, smaller(m, SIDE), 0, smaller(n, SIDE) };
    struct candidate x;
    struct block b;
    bool settled = false;
    if (!s->count || ENOUGH * s->found[0].matched < s->screen->rows * s->screen->cols ||
        !candidate_make(&x, &c->e->space, s->found[0].h) ||
        window_take(&b, q, w, SIDE, SIDE, 0, 0, NULL) != BITCUT_OK)
        return false;
    uint32_t *const d = memory_allocate(b.rows, b.cols * sizeof *d);
    const struct gemm_options all = { .threads = s->threads, .progress = s->progress };
    if (d && candidate_run(d, &x, &c->e->space, &b, &all, NULL) == BITCUT_OK)
        settled = agrees_in_cells(&b, d) || agrees_in_lines(&b, d, false) ||
                  agrees_in_lines(&b, d, true);
    free(d);
    block_clear(&b);
    return settled;
}

/* Search for several orders of k that give D together. */
static void find_classes(const struct confirmation *c)
{
    if (order_classes_find(&c->e->classes, c->e, NULL, c->s->effort, c->o, NULL) ==
        BITCUT_OK)
        return;
    c->e->classes.has_main = false;
    c->s->failed = true;
}

/* Whether the search ends: several orders of k give D together, or the best hypothesis is
   right in part. */
static bool is_settled(const struct search *s, void *context)
{
    const struct confirmation *const c = context;
    if (!c->e->classes.tried) {
        find_classes(c);
        if (c->e->classes.has_main) return true;
    }
    return is_right_in_part(s, context);
}

/* If an order gives most of D, and no others give the rest together: search for a change
   of the hypothesis, such as another epilogue, that gives all. */
static enum bitcut_status search_from_main(struct confirmation *c, struct fault *f)
{
    enum { PART = 8 };
    struct search *const s = c->s;
    struct order_classes *const classes = &c->e->classes;
    struct effort some = explain_effort(c->o, WORK_SEARCH / PART), *const whole =
                                                                       s->effort;
    const struct hypothesis main = classes->h[0];
    if (!classes->has_main || classes->count) return BITCUT_OK;
    s->base = &main;
    s->keeps_order = true;
    s->effort = &some;
    s->settled = NULL;
    const enum bitcut_status status = explain_search(s, confirm, c, f);
    s->base = NULL;
    s->keeps_order = false;
    s->effort = whole;
    classes->has_main = c->e->best.matched < c->e->best.sampled;
    return status;
}

/* Search on a screen, and on better screens as long as it distinguishes too little.
   Returns BITCUT_NO_MEMORY if memory runs out. */
static enum bitcut_status search_on(struct confirmation *c, const struct block *screen,
                                    struct fault *f)
{
    enum { BETTER = 8 };
    struct search *const s = c->s;
    struct block now = { 0 };
    s->screen = screen;
    enum bitcut_status status = explain_search(s, confirm, c, f);
    memcpy(c->e->distance, s->as_it_stands, sizeof c->e->distance);
    if (status == BITCUT_OK && s->settled) status = search_from_main(c, f);
    for (int i = 0; i < BETTER && s->dull && status == BITCUT_OK; i++) {
        struct block next;
        c->enough = c->telling.taken + TELLING_MAX / 2;
        status = distinguishing_block(&next, &c->telling, s->screen, TELLING_MAX,
                                      TELLING_MAX, f);
        if (status != BITCUT_OK) break;
        block_clear(&now);
        now = next;
        s->screen = &now;
        if (i + 1 == BETTER) c->enough = SIZE_MAX;
        status = explain_search(s, confirm, c, f);
    }
    if (status == BITCUT_OK) compare_findings(c, s);
    block_clear(&now);
    return status;
}

enum bitcut_status explain_find(struct explanation *e, const struct block *screen,
                                const struct block *sample, const struct block *traced,
                                const struct hypothesis *base, struct effort *effort,
                                const struct explain_options *o, struct fault *f)
{
    struct search *const s = calloc(1, sizeof *s);
    struct effort unlimited = effort_of(INFINITY, 0);
    struct confirmation c = {
        .e = e,
        .o = o,
        .sample = sample,
        .all = { .threads = o->threads, .progress = o->progress, .offload = o->offload },
        .scratch = memory_allocate(sample->rows, sample->cols * sizeof(uint32_t)),
        .s = s,
        .prior = prior_of(sample),
        .enough = TELLING_MAX / 2
    };
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (s && c.scratch) {
        *s = (struct search){ .space = &e->space,
                              .traced = traced,
                              .base = base,
                              .effort = effort ? effort : &unlimited,
                              .as_they_are = !effort,
                              .prior = &c.prior,
                              .threads = o->threads,
                              .settled = base ? NULL : is_settled,
                              .progress = o->progress };
        status = search_on(&c, screen, f);
        e->answer.tried += s->tried;
        e->answer.complete = !s->cut_short;
    } else fault_set(f, status, "not enough memory for the search");
    free(s);
    free(c.scratch);
    gemm_parts_clear(&c.parts);
    return status;
}

bool hypothesis_carry(struct hypothesis *h, struct space *to, const struct space *from)
{
    const struct kernel_fault_choice c = from->fault[h->at[AXIS_FAULT]];
    if (to->k != from->k || to->units != from->units ||
        (h->at[AXIS_ORDER] && to->format != from->format) ||
        (h->at[AXIS_EPILOGUE] && to->format != from->format) ||
        !explain_space_share_orders(to, from))
        return false;
    if (!c.row) return true;
    for (size_t i = 1; i < to->faults && !c.row->of_ranges; i++)
        if (to->fault[i].row == c.row && to->fault[i].kind == c.kind) {
            h->at[AXIS_FAULT] = (uint16_t)i;
            return true;
        }
    return false;
}

enum bitcut_status explain_find_like(struct explanation *e, const struct block *sample,
                                     const struct explain_options *o, struct fault *f)
{
    const struct explanation *const like = o->like;
    struct confirmation c = {
        .e = e,
        .o = o,
        .sample = sample,
        .prior = prior_of(sample),
        .all = { .threads = o->threads, .progress = o->progress, .offload = o->offload },
        .scratch = memory_allocate(sample->rows, sample->cols * sizeof(uint32_t))
    };
    if (!c.scratch)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the search");
    for (size_t i = 0; i <= smaller(like->equals, EQUALS_MAX) && like->best.sampled &&
                       !progress_stopped(o->progress);
         i++) {
        struct hypothesis h = i ? like->equal[i - 1].h : like->best.h;
        if (!hypothesis_carry(&h, &e->space, &like->space)) continue;
        const struct verdict v = judge_stored(&c, h);
        e->answer.tried++;
        if (v.matched < v.sampled) continue;
        if (e->answer.complete) add_equal(&c, v);
        else e->best = v;
        e->answer.complete = true;
    }
    free(c.scratch);
    gemm_parts_clear(&c.parts);
    return BITCUT_OK;
}
