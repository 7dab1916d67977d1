/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/gemm_data.h"

#include "analysis/accuracy/epilogue_reference.h"
#include "analysis/accuracy/short_result.h"
#include "emu/unit.h"
#include "lib/base/size.h"
#include "lib/gemm/sparsity.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of a run: for rows, columns and the order of k. */
enum { STREAM_ROWS = 64, STREAM_COLUMNS, STREAM_K, STREAMS = 3 };

void gemm_data_clear(struct gemm_data *p)
{
    matrix_clear(&p->a);
    matrix_clear(&p->b);
    matrix_clear(&p->c);
    gemm_data_clear_extra(p);
    *p = (struct gemm_data){ 0 };
}

void gemm_data_clear_extra(struct gemm_data *p)
{
    matrix_clear(&p->bias);
    matrix_clear(&p->scale_a);
    matrix_clear(&p->scale_b);
}

/* The factors of every line of A or B: lines x blocks, or blocks x lines for B. */
static bool take_factors(struct matrix *to, const struct bitcut_scales *x, size_t i,
                         size_t lines, size_t k, bool by_columns, int threads)
{
    struct matrix all;
    const size_t across = factor_lines(x, lines), along = factor_blocks(x, k),
                 each = x->lines ? x->lines : SIZE_MAX;
    if (!x->at.at && !x->at.each) return true;
    if (!view_matrix(&all, &x->at, i, by_columns ? along : across,
                     by_columns ? across : along, threads))
        return false;
    const bool made = matrix_init(to, by_columns ? along : lines,
                                  by_columns ? lines : along, NULL) == BITCUT_OK;
    for (size_t line = 0; made && line < lines; line++)
        for (size_t p = 0; p < along; p++)
            if (by_columns) to->at[p * lines + line] = all.at[p * across + line / each];
            else to->at[line * along + p] = all.at[line / each * along + p];
    matrix_clear(&all);
    return made;
}

enum bitcut_status gemm_data_take_extra(struct gemm_data *to, const struct bitcut_gemm *g,
                                        size_t i, int threads, struct fault *f)
{
    const size_t m = to->a.rows, n = to->b.cols, k = to->a.cols;
    struct gemm_data x = { .depth_a = factor_depth(&g->scale_a),
                           .depth_b = factor_depth(&g->scale_b) };
    const bool all = take_factors(&x.scale_a, &g->scale_a, i, m, k, false, threads) &&
                     take_factors(&x.scale_b, &g->scale_b, i, n, k, true, threads) &&
                     (!gemm_has_bias(g) || view_matrix(&x.bias, &g->bias, i, 1,
                                                       g->bias_rows ? m : n, threads));
    if (!all) {
        gemm_data_clear_extra(&x);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    }
    to->scale_a = x.scale_a, to->depth_a = x.depth_a;
    to->scale_b = x.scale_b, to->depth_b = x.depth_b;
    to->bias = x.bias, to->bias_rows = g->bias_rows;
    return BITCUT_OK;
}

enum bitcut_status gemm_data_take(struct gemm_data *to, const struct bitcut_gemm *g,
                                  size_t i, int threads, struct fault *f)
{
    const struct bitcut_gemm one = gemm_nth(g, i);
    struct gemm_data x = { 0 };
    if ((one.sparsity ? sparsity_expand(&x.a, &one)
                      : view_matrix(&x.a, &one.a, 0, one.m, one.k, threads)) &&
        view_matrix(&x.b, &one.b, 0, one.k, one.n, threads) &&
        (!gemm_reads_c(g) || view_matrix(&x.c, &one.c, 0, one.m, one.n, threads)) &&
        gemm_data_take_extra(&x, &one, 0, threads, NULL) == BITCUT_OK) {
        *to = x;
        return BITCUT_OK;
    }
    gemm_data_clear(&x);
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
}

/* The elements of a matrix of one GEMM. */
static struct matrix borrowed(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return (
        struct matrix){ .rows = rows, .cols = cols, .at = (uint32_t *)(uintptr_t)x->at };
}

bool gemm_data_of(struct gemm_data *to, struct matrix *d, struct matrix *own,
                  const struct bitcut_gemm *all, size_t i)
{
    const struct bitcut_gemm g = gemm_nth(all, i);
    *own = (struct matrix){ .at = NULL };
    if (gemm_groups_k(all) && !view_matrix(own, &g.a, 0, g.m, g.k, 1)) return false;
    *to = (struct gemm_data){ .a = borrowed(&g.a, g.m, g.k),
                              .b = borrowed(&g.b, g.k, g.n),
                              .c = borrowed(&g.c, g.m, g.n) };
    if (own->at) to->a = *own;
    to->a.kept = (uint8_t *)(uintptr_t)g.positions.at;
    *d = borrowed(&g.d, g.m, g.n);
    d->format = g.d.format;
    return true;
}

/* The first `most` of 0 to count - 1 in random order, or in order. */
static void draw(size_t *to, size_t most, size_t count, bool shuffled, struct rng r)
{
    for (size_t i = 0; i < count; i++) to[i] = i;
    for (size_t i = 0; i < most && shuffled; i++) {
        const size_t other = i + (size_t)rand_below(rng_bits(&r), count - i);
        const size_t kept = to[i];
        to[i] = to[other];
        to[other] = kept;
    }
}

/* The rows and columns of a matrix in that order. */
static enum bitcut_status pick(struct matrix *to, const struct matrix *from,
                               const size_t *row, size_t rows, const size_t *col,
                               size_t cols, struct fault *f)
{
    const enum bitcut_status status = matrix_init(to, rows, cols, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to->at[i * cols + j] = from->at[row[i] * from->cols + col[j]];
    return BITCUT_OK;
}

/* Rows of A, columns of B and products, in an order. */
struct picked {
    const size_t *row, *col, *at;
    size_t rows, cols;
};

/* The factors of the picked lines, with the blocks of the products at their starts. */
static enum bitcut_status pick_factors(struct matrix *to, const struct matrix *from,
                                       const struct picked *p, size_t depth,
                                       bool by_columns, struct fault *f)
{
    const size_t count = by_columns ? from->rows : from->cols;
    if (!from->at) return BITCUT_OK;
    size_t *const block = memory_allocate(count, sizeof *block);
    if (!block) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t b = 0; b < count; b++) block[b] = depth ? p->at[b * depth] / depth : 0;
    const enum bitcut_status status =
        by_columns ? pick(to, from, block, count, p->col, p->cols, f)
                   : pick(to, from, p->row, p->rows, block, count, f);
    free(block);
    return status;
}

static enum bitcut_status pick_extra(struct gemm_data *to, const struct gemm_data *from,
                                     const struct picked *p, struct fault *f)
{
    static const size_t zero = 0;
    enum bitcut_status status = BITCUT_OK;
    to->depth_a = from->depth_a;
    to->depth_b = from->depth_b;
    to->bias_rows = from->bias_rows;
    if (from->bias.at)
        status = pick(&to->bias, &from->bias, &zero, 1, to->bias_rows ? p->row : p->col,
                      to->bias_rows ? p->rows : p->cols, f);
    if (status == BITCUT_OK)
        status = pick_factors(&to->scale_a, &from->scale_a, p, to->depth_a, false, f);
    return status == BITCUT_OK
               ? pick_factors(&to->scale_b, &from->scale_b, p, to->depth_b, true, f)
               : status;
}

/* The positions of the kept elements of a sparse A.  Products move in whole fours. */
static enum bitcut_status pick_kept(struct matrix *to, const struct matrix *from,
                                    const struct picked *p, struct fault *f)
{
    const size_t kept = from->cols / 2;
    if (!from->kept) return BITCUT_OK;
    to->kept = memory_allocate(p->rows, kept);
    if (!to->kept)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t i = 0; i < p->rows; i++)
        for (size_t q = 0; q < kept; q++)
            to->kept[i * kept + q] =
                from->kept[p->row[i] * kept + p->at[q / 2 * 4] / 2 + q % 2];
    return BITCUT_OK;
}

static enum bitcut_status pick_all(struct gemm_data *to, const struct gemm_data *from,
                                   const struct picked *p, struct fault *f)
{
    const size_t k = from->a.cols;
    struct gemm_data x = { .bias_rows = false };
    enum bitcut_status status = pick(&x.a, &from->a, p->row, p->rows, p->at, k, f);
    if (status == BITCUT_OK) status = pick_kept(&x.a, &from->a, p, f);
    if (status == BITCUT_OK) status = pick(&x.b, &from->b, p->at, k, p->col, p->cols, f);
    if (status == BITCUT_OK && from->c.at)
        status = pick(&x.c, &from->c, p->row, p->rows, p->col, p->cols, f);
    if (status == BITCUT_OK) status = pick_extra(&x, from, p, f);
    if (status == BITCUT_OK) *to = x;
    else gemm_data_clear(&x);
    return status;
}

enum bitcut_status gemm_data_pick(struct gemm_data *to, const struct gemm_data *from,
                                  const size_t *row, size_t rows, const size_t *col,
                                  size_t cols, struct fault *f)
{
    const size_t k = from->a.cols;
    size_t *const at = memory_allocate(k, sizeof *at);
    if (!at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t p = 0; p < k; p++) at[p] = p;
    const enum bitcut_status status =
        pick_all(to, from, &(struct picked){ row, col, at, rows, cols }, f);
    free(at);
    return status;
}

enum bitcut_status gemm_data_draw_extra(struct gemm_data *to,
                                        const struct gemm_data *from, size_t rows,
                                        size_t cols, uint64_t seed, uint64_t run,
                                        struct fault *f)
{
    const size_t m = from->a.rows, k = from->a.cols, n = from->b.cols;
    const uint64_t stream = run * STREAMS;
    size_t *const row = memory_allocate(m, sizeof *row),
                  *const col = memory_allocate(n, sizeof *col),
                  *const at = memory_allocate(k, sizeof *at);
    struct gemm_data x = { .bias_rows = false };
    enum bitcut_status status =
        row && col && at
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) {
        draw(row, rows, m, true, rng_start(seed, stream + STREAM_ROWS));
        draw(col, cols, n, true, rng_start(seed, stream + STREAM_COLUMNS));
        for (size_t p = 0; p < k; p++) at[p] = p;
        const struct picked p = { row, col, at, rows, cols };
        status = pick_extra(&x, from, &p, f);
    }
    free(row);
    free(col);
    free(at);
    if (status != BITCUT_OK) {
        gemm_data_clear_extra(&x);
        return status;
    }
    to->bias = x.bias, to->bias_rows = x.bias_rows;
    to->scale_a = x.scale_a, to->depth_a = x.depth_a;
    to->scale_b = x.scale_b, to->depth_b = x.depth_b;
    return BITCUT_OK;
}

enum bitcut_status gemm_data_copy(struct gemm_data *to, const struct gemm_data *from,
                                  struct fault *f)
{
    struct gemm_data x = { .depth_a = from->depth_a,
                           .depth_b = from->depth_b,
                           .bias_rows = from->bias_rows };
    if (matrix_copy(&x.a, &from->a) && matrix_copy(&x.b, &from->b) &&
        matrix_copy(&x.c, &from->c) && matrix_copy(&x.bias, &from->bias) &&
        matrix_copy(&x.scale_a, &from->scale_a) &&
        matrix_copy(&x.scale_b, &from->scale_b)) {
        *to = x;
        return BITCUT_OK;
    }
    gemm_data_clear(&x);
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
}

/* The k of whole blocks of both factors, and the k that share both factors; 0: all do. Of
   a sparse A, fours of k are such blocks, in which no k moves. */
struct blocks_of_k {
    size_t whole, shared;
};

static struct blocks_of_k blocks_of(const struct gemm_data *p)
{
    const size_t k = p->a.cols, a = p->depth_a < k ? p->depth_a : 0,
                 b = p->depth_b < k ? p->depth_b : 0;
    size_t x = a, y = b;
    if (p->a.kept) return (struct blocks_of_k){ 4, 1 };
    while (y) {
        const size_t rest = x % y;
        x = y;
        y = rest;
    }
    if (!a || !b) return (struct blocks_of_k){ a + b, a + b };
    return (struct blocks_of_k){ a / x < k / b + 1 ? a / x * b : k, x };
}

/* Products in random order, such that blocks of factors move as a whole. */
static void draw_products(size_t *at, const struct gemm_data *p, bool shuffled,
                          struct rng r)
{
    const size_t k = p->a.cols;
    const struct blocks_of_k b = blocks_of(p);
    if (!shuffled || !b.whole) {
        draw(at, k, k, shuffled, r);
        return;
    }
    const size_t count = k / b.whole;
    for (size_t i = 0; i < k; i++) at[i] = i;
    for (size_t i = 0; i < count; i++) {
        const size_t other = i + (size_t)rand_below(rng_bits(&r), count - i);
        for (size_t q = 0; q < b.whole; q++) {
            const size_t kept = at[i * b.whole + q];
            at[i * b.whole + q] = at[other * b.whole + q];
            at[other * b.whole + q] = kept;
        }
    }
    for (size_t i = 0; i < k; i++) {
        const size_t end = smaller(k, (i / b.shared + 1) * b.shared),
                     other = i + (size_t)rand_below(rng_bits(&r), end - i), kept = at[i];
        at[i] = at[other];
        at[other] = kept;
    }
}

void gemm_data_draw(size_t *row, size_t *col, size_t *at, const struct gemm_data *from,
                    size_t rows, size_t cols, uint64_t seed, uint64_t run, bool ordered)
{
    const size_t m = from->a.rows, n = from->b.cols;
    const uint64_t stream = run * STREAMS;
    draw(row, smaller(rows, m), m, run || rows < m,
         rng_start(seed, stream + STREAM_ROWS));
    draw(col, smaller(cols, n), n, run || cols < n,
         rng_start(seed, stream + STREAM_COLUMNS));
    draw_products(at, from, run && !ordered, rng_start(seed, stream + STREAM_K));
}

enum bitcut_status gemm_data_shuffle(struct gemm_data *to, const struct gemm_data *from,
                                     size_t rows, size_t cols, uint64_t seed,
                                     uint64_t run, bool ordered, struct fault *f)
{
    const size_t m = from->a.rows, k = from->a.cols, n = from->b.cols;
    rows = smaller(rows, m);
    cols = smaller(cols, n);
    size_t *const row = memory_allocate(m, sizeof *row),
                  *const col = memory_allocate(n, sizeof *col),
                  *const at = memory_allocate(k, sizeof *at);
    enum bitcut_status status =
        row && col && at
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) {
        gemm_data_draw(row, col, at, from, rows, cols, seed, run, ordered);
        const struct picked p = { row, col, at, rows, cols };
        status = pick_all(to, from, &p, f);
    }
    free(row);
    free(col);
    free(at);
    return status;
}

/* Fours of products, in the order in which `at` has the first product of each. */
static enum bitcut_status order_fours(size_t *to, const size_t *at, size_t k,
                                      struct fault *f)
{
    bool *const done = calloc(k ? k : 1, sizeof *done);
    if (!done) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t i = 0; i < k; i++) {
        const size_t four = at[i] / 4;
        for (size_t q = 0; q < 4 && !done[four]; q++) *to++ = 4 * four + q;
        done[four] = true;
    }
    free(done);
    return BITCUT_OK;
}

/* The products of each block of shared factors, in the order in which `at` has them. */
static enum bitcut_status order_in_blocks(size_t *to, const size_t *at,
                                          const struct gemm_data *p, struct fault *f)
{
    const size_t k = p->a.cols, shared = blocks_of(p).shared,
                 size = shared ? shared
                        : k    ? k
                               : 1,
                 count = divide_up(k, size);
    size_t *const next = memory_allocate(count, sizeof *next);
    if (!next) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t b = 0; b < count; b++) next[b] = b * size;
    for (size_t i = 0; i < k; i++) to[next[at[i] / size]++] = at[i];
    free(next);
    return BITCUT_OK;
}

enum bitcut_status gemm_data_order(struct gemm_data *to, const struct gemm_data *from,
                                   const size_t *at, struct fault *f)
{
    const size_t m = from->a.rows, k = from->a.cols, n = from->b.cols,
                 most = m > n ? m : n;
    size_t *const line = memory_allocate(most, sizeof *line), *const own =
                                                                  memory_allocate(
                                                                      k, sizeof *own);
    enum bitcut_status status =
        line && own ? BITCUT_OK
                    : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t i = 0; i < most && line; i++) line[i] = i;
    if (status == BITCUT_OK)
        status =
            from->a.kept ? order_fours(own, at, k, f) : order_in_blocks(own, at, from, f);
    const struct picked p = { line, line, own, m, n };
    if (status == BITCUT_OK) status = pick_all(to, from, &p, f);
    free(line);
    free(own);
    return status;
}

void gemm_data_block(size_t *rows, size_t *cols, size_t m, size_t n, size_t k,
                     double products)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const double outputs = larger_double(GEMM_DATA_OUTPUTS_MIN,
                                         products / larger_double(1, (double)k)),
                 share = outputs / larger_double(1, (double)m * (double)n);
    *rows = m;
    *cols = n;
    if (share < 1) {
        *rows = (size_t)larger_double(1, (double)m * sqrt(share));
        *cols = smaller(n, (size_t)larger_double(1, outputs / (double)*rows));
        *rows = smaller(m, (size_t)larger_double(1, outputs / (double)*cols));
    }
    hostfp_leave(&mode);
}

void gemm_data_set(struct bitcut_gemm *to, const struct gemm_data *p, uint32_t *d)
{
    gemm_set_dense(to, d, p->a.rows, p->b.cols, p->a.cols, p->a.at, p->b.at, p->c.at);
    sparsity_set(to, &p->a);
    to->bias = (struct bitcut_matrix){ .at = p->bias.at };
    to->bias_rows = p->bias_rows;
    to->scale_a = (struct bitcut_scales){ { .at = p->scale_a.at }, 1, p->depth_a };
    to->scale_b = (struct bitcut_scales){ { .at = p->scale_b.at }, 1, p->depth_b };
}

enum bitcut_status gemm_data_judge(struct judge *j, const struct gemm_data *p,
                                   const struct bitcut_gemm *g,
                                   const struct gemm_options *options, struct fault *f)
{
    return gemm_data_judge_by(j, &references[0], p, g, options, f);
}

/* A or B less its zero point; `at` is NULL: no memory. */
static struct matrix shifted(const struct matrix *x, int32_t zero)
{
    struct matrix to = { .at = NULL };
    if (matrix_copy(&to, x)) matrix_subtract(&to, zero);
    return to;
}

/* The exact sums of A and B less their zero points, and what follows them.  Integers have
   other sums than FP32 values, but the same exact ones. */
static enum bitcut_status
judge_integers(struct judge *j, const struct reference *reference,
               const struct gemm_data *p, const struct bitcut_gemm *g,
               const struct gemm_options *options, struct fault *f)
{
    const struct matrix a = shifted(&p->a, g->zero_a), b = shifted(&p->b, g->zero_b);
    struct judge own = { .reference = NULL };
    enum bitcut_status status =
        a.at && b.at ? judge_init(&own, reference, &a, &b, NULL, options, f)
                     : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for integers");
    own.shifted_a = a.at, own.shifted_b = b.at;
    if (status == BITCUT_OK) status = judge_extend(&own, g, 0, options, f);
    if (status == BITCUT_OK) *j = own;
    else judge_clear(&own);
    return status;
}

enum bitcut_status gemm_data_judge_by(struct judge *j, const struct reference *reference,
                                      const struct gemm_data *p,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_options *options, struct fault *f)
{
    const struct exact_update update = { g->alpha, g->beta, p->c.at };
    const bool extended = gemm_is_extended(g);
    struct bitcut_gemm own = *g;
    if (g->unit && format_is_integer(g->unit->c)) {
        gemm_data_set(&own, p, NULL);
        own.d.format = g->d.format;
        const enum bitcut_status made = judge_integers(j, reference, p, &own, options, f);
        if (made == BITCUT_OK) j->comparison.format = g->d.format;
        return made;
    }
    enum bitcut_status status =
        judge_init(j, reference, &p->a, &p->b, extended ? NULL : &update, options, f);
    if (status != BITCUT_OK) return status;
    gemm_data_set(&own, p, NULL);
    own.d.format = j->comparison.format = g->d.format;
    if (extended) status = judge_extend(j, &own, 0, options, f);
    if (status != BITCUT_OK) judge_clear(j);
    return status;
}

enum bitcut_status gemm_data_run_unrounded(uint32_t *d, const struct gemm_data *p,
                                           const struct bitcut_gemm *g, struct fault *f)
{
    const struct gemm_options options = { .threads = 1, .unrounded = true };
    struct bitcut_gemm own = *g;
    struct gemm_plan plan;
    own.m = p->a.rows, own.n = p->b.cols, own.k = p->a.cols;
    const enum bitcut_status status = gemm_plan_on_values(&plan, &own, f);
    if (status != BITCUT_OK) return status;
    gemm_data_set(&own, p, d);
    own.d.format = g->d.format;
    return gemm_run_plan(&own, &plan, &options, f);
}

enum bitcut_status gemm_data_run(uint32_t *d, const struct gemm_data *p,
                                 const struct bitcut_gemm *g, struct fault *f)
{
    const enum bitcut_status status = gemm_data_run_unrounded(d, p, g, f);
    if (status == BITCUT_OK) result_round(d, p->a.rows * p->b.cols, g->d.format);
    return status;
}
