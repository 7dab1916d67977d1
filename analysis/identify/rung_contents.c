/* SPDX-License-Identifier: BSD-3-Clause */
/* The rung of outputs that were not written: rows, columns, boxes and scattered outputs
   of D with zeros, NaN, infinities or one number, which A and B do not account for. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>

/* What an output may hold if it was not written. */
enum content { ZERO, NOT_A_NUMBER, INFINITE, NUMBER, CONTENTS };

static const char *const contents[CONTENTS] = { "zeros", "NaN", "infinities",
                                                "one number" };

/* Equal for outputs with the same contents. */
static uint32_t key(uint32_t x)
{
    return f32_is_zero(x) ? 0 : f32_is_nan(x) ? F32_NAN : x;
}

static enum content content_of(uint32_t x)
{
    return f32_is_zero(x)     ? ZERO
           : f32_is_nan(x)    ? NOT_A_NUMBER
           : f32_is_finite(x) ? NUMBER
                              : INFINITE;
}

/* The state of the rung. */
struct contents {
    const struct rung_input *x;
    bool *marked;            /* outputs of D that were not written, m x n */
    double *of_row, *of_col; /* largest magnitude in each row of A and column of B;
                                infinite if one is NaN */
    bool *row_plain, *col_plain;          /* lines of D that hold one value */
    bool has_negative;                    /* D has a negative number */
    double accuracy; /* typical |D - exact| / |A||B| where D is a number; or NaN */
    double size;     /* typical |A||B| */
    size_t rows, cols, boxes, scattered;
};

static void take_magnitudes(struct contents *c)
{
    const struct rung_input *const x = c->x;
    for (size_t i = 0; i < x->m; i++)
        for (size_t p = 0; p < x->k; p++) {
            const double a = fabs(value_of_float(problem_element(x->q, BITCUT_A, i, p)));
            c->of_row[i] = isnan(a) ? (double)INFINITY : larger_double(c->of_row[i], a);
        }
    for (size_t p = 0; p < x->k; p++)
        for (size_t j = 0; j < x->n; j++) {
            const double b = fabs(value_of_float(problem_element(x->q, BITCUT_B, j, p)));
            c->of_col[j] = isnan(b) ? (double)INFINITY : larger_double(c->of_col[j], b);
        }
}

/* Exact value and size of one output. */
static enum bitcut_status exact_one(struct exact_output *to, const struct rung_input *x,
                                    size_t i, size_t j, struct fault *f)
{
    struct view v;
    const enum bitcut_status status = view_take(&v, x->q, &i, 1, &j, 1, f);
    if (status != BITCUT_OK) return status;
    *to = (struct exact_output){ v.exact[0], v.size[0] };
    view_clear(&v);
    return status;
}

struct region {
    size_t row, row_end, col, col_end;
};

/* The typical |D - exact| / |A||B| of outputs of a region that are numbers other than 0
   and not marked, and their typical |A||B|; NaN if there are none. */
static enum bitcut_status take_accuracy(double *accuracy, double *typical,
                                        const struct contents *c, struct region r,
                                        struct fault *f)
{
    enum { OUTPUTS = 64, TRIES = 1024 };
    double error[OUTPUTS], size[OUTPUTS];
    size_t count = 0;
    const size_t cols = r.col_end - r.col, all = (r.row_end - r.row) * cols;
    for (size_t n = 0; all && n < smaller(TRIES, all) && count < OUTPUTS; n++) {
        const size_t at = n * (all / OUTPUTS | 1) % all, i = r.row + at / cols,
                     j = r.col + at % cols, of = i * c->x->n + j;
        struct exact_output v;
        if (content_of(c->x->d[of]) != NUMBER || c->marked[of]) continue;
        const enum bitcut_status status = exact_one(&v, c->x, i, j, f);
        if (status != BITCUT_OK) return status;
        if (!(v.magnitude > 0) || !isfinite(v.magnitude)) continue;
        error[count] = fabs(value_of_float(c->x->d[of]) - v.value) / v.magnitude;
        size[count++] = v.magnitude;
    }
    *accuracy = doubles_median(error, count);
    *typical = doubles_median(size, count);
    return BITCUT_OK;
}

static enum bitcut_status take_typical(struct contents *c, struct fault *f)
{
    return take_accuracy(&c->accuracy, &c->size, c,
                         (struct region){ 0, c->x->m, 0, c->x->n }, f);
}

/* Whether errors are above those of elements of 8 bits; then elements may become zeros.
 */
static bool is_rough(const struct contents *c, double accuracy)
{
    return accuracy > 1 / (8 * sqrt((double)c->x->k));
}

/* Whether the outputs beside a region, in its rows and in its columns, are near the exact
   results; then its elements are not too small for the unit. */
static enum bitcut_status is_beside_good(bool *is, const struct contents *c,
                                         struct region r, struct fault *f)
{
    const size_t m = c->x->m, n = c->x->n;
    const struct region beside[4] = { { r.row, r.row_end, 0, r.col },
                                      { r.row, r.row_end, r.col_end, n },
                                      { 0, r.row, r.col, r.col_end },
                                      { r.row_end, m, r.col, r.col_end } };
    enum bitcut_status status = BITCUT_OK;
    *is = true;
    for (int i = 0; i < 4 && status == BITCUT_OK; i++) {
        double accuracy = NAN, size;
        status = take_accuracy(&accuracy, &size, c, beside[i], f);
        *is &= !is_rough(c, accuracy);
    }
    return status;
}

/* Whether an output that holds this cannot be the result of its exact value, even if
   elements were flushed or overflowed, or negative results became zeros. */
static bool is_foreign(const struct contents *c, enum content what, uint32_t d, size_t i,
                       size_t j, struct exact_output v)
{
    const bool accurate = c->accuracy < 0x1p-10;
    const double largest = ldexp(1, c->x->q->format == &formats[FORMAT_F16] ? 14 : 120);
    if (!(v.magnitude > 0) || !isfinite(v.magnitude)) return false;
    switch (what) {
    case ZERO:
        return fabs(v.value) >= v.magnitude / 64 &&
               fabs(v.value) >= least_normal(c->x->q) &&
               !(v.magnitude < c->size * 0x1p-12) && (c->has_negative || v.value > 0);
    case NUMBER: return accurate && fabs(v.value - value_of_float(d)) > v.magnitude / 64;
    default:
        return c->of_row[i] < ELEMENT_MAX && c->of_col[j] < ELEMENT_MAX &&
               v.magnitude < largest;
    }
}

/* Whether at least a sixth of the examined outputs of a region, and 3, are foreign.  Of a
   row, outputs in columns that hold one value do not count, and of a column those in such
   rows: these lines may have another cause. */
static enum bitcut_status region_foreign(bool *is, const struct contents *c,
                                         struct region r, struct fault *f)
{
    enum { OUTPUTS = 16, TRIES = 64, LEAST = 3 };
    const size_t cols = r.col_end - r.col, all = (r.row_end - r.row) * cols;
    size_t foreign = 0, count = 0;
    for (size_t n = 0; n < smaller(TRIES, all) && count < OUTPUTS; n++) {
        const size_t at = n * (all / OUTPUTS | 1) % all, i = r.row + at / cols,
                     j = r.col + at % cols;
        struct exact_output v;
        if (c->row_plain[i] && c->col_plain[j]) continue;
        const enum bitcut_status status = exact_one(&v, c->x, i, j, f);
        if (status != BITCUT_OK) return status;
        const uint32_t d = c->x->d[i * c->x->n + j];
        foreign += is_foreign(c, content_of(d), d, i, j, v);
        count++;
    }
    *is = foreign >= LEAST && foreign * 6 >= count;
    return BITCUT_OK;
}

/* Whether all outputs of a box hold the same and are not marked. */
static bool is_uniform(const struct contents *c, size_t row, size_t row_end, size_t col,
                       size_t col_end)
{
    const uint32_t first = key(c->x->d[row * c->x->n + col]);
    for (size_t i = row; i < row_end; i++)
        for (size_t j = col; j < col_end; j++)
            if (key(c->x->d[i * c->x->n + j]) != first || c->marked[i * c->x->n + j])
                return false;
    return true;
}

static void mark(struct contents *c, size_t row, size_t row_end, size_t col,
                 size_t col_end)
{
    for (size_t i = row; i < row_end; i++)
        for (size_t j = col; j < col_end; j++) c->marked[i * c->x->n + j] = 1;
}

/* --- rows and columns ------------------------------------------------------------- */

/* A line of zeros may come from elements that the unit flushes.  It does not if another
   line whose largest element is at most `times` as large has results. */
static bool may_be_flushed(const double *largest, const bool *plain, size_t count,
                           size_t line, double times)
{
    for (size_t i = 0; i < count; i++)
        if (!plain[i] && largest[i] > 0 && largest[i] <= times * largest[line])
            return false;
    return true;
}

/* Keep lines of zeros if half of them cannot come from small elements, without those that
   have much smaller elements. */
static void drop_flushed(bool *line, const struct contents *c, const bool *plain,
                         bool rows)
{
    const size_t count = rows ? c->x->m : c->x->n;
    const double *const largest = rows ? c->of_row : c->of_col;
    size_t zeros = 0, certain = 0;
    for (size_t i = 0; i < count; i++) {
        if (!line[i] || content_of(c->x->d[rows ? i * c->x->n : i]) != ZERO) continue;
        zeros++;
        certain += !may_be_flushed(largest, plain, count, i, 1);
    }
    for (size_t i = 0; i < count; i++)
        if (line[i] && content_of(c->x->d[rows ? i * c->x->n : i]) == ZERO)
            line[i] = certain * 2 >= zeros && !is_rough(c, c->accuracy) &&
                      !may_be_flushed(largest, plain, count, i, 4);
}

/* Rows (or columns) that hold one value. */
static void find_plain_lines(bool *plain, const struct contents *c, bool rows)
{
    const size_t m = c->x->m, n = c->x->n;
    for (size_t i = 0; i < (rows ? m : n); i++)
        plain[i] = (rows ? n : m) >= 4 &&
                   (rows ? is_uniform(c, i, i + 1, 0, n) : is_uniform(c, 0, m, i, i + 1));
}

static enum bitcut_status mark_lines(struct contents *c, bool *line, const bool *plain,
                                     bool rows, struct fault *f)
{
    const size_t m = c->x->m, n = c->x->n, count = rows ? m : n;
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        bool is = false;
        line[i] = 0;
        if (!plain[i]) continue;
        status = region_foreign(&is, c,
                                rows ? (struct region){ i, i + 1, 0, n }
                                     : (struct region){ 0, m, i, i + 1 },
                                f);
        line[i] = is;
    }
    drop_flushed(line, c, plain, rows);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        if (line[i]) rows ? mark(c, i, i + 1, 0, n) : mark(c, 0, m, i, i + 1);
    return status;
}

/* "zeros", or "NaN and infinities", of the marked lines. */
static void add_contents(char *text, size_t size, const bool has[CONTENTS])
{
    bool any = false;
    for (int i = 0; i < CONTENTS; i++) {
        if (has[i]) text_add(text, size, "%s%s", any ? " and " : "", contents[i]);
        any |= has[i];
    }
}

static enum bitcut_status find_lines(struct ladder_report *l, struct contents *c,
                                     bool rows, struct fault *f)
{
    const size_t m = c->x->m, n = c->x->n, count = rows ? m : n;
    bool *const line = calloc(count, 1);
    enum bitcut_status status =
        line ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for lines");
    if (status == BITCUT_OK) status = take_typical(c, f);
    if (status == BITCUT_OK)
        status = mark_lines(c, line, rows ? c->row_plain : c->col_plain, rows, f);
    size_t lines = 0, first = count, end = 0;
    bool has[CONTENTS] = { false };
    for (size_t i = 0; i < count && status == BITCUT_OK; i++) {
        if (!line[i]) continue;
        has[content_of(c->x->d[rows ? i * n : i])] = true;
        first = smaller(first, i);
        end = i + 1;
        lines++;
    }
    struct bitcut_finding *const to = lines ? ladder_add(l, c->x, "not written") : NULL;
    if (to) {
        lines_describe(to->text, sizeof to->text, line, count, rows ? "row" : "column");
        text_add(to->text, sizeof to->text, " of D hold%s ", lines == 1 ? "s" : "");
        add_contents(to->text, sizeof to->text, has);
        text_add(to->text, sizeof to->text, ", as if nothing was written there");
        (rows ? to->rows : to->columns)[0] = first;
        (rows ? to->rows : to->columns)[1] = end;
        to->outputs = lines * (rows ? n : m);
    }
    free(line);
    return status;
}

/* --- boxes ------------------------------------------------------------------------ */

/* The largest uniform box around a cell, grown by whole rows and columns. */
static struct region grow(const struct contents *c, struct region r)
{
    const size_t m = c->x->m, n = c->x->n;
    const uint32_t first = key(c->x->d[r.row * n + r.col]);
    for (bool more = true; more;) {
        more = false;
        const struct region side[4] = {
            { r.row_end, r.row_end + 1, r.col, r.col_end },
            { r.row, r.row_end, r.col_end, r.col_end + 1 },
            { r.row - 1, r.row, r.col, r.col_end },
            { r.row, r.row_end, r.col - 1, r.col },
        };
        const bool exists[4] = { r.row_end<m, r.col_end<n, r.row> 0, r.col> 0 };
        for (int s = 0; s < 4 && !more; s++) {
            const struct region *const t = &side[s];
            if (!exists[s] || key(c->x->d[t->row * n + t->col]) != first ||
                !is_uniform(c, t->row, t->row_end, t->col, t->col_end))
                continue;
            r.row = smaller(r.row, t->row), r.col = smaller(r.col, t->col);
            if (t->row_end > r.row_end) r.row_end = t->row_end;
            if (t->col_end > r.col_end) r.col_end = t->col_end;
            more = true;
        }
    }
    return r;
}

/* Extend a finding by a region. */
static void add_region(struct bitcut_finding *to, struct region r)
{
    to->outputs += (r.row_end - r.row) * (r.col_end - r.col);
    to->rows[0] = smaller(to->rows[0], r.row);
    to->columns[0] = smaller(to->columns[0], r.col);
    if (r.row_end > to->rows[1]) to->rows[1] = r.row_end;
    if (r.col_end > to->columns[1]) to->columns[1] = r.col_end;
}

/* *to is NULL before the first box, and if there is no room. */
static void describe_box(struct bitcut_finding **to, struct ladder_report *l,
                         const struct contents *c, struct region r)
{
    enum { SHOWN = 3 };
    const char *const what = contents[content_of(c->x->d[r.row * c->x->n + r.col])];
    if (c->boxes == 1) {
        *to = ladder_add(l, c->x, "not written");
        if (!*to) return;
        (*to)->outputs = 0;
        (*to)->rows[0] = (*to)->rows[1] = r.row;
        (*to)->columns[0] = (*to)->columns[1] = r.col;
    }
    if (!*to) return;
    add_region(*to, r);
    if (c->boxes <= SHOWN)
        text_add((*to)->text, sizeof(*to)->text,
                 "%srows %zu to %zu, columns %zu to %zu of D hold %s",
                 c->boxes > 1 ? "; " : "", r.row, r.row_end - 1, r.col, r.col_end - 1,
                 what);
    else if (c->boxes == SHOWN + 1)
        text_add((*to)->text, sizeof(*to)->text, "; and so do more such regions");
}

static enum bitcut_status find_boxes(struct ladder_report *l, struct contents *c,
                                     struct fault *f)
{
    enum { CELL = 8, TRIES = 512 };
    struct bitcut_finding *to = NULL;
    enum bitcut_status status = take_typical(c, f);
    size_t tries = 0;
    for (size_t i = 0; i + CELL <= c->x->m; i += CELL)
        for (size_t j = 0; j + CELL <= c->x->n && tries < TRIES; j += CELL) {
            bool is = false;
            if (status != BITCUT_OK || c->marked[i * c->x->n + j] ||
                !is_uniform(c, i, i + CELL, j, j + CELL))
                continue;
            const struct region r = grow(c, (struct region){ i, i + CELL, j, j + CELL });
            tries++;
            /* Whole rows and columns were examined before. */
            if (r.row_end - r.row == c->x->m || r.col_end - r.col == c->x->n) continue;
            status = region_foreign(&is, c, r, f);
            if (is && status == BITCUT_OK) status = is_beside_good(&is, c, r, f);
            if (!is || status != BITCUT_OK) continue;
            mark(c, r.row, r.row_end, r.col, r.col_end);
            c->boxes++;
            describe_box(&to, l, c, r);
        }
    if (to) text_add(to->text, sizeof to->text, ", as if nothing was written there");
    return status;
}

/* --- scattered outputs ------------------------------------------------------------ */

/* Scattered outputs of each kind except numbers: found if nearly all that are examined
   are foreign. */
static enum bitcut_status find_scattered(struct ladder_report *l, struct contents *c,
                                         enum content what, struct fault *f)
{
    enum { OUTPUTS = 32 };
    const struct rung_input *const x = c->x;
    size_t count = 0, first = 0, seen = 0, foreign = 0;
    for (size_t at = x->m * x->n; at-- > 0;)
        if (!c->marked[at] && content_of(x->d[at]) == what) count++, first = at;
    if (!count || count * 8 > x->m * x->n || !(c->accuracy < 0x1p-10)) return BITCUT_OK;
    for (size_t at = 0, n = 0; at < x->m * x->n && seen < OUTPUTS; at++) {
        struct exact_output v;
        if (c->marked[at] || content_of(x->d[at]) != what) continue;
        if (n++ % divide_up(count, OUTPUTS)) continue;
        const enum bitcut_status status = exact_one(&v, x, at / x->n, at % x->n, f);
        if (status != BITCUT_OK) return status;
        seen++;
        foreign += is_foreign(c, what, x->d[at], at / x->n, at % x->n, v);
    }
    if (foreign * 4 < seen * 3) return BITCUT_OK;
    struct bitcut_finding *const to = ladder_add(l, x, "not written");
    if (!to) return BITCUT_OK;
    text_add(
        to->text, sizeof to->text,
        count == 1
            ? "%zu output is %s, D[%zu, %zu], which A and B do not account for"
            : "%zu outputs at scattered positions are %s, the first D[%zu, %zu], which A "
              "and B do not account for",
        count, contents[what], first / x->n, first % x->n);
    to->outputs = count;
    to->rows[0] = first / x->n;
    for (size_t at = 0; at < x->m * x->n; at++)
        c->marked[at] |= content_of(x->d[at]) == what;
    return BITCUT_OK;
}

/* --- all of it -------------------------------------------------------------------- */

/* All of D holds zeros, NaN or infinities. */
static enum bitcut_status find_plain(struct ladder_report *l, struct contents *c,
                                     struct fault *f)
{
    bool is;
    const enum content what = content_of(c->x->d[0]);
    const enum bitcut_status status =
        region_foreign(&is, c, (struct region){ 0, c->x->m, 0, c->x->n }, f);
    if (status != BITCUT_OK || !is || what == NUMBER) return status;
    struct bitcut_finding *const to = ladder_add(l, c->x, "not written");
    if (to)
        text_add(to->text, sizeof to->text,
                 "D is all %s, as if nothing was written to it", contents[what]);
    return status;
}

/* The lines without marked outputs. */
static bool take_written(struct some_lines *to, const struct contents *c, bool rows)
{
    const size_t m = c->x->m, n = c->x->n, count = rows ? m : n;
    to->at = memory_allocate(count, sizeof *to->at);
    to->count = 0;
    for (size_t i = 0; to->at && i < count; i++) {
        bool any = false;
        for (size_t j = 0; j < (rows ? n : m); j++)
            any |= c->marked[rows ? i * n + j : j * n + i];
        if (!any) to->at[to->count++] = i;
    }
    return to->at;
}

static void lines_all(struct some_lines *to)
{
    free(to->at);
    *to = (struct some_lines){ NULL, 0 };
}

/* Written rows by all columns, or all rows by written columns, whichever has more
   outputs; both if that is needed. */
static enum bitcut_status choose_written(struct ladder_report *l,
                                         const struct contents *c, struct fault *f)
{
    const size_t m = c->x->m, n = c->x->n;
    for (size_t at = 0; at < m * n; at++) l->unwritten += c->marked[at];
    if (!l->unwritten) return BITCUT_OK;
    if (!take_written(&l->rows, c, true) || !take_written(&l->cols, c, false))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for lines of D");
    if (l->rows.count * n >= l->cols.count * m) lines_all(&l->cols);
    else lines_all(&l->rows);
    if (l->rows.at && !l->rows.count) lines_all(&l->rows);
    if (l->cols.at && !l->cols.count) lines_all(&l->cols);
    return BITCUT_OK;
}

enum bitcut_status rung_contents(struct ladder_report *l, const struct rung_input *x,
                                 struct fault *f)
{
    struct contents c = { .x = x, .marked = calloc(x->m, x->n) };
    enum bitcut_status status = BITCUT_OK;
    c.of_row = calloc(x->m, sizeof *c.of_row);
    c.of_col = calloc(x->n, sizeof *c.of_col);
    c.row_plain = calloc(x->m, 1);
    c.col_plain = calloc(x->n, 1);
    if (!c.marked || !c.of_row || !c.of_col || !c.row_plain || !c.col_plain)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for contents of D");
    if (status == BITCUT_OK) {
        take_magnitudes(&c);
        for (size_t at = 0; at < x->m * x->n; at++)
            c.has_negative |= value_of_float(x->d[at]) < 0;
    }
    if (status == BITCUT_OK && x->m * x->n > 1 && is_uniform(&c, 0, x->m, 0, x->n))
        status = find_plain(l, &c, f);
    else if (status == BITCUT_OK) {
        find_plain_lines(c.row_plain, &c, true);
        find_plain_lines(c.col_plain, &c, false);
        status = find_lines(l, &c, true, f);
        if (status == BITCUT_OK) status = find_lines(l, &c, false, f);
        if (status == BITCUT_OK) status = find_boxes(l, &c, f);
        for (int what = ZERO; what < NUMBER && status == BITCUT_OK; what++)
            status = find_scattered(l, &c, what, f);
        if (status == BITCUT_OK) status = choose_written(l, &c, f);
    }
    free(c.marked);
    free(c.of_row);
    free(c.of_col);
    free(c.row_plain);
    free(c.col_plain);
    return status;
}
