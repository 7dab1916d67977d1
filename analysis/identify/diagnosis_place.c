/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/diagnosis_place.h"
#include "analysis/identify/difference.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

bool diagnosis_place_is_outside(const struct residuals *e, const struct guess *g,
                                size_t at)
{
    return !isnan(e->level[at]) &&
           !(fabs(g->rest[at] - g->cut * e->cut[at]) < OUTSIDE * e->level[at]);
}

double diagnosis_place_largest(const struct residuals *e, const double *error,
                               const struct guess *g)
{
    double largest = 0;
    for (size_t at = 0; at < e->outputs; at++)
        if (!isnan(e->level[at]) && e->size[at] > 0 &&
            !diagnosis_place_is_outside(e, g, at))
            largest = larger_double(largest, fabs(error[at]) / e->size[at]);
    return ldexp(largest, 24);
}

double diagnosis_place_median(const struct residuals *e, const struct guess *of,
                              const struct guess *g, bool outside)
{
    size_t count = 0;
    for (size_t at = 0; at < e->outputs; at++)
        if (!isnan(e->level[at]) && e->size[at] > 0 &&
            diagnosis_place_is_outside(e, g, at) == outside)
            e->some[count++] =
                ldexp(fabs(of->rest[at] - of->cut * e->cut[at]) / e->size[at], 24);
    return doubles_median(e->some, doubles_finite(e->some, count));
}

/* --- the region ------------------------------------------------------------------- */

/* Whether a row, or a column, of a block has such outputs. */
static bool line_has(const struct block *b, size_t line, bool rows, place_has *has,
                     const void *about)
{
    bool any = false;
    for (size_t i = 0; i < (rows ? b->cols : b->rows) && !any; i++)
        any = has(about, rows ? line * b->cols + i : i * b->cols + line);
    return any;
}

static size_t common_divisor(size_t x, size_t y)
{
    while (y) {
        const size_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/* The step from one line of a block to the next one that has such outputs, if there are
   many of them and others between them; or 1. */
static size_t step_of(const struct block *b, bool rows, place_has *has, const void *about)
{
    enum { MANY = 8, BETWEEN = 4 };
    const size_t *const line = rows ? b->row : b->col, count = rows ? b->rows : b->cols;
    size_t first = SIZE_MAX, step = 0, lines = 0, since = 0, between = 0;
    for (size_t i = 0; i < count; i++) {
        since++;
        if (!line_has(b, i, rows, has, about)) continue;
        if (lines++) between += since - 1;
        since = 0;
        first = smaller(first, line[i]);
        step = common_divisor(step, line[i] - first);
    }
    return lines >= MANY && between >= BETWEEN ? step : 1;
}

static bool is_in(const struct diagnosed_place *p, size_t row, size_t col)
{
    return row >= p->row && row < p->row_end && col >= p->col && col < p->col_end &&
           (row - p->row) % p->row_step == 0 && (col - p->col) % p->col_step == 0;
}

void diagnosis_place_region(struct diagnosed_place *to, const struct block *b,
                            place_has *has, const void *about)
{
    size_t inside = 0;
    *to = (struct diagnosed_place){
        .row = SIZE_MAX, .col = SIZE_MAX, .row_step = 1, .col_step = 1, .constant = true
    };
    for (size_t at = 0; at < b->rows * b->cols; at++) {
        const size_t row = b->row[at / b->cols], col = b->col[at % b->cols];
        if (!has(about, at)) continue;
        if (!to->outside++) to->value = b->d[at];
        to->constant &= b->d[at] == to->value;
        to->row = smaller(to->row, row);
        to->col = smaller(to->col, col);
        to->row_end = larger(to->row_end, row + 1);
        to->col_end = larger(to->col_end, col + 1);
    }
    to->row_step = step_of(b, true, has, about);
    to->col_step = step_of(b, false, has, about);
    for (size_t at = 0; at < b->rows * b->cols; at++)
        inside += is_in(to, b->row[at / b->cols], b->col[at % b->cols]);
    to->filled = to->outside && inside == to->outside;
}

/* The outputs far from a guess. */
struct far_from {
    const struct residuals *e;
    const struct guess *g;
};

static bool is_far_from(const void *about, size_t at)
{
    const struct far_from *const x = about;
    return diagnosis_place_is_outside(x->e, x->g, at);
}

/* --- values elsewhere ------------------------------------------------------------- */

enum { TRIED = 32, SHIFTS_MAX = 4096, FEWEST = 4 };

struct shift {
    ptrdiff_t down, right;
};

static uint32_t result_at(const struct problem *q, size_t i, size_t j)
{
    return q->d.at[q->transposed_d ? j * q->d.cols + i : i * q->d.cols + j];
}

/* The shifts to the outputs with the same bits as output (row, col).  Returns their
   number, SHIFTS_MAX at most. */
static size_t find_shifts(struct shift *to, const struct problem *q, size_t row,
                          size_t col)
{
    const size_t m = problem_m(q), n = problem_n(q);
    const uint32_t value = result_at(q, row, col);
    size_t count = 0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n && count < SHIFTS_MAX; j++)
            if (result_at(q, i, j) == value && (i != row || j != col))
                to[count++] = (struct shift){ (ptrdiff_t)i - (ptrdiff_t)row,
                                              (ptrdiff_t)j - (ptrdiff_t)col };
    return count;
}

/* Whether the output that is `s` away has the same bits. */
static bool has_shift(const struct problem *q, size_t row, size_t col, struct shift s)
{
    const size_t i = row + (size_t)s.down, j = col + (size_t)s.right;
    return i < problem_m(q) && j < problem_n(q) &&
           result_at(q, i, j) == result_at(q, row, col);
}

static size_t count_shift(const struct residuals *e, const struct guess *g,
                          struct shift s)
{
    size_t count = 0;
    for (size_t at = 0; at < e->outputs; at++)
        count += diagnosis_place_is_outside(e, g, at) &&
                 has_shift(e->b.q, e->b.row[at / e->b.cols], e->b.col[at % e->b.cols], s);
    return count;
}

/* Try the shifts of a few outputs; nine of ten outputs must have the same one. */
static void find_moved(struct diagnosed_place *to, const struct residuals *e,
                       const struct guess *g)
{
    struct shift *const shift = memory_allocate(SHIFTS_MAX, sizeof *shift);
    size_t tried = 0;
    for (size_t at = 0; shift && at < e->outputs && tried < TRIED && !to->moved; at++) {
        if (!diagnosis_place_is_outside(e, g, at)) continue;
        tried++;
        const size_t count = find_shifts(shift, e->b.q, e->b.row[at / e->b.cols],
                                         e->b.col[at % e->b.cols]);
        for (size_t i = 0; i < smaller(count, FEWEST) && !to->moved; i++) {
            to->moved = count_shift(e, g, shift[i]) * 10 >= to->outside * 9;
            to->down = shift[i].down;
            to->right = shift[i].right;
        }
    }
    free(shift);
}

/* Whether these outputs, many enough, do not correlate with the exact ones. */
static bool are_foreign(const struct residuals *e, const struct guess *g)
{
    enum { MANY = 32 };
    static const double deviations = 2.5;
    double both = 0, of_d = 0, of_exact = 0, count = 0;
    for (size_t at = 0; at < e->outputs; at++) {
        const double d = value_of_float(e->b.d[at]) / e->size[at],
                     exact = e->exact[at] / e->size[at];
        if (!diagnosis_place_is_outside(e, g, at) || !isfinite(d)) continue;
        both += d * exact;
        of_d += d * d;
        of_exact += exact * exact;
        count++;
    }
    return count >= MANY &&
           both * both * count < deviations * deviations * of_d * of_exact;
}

void diagnosis_place_find(struct diagnosed_place *to, const struct residuals *e,
                          const struct guess *g)
{
    diagnosis_place_region(to, &e->b, is_far_from, &(struct far_from){ e, g });
    to->constant &= to->outside >= FEWEST;
    if (to->outside >= FEWEST && !to->constant) find_moved(to, e, g);
    to->foreign = !to->constant && !to->moved && are_foreign(e, g);
}

/* --- words ------------------------------------------------------------------------ */

/* Append "8 rows below and 1 column to the left". */
static void describe_shift(char *text, size_t size, ptrdiff_t down, ptrdiff_t right)
{
    const size_t rows = (size_t)(down < 0 ? -down : down),
                 cols = (size_t)(right < 0 ? -right : right);
    if (rows)
        text_add(text, size, "%zu row%s %s", rows, rows == 1 ? "" : "s",
                 down < 0 ? "above" : "below");
    if (cols)
        text_add(text, size, "%s%zu column%s to the %s", rows ? " and " : "", cols,
                 cols == 1 ? "" : "s", right < 0 ? "left" : "right");
}

void diagnosis_place_describe(char *text, size_t size, const struct diagnosed_place *p)
{
    if (p->constant)
        text_add(text, size, "they are all %g, as if they were not written",
                 value_of_float(p->value));
    else if (p->moved) {
        text_add(text, size, "they hold the results of the outputs ");
        describe_shift(text, size, p->down, p->right);
    } else if (p->foreign)
        text_add(text, size,
                 "they are no results of their positions: they were not written, or "
                 "they are results of other positions");
}

void diagnosis_place_describe_region(char *text, size_t size,
                                     const struct diagnosed_place *p)
{
    text_add(text, size, "%s", p->filled ? "" : "some outputs of ");
    region_describe(text, size, p->row, p->row_end, p->col, p->col_end);
    if (p->row_step > 1) text_add(text, size, ", one row in %zu", p->row_step);
    if (p->col_step > 1) text_add(text, size, ", one column in %zu", p->col_step);
}
