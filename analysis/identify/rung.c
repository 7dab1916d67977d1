/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- exact values ----------------------------------------------------------------- */

void view_clear(struct view *v)
{
    block_clear(&v->b);
    free(v->exact);
    free(v->size);
    free(v->d);
    *v = (struct view){ .exact = NULL };
}

/* Row i of the products of a block without anything given; b has its values in
   binary64. */
static void sum_row(struct view *v, const double *b, size_t i)
{
    const size_t cols = v->b.cols;
    double *const exact = &v->exact[i * cols], *const size = &v->size[i * cols];
    memset(exact, 0, cols * sizeof *exact);
    memset(size, 0, cols * sizeof *size);
    for (size_t p = 0; p < v->b.k; p++) {
        const double a = value_of_float(v->b.a[i * v->b.k + p]);
        for (size_t j = 0; j < cols; j++) {
            const double product = a * b[p * cols + j];
            exact[j] += product;
            size[j] += fabs(product);
        }
    }
    const double alpha = value_of_float(v->b.q->alpha),
                 beta = value_of_float(v->b.q->beta);
    for (size_t j = 0; j < cols; j++) {
        const double c = v->b.c ? beta * value_of_float(v->b.c[i * cols + j]) : 0;
        exact[j] = alpha * exact[j] + c;
        size[j] = fabs(alpha) * size[j] + fabs(c);
    }
}

static bool view_sum(struct view *v)
{
    const size_t cols = v->b.cols;
    double *const b = v->b.own ? NULL : memory_allocate(v->b.k, cols * sizeof *b);
    if (!b && !v->b.own) return false;
    for (size_t i = 0; b && i < v->b.k * cols; i++) b[i] = value_of_float(v->b.b[i]);
    for (size_t i = 0; i < v->b.rows; i++) {
        if (b) sum_row(v, b, i);
        for (size_t j = 0; !b && j < cols; j++) {
            const struct exact_output x = block_exact(&v->b, i, j);
            v->exact[i * cols + j] = x.value;
            v->size[i * cols + j] = x.magnitude;
        }
    }
    free(b);
    return true;
}

/* The given lines, or the first ones; NULL: no memory. */
static size_t *lines_copy(const size_t *line, size_t count)
{
    size_t *const to = memory_allocate(count, sizeof *to);
    for (size_t i = 0; to && i < count; i++) to[i] = line ? line[i] : i;
    return to;
}

enum bitcut_status view_take(struct view *to, const struct problem *q, const size_t *row,
                             size_t rows, const size_t *col, size_t cols, struct fault *f)
{
    struct view v = { .exact = NULL };
    size_t *const i = lines_copy(row, rows), *const j = lines_copy(col, cols);
    enum bitcut_status status =
        i && j ? block_take(&v.b, q, i, rows, j, cols, f)
               : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact values");
    free(i);
    free(j);
    if (status != BITCUT_OK) return status;
    v.exact = memory_allocate(rows, cols * sizeof *v.exact);
    v.size = memory_allocate(rows, cols * sizeof *v.size);
    v.d = memory_allocate(rows, cols * sizeof *v.d);
    if (!v.exact || !v.size || !v.d || !view_sum(&v)) {
        view_clear(&v);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for exact values");
    }
    for (size_t at = 0; at < rows * cols; at++) v.d[at] = value_of_float(v.b.d[at]);
    *to = v;
    return BITCUT_OK;
}

size_t view_area(const struct problem *q)
{
    enum { PRODUCTS = 1 << 27, TOLD = 1 << 22, OUTPUTS = 1 << 20 };
    return smaller((problem_is_told(q) ? TOLD : PRODUCTS) / problem_k(q) + 1, OUTPUTS);
}

double least_normal(const struct problem *q) { return ldexp(1, 1 - q->format->bias); }

/* --- findings --------------------------------------------------------------------- */

struct bitcut_finding *ladder_add(struct ladder_report *l, const struct rung_input *x,
                                  const char *name)
{
    if (l->findings == BITCUT_FINDINGS_MAX) return NULL;
    struct bitcut_finding *const to = &l->finding[l->findings++];
    *to = (struct bitcut_finding){ .size = sizeof *to,
                                   .name = name,
                                   .rows = { 0, x->m },
                                   .columns = { 0, x->n },
                                   .outputs = x->m * x->n };
    return to;
}

/* --- lists of lines --------------------------------------------------------------- */

/* The number of ranges of lines whose entry is `value`. */
static size_t count_ranges(const bool *set, size_t count, bool value)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++)
        ranges += set[i] == value && (!i || set[i - 1] != value);
    return ranges;
}

/* The distance of set lines if they are all at one distance above 1, up to the end;
   0 otherwise. */
static size_t stride_of(const bool *set, size_t count, size_t *first)
{
    size_t last = SIZE_MAX, stride = 0, lines = 0;
    for (size_t i = 0; i < count; i++) {
        if (!set[i]) continue;
        if (!lines++) *first = i;
        else if (!stride) stride = i - last;
        else if (i - last != stride) return 0;
        last = i;
    }
    return lines > 2 && stride > 1 && *first < stride && last + stride >= count ? stride
                                                                                : 0;
}

void lines_describe(char *text, size_t size, const bool *set, size_t count,
                    const char *noun)
{
    enum { FEW = 4, RANGES = 5 };
    size_t first = 0, lines = 0;
    const size_t stride = stride_of(set, count, &first);
    for (size_t i = 0; i < count; i++) lines += set[i];
    if (stride) {
        text_add(text, size, "one %s in %zu, from %s %zu", noun, stride, noun, first);
        return;
    }
    if (count_ranges(set, count, true) > count_ranges(set, count, false) ||
        (lines * 2 > count && count - lines <= FEW)) {
        text_add(text, size, "all %ss except", noun);
        text_add_ranges(text, size, set, count, false, RANGES);
        return;
    }
    text_add(text, size, "%s%s", noun, lines > 1 ? "s" : "");
    text_add_ranges(text, size, set, count, true, RANGES);
}
