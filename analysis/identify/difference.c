/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/difference.h"

#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool differs(const struct pair_of *x, size_t i, size_t j)
{
    return x->d[i * x->n + j] != x->h[i * x->n + j];
}

size_t difference_first(struct differing first[DIFFERING_MAX], const struct pair_of *x)
{
    size_t count = 0;
    for (size_t at = 0; at < x->m * x->n && count < DIFFERING_MAX; at++)
        if (x->d[at] != x->h[at])
            first[count++] = (struct differing){ .row = at / x->n,
                                                 .col = at % x->n,
                                                 .given = x->d[at],
                                                 .expected = x->h[at] };
    return count;
}

static void describe_lines(char *text, size_t size, const char *noun, size_t first,
                           size_t end)
{
    if (end - first == 1) text_add(text, size, "%s %zu", noun, first);
    else text_add(text, size, "%ss %zu to %zu", noun, first, end - 1);
}

void region_describe(char *text, size_t size, size_t row, size_t row_end, size_t col,
                     size_t col_end)
{
    describe_lines(text, size, "row", row, row_end);
    text_add(text, size, ", ");
    describe_lines(text, size, "column", col, col_end);
}

void box_describe(char *text, size_t size, const struct box *b)
{
    if (*b->where) text_add(text, size, "%s", b->where);
    else region_describe(text, size, b->row, b->row_end, b->col, b->col_end);
}

/* --- boxes ------------------------------------------------------------------------ */

/* The number of differences in [row, row_end) x [col, col_end). */
static size_t count_in(const struct pair_of *x, size_t row, size_t row_end, size_t col,
                       size_t col_end)
{
    size_t count = 0;
    for (size_t i = row; i < row_end; i++)
        for (size_t j = col; j < col_end; j++) count += differs(x, i, j);
    return count;
}

/* The boxes found so far, the largest first. */
struct boxes {
    struct box *at;
    size_t most, count;
};

static void add_box(struct boxes *b, struct box now)
{
    size_t at = b->count < b->most ? b->count : b->most;
    b->count++;
    for (; at > 0 && b->at[at - 1].differ < now.differ; at--)
        if (at < b->most) b->at[at] = b->at[at - 1];
    if (at < b->most) b->at[at] = now;
}

/* Outputs can agree by chance: a cell of this many rows and columns differs if any of its
   outputs does. */
enum { CELL = 8 };

static size_t end_of(size_t cell, size_t size)
{
    return (cell + 1) * CELL < size ? (cell + 1) * CELL : size;
}

static bool cell_differs(const struct pair_of *x, size_t i, size_t j)
{
    return i * CELL < x->m && j * CELL < x->n &&
           count_in(x, i * CELL, end_of(i, x->m), j * CELL, end_of(j, x->n));
}

/* Cells [row, row_end) x [col, col_end) without agreeing rows and columns at the edges.
 */
static struct box trimmed(const struct pair_of *x, size_t row, size_t row_end, size_t col,
                          size_t col_end)
{
    struct box b = { .row = row * CELL,
                     .row_end = end_of(row_end - 1, x->m),
                     .col = col * CELL,
                     .col_end = end_of(col_end - 1, x->n) };
    while (!count_in(x, b.row, b.row + 1, b.col, b.col_end)) b.row++;
    while (!count_in(x, b.row_end - 1, b.row_end, b.col, b.col_end)) b.row_end--;
    while (!count_in(x, b.row, b.row_end, b.col, b.col + 1)) b.col++;
    while (!count_in(x, b.row, b.row_end, b.col_end - 1, b.col_end)) b.col_end--;
    b.differ = count_in(x, b.row, b.row_end, b.col, b.col_end);
    return b;
}

/* Whether the same cells differ in two rows of cells. */
static bool same_cells(const struct pair_of *x, size_t i, size_t other)
{
    for (size_t j = 0; j * CELL < x->n; j++)
        if (cell_differs(x, i, j) != cell_differs(x, other, j)) return false;
    return true;
}

static void add_strip(struct boxes *b, const struct pair_of *x, size_t row,
                      size_t row_end)
{
    for (size_t j = 0, end; j * CELL < x->n; j = end) {
        for (end = j + 1; cell_differs(x, row, j) && cell_differs(x, row, end);) end++;
        if (cell_differs(x, row, j)) add_box(b, trimmed(x, row, row_end, j, end));
    }
}

size_t difference_boxes(struct box *box, size_t most, const struct pair_of *x)
{
    struct boxes b = { box, most, 0 };
    for (size_t i = 0, end; i * CELL < x->m; i = end) {
        for (end = i + 1; end * CELL < x->m && same_cells(x, i, end);) end++;
        add_strip(&b, x, i, end);
    }
    return b.count;
}

/* --- contents of a box ------------------------------------------------------------ */

/* Whether D in the box equals `from`, shifted by some elements; or equals one number if
   `from` is NULL.  Outputs that do not differ are ignored. */
static bool is_filled(const struct box *b, const struct pair_of *x, const uint32_t *from,
                      ptrdiff_t down, ptrdiff_t right, uint32_t number)
{
    for (size_t i = b->row; i < b->row_end; i++)
        for (size_t j = b->col; j < b->col_end; j++) {
            const size_t at =
                (size_t)((ptrdiff_t)i + down) * x->n + (size_t)((ptrdiff_t)j + right);
            if (differs(x, i, j) && x->d[i * x->n + j] != (from ? from[at] : number))
                return false;
        }
    return true;
}

static bool all_nan(const struct box *b, const struct pair_of *x)
{
    for (size_t i = b->row; i < b->row_end; i++)
        for (size_t j = b->col; j < b->col_end; j++)
            if (differs(x, i, j) && !f32_is_nan(x->d[i * x->n + j])) return false;
    return true;
}

/* The first output of the box that differs. */
static uint32_t first_of(const struct box *b, const struct pair_of *x)
{
    for (size_t i = b->row; i < b->row_end; i++)
        for (size_t j = b->col; j < b->col_end; j++)
            if (differs(x, i, j)) return x->d[i * x->n + j];
    return 0;
}

void box_set_contents(struct box *b, const char *fault, const char *format, ...)
{
    static const char they[] = "they ";
    va_list words;
    va_start(words, format);
    vsnprintf(b->holds, sizeof b->holds, format, words);
    va_end(words);
    b->fault = fault;
    snprintf(b->what, sizeof b->what, "%s%s", they, b->holds);
}

/* Whether the box as a whole has the expected values of another position. */
static bool is_moved(struct box *b, const struct pair_of *x)
{
    const size_t rows = b->row_end - b->row, cols = b->col_end - b->col;
    for (size_t i = 0; i + rows <= x->m; i++)
        for (size_t j = 0; j + cols <= x->n; j++)
            if (is_filled(b, x, x->h, (ptrdiff_t)i - (ptrdiff_t)b->row,
                          (ptrdiff_t)j - (ptrdiff_t)b->col, 0)) {
                box_set_contents(
                    b, "moved", "hold the results of rows %zu to %zu, columns %zu to %zu",
                    i, i + rows - 1, j, j + cols - 1);
                return true;
            }
    return false;
}

/* Whether row i of D, in the box, has the expected values of row `from`. */
static bool is_row(const struct box *b, const struct pair_of *x, size_t i, size_t from)
{
    for (size_t j = b->col; j < b->col_end; j++)
        if (x->d[i * x->n + j] != x->h[from * x->n + j]) return false;
    return true;
}

static bool is_column(const struct box *b, const struct pair_of *x, size_t j, size_t from)
{
    for (size_t i = b->row; i < b->row_end; i++)
        if (x->d[i * x->n + j] != x->h[i * x->n + from]) return false;
    return true;
}

/* Whether every row or column of the box has the expected values of another one. */
static bool lines_moved(struct box *b, const struct pair_of *x, size_t first, size_t end,
                        size_t lines, const char *name,
                        bool (*is)(const struct box *, const struct pair_of *, size_t,
                                   size_t))
{
    size_t source = 0;
    for (size_t i = end; i-- > first;) {
        source = 0;
        while (source < lines && !is(b, x, i, source)) source++;
        if (source == lines) return false;
    }
    b->fault = "moved";
    snprintf(b->what, sizeof b->what,
             "%s are in another order: the result of %s %zu is in %s %zu", name, name,
             source, name, first);
    return true;
}

bool difference_foreign(struct box *b, const struct pair_of *x)
{
    enum { LEAST = 32 };
    double d = 0, h = 0, dd = 0, hh = 0, dh = 0;
    const size_t count = (b->row_end - b->row) * (b->col_end - b->col);
    const double n = (double)count;
    for (size_t i = b->row; i < b->row_end; i++)
        for (size_t j = b->col; j < b->col_end; j++) {
            const double u = value_of_float(x->d[i * x->n + j]),
                         v = value_of_float(x->h[i * x->n + j]);
            d += u, h += v, dd += u * u, hh += v * v, dh += u * v;
        }
    const double both = n * dh - d * h, own = (n * dd - d * d) * (n * hh - h * h);
    /* In short formats a few are equal by chance. */
    if (count < LEAST || 32 * b->differ < 31 * count || !(n * both * both < 9 * own))
        return false;
    box_set_contents(b, "not written", "hold numbers unrelated to the product");
    return true;
}

/* Whether the differences fill their rows and columns, as for parts that a kernel leaves
   out. */
static bool fills_lines(const struct box *b, const struct pair_of *x)
{
    size_t rows = 0, cols = 0;
    for (size_t i = b->row; i < b->row_end; i++)
        rows += count_in(x, i, i + 1, b->col, b->col_end) > 0;
    for (size_t j = b->col; j < b->col_end; j++)
        cols += count_in(x, b->row, b->row_end, j, j + 1) > 0;
    return 2 * b->differ > rows * cols;
}

bool difference_describe(struct box *b, const struct pair_of *x)
{
    const uint32_t first = first_of(b, x);
    const char *what = NULL;
    if (b->differ > 1 && all_nan(b, x)) what = "hold NaN";
    else if (b->differ > 1 && is_filled(b, x, NULL, 0, 0, first))
        what = f32_is_zero(first) ? "hold zeros" : "all hold one number";
    else if (b->differ > 1 && x->c && is_filled(b, x, x->c, 0, 0, 0))
        what = "still hold C";
    if (what && !fills_lines(b, x)) return false;
    if (what) box_set_contents(b, "not written", "%s", what);
    if (what || b->differ < 2) return what != NULL;
    return is_moved(b, x) ||
           lines_moved(b, x, b->row, b->row_end, x->m, "rows", is_row) ||
           lines_moved(b, x, b->col, b->col_end, x->n, "columns", is_column);
}

/* --- outputs ---------------------------------------------------------------------- */

static bool is_of_batch(const void *differing)
{
    return ((const struct differing *)differing)->of_batch;
}

static const struct record_field differing_gemm[] = {
    RECORD_INNER(struct differing, gemm, "gemm", "", "GEMM of the batch, counted from 0"),
    { 0 }
};

const struct record_field differing_fields[] = {
    RECORD_TOGETHER(is_of_batch, differing_gemm, "", "GEMM of the batch, counted from 0"),
    RECORD_PAIR(struct differing, row, "at", "", "row and column, counted from 0"),
    RECORD_ENCODING(struct differing, given, "given", "value of D there, in FP32"),
    RECORD_ENCODING(struct differing, expected, "expected", "the correct value, in FP32"),
    { 0 }
};

void differing_describe(char *text, size_t size, const struct differing *first,
                        size_t count, size_t from)
{
    enum { SAID = 4 };
    for (size_t i = from; i < count && i < SAID; i++) {
        text_add(text, size, "%sD[", *text ? "; " : "");
        if (first[i].of_batch) text_add(text, size, "%zu, ", first[i].gemm);
        text_add(text, size, "%zu, %zu] is 0x%08x, expected 0x%08x", first[i].row,
                 first[i].col, (unsigned)first[i].given, (unsigned)first[i].expected);
    }
}
