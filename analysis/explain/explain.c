#include "analysis/explain/explain.h"

#include "analysis/explain/coarse.h"
#include "analysis/explain/defect.h"
#include "lib/clock.h"
#include "lib/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Outputs on which every hypothesis is tried. */
enum { SCREEN_COLS = 16, STREAM_SCREEN = 10, STREAM_SAMPLE = 20 };

/* Of long sums fewer. */
static size_t screen_rows(const struct question *q)
{
    return question_k(q) > 1024 ? 2 : 4;
}

/* --- blocks of outputs ------------------------------------------------------------ */

/* Rows and columns of part of D, some of them. */
struct window {
    size_t row, row_end, col, col_end;
};

static enum bitcut_status take_some(struct block *to, const struct question *q,
                                    struct window w, size_t rows, size_t cols,
                                    uint64_t seed, uint64_t stream, struct fault *f)
{
    rows = smaller(rows, w.row_end - w.row);
    cols = smaller(cols, w.col_end - w.col);
    size_t *const row = memory_allocate(rows, sizeof *row), *const col = memory_allocate(
                                                                cols, sizeof *col);
    enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY, "out of memory for a sample");
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

/* What happens while hypotheses are confirmed on the sample. */
struct confirmation {
    struct explanation *e;
    const struct block *sample;
    uint32_t *scratch;
};

static struct verdict judge(const struct confirmation *c, struct hypothesis h)
{
    struct verdict v = { .h = h, .sampled = c->sample->rows * c->sample->cols };
    if (candidate_make(&v.x, &c->e->space, h))
        v.matched =
            candidate_match(&v.x, &c->e->space, c->sample, c->scratch, NULL).matched;
    return v;
}

static bool confirm(void *context, const struct finding *f)
{
    struct confirmation *const c = context;
    const struct verdict v = judge(c, f->h);
    if (v.matched > c->e->best.matched || !c->e->best.sampled) c->e->best = v;
    return v.matched == v.sampled;
}

/* Which of two hypotheses that give the same is named: what was recorded on hardware,
   then definitions, then what nobody here ran; among these the unit whose operands have
   no more bits than A and B need. */
static int rank(const struct verdict *v, const struct block *sample)
{
    const enum evidence e = v->x.gemm.unit->evidence;
    const struct bitcut_format *f = v->x.plan.split_a.word[0].format;
    const bool whole = format_has_all(f, sample->a, sample->rows * sample->k) &&
                       format_has_all(f, sample->b, sample->k * sample->cols);
    return 100 * (e == EVIDENCE_RECORDED     ? 0
                  : e == EVIDENCE_DEFINITION ? 1
                                             : 2) +
           (whole ? f->fraction_bits : 99);
}

static void add_equal(const struct confirmation *c, struct verdict v)
{
    struct explanation *const e = c->e;
    if (rank(&v, c->sample) < rank(&e->best, c->sample)) {
        const struct verdict other = e->best;
        e->best = v;
        v = other;
    }
    if (e->equals++ < EQUALS_MOST) e->equal[e->equals - 1] = v;
}

/* What came nearest before there was a stop, if nothing was confirmed until then: of the
   outputs on which it was tried. */
static void take_screened(struct explanation *e, const struct search *s)
{
    if (e->best.sampled || !s->count || !s->found[0].matched) return;
    e->best = (struct verdict){ .h = s->found[0].h,
                                .matched = s->found[0].matched,
                                .sampled = s->screen->rows * s->screen->cols };
    candidate_make(&e->best.x, &e->space, e->best.h);
}

/* Of those that give all of the block, others than the best that give all of the sample;
   if none does, the best of the nearest ones. */
static void compare_findings(struct confirmation *c, const struct search *s)
{
    struct explanation *const e = c->e;
    const bool all = e->best.matched == e->best.sampled && e->best.sampled;
    const size_t outputs = s->screen->rows * s->screen->cols;
    const struct hypothesis first = e->best.h;
    if (progress_stopped(s->progress)) take_screened(e, s);
    for (size_t i = 0; i < s->count && !progress_stopped(s->progress) &&
                       (all ? s->found[i].matched == outputs : i < 64);
         i++) {
        const struct verdict v = judge(c, s->found[i].h);
        const bool same = !memcmp(&v.h, &first, sizeof v.h);
        if (all && !same && v.matched == v.sampled) add_equal(c, v);
        if (!all && (v.matched > e->best.matched || !e->best.sampled)) e->best = v;
    }
}

/* --- results that are wrong in part ----------------------------------------------- */

/* Outputs of a few cells of D, contiguous, as a candidate gives them: whether most cells
   agree as a whole, and the others do not in whole lines. */
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

/* The same of columns, or of rows: most agree as a whole, and in the others most differ.
 */
static bool agrees_in_lines(const struct block *b, const uint32_t *d, bool columns)
{
    enum { SHARE = 3 };
    const size_t lines = columns ? b->cols : b->rows, each = columns ? b->rows : b->cols;
    size_t agree = 0, differ = 0;
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

/* Whether what gives the most of the block is right but in some parts of D: the search
   ends and these are looked at. */
static bool is_right_in_part(const struct search *s, void *context)
{
    enum { SIDE = 128, ENOUGH = 4 };
    const struct confirmation *const c = context;
    const struct question *const q = &c->e->q;
    const size_t m = question_m(q), n = question_n(q);
    const struct window w = { 0, smaller(m, SIDE), 0, smaller(n, SIDE) };
    struct candidate x;
    struct block b;
    bool settled = false;
    if (!s->count || ENOUGH * s->found[0].matched < s->screen->rows * s->screen->cols ||
        !candidate_make(&x, &c->e->space, s->found[0].h) ||
        take_some(&b, q, w, SIDE, SIDE, 0, 0, NULL) != BITCUT_OK)
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

static enum bitcut_status find(struct explanation *e, const struct block *screen,
                               const struct block *sample, const struct hypothesis *base,
                               double seconds, const struct explain_options *o,
                               struct fault *f)
{
    struct search *const s = calloc(1, sizeof *s);
    struct confirmation c = {
        e, sample, memory_allocate(sample->rows, sample->cols * sizeof(uint32_t))
    };
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (s && c.scratch) {
        *s = (struct search){ .space = &e->space,
                              .screen = screen,
                              .base = base,
                              .end = seconds_now() + seconds,
                              .threads = o->threads,
                              .settled = base ? NULL : is_right_in_part,
                              .progress = o->progress };
        status = explain_search(s, confirm, &c, f);
        e->tried = s->tried;
        e->complete = !s->cut_short;
        memcpy(e->distance, s->distance, sizeof e->distance);
        compare_findings(&c, s);
    } else fault_set(f, status, "out of memory for the search");
    free(s);
    free(c.scratch);
    return status;
}

/* Say a hypothesis of one space in another of the same question, which may know other
   ranges of k, and so other faults.  False: it has none. */
static bool carry_over(struct hypothesis *h, const struct space *to,
                       const struct space *from)
{
    const struct defect_choice c = from->fault[h->at[AXIS_FAULT]];
    if (to->k != from->k || to->units != from->units) return false;
    if (!c.row) return true;
    for (size_t i = 1; i < to->faults && !c.row->of_ranges; i++)
        if (to->fault[i].row == c.row && to->fault[i].kind == c.kind) {
            h->at[AXIS_FAULT] = (uint16_t)i;
            return true;
        }
    return false;
}

/* Try what another result was found to be, and what else gave that one. */
static enum bitcut_status find_like(struct explanation *e, const struct block *sample,
                                    const struct explain_options *o, struct fault *f)
{
    const struct explanation *const like = o->like;
    struct confirmation c = {
        e, sample, memory_allocate(sample->rows, sample->cols * sizeof(uint32_t))
    };
    if (!c.scratch) return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the search");
    for (size_t i = 0; i <= smaller(like->equals, EQUALS_MOST) && like->best.sampled &&
                       !progress_stopped(o->progress);
         i++) {
        struct hypothesis h = i ? like->equal[i - 1].h : like->best.h;
        if (!carry_over(&h, &e->space, &like->space)) continue;
        const struct verdict v = judge(&c, h);
        e->tried++;
        if (v.matched < v.sampled) continue;
        if (e->complete) add_equal(&c, v);
        else e->best = v;
        e->complete = true;
    }
    free(c.scratch);
    return BITCUT_OK;
}

/* --- the rest of D ---------------------------------------------------------------- */

/* D as it is read, what the best hypothesis gives, and C; all, or its first rows. */
struct whole {
    struct pair_of x;
    uint32_t *d, *h, *c;
};

static void whole_clear(struct whole *w)
{
    free(w->d);
    free(w->h);
    free(w->c);
}

/* Rows [from, to) of D, by all columns. */
static enum bitcut_status take_rows(struct block *b, const struct question *q,
                                    size_t from, size_t to, struct fault *f)
{
    const struct window w = { from, to, 0, question_n(q) };
    return take_some(b, q, w, to - from, w.col_end, 0, 0, f);
}

static enum bitcut_status compare_rows(struct whole *w, const struct explanation *e,
                                       size_t from, size_t to,
                                       const struct explain_options *o, struct fault *f)
{
    struct block b;
    const size_t at = from * w->x.n, count = (to - from) * w->x.n;
    enum bitcut_status status = take_rows(&b, &e->q, from, to, f);
    if (status != BITCUT_OK) return status;
    status = candidate_run(
        w->h + at, &e->best.x, &e->space, &b,
        &(struct gemm_options){ .threads = o->threads, .progress = o->progress }, f);
    memcpy(w->d + at, b.d, count * sizeof *b.d);
    if (b.c) memcpy(w->c + at, b.c, count * sizeof *b.c);
    block_clear(&b);
    return status;
}

/* A stop is no failure: what there is stands. */
static enum bitcut_status unless_stopped(enum bitcut_status status,
                                         const struct explain_options *o)
{
    return status == BITCUT_CANNOT && progress_stopped(o->progress) ? BITCUT_OK : status;
}

/* As many rows as the time allows, and at least the first ones, up to a stop. */
static enum bitcut_status compare_all(struct whole *w, const struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    enum { PANELS = 16 };
    const size_t m = question_m(&e->q), n = question_n(&e->q),
                 panel = divide_up(m, PANELS) < 64 ? 64 : divide_up(m, PANELS);
    const double end = seconds_now() + o->seconds;
    *w = (struct whole){ .x = { .n = n } };
    w->d = memory_allocate(m, n * sizeof *w->d);
    w->h = memory_allocate(m, n * sizeof *w->h);
    if (e->q.c.at) w->c = memory_allocate(m, n * sizeof *w->c);
    if (!w->d || !w->h || (e->q.c.at && !w->c))
        return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the result");
    enum bitcut_status status = BITCUT_OK;
    while (status == BITCUT_OK && w->x.m < m && !progress_stopped(o->progress) &&
           (!w->x.m || seconds_now() < end)) {
        const size_t to = smaller(w->x.m + panel, m);
        status = compare_rows(w, e, w->x.m, to, o, f);
        if (status == BITCUT_OK) w->x.m = to;
    }
    w->x.d = w->d, w->x.h = w->h, w->x.c = w->c;
    return unless_stopped(status, o);
}

/* --- parts that differ ------------------------------------------------------------ */

static bool differs_at(const struct whole *w, size_t i, size_t j)
{
    return w->x.d[i * w->x.n + j] != w->x.h[i * w->x.n + j];
}

static bool row_differs(const struct whole *w, const struct box *box, size_t i)
{
    bool any = false;
    for (size_t j = box->col; j < box->col_end; j++) any |= differs_at(w, i, j);
    return any;
}

static bool column_differs(const struct whole *w, const struct box *box, size_t j)
{
    bool any = false;
    for (size_t i = box->row; i < box->row_end; i++) any |= differs_at(w, i, j);
    return any;
}

/* Some of those rows and columns of a box in which there are differences. */
static enum bitcut_status take_part(struct block *b, const struct whole *w,
                                    const struct box *box, const struct question *q,
                                    struct fault *f)
{
    const size_t rows_most = screen_rows(q);
    size_t row[4], col[SCREEN_COLS], rows = 0, cols = 0;
    for (size_t i = box->row; i < box->row_end && rows < rows_most; i++)
        if (row_differs(w, box, i)) row[rows++] = i;
    for (size_t j = box->col; j < box->col_end && cols < SCREEN_COLS; j++)
        if (column_differs(w, box, j)) col[cols++] = j;
    return block_take(b, q, row, rows, col, cols, f);
}

/* Take as explained what a candidate gives of the rows [from, to) that differ; returns
   how many outputs in *gives. */
static enum bitcut_status settle_rows(size_t *gives, struct whole *w,
                                      const struct explanation *e,
                                      const struct candidate *x, const struct space *s,
                                      size_t from, size_t to,
                                      const struct explain_options *o, struct fault *f)
{
    const struct gemm_options all = { .threads = o->threads, .progress = o->progress };
    struct block b;
    uint32_t *const d = memory_allocate(to - from, w->x.n * sizeof *d);
    enum bitcut_status status =
        d ? take_rows(&b, &e->q, from, to, f)
          : fault_set(f, BITCUT_NO_MEMORY, "out of memory for a part of D");
    if (status == BITCUT_OK) {
        status = candidate_run(d, x, s, &b, &all, f);
        for (size_t i = 0; i < b.rows * b.cols && status == BITCUT_OK; i++) {
            uint32_t *const h = &w->h[from * w->x.n + i];
            if (*h == b.d[i] || d[i] != b.d[i]) continue;
            *h = d[i];
            ++*gives;
        }
        block_clear(&b);
    }
    free(d);
    return status;
}

/* What a candidate gives of all that differs. */
static enum bitcut_status settle_all(size_t *gives, struct whole *w,
                                     const struct explanation *e, const struct verdict *v,
                                     const struct space *space,
                                     const struct explain_options *o, struct fault *f)
{
    enum { PANEL = 64 };
    const struct box all = { .row_end = w->x.m, .col_end = w->x.n };
    enum bitcut_status status = BITCUT_OK;
    *gives = 0;
    for (size_t i = 0; i < w->x.m && status == BITCUT_OK; i += PANEL) {
        const size_t end = smaller(i + PANEL, w->x.m);
        bool any = false;
        for (size_t row = i; row < end; row++) any |= row_differs(w, &all, row);
        if (any) status = settle_rows(gives, w, e, &v->x, space, i, end, o, f);
    }
    return status;
}

/* Take what is in a box as looked at. */
static void settle_box(struct whole *w, const struct box *box)
{
    for (size_t i = box->row; i < box->row_end; i++)
        for (size_t j = box->col; j < box->col_end; j++)
            w->h[i * w->x.n + j] = w->x.d[i * w->x.n + j];
}

/* What a part is called that has another value of an axis. */
static const char *const other_names[AXES] = {
    [AXIS_PROMOTE] = "another promotion", [AXIS_WORDS] = "other words",
    [AXIS_TERMS] = "other terms",         [AXIS_TILE] = "other tiles of k",
    [AXIS_LINES] = "equilibration",       [AXIS_ORDER] = "another order",
};

static int first_axis(const struct hypothesis *h)
{
    int axis = AXIS_PROMOTE;
    while (axis < AXIS_ORDER && !h->at[axis]) axis++;
    return axis;
}

/* What is known of a part, which may be in more places than the box. */
static enum bitcut_status tell_part(struct box *box, struct whole *w,
                                    const struct explanation *e,
                                    const struct explanation *part,
                                    const struct explain_options *o, struct fault *f)
{
    const struct verdict *v = &part->best;
    const size_t in_box = box->differ;
    size_t gives;
    if (!v->sampled || v->matched < v->sampled) return BITCUT_OK;
    const enum bitcut_status status = settle_all(&gives, w, e, v, &part->space, o, f);
    if (status != BITCUT_OK || gives < in_box) return status;
    box->differ = gives;
    box->elsewhere = gives - in_box;
    verdict_say(box->what, sizeof box->what, v, &part->space);
    box->fault = v->h.at[AXIS_FAULT] ? fault_name(&part->space, v->h.at[AXIS_FAULT])
                                     : other_names[first_axis(&v->h)];
    return status;
}

/* What the same recipe on the same unit would have to do to give a box. */
static enum bitcut_status explain_part(struct box *box, struct whole *w,
                                       const struct explanation *e,
                                       const struct explain_options *o, struct fault *f)
{
    enum { SECONDS = 5 };
    struct explanation part = { .q = e->q };
    struct block b;
    enum bitcut_status status = take_part(&b, w, box, &e->q, f);
    if (status != BITCUT_OK) return status;
    status = explain_space_make(&part.space, &b, f);
    if (status == BITCUT_OK)
        status = explain_space_add_lanes(&part.space, &e->best.x.gemm.order, f);
    if (status == BITCUT_OK) status = find(&part, &b, &b, &e->best.h, SECONDS, o, f);
    if (status == BITCUT_OK) status = tell_part(box, w, e, &part, o, f);
    explain_space_clear(&part.space);
    block_clear(&b);
    return status;
}

/* Add a part to those that are told; those of the same kind are one. */
static void add_part(struct explanation *e, const struct box *box)
{
    for (size_t i = 0; i < e->parts && i < PARTS_MOST; i++) {
        struct box *const p = &e->part[i];
        if (!box->fault || !p->fault || strcmp(p->what, box->what) != 0) continue;
        p->differ += box->differ;
        p->elsewhere += box->differ;
        return;
    }
    if (e->parts++ < PARTS_MOST) e->part[e->parts - 1] = *box;
}

/* Say what is in all of D, if that is plain. */
static void explain_all(struct explanation *e, const struct whole *w)
{
    struct box all = { .row_end = w->x.m, .col_end = w->x.n, .differ = e->differ };
    if (!difference_say(&all, &w->x)) return;
    add_part(e, &all);
    e->found = true;
}

/* The largest box that differs, then the largest of what is left; each whole D of what
   gave one of them. */
static enum bitcut_status explain_parts(struct explanation *e, struct whole *w,
                                        const struct explain_options *o, struct fault *f)
{
    enum { ROUNDS = 256, SEARCHES = PARTS_MOST };
    enum bitcut_status status = BITCUT_OK;
    struct box box;
    bool known = true;
    int searches = 0, round = 0;
    while (round++ < ROUNDS && status == BITCUT_OK && difference_boxes(&box, 1, &w->x)) {
        if (!difference_say(&box, &w->x) && box.differ > 1 && searches++ < SEARCHES)
            status = explain_part(&box, w, e, o, f);
        if (!box.fault) difference_foreign(&box, &w->x);
        known &= box.fault != NULL;
        add_part(e, &box);
        settle_box(w, &box);
    }
    e->found = known && round <= ROUNDS && status == BITCUT_OK;
    return unless_stopped(status, o);
}

static size_t count_differences(const struct whole *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->x.m * w->x.n; i++) count += w->x.d[i] != w->x.h[i];
    return count;
}

/* Of hypotheses that the sample does not tell apart, the one that gives the most of D:
   the best, compared in *w, or another.  Ends with *w of the best. */
static enum bitcut_status choose_best(struct whole *w, struct explanation *e,
                                      const struct explain_options *o, struct fault *f)
{
    const double end = seconds_now() + o->seconds;
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0;
         i < e->equals && i < EQUALS_MOST && e->differ && status == BITCUT_OK &&
         seconds_now() < end && !progress_stopped(o->progress);
         i++) {
        const struct verdict before = e->best;
        struct whole other;
        e->best = e->equal[i];
        status = compare_all(&other, e, o, f);
        const size_t differ = status == BITCUT_OK && other.x.m == w->x.m
                                  ? count_differences(&other)
                                  : SIZE_MAX;
        if (differ < e->differ) {
            struct whole kept = other;
            other = *w;
            *w = kept;
            e->differ = differ;
            e->equal[i] = before;
        } else e->best = before;
        whole_clear(&other);
    }
    return status;
}

/* Compare what there is time for with the best hypothesis, and look at what differs, if
   that is not nearly everything. */
static enum bitcut_status finish(struct explanation *e, const struct explain_options *o,
                                 struct fault *f)
{
    struct whole w;
    enum bitcut_status status = compare_all(&w, e, o, f);
    e->compared = w.x.m * w.x.n;
    if (status == BITCUT_OK) e->differ = count_differences(&w);
    if (status == BITCUT_OK) status = choose_best(&w, e, o, f);
    e->found = e->compared && !e->differ;
    if (status == BITCUT_OK) status = spread_find(&e->spread, &w.x, e->q.format, f);
    if (status == BITCUT_OK && e->differ && e->differ <= e->compared / 2)
        status = explain_parts(e, &w, o, f);
    else if (status == BITCUT_OK && e->differ) explain_all(e, &w);
    whole_clear(&w);
    return status;
}

/* --- all of it -------------------------------------------------------------------- */

/* Whether all outputs are one number, or NaN: hardly a product. */
static bool is_plain(const struct block *b)
{
    bool same = b->rows * b->cols > 1, nan = same;
    for (size_t i = 0; i < b->rows * b->cols; i++) {
        same &= b->d[i] == b->d[0];
        nan &= (b->d[i] & 0x7fffffff) > 0x7f800000;
    }
    return same || nan;
}

static enum bitcut_status search_blocks(struct explanation *e, const struct block *screen,
                                        const struct block *sample,
                                        const struct explain_options *o, struct fault *f)
{
    e->error = coarse_error(screen, e->q.alpha, e->q.beta);
    enum bitcut_status status = explain_space_make(&e->space, screen, f);
    if (status == BITCUT_OK && o->like) status = find_like(e, sample, o, f);
    if (status == BITCUT_OK && !e->complete)
        status = find(e, screen, sample, NULL,
                      is_plain(sample) ? fmin(1, o->seconds) : o->seconds, o, f);
    if (status == BITCUT_OK && e->best.sampled) status = finish(e, o, f);
    return status;
}

/* The outputs on which hypotheses are tried; of results of few bits those that tell. */
static enum bitcut_status take_screen(struct block *to, const struct question *q,
                                      struct window w, uint64_t seed, struct fault *f)
{
    enum { WIDE = 512 };
    const bool is_short = q->format != &formats[FORMAT_F32];
    size_t col[SCREEN_COLS];
    struct block wide;
    enum bitcut_status status =
        take_some(is_short ? &wide : to, q, w, screen_rows(q),
                  is_short ? WIDE : SCREEN_COLS, seed, STREAM_SCREEN, f);
    if (status != BITCUT_OK || !is_short) return status;
    const size_t cols =
        coarse_ties(col, SCREEN_COLS, &wide, q->format, q->alpha, q->beta);
    for (size_t j = 0; j < cols; j++) col[j] = wide.col[col[j]];
    status = cols ? block_take(to, q, wide.row, wide.rows, col, cols, f)
                  : fault_set(f, BITCUT_NO_MEMORY, "out of memory for outputs near ties");
    block_clear(&wide);
    return status;
}

static enum bitcut_status
search_question(struct explanation *e, const struct explain_options *o, struct fault *f)
{
    const struct window all = { 0, question_m(&e->q), 0, question_n(&e->q) };
    const size_t side = (size_t)sqrt((double)o->samples);
    struct block screen, sample = { 0 };
    e->total = all.row_end * all.col_end;
    enum bitcut_status status = take_screen(&screen, &e->q, all, o->seed, f);
    if (status != BITCUT_OK) return status;
    status = take_some(&sample, &e->q, all, side, side, o->seed, STREAM_SAMPLE, f);
    if (status == BITCUT_OK) status = search_blocks(e, &screen, &sample, o, f);
    block_clear(&screen);
    block_clear(&sample);
    return status;
}

/* Whether GEMMs run on the only unit, if there is one: each word of one is its operand.
 */
static enum bitcut_status check_unit(const struct question *q, struct fault *f)
{
    struct gemm_plan plan;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.unit = q->unit;
    return q->unit ? gemm_plan_on_unit(&plan, &g, f) : BITCUT_OK;
}

enum bitcut_status explain_run(struct explanation *e, const struct question *q,
                               const struct explain_options *o, struct fault *f)
{
    struct explanation x = { .q = *q };
    enum bitcut_status status = check_unit(q, f);
    if (status == BITCUT_OK) status = coarse_read(&x.q, o->seed, f);
    if (status == BITCUT_OK && (!question_m(&x.q) || !question_n(&x.q)))
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "D has no elements");
    if (status == BITCUT_OK) status = search_question(&x, o, f);
    x.interrupted = progress_stopped(o->progress);
    if (status == BITCUT_OK) *e = x;
    else explain_space_clear(&x.space);
    return status;
}

void explain_clear(struct explanation *e) { explain_space_clear(&e->space); }
