/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/region.h"

#include "analysis/identify/find.h"
#include "analysis/identify/rounding_level.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- comparing -------------------------------------------------------------------- */

void whole_clear(struct whole *w)
{
    free(w->d);
    free(w->h);
    free(w->c);
}

/* Compute rows [from, to) of D, in all columns. */
static enum bitcut_status take_rows(struct block *b, const struct problem *q, size_t from,
                                    size_t to, struct fault *f)
{
    const struct window w = { from, to, 0, problem_n(q) };
    return window_take(b, q, w, to - from, w.col_end, 0, 0, f);
}

static enum bitcut_status compare_rows(struct whole *w, const struct explanation *e,
                                       size_t from, size_t to,
                                       const struct explain_options *o, struct fault *f)
{
    struct block b;
    const size_t at = from * w->x.n, count = (to - from) * w->x.n;
    enum bitcut_status status = take_rows(&b, &e->q, from, to, f);
    if (status != BITCUT_OK) return status;
    status = candidate_run(w->h + at, &e->best.x, &e->space, &b,
                           &(struct gemm_options){ .threads = o->threads,
                                                   .progress = o->progress,
                                                   .offload = o->offload },
                           f);
    memcpy(w->d + at, b.d, count * sizeof *b.d);
    if (b.c) memcpy(w->c + at, b.c, count * sizeof *b.c);
    block_clear(&b);
    return status;
}

/* A stop is no failure: the rows computed so far count. */
static enum bitcut_status unless_stopped(enum bitcut_status status,
                                         const struct explain_options *o)
{
    return status == BITCUT_UNSUPPORTED && progress_stopped(o->progress) ? BITCUT_OK
                                                                         : status;
}

enum bitcut_status whole_compare(struct whole *w, const struct explanation *e,
                                 struct effort *effort, const struct explain_options *o,
                                 struct fault *f)
{
    enum { PANELS = 16 };
    const size_t m = problem_m(&e->q), n = problem_n(&e->q),
                 panel = divide_up(m, PANELS) < 64 ? 64 : divide_up(m, PANELS);
    *w = (struct whole){ .x = { .n = n } };
    w->d = memory_allocate(m, n * sizeof *w->d);
    w->h = memory_allocate(m, n * sizeof *w->h);
    if (e->q.c.at) w->c = memory_allocate(m, n * sizeof *w->c);
    if (!w->d || !w->h || (e->q.c.at && !w->c))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the result");
    enum bitcut_status status = BITCUT_OK;
    while (status == BITCUT_OK && w->x.m < m && !progress_stopped(o->progress) &&
           (!w->x.m || !effort_is_spent(effort))) {
        const size_t to = smaller(w->x.m + panel, m);
        effort->spent += candidate_work(&e->best.x, (to - w->x.m) * n, problem_k(&e->q));
        status = compare_rows(w, e, w->x.m, to, o, f);
        if (status == BITCUT_OK) w->x.m = to;
    }
    w->x.d = w->d, w->x.h = w->h, w->x.c = w->c;
    return unless_stopped(status, o);
}

size_t whole_differ(const struct whole *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->x.m * w->x.n; i++) count += w->x.d[i] != w->x.h[i];
    return count;
}

/* --- regions that differ ---------------------------------------------------------- */

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

enum { PART_MAX = 64 };

/* At most that many of the rows and columns of a box that have differences. */
static enum bitcut_status take_part(struct block *b, const struct whole *w,
                                    const struct box *box, size_t rows_max,
                                    size_t cols_max, const struct problem *q,
                                    struct fault *f)
{
    size_t row[PART_MAX], col[PART_MAX], rows = 0, cols = 0;
    for (size_t i = box->row; i < box->row_end && rows < rows_max; i++)
        if (row_differs(w, box, i)) row[rows++] = i;
    for (size_t j = box->col; j < box->col_end && cols < cols_max; j++)
        if (column_differs(w, box, j)) col[cols++] = j;
    return block_take(b, q, row, rows, col, cols, f);
}

/* Mark as explained the outputs that a candidate gives in the differing rows [from, to).
   Returns their number in *gives. */
static enum bitcut_status settle_rows(size_t *gives, struct whole *w,
                                      const struct explanation *e,
                                      const struct candidate *x, const struct space *s,
                                      size_t from, size_t to,
                                      const struct explain_options *o, struct fault *f)
{
    const struct gemm_options all = { .threads = o->threads,
                                      .progress = o->progress,
                                      .offload = o->offload };
    struct block b;
    uint32_t *const d = memory_allocate(to - from, w->x.n * sizeof *d);
    enum bitcut_status status =
        d ? take_rows(&b, &e->q, from, to, f)
          : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a part of D");
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

/* The same for all differing outputs. */
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

/* Mark the contents of a box as examined. */
static void settle_box(struct whole *w, const struct box *box)
{
    for (size_t i = box->row; i < box->row_end; i++)
        for (size_t j = box->col; j < box->col_end; j++)
            w->h[i * w->x.n + j] = w->x.d[i * w->x.n + j];
}

/* The name of a region with another value on an axis. */
static const char *const other_names[AXES] = {
    [AXIS_PROMOTE] = "another promotion", [AXIS_PARTS] = "other parts",
    [AXIS_TERMS] = "other terms",         [AXIS_TILE] = "other tiles of k",
    [AXIS_LINES] = "equilibration",       [AXIS_ORDER] = "another order",
    [AXIS_EPILOGUE] = "another epilogue",
};

static int first_axis(const struct hypothesis *h)
{
    int axis = AXIS_PROMOTE;
    while (axis < AXIS_EPILOGUE && !h->at[axis]) axis++;
    return axis;
}

/* The description of a region, which may extend beyond the box. */
static enum bitcut_status write_part_field(struct box *box, struct whole *w,
                                           const struct explanation *e,
                                           const struct explanation *part,
                                           const struct explain_options *o,
                                           struct fault *f)
{
    const struct verdict *v = &part->best;
    const size_t in_box = box->differ;
    size_t gives;
    if (!v->sampled || v->matched < v->sampled) return BITCUT_OK;
    const enum bitcut_status status = settle_all(&gives, w, e, v, &part->space, o, f);
    if (status != BITCUT_OK || gives < in_box) return status;
    box->differ = gives;
    box->elsewhere = gives - in_box;
    verdict_describe(box->what, sizeof box->what, v, &part->space);
    box->fault = v->h.at[AXIS_FAULT] ? fault_name(&part->space, v->h.at[AXIS_FAULT])
                                     : other_names[first_axis(&v->h)];
    return status;
}

/* Whether the hypothesis of a region gives all of D: then it becomes the best, and
   nothing differs in w. */
static enum bitcut_status take_if_all(struct whole *w, struct explanation *e,
                                      const struct explanation *part,
                                      const struct explain_options *o, struct fault *f)
{
    const struct verdict before = e->best;
    struct whole now;
    e->best.h = part->best.h;
    if (!part->best.sampled || part->best.matched < part->best.sampled ||
        !hypothesis_carry(&e->best.h, &e->space, &part->space) ||
        !candidate_make(&e->best.x, &e->space, e->best.h)) {
        e->best = before;
        return BITCUT_OK;
    }
    struct effort effort = explain_effort(o, WORK_COMPARE);
    const enum bitcut_status status = whole_compare(&now, e, &effort, o, f);
    if (status == BITCUT_OK && now.x.m == w->x.m && !whole_differ(&now)) {
        const struct whole old = *w;
        *w = now;
        now = old;
        e->best.matched = e->best.sampled;
        e->answer.differ = e->equals = 0;
    } else e->best = before;
    whole_clear(&now);
    return status;
}

/* Add the orders with lanes within the slices of an order of the space, as another kernel
   of the same library may use them for partial tiles. */
static enum bitcut_status add_lanes(struct space *s, const struct bitcut_order *slices,
                                    struct fault *f)
{
    static const int lanes[] = { 2, 3, 4, 6, 8, 12, 16 };
    enum { LANES = sizeof lanes / sizeof *lanes, CHUNKS = 4, REDUCTIONS = 4 };
    struct bitcut_order order[LANES * CHUNKS * REDUCTIONS];
    size_t count = 0;
    for (int i = 0; i < LANES; i++)
        for (int turn = 1; turn < 1 << CHUNKS; turn *= 2)
            for (int r = BITCUT_ASCENDING; r <= BITCUT_HALVES; r++) {
                if (!joins_lanes(r, lanes[i])) continue;
                struct bitcut_order o = *slices;
                o.lanes = lanes[i];
                o.chunk = turn;
                o.reduction = (enum bitcut_reduction)r;
                order[count++] = o;
            }
    return explain_space_add_orders(s, order, count, f);
}

/* The changes of the same recipe on the same unit that give a box. */
static enum bitcut_status explain_part(struct box *box, struct whole *w,
                                       struct explanation *e,
                                       const struct explain_options *o, struct fault *f)
{
    struct effort effort =
        explain_effort(o, e->classes.has_main ? WORK_REGION / 8 : WORK_REGION);
    struct explanation *const part = calloc(1, sizeof *part);
    struct block b, traced = { 0 };
    if (!part) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    part->q = e->q;
    enum bitcut_status status =
        take_part(&b, w, box, screen_rows(&e->q), SCREEN_COLS, &e->q, f);
    if (status != BITCUT_OK) return free(part), status;
    status = take_part(&traced, w, box, PART_MAX, PART_MAX, &e->q, f);
    if (status == BITCUT_OK) status = explain_space_make(&part->space, &b, f);
    if (status == BITCUT_OK && !explain_space_share_orders(&part->space, &e->space))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for more orders");
    if (status == BITCUT_OK) status = add_lanes(&part->space, &e->best.x.gemm.order, f);
    if (status == BITCUT_OK)
        status = explain_find(part, &b, &b, &traced, &e->best.h, &effort, o, f);
    if (status == BITCUT_OK) status = take_if_all(w, e, part, o, f);
    if (status == BITCUT_OK && e->answer.differ)
        status = write_part_field(box, w, e, part, o, f);
    explain_space_clear(&part->space);
    free(part);
    block_clear(&b);
    block_clear(&traced);
    return status;
}

/* Differing outputs of a box, and how far they are from the hypothesis, in levels of
   rounding errors; INFINITY for NaN and infinities that differ. */
struct far {
    double most, limit; /* the largest distance, and the largest one by rounding      */
    struct box box;     /* of the outputs beyond the limit, whose number is box.differ */
};

/* How far rounding errors go. */
struct rounding_limit {
    double sum;  /* level of the errors of sums, relative to |A||B| */
    double most; /* levels that no rounding error reaches */
};

/* Sums are truncated, unless the hypothesis gives so many outputs that its unit is right,
   which rounds to nearest. */
static struct rounding_limit limit_of(const struct rounding_level *l,
                                      const struct explanation *e)
{
    static const double levels = 8, to_nearest = 12, most_of_d = 0.6;
    const size_t same = e->answer.compared - e->answer.differ;
    if (e->best.x.unit.rounding.direction == TO_NEAREST_EVEN &&
        (double)same > most_of_d * (double)e->answer.compared)
        return (struct rounding_limit){ l->nearest, to_nearest };
    return (struct rounding_limit){ hypot(l->nearest, l->directed[SUM_TOWARD_ZERO].all),
                                    levels };
}

/* A smaller limit if most distances are far below it, but not below a level. */
static double limit_by_others(double most, double *distance, size_t count)
{
    enum { MANY = 48 };
    static const double medians = 12;
    return count < MANY ? most
                        : fmin(most, fmax(1, medians * doubles_median(distance, count)));
}

/* The distance of output `at` of a block; 0: it has the bits of the hypothesis. */
static double distance_of(const struct whole *w, const struct block *b, size_t at,
                          const struct candidate *x, double sum)
{
    const size_t i = at / b->cols, j = at % b->cols;
    const uint32_t h = w->h[b->row[i] * w->x.n + b->col[j]];
    const double expected = value_of_float(h),
                 apart = fabs(value_of_float(b->d[at]) - expected);
    if (b->d[at] == h) return 0;
    const double level = output_level(b, expected, output_magnitude(b, i, j), sum),
                 more = x->through ? number_spacing(x->through, expected) : 0,
                 t = apart / hypot(level, more);
    return isnan(t) ? INFINITY : t;
}

static void include(struct box *box, size_t row, size_t col)
{
    if (!box->differ++) *box = (struct box){ .differ = 1, .row = row, .col = col };
    box->row = smaller(box->row, row), box->col = smaller(box->col, col);
    box->row_end = larger(box->row_end, row + 1);
    box->col_end = larger(box->col_end, col + 1);
}

static enum bitcut_status find_far(struct far *far, const struct whole *w,
                                   const struct block *b, const struct explanation *e,
                                   uint64_t seed, struct fault *f)
{
    const size_t outputs = b->rows * b->cols;
    struct rounding_level l = { 0 };
    size_t count = 0;
    double *const t = memory_allocate(2 * outputs + 1, sizeof *t);
    if (!t) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for distances");
    double *const some = t + outputs;
    const enum bitcut_status status = rounding_level_find(&l, b, seed, f);
    const struct rounding_limit limit = limit_of(&l, e);
    *far = (struct far){ .limit = limit.most };
    for (size_t at = 0; at < outputs && status == BITCUT_OK; at++) {
        t[at] = distance_of(w, b, at, &e->best.x, limit.sum);
        if (t[at] > 0) some[count++] = t[at];
        far->most = larger_double(far->most, t[at]);
    }
    if (status == BITCUT_OK) far->limit = limit_by_others(limit.most, some, count);
    for (size_t at = 0; at < outputs && status == BITCUT_OK; at++)
        if (t[at] > far->limit)
            include(&far->box, b->row[at / b->cols], b->col[at % b->cols]);
    rounding_level_clear(&l);
    free(t);
    return status;
}

/* At most PART_MAX of the rows, or columns, of a box in which D is farthest from the
   hypothesis. */
static size_t take_farthest(size_t *to, const struct whole *w, const struct box *box,
                            bool rows)
{
    const size_t first = rows ? box->row : box->col,
                 end = rows ? box->row_end : box->col_end,
                 from = rows ? box->col : box->row,
                 to_end = rows ? box->col_end : box->row_end;
    double most[PART_MAX];
    size_t count = 0;
    for (size_t line = first; line < end; line++) {
        double own = 0;
        bool any = false;
        for (size_t i = from; i < to_end; i++) {
            const size_t at = rows ? line * w->x.n + i : i * w->x.n + line;
            if (w->d[at] == w->h[at]) continue;
            const double apart =
                fabs(value_of_float(w->d[at]) - value_of_float(w->h[at]));
            own = isnan(apart) ? INFINITY : larger_double(own, apart);
            any = true;
        }
        size_t place = count;
        while (place && most[place - 1] < own) place--;
        if (!any || place == PART_MAX) continue;
        count += count < PART_MAX;
        for (size_t i = count - 1; i > place; i--)
            to[i] = to[i - 1], most[i] = most[i - 1];
        to[place] = line, most[place] = own;
    }
    return count;
}

/* Which of two levels says more to do. */
static bool is_graver(enum diagnosis_level x, enum diagnosis_level y)
{
    return x == DIAGNOSIS_FAULT ? y != DIAGNOSIS_FAULT : y != DIAGNOSIS_FAULT && x > y;
}

/* The differing outputs of a box that are farther than rounding errors. */
static enum bitcut_status look_at_far(struct far *far, const struct whole *w,
                                      const struct box *box, const struct explanation *e,
                                      uint64_t seed, struct fault *f)
{
    size_t row[PART_MAX], col[PART_MAX];
    struct block b;
    const size_t rows = take_farthest(row, w, box, true),
                 cols = take_farthest(col, w, box, false);
    enum bitcut_status status = block_take(&b, &e->q, row, rows, col, cols, f);
    if (status != BITCUT_OK) return status;
    status = find_far(far, w, &b, e, seed, f);
    block_clear(&b);
    return status;
}

/* Diagnose a box that no hypothesis gives.  Where rounding errors are as large as the
   distance from the best hypothesis, only rounding differs; otherwise the operands of the
   box show the fault, unless the hypothesis has faults. */
static enum bitcut_status diagnose_part(struct box *box, const struct whole *w,
                                        struct explanation *e,
                                        const struct explain_options *o, struct fault *f)
{
    enum { FEWEST = 4, FEW = 8 };
    struct diagnosis d = { .level = DIAGNOSIS_ROUNDING,
                           .before = e->error,
                           .after = e->error };
    struct far far;
    enum bitcut_status status = look_at_far(&far, w, box, e, o->seed, f);
    if (status != BITCUT_OK) return status;
    const bool is_far = far.most > far.limit;
    /* A few outputs of many are no region. */
    const struct box *const of =
        is_far && far.box.differ * FEW < box->differ ? &far.box : box;
    if (is_far) d.level = DIAGNOSIS_UNEXPLAINED;
    if (is_far && !e->best.h.at[AXIS_FAULT] && box->differ >= FEWEST)
        status = diagnosis_find_in(
            &d, &e->q,
            (struct diagnosis_region){ of->row, of->row_end, of->col, of->col_end },
            false, o->seed, o->progress, f);
    if (status != BITCUT_OK) return status;
    d.of_rest = true;
    d.outputs = e->answer.compared;
    d.outside = of->differ;
    box_describe(d.place, sizeof d.place, of);
    if (d.level == DIAGNOSIS_ROUNDING)
        snprintf(box->what, sizeof box->what, "only rounding differs");
    else if (d.level == DIAGNOSIS_FAULT)
        snprintf(box->what, sizeof box->what, "%.*s", (int)sizeof box->what - 1,
                 d.fault[0].what);
    else snprintf(box->what, sizeof box->what, "far from a correct result");
    if (is_graver(d.level, e->diagnosis.level)) e->diagnosis = d;
    return BITCUT_OK;
}

/* Add a region to the reported ones; regions of the same kind are merged. */
static void add_part(struct explanation *e, const struct box *box)
{
    for (size_t i = 0; i < e->parts && i < PARTS_MAX; i++) {
        struct box *const p = &e->part[i];
        if (!box->fault || !p->fault || strcmp(p->what, box->what) != 0) continue;
        p->differ += box->differ;
        p->elsewhere += box->differ;
        return;
    }
    if (e->parts++ < PARTS_MAX) e->part[e->parts - 1] = *box;
}

void explain_whole(struct explanation *e, const struct whole *w)
{
    struct box all = { .row_end = w->x.m, .col_end = w->x.n, .differ = e->answer.differ };
    if (!difference_describe(&all, &w->x)) return;
    add_part(e, &all);
    e->answer.found = e->no_product = true;
}

enum bitcut_status explain_parts(struct explanation *e, struct whole *w,
                                 const struct explain_options *o, struct fault *f)
{
    enum { ROUNDS = 256, SEARCHES = PARTS_MAX };
    enum bitcut_status status = BITCUT_OK;
    struct box box;
    bool known = true;
    int searches = 0, round = 0;
    while (round++ < ROUNDS && status == BITCUT_OK && difference_boxes(&box, 1, &w->x)) {
        if (!difference_describe(&box, &w->x) && box.differ > 1 && searches++ < SEARCHES)
            status = explain_part(&box, w, e, o, f);
        if (!e->answer.differ) break;
        if (!box.fault) difference_foreign(&box, &w->x);
        if (!box.fault && !*box.what && status == BITCUT_OK)
            status = diagnose_part(&box, w, e, o, f);
        known &= box.fault != NULL;
        add_part(e, &box);
        settle_box(w, &box);
    }
    if (!e->answer.differ) { /* regions before it are no more */
        known = true;
        e->parts = 0;
        e->diagnosis.level = DIAGNOSIS_NONE;
    }
    e->answer.found = known && round <= ROUNDS && status == BITCUT_OK;
    return unless_stopped(status, o);
}
