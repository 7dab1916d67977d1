/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/line_class.h"

#include "lib/base/size.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

/* --- runs and classes ------------------------------------------------------------- */

/* Lines with `width` masks each; element e of line i is at [i * line + e * step]. */
struct lines {
    const uint8_t *at;
    size_t count, width, line, step;
};

static uint8_t mask_of(const struct lines *l, size_t i, size_t e)
{
    return l->at[i * l->line + e * l->step];
}

/* Whether each element has an order that gives both; then `common` has these orders. */
static bool joins(uint8_t *common, const uint8_t *x, size_t width)
{
    bool all = true;
    for (size_t e = 0; e < width; e++) all &= (common[e] & x[e]) != 0;
    for (size_t e = 0; e < width && all; e++) common[e] &= x[e];
    return all;
}

static void take_line(uint8_t *to, const struct lines *l, size_t i)
{
    for (size_t e = 0; e < l->width; e++) to[e] = mask_of(l, i, e);
}

/* Find the runs, and the common masks of each: [runs][width]. */
static bool find_runs(struct line_classes *to, uint8_t *common, const struct lines *l)
{
    uint8_t *const one = malloc(l->width);
    to->runs = 0;
    to->failed = !one;
    for (size_t i = 0; i < l->count && one; i++) {
        take_line(one, l, i);
        if (to->runs && joins(common + (to->runs - 1) * l->width, one, l->width)) {
            to->run[to->runs - 1].end = i + 1;
            continue;
        }
        if (to->runs == CLASS_RUNS_MAX) {
            free(one);
            return false;
        }
        memcpy(common + to->runs * l->width, one, l->width);
        to->run[to->runs++] = (struct line_run){ i, i + 1, 0 };
    }
    free(one);
    return one != NULL;
}

/* The longest runs come first, so that classes do not begin with ambiguous lines. */
static size_t longest_left(const struct line_classes *c)
{
    size_t best = c->runs;
    for (size_t i = 0; i < c->runs; i++) {
        const size_t length = c->run[i].end - c->run[i].from;
        if (c->run[i].of < 0 &&
            (best == c->runs || length > c->run[best].end - c->run[best].from))
            best = i;
    }
    return best;
}

/* Merge runs into classes; `common` then has the masks of the classes first. */
static bool merge_runs(struct line_classes *to, uint8_t *common, size_t width)
{
    uint8_t *const of = malloc(CLASSES_MAX * width);
    to->classes = 0;
    to->failed = !of;
    for (size_t i = 0; i < to->runs; i++) to->run[i].of = -1;
    for (size_t turn = 0; turn < to->runs && of; turn++) {
        const size_t i = longest_left(to);
        const uint8_t *const x = common + i * width;
        int c = 0;
        while (c < to->classes && !joins(of + (size_t)c * width, x, width)) c++;
        if (c == CLASSES_MAX) {
            free(of);
            return false;
        }
        if (c == to->classes) memcpy(of + (size_t)to->classes++ * width, x, width);
        to->run[i].of = c;
    }
    if (of) memcpy(common, of, (size_t)to->classes * width);
    free(of);
    return of != NULL;
}

/* Join neighbouring runs of one class. */
static void join_runs(struct line_classes *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->runs; i++)
        if (kept && c->run[kept - 1].of == c->run[i].of)
            c->run[kept - 1].end = c->run[i].end;
        else c->run[kept++] = c->run[i];
    c->runs = kept;
}

/* The classes of lines; common: [CLASS_RUNS_MAX][width], its first rows then belong to
   the classes. */
static bool classify(struct line_classes *to, uint8_t *common, const struct lines *l)
{
    if (!find_runs(to, common, l) || !merge_runs(to, common, l->width)) return false;
    join_runs(to);
    return true;
}

/* --- the grid --------------------------------------------------------------------- */

static bool classify_both(struct class_grid *g)
{
    const size_t width = g->m > CLASSES_MAX ? g->m : CLASSES_MAX;
    uint8_t *const cols = calloc(CLASS_RUNS_MAX, width), *const rows = calloc(
                                                             CLASS_RUNS_MAX, CLASSES_MAX);
    const struct lines by_col = { g->gives, g->n, g->m, 1, g->n };
    bool fine = rows && cols && classify(&g->cols, cols, &by_col);
    if (fine) {
        const struct lines by_row = { cols, g->m, (size_t)g->cols.classes, 1, g->m };
        fine = classify(&g->rows, rows, &by_row);
        for (int r = 0; fine && r < g->rows.classes; r++)
            for (int c = 0; c < g->cols.classes; c++)
                g->mask[r][c] = rows[r * g->cols.classes + c];
    }
    g->rows.failed |= !rows || !cols || g->cols.failed;
    free(rows);
    free(cols);
    return fine;
}

static size_t lines_of(const struct line_classes *c, int of)
{
    size_t count = 0;
    for (size_t i = 0; i < c->runs; i++)
        if (c->run[i].of == of) count += c->run[i].end - c->run[i].from;
    return count;
}

/* The outputs of pairs without an order that an order gives. */
static size_t outputs_of(const struct class_grid *g, int order)
{
    size_t count = 0;
    for (int r = 0; r < g->rows.classes; r++)
        for (int c = 0; c < g->cols.classes; c++)
            if (g->order[r][c] < 0 && g->mask[r][c] >> order & 1)
                count += lines_of(&g->rows, r) * lines_of(&g->cols, c);
    return count;
}

static void assign(struct class_grid *g, int order)
{
    g->outputs[order] = outputs_of(g, order);
    for (int r = 0; r < g->rows.classes; r++)
        for (int c = 0; c < g->cols.classes; c++)
            if (g->order[r][c] < 0 && g->mask[r][c] >> order & 1) g->order[r][c] = order;
}

bool class_grid_make(struct class_grid *g, const uint8_t *gives, size_t m, size_t n,
                     int main)
{
    *g = (struct class_grid){ .m = m, .n = n, .gives = gives };
    for (size_t i = 0; i < m * n; i++)
        if (!gives[i]) return false;
    if (!classify_both(g)) return false;
    for (int r = 0; r < CLASSES_MAX; r++)
        for (int c = 0; c < CLASSES_MAX; c++) g->order[r][c] = -1;
    for (int turn = 0; turn < CLASS_ORDERS_MAX; turn++) {
        int best = turn || main < 0 ? 0 : main;
        for (int i = 0; i < CLASS_ORDERS_MAX && (turn || main < 0); i++)
            if (outputs_of(g, i) > outputs_of(g, best)) best = i;
        if (outputs_of(g, best)) assign(g, best);
    }
    return true;
}

/* --- in words --------------------------------------------------------------------- */

/* Rows or columns of several classes, as a set of bits, joined to ranges. */
static size_t ranges_of(struct line_run *to, const struct line_classes *c, unsigned set)
{
    size_t count = 0;
    for (size_t i = 0; i < c->runs; i++) {
        if (!(set >> c->run[i].of & 1)) continue;
        if (count && to[count - 1].end == c->run[i].from)
            to[count - 1].end = c->run[i].end;
        else to[count++] = c->run[i];
    }
    return count;
}

/* The period of ranges with equal lengths and distances; 0: none.  The last range may be
   shorter. */
static size_t period_of(const struct line_run *r, size_t count)
{
    const size_t period = count > 2 ? r[1].from - r[0].from : 0,
                 length = r[0].end - r[0].from;
    for (size_t i = 1; i < count && period; i++) {
        const size_t own = r[i].end - r[i].from;
        if (r[i].from - r[i - 1].from != period ||
            (i + 1 < count ? own != length : own > length))
            return 0;
    }
    return r[0].from < period ? period : 0;
}

static void add_range(char *text, size_t size, size_t from, size_t end)
{
    text_add(text, size, end - from > 1 ? "%zu to %zu" : "%zu", from, end - 1);
}

/* "rows 0 to 7, 12", or "rows 4 to 7 of every 8".  Returns the number of ranges. */
static size_t add_ranges(char *text, size_t size, const char *noun,
                         const struct line_run *r, size_t count, size_t all)
{
    enum { SHOWN = 4 };
    const size_t period = period_of(r, count), last = r[count - 1].end;
    const bool one = count == 1 && r[0].end - r[0].from == 1;
    text_add(text, size, "%s%s ", noun, one ? "" : "s");
    if (period) {
        add_range(text, size, r[0].from, r[0].end);
        text_add(text, size, " of every %zu", period);
        if (r[count - 1].from + period < all)
            text_add(text, size, " up to %s %zu", noun, last - 1);
        return 1;
    }
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        if (i) text_add(text, size, ", ");
        add_range(text, size, r[i].from, r[i].end);
    }
    if (count > SHOWN) text_add(text, size, " and %zu more ranges", count - SHOWN);
    return count;
}

/* Rows `rows` by columns `cols`, sets of classes; all lines are not named. */
static void add_piece(struct class_region *to, struct class_grid *g, unsigned rows,
                      unsigned cols)
{
    struct line_run *const r = g->piece[0], *const c = g->piece[1];
    const size_t row_ranges = ranges_of(r, &g->rows, rows),
                 col_ranges = ranges_of(c, &g->cols, cols);
    const bool all_rows = r[0].end - r[0].from == g->m,
               all_cols = c[0].end - c[0].from == g->n;
    if (*to->where) text_add(to->where, sizeof to->where, "; ");
    to->last += !all_rows && row_ranges == 1 && r[0].end == g->m;
    to->last += !all_cols && col_ranges == 1 && c[0].end == g->n;
    if (!all_rows || all_cols)
        to->pieces += add_ranges(to->where, sizeof to->where, "row", r, row_ranges, g->m);
    if (!all_cols) {
        if (!all_rows) text_add(to->where, sizeof to->where, ", ");
        to->pieces +=
            add_ranges(to->where, sizeof to->where, "column", c, col_ranges, g->n);
    }
    to->row = smaller(to->row, r[0].from), to->col = smaller(to->col, c[0].from);
    if (to->row_end < r[row_ranges - 1].end) to->row_end = r[row_ranges - 1].end;
    if (to->col_end < c[col_ranges - 1].end) to->col_end = c[col_ranges - 1].end;
}

/* The classes of columns in which a class of rows has an order, as bits. */
static unsigned cols_of(const struct class_grid *g, int row, int order)
{
    unsigned set = 0;
    for (int c = 0; c < g->cols.classes; c++)
        if (g->order[row][c] == order) set |= 1u << c;
    return set;
}

/* Outputs of an order that the order `main` does not give. */
static size_t count_differ(const struct class_grid *g, int order, int main)
{
    size_t count = 0;
    for (size_t r = 0; r < g->rows.runs; r++)
        for (size_t c = 0; c < g->cols.runs; c++) {
            const struct line_run *const x = &g->rows.run[r], *const y = &g->cols.run[c];
            if (g->order[x->of][y->of] != order) continue;
            for (size_t i = x->from; i < x->end; i++)
                for (size_t j = y->from; j < y->end; j++)
                    count += !(g->gives[i * g->n + j] >> main & 1);
        }
    return count;
}

void class_grid_region(struct class_region *r, struct class_grid *g, int order, int main)
{
    unsigned done = 0;
    *r = (struct class_region){ .row = g->m, .col = g->n };
    for (int row = 0; row < g->rows.classes; row++) {
        const unsigned cols = cols_of(g, row, order);
        unsigned rows = 0;
        if (!cols || done >> row & 1) continue;
        for (int other = row; other < g->rows.classes; other++)
            if (cols_of(g, other, order) == cols) rows |= 1u << other;
        done |= rows;
        add_piece(r, g, rows, cols);
    }
    r->differ = count_differ(g, order, main);
}
