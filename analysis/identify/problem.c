/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/problem.h"

#include "lib/base/size.h"
#include "lib/gemm/plan.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"

#include <stdlib.h>
#include <string.h>

static size_t rows_of(const struct matrix *x, bool transposed)
{
    return transposed ? x->cols : x->rows;
}

static size_t cols_of(const struct matrix *x, bool transposed)
{
    return transposed ? x->rows : x->cols;
}

static uint32_t element(const struct matrix *x, bool transposed, size_t i, size_t j)
{
    return x->at[transposed ? j * x->cols + i : i * x->cols + j];
}

size_t problem_m(const struct problem *q) { return rows_of(&q->a, q->transposed_a); }
size_t problem_n(const struct problem *q) { return cols_of(&q->b, q->transposed_b); }
size_t problem_k(const struct problem *q) { return cols_of(&q->a, q->transposed_a); }

uint32_t problem_element(const struct problem *q, enum bitcut_operand operand,
                         size_t line, size_t k)
{
    return operand == BITCUT_A ? element(&q->a, q->transposed_a, line, k)
                               : element(&q->b, q->transposed_b, k, line);
}

uint32_t problem_c(const struct problem *q, size_t i, size_t j)
{
    return element(&q->c, q->transposed_c, i, j);
}

/* Matrix i, with borrowed elements. */
static struct matrix nth(const struct matrix *x, size_t i)
{
    struct matrix one = *x;
    if (x->is_batch && x->count != 1) {
        one.at += i * x->rows * x->cols;
        if (x->kept) one.kept += i * x->rows * (x->cols / 2);
    }
    one.is_batch = false;
    return one;
}

/* Rows [from, to). */
static struct matrix rows_from(const struct matrix *x, size_t from, size_t to)
{
    struct matrix some = *x;
    some.at += from * x->cols;
    if (x->kept) some.kept += from * (x->cols / 2);
    some.rows = to - from;
    return some;
}

/* The row or the k at which a group begins. */
static size_t first_row(const struct problem *q, size_t i)
{
    return i ? (size_t)q->offsets[i - 1] : 0;
}

size_t problem_first(const struct problem *q)
{
    size_t i = 0;
    while (q->offsets && i < q->gemms && first_row(q, i) == first_row(q, i + 1)) i++;
    return i;
}

enum bitcut_status problem_pack(struct problem *q, struct fault *f)
{
    const size_t m = q->a.rows, k = q->a.cols;
    uint32_t *const at = memory_allocate(m, k * sizeof *at), *to = at;
    if (!at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    for (size_t i = 0; i < q->gemms; i++) {
        const size_t from = first_row(q, i), length = first_row(q, i + 1) - from;
        for (size_t row = 0; row < m; row++, to += length)
            memcpy(to, q->a.at + row * k + from, length * sizeof *to);
    }
    free(q->a.at);
    q->a.at = at;
    return BITCUT_OK;
}

struct problem problem_nth(const struct problem *q, size_t i)
{
    struct problem one = *q;
    one.a = nth(&q->a, i);
    one.b = nth(&q->b, i);
    if (q->c.at) one.c = nth(&q->c, i);
    one.d = nth(&q->d, i);
    if (problem_is_told(q)) one.told = gemm_nth(&q->told, i);
    if (q->offsets && q->offsets_of_k) {
        const size_t from = first_row(q, i), to = first_row(q, i + 1);
        one.a.at += from * q->a.rows;
        one.a.cols = to - from;
        one.b = rows_from(&one.b, from, to);
        one.offsets = NULL;
        one.of_k = true;
    } else if (q->offsets) {
        const size_t from = first_row(q, i), to = first_row(q, i + 1);
        one.a = rows_from(&one.a, from, to);
        if (q->c.at) one.c = rows_from(&one.c, from, to);
        one.d = rows_from(&one.d, from, to);
        one.offsets = NULL;
        one.of_groups = true;
    }
    one.of_batch = q->is_batch;
    one.is_batch = false;
    return one;
}

bool problem_fits(const struct problem *q)
{
    const size_t m = problem_m(q), n = problem_n(q);
    return rows_of(&q->b, q->transposed_b) == problem_k(q) &&
           rows_of(&q->d, q->transposed_d) == m && cols_of(&q->d, q->transposed_d) == n &&
           (!q->c.at || (rows_of(&q->c, q->transposed_c) == m &&
                         cols_of(&q->c, q->transposed_c) == n));
}

bool format_has_all(const struct bitcut_format *format, const uint32_t *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!f32_is_nan(x[i]) && f32_through(format, &roundings[ROUND_RN], x[i]) != x[i])
            return false;
    }
    return true;
}

const struct bitcut_format *problem_format(const struct matrix *d)
{
    static const int shorter[] = { FORMAT_BF16,
                                   FORMAT_F16 }; /* f16 contains most of bf16's numbers */
    if (d->format && d->format != &formats[FORMAT_F32]) return d->format;
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        if (format_has_all(&formats[shorter[i]], d->at,
                           matrix_count(d) * d->rows * d->cols))
            return &formats[shorter[i]];
    return &formats[FORMAT_F32];
}

uint32_t *problem_result(const struct problem *q)
{
    const size_t m = problem_m(q), n = problem_n(q);
    uint32_t *const d = memory_allocate(m, n * sizeof *d);
    for (size_t i = 0; d && i < m * n; i++)
        d[i] = element(&q->d, q->transposed_d, i / n, i % n);
    return d;
}

static void fill(struct block *x, const struct problem *q)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t p = 0; p < x->k; p++)
            x->a[i * x->k + p] = element(&q->a, q->transposed_a, x->row[i], p);
    for (size_t p = 0; p < x->k; p++)
        for (size_t j = 0; j < x->cols; j++)
            x->b[p * x->cols + j] = element(&q->b, q->transposed_b, p, x->col[j]);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            const size_t at = i * x->cols + j, row = x->row[i], col = x->col[j];
            x->d[at] = element(&q->d, q->transposed_d, row, col);
            if (x->c) x->c[at] = element(&q->c, q->transposed_c, row, col);
        }
}

enum bitcut_status block_take(struct block *to, const struct problem *q,
                              const size_t *row, size_t rows, const size_t *col,
                              size_t cols, struct fault *f)
{
    struct block x = { .rows = rows, .cols = cols, .k = problem_k(q), .q = q };
    x.row = memory_allocate(rows, sizeof *x.row);
    x.col = memory_allocate(cols, sizeof *x.col);
    x.a = memory_allocate(rows, x.k * sizeof *x.a);
    x.b = memory_allocate(cols, x.k * sizeof *x.b);
    x.d = memory_allocate(rows, cols * sizeof *x.d);
    if (q->c.at) x.c = memory_allocate(rows, cols * sizeof *x.c);
    if (!x.row || !x.col || !x.a || !x.b || !x.d || (q->c.at && !x.c)) {
        block_clear(&x);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a block of outputs");
    }
    memcpy(x.row, row, rows * sizeof *row);
    memcpy(x.col, col, cols * sizeof *col);
    fill(&x, q);
    if (problem_is_told(q) && !block_operands_take(&x)) {
        block_clear(&x);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a block of outputs");
    }
    *to = x;
    return BITCUT_OK;
}

void block_clear(struct block *x)
{
    free(x->row);
    free(x->col);
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->d);
    block_operands_clear(x->own);
    *x = (struct block){ 0 };
}

size_t block_spread(const struct block *b, size_t i, size_t count)
{
    return i * (b->rows * b->cols / count | 1) % (b->rows * b->cols);
}

size_t lines_draw(size_t *to, size_t most, size_t count, uint64_t seed, uint64_t stream)
{
    struct rng r = rng_start(seed, stream);
    size_t taken = 0;
    /* Each number is selected with the probability that gives the wanted total. */
    for (size_t i = 0; i < count && taken < most; i++)
        if (rand_below(rng_bits(&r), count - i) < most - taken) to[taken++] = i;
    return taken;
}

size_t lines_draw_last(size_t *to, size_t most, size_t count, uint64_t seed,
                       uint64_t stream)
{
    const size_t drawn = lines_draw(to, most, count, seed, stream);
    if (drawn) to[drawn - 1] = count - 1;
    return drawn;
}
