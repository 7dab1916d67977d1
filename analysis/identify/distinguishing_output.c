/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/distinguishing_output.h"

#include "lib/base/size.h"

#include <stdlib.h>

/* The differing outputs must be fewer than one in this many. */
enum { RARE = 8 };

static bool differs(const struct compared *x, size_t i, size_t j)
{
    return i < x->rows && j < x->cols && x->d[i * x->cols + j] != x->h[i * x->cols + j];
}

/* Whether no neighbour in the row or the column differs as well.  Positions before the
   first do not exist. */
static bool is_alone(const struct compared *x, size_t i, size_t j)
{
    return !differs(x, i - 1, j) && !differs(x, i + 1, j) && !differs(x, i, j - 1) &&
           !differs(x, i, j + 1);
}

bool distinguishing_take(struct distinguishing *t, const struct compared *x, size_t most)
{
    size_t count = 0, alone = 0, seen = 0, taken = 0;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            if (differs(x, i, j)) count++, alone += is_alone(x, i, j);
    if (!count || RARE * count > x->rows * x->cols || 2 * alone < count) return false;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            if (!differs(x, i, j) || seen++ < taken * count / most) continue;
            t->row[t->taken % TELLING_MAX] = x->row ? x->row[i] : i;
            t->col[t->taken++ % TELLING_MAX] = x->col ? x->col[j] : j;
            taken++;
        }
    return true;
}

static int by_place(const void *x, const void *y)
{
    const size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return (a > b) - (a < b);
}

static bool has(const size_t *line, size_t count, size_t x)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) any |= line[i] == x;
    return any;
}

/* Different rows or columns, ascending: those of `first`, then those of `more`, up to
   `most`. */
static size_t join(size_t *to, size_t most, const size_t *first, size_t firsts,
                   const size_t *more, size_t mores)
{
    size_t count = 0;
    for (size_t i = 0; i < firsts; i++)
        if (!has(to, count, first[i])) to[count++] = first[i];
    for (size_t i = 0; i < mores && count < most; i++)
        if (!has(to, count, more[i])) to[count++] = more[i];
    qsort(to, count, sizeof *to, by_place);
    return count;
}

enum bitcut_status distinguishing_block(struct block *to, const struct distinguishing *t,
                                        const struct block *other, size_t rows,
                                        size_t cols, struct fault *f)
{
    const size_t kept = smaller(t->taken, TELLING_MAX);
    size_t *const row = memory_allocate(rows + kept, sizeof *row);
    size_t *const col = memory_allocate(cols + kept, sizeof *col);
    enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY,
                               "not enough memory for distinguishing outputs");
    if (status == BITCUT_OK) {
        const size_t m = join(row, rows, t->row, kept, other->row, other->rows),
                     n = join(col, cols, t->col, kept, other->col, other->cols);
        status = block_take(to, other->q, row, m, col, n, f);
    }
    free(row);
    free(col);
    return status;
}
