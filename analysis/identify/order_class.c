/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/order_class.h"

#include "analysis/identify/order_suggestion.h"
#include "analysis/identify/order_trial.h"
#include "emu/unit.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- outputs ---------------------------------------------------------------------- */

/* How many outputs of a row no order gives, among some columns. */
static size_t open_in_row(const struct cover *c, size_t i, const size_t *col, size_t cols)
{
    size_t count = 0;
    for (size_t j = 0; j < cols; j++) count += is_open(c, i, col ? col[j] : j);
    return count;
}

/* The row that has most outputs without an order. */
static size_t fullest_row(const struct cover *c)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < c->m; i++) {
        const size_t open = open_in_row(c, i, NULL, c->n);
        if (open > most) best = i, most = open;
    }
    return best;
}

enum { SIDE_MAX = 512, COLS_MAX = 64, OUTPUTS = 512, FEW_OUTPUTS = 64 };

static size_t open_outputs(const struct cover *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->m; i++) count += open_in_row(c, i, NULL, c->n);
    return count;
}

/* Outputs without an order, of rows that have them in the same columns; of all rows, if
   they are few and most outputs of these rows and columns have no order. */
static enum bitcut_status take_open(struct block *b, const struct cover *c,
                                    struct fault *f)
{
    size_t row[SIDE_MAX], col[SIDE_MAX], rows = 0, cols = 0, most = 0, any = 0, sum = 0;
    const size_t first = fullest_row(c), cols_max = c->m == 1 ? SIDE_MAX : COLS_MAX;
    for (size_t j = 0; j < c->n && cols < cols_max; j++)
        if (is_open(c, first, j)) col[cols++] = j;
    for (size_t i = 0; i < c->m; i++) {
        const size_t open = open_in_row(c, i, col, cols);
        most = open > most ? open : most;
        any += open > 0, sum += open;
    }
    const bool few = open_outputs(c) < FEW_OUTPUTS && 2 * sum > any * cols;
    for (size_t i = 0; i < c->m && rows < SIDE_MAX && rows * cols < OUTPUTS; i++) {
        const size_t open = open_in_row(c, i, col, cols);
        if (2 * open > most || (few && open)) row[rows++] = i;
    }
    return block_take(b, &c->e->q, row, rows, col, cols, f);
}

/* --- an order on all of D --------------------------------------------------------- */

/* Rows or columns that have outputs without an order. */
static size_t open_lines(size_t *to, const struct cover *c, bool columns)
{
    const size_t lines = columns ? c->n : c->m, each = columns ? c->m : c->n;
    size_t count = 0;
    for (size_t i = 0; i < lines; i++) {
        bool any = false;
        for (size_t e = 0; e < each && !any; e++)
            any = columns ? is_open(c, e, i) : is_open(c, i, e);
        if (any) to[count++] = i;
    }
    return count;
}

static size_t all_lines(size_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = i;
    return count;
}

/* Mark the outputs of a block that a candidate gives. */
static enum bitcut_status mark_block(struct cover *c, const struct candidate *x,
                                     const struct block *b, size_t order, struct fault *f)
{
    const struct gemm_options all = { .threads = c->o->threads,
                                      .progress = c->o->progress,
                                      .offload = c->o->offload };
    uint32_t *const d = memory_allocate(b->rows, b->cols * sizeof *d);
    if (!d) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a part of D");
    const enum bitcut_status status = candidate_run(d, x, &c->e->space, b, &all, f);
    for (size_t i = 0; i < b->rows * b->cols && status == BITCUT_OK; i++)
        if (d[i] == b->d[i])
            c->gives[b->row[i / b->cols] * c->n + b->col[i % b->cols]] |=
                (uint8_t)(1u << order);
    free(d);
    c->compare.spent += candidate_work(x, b->rows * b->cols, b->k);
    return status;
}

/* Mark the outputs that the last order gives, in all rows and columns that have outputs
   without an order: in whole rows, or in whole columns, whichever are fewer outputs. */
static enum bitcut_status mark_last(struct cover *c, struct fault *f)
{
    enum { PANEL = 64 };
    struct candidate x;
    size_t *const row = memory_allocate(c->m + c->n, sizeof *row);
    if (!row) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for rows");
    size_t *const col = row + c->m;
    size_t rows = open_lines(row, c, false), cols = open_lines(col, c, true);
    if (rows * c->n <= cols * c->m) cols = all_lines(col, c->n);
    else rows = all_lines(row, c->m);
    enum bitcut_status status = BITCUT_OK;
    if (!candidate_make(&x, &c->e->space, c->h[c->count - 1])) rows = 0;
    for (size_t i = 0; i < rows && status == BITCUT_OK; i += PANEL) {
        struct block b;
        status =
            block_take(&b, &c->e->q, row + i, smaller(PANEL, rows - i), col, cols, f);
        if (status != BITCUT_OK) break;
        status = mark_block(c, &x, &b, c->count - 1, f);
        block_clear(&b);
    }
    free(row);
    return status;
}

/* --- the search ------------------------------------------------------------------- */

/* Try the unit of a hypothesis before the others from now on. */
static void prefer_unit(struct cover *c, const struct hypothesis *h)
{
    size_t at = 0;
    while (at + 1 < c->units && (c->unit[at].at[AXIS_UNIT] != h->at[AXIS_UNIT] ||
                                 c->unit[at].at[AXIS_RECIPE] != h->at[AXIS_RECIPE]))
        at++;
    const struct hypothesis unit = c->unit[at];
    memmove(&c->unit[1], &c->unit[0], at * sizeof unit);
    c->unit[0] = unit;
}

/* Add an order and mark what it gives. */
static enum bitcut_status cover_add(struct cover *c, const struct best *b,
                                    struct fault *f)
{
    struct hypothesis h = b->h;
    const size_t at = c->e->space.orders;
    if (h.at[AXIS_ORDER] >= at) {
        if (explain_space_add_orders(&c->e->space, &b->order, 1, f) != BITCUT_OK)
            return BITCUT_NO_MEMORY;
        h.at[AXIS_ORDER] = (uint16_t)at;
    }
    c->rank[c->count] = b->rank;
    c->h[c->count++] = h;
    prefer_unit(c, &h);
    return mark_last(c, f);
}

/* Find the next order.  *more: one was found. */
static enum bitcut_status find_next(struct cover *c, bool *more, struct fault *f)
{
    struct best best = { .tried = 0 };
    struct block b;
    struct order_trial t;
    *more = false;
    enum bitcut_status status = take_open(&b, c, f);
    if (status != BITCUT_OK) return status;
    status = order_trial_take(&t, c, &b, f);
    if (status != BITCUT_OK) return block_clear(&b), status;
    const bool fine = order_trial_run(&best, &t, &b);
    c->e->answer.tried += best.tried;
    if (!c->count) c->chance = order_chance(&best);
    *more = fine && is_enough(&best, &t, false);
    order_trial_clear(&t);
    block_clear(&b);
    return !fine   ? fault_set(f, BITCUT_NO_MEMORY, "not enough memory for orders")
           : *more ? cover_add(c, &best, f)
                   : BITCUT_OK;
}

static bool has_open(const struct cover *c)
{
    return memchr(c->gives, 0, c->m * c->n) != NULL;
}

static bool may_go_on(const struct cover *c)
{
    return c->count < CLASS_ORDERS_MAX && !effort_is_spent(c->effort) &&
           !effort_is_spent(&c->compare) && !progress_stopped(c->o->progress);
}

/* The units that can have computed D. */
static bool take_units(struct cover *c)
{
    const struct explanation *const e = c->e;
    const struct block none = { .q = &e->q, .k = problem_k(&e->q) };
    for (size_t i = 0; i < e->space.units * axes[AXIS_RECIPE].count(&e->space); i++) {
        struct hypothesis h = { { [AXIS_RECIPE] = (uint16_t)(i / e->space.units),
                                  [AXIS_UNIT] = (uint16_t)(i % e->space.units) } };
        struct candidate x;
        if (e->space.recipe && e->space.recipe != &recipes[h.at[AXIS_RECIPE]]) continue;
        if (unit_vendor(e->space.unit[h.at[AXIS_UNIT]]) ||
            !candidate_make(&x, &e->space, h) || !orders_are_suggested(&none, &x))
            continue;
        if (c->units < COVER_UNITS_MAX) c->unit[c->units++] = h;
    }
    return c->units;
}

/* Whether the first hypothesis is an order on one of the units, without other changes. */
static bool is_order(const struct cover *c, const struct hypothesis *h)
{
    bool is = false;
    for (size_t u = 0; u < c->units; u++) {
        struct hypothesis x = c->unit[u];
        x.at[AXIS_ORDER] = h->at[AXIS_ORDER];
        is |= !memcmp(&x, h, sizeof x);
    }
    return is;
}

/* Whether the ranges that describe a region are few enough for its outputs: a range costs
   more than outputs that an order gives by chance, unless it is the last rows or columns,
   which kernels often compute otherwise. */
static bool is_plausible(const struct class_region *r, const struct cover *c,
                         size_t order)
{
    const double range = 6, last = 1; /* as logarithms */
    const double first = r->last ? last : range,
                 all = range * (double)(r->pieces - r->last) + last * (double)r->last;
    return (double)r->differ * -log(c->chance) >
           log((double)c->rank[order] + 1) + all - first;
}

/* The regions of the orders, if they are few and plausible; or memory has failed. */
static bool describe(struct order_classes *to, const struct cover *c, int first,
                     bool *failed)
{
    struct class_grid *const g = malloc(sizeof *g);
    bool fine = g && class_grid_make(g, c->gives, c->m, c->n, first);
    *failed = !g || g->rows.failed;
    int main = first;
    for (int i = 0; fine && first < 0 && i < (int)c->count; i++)
        if (main < 0 || g->outputs[i] > g->outputs[main]) main = i;
    if (fine) to->h[to->count++] = c->h[main];
    for (int i = 0; fine && i < (int)c->count; i++) {
        struct class_region *const r = &to->region[to->count];
        if (i == main || !g->outputs[i]) continue;
        class_grid_region(r, g, i, main);
        fine = is_plausible(r, c, (size_t)i) && to->count <= PARTS_MAX;
        if (fine) to->h[to->count++] = c->h[i];
    }
    to->has_main = fine;
    free(g);
    if (!fine) to->count = 0;
    return fine;
}

/* The order that gives most of D, if it gives more than half. */
static void take_most(struct order_classes *to, const struct cover *c)
{
    size_t most = c->m * c->n / 2;
    for (size_t i = 0; i < c->count; i++) {
        size_t gives = 0;
        for (size_t at = 0; at < c->m * c->n; at++) gives += c->gives[at] >> i & 1;
        if (gives <= most) continue;
        most = gives;
        to->has_main = true;
        to->h[0] = c->h[i];
    }
}

enum bitcut_status order_classes_find(struct order_classes *to, struct explanation *e,
                                      const struct hypothesis *first,
                                      struct effort *effort,
                                      const struct explain_options *o, struct fault *f)
{
    struct cover c = { .e = e,
                       .o = o,
                       .effort = effort,
                       .compare = explain_effort(o, WORK_COMPARE),
                       .m = problem_m(&e->q),
                       .n = problem_n(&e->q),
                       .chance = 0.1 };
    bool more = true;
    enum bitcut_status status = BITCUT_OK;
    *to = (struct order_classes){ .tried = true };
    if (!take_units(&c) || (first && !is_order(&c, first))) return BITCUT_OK;
    c.gives = calloc(c.m, c.n);
    if (!c.gives) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for outputs");
    if (first) {
        c.h[c.count++] = *first;
        prefer_unit(&c, first);
        status = mark_last(&c, f);
    }
    while (status == BITCUT_OK && more && has_open(&c) && may_go_on(&c))
        status = find_next(&c, &more, f);
    bool failed = false;
    if (status == BITCUT_OK && !has_open(&c)) describe(to, &c, first ? 0 : -1, &failed);
    if (failed) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for classes");
    if (status == BITCUT_OK && !to->count && !first) take_most(to, &c);
    free(c.gives);
    return status == BITCUT_UNSUPPORTED && progress_stopped(o->progress) ? BITCUT_OK
                                                                         : status;
}

/* --- the answer ------------------------------------------------------------------- */

void order_classes_take_best(struct explanation *e, const struct block *sample,
                             const struct explain_options *o)
{
    const size_t outputs = sample->rows * sample->cols;
    struct verdict *const v = &e->best;
    uint32_t *const d = memory_allocate(outputs, sizeof *d);
    *v = (struct verdict){ .h = e->classes.h[0], .sampled = outputs };
    if (!d) *e->space.failed = true;
    if (candidate_make(&v->x, &e->space, v->h) && d &&
        candidate_run(d, &v->x, &e->space, sample,
                      &(struct gemm_options){ .threads = o->threads }, NULL) == BITCUT_OK)
        for (size_t i = 0; i < outputs; i++) v->matched += d[i] == sample->d[i];
    free(d);
    e->equals = 0;
}

/* What computed a region: its order, and its unit if that is another one. */
static void describe_order(struct box *b, const struct explanation *e,
                           const struct hypothesis *h)
{
    struct verdict v = { .h = *h };
    char changes[DIFFERENCE_TEXT_MAX] = "";
    if (!candidate_make(&v.x, &e->space, v.h)) return;
    verdict_describe(changes, sizeof changes, &v, &e->space);
    if (v.x.gemm.unit != e->best.x.gemm.unit)
        text_add(b->what, sizeof b->what, "%s on %s%s", v.x.gemm.recipe->name,
                 v.x.gemm.unit->name, *changes ? ", but " : "");
    else if (!*changes) text_add(changes, sizeof changes, "k is added in order");
    text_add(b->what, sizeof b->what, "%s", changes);
}

void order_classes_take_parts(struct explanation *e)
{
    e->parts = 0;
    for (size_t i = 1; i < e->classes.count; i++) {
        const struct class_region *const r = &e->classes.region[i];
        struct box *const b = &e->part[e->parts++];
        *b = (struct box){ .row = r->row,
                           .row_end = r->row_end,
                           .col = r->col,
                           .col_end = r->col_end,
                           .differ = r->differ,
                           .fault = "another order" };
        text_add(b->where, sizeof b->where, "%s", r->where);
        describe_order(b, e, &e->classes.h[i]);
    }
    e->answer.found = true;
}
