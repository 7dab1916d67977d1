/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/gemm_data.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>

/* Streams of a run: for rows, columns and the order of k. */
enum { STREAM_ROWS = 64, STREAM_COLUMNS, STREAM_K, STREAMS = 3 };

void gemm_data_clear(struct gemm_data *p)
{
    matrix_clear(&p->a);
    matrix_clear(&p->b);
    matrix_clear(&p->c);
    *p = (struct gemm_data){ 0 };
}

enum bitcut_status gemm_data_take(struct gemm_data *to, const struct bitcut_gemm *g,
                                  size_t i, int threads, struct fault *f)
{
    const struct bitcut_gemm one = gemm_nth(g, i);
    struct gemm_data x = { 0 };
    if (view_matrix(&x.a, &one.a, 0, one.m, one.k, threads) &&
        view_matrix(&x.b, &one.b, 0, one.k, one.n, threads) &&
        (!gemm_reads_c(g) || view_matrix(&x.c, &one.c, 0, one.m, one.n, threads))) {
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

void gemm_data_of(struct gemm_data *to, struct matrix *d, const struct bitcut_gemm *all,
                  size_t i)
{
    const struct bitcut_gemm g = gemm_nth(all, i);
    *to = (struct gemm_data){ borrowed(&g.a, g.m, g.k), borrowed(&g.b, g.k, g.n),
                              borrowed(&g.c, g.m, g.n) };
    *d = borrowed(&g.d, g.m, g.n);
    d->format = g.d.format;
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

enum bitcut_status gemm_data_shuffle(struct gemm_data *to, const struct gemm_data *from,
                                     size_t rows, size_t cols, uint64_t seed,
                                     uint64_t run, bool ordered, struct fault *f)
{
    const size_t m = from->a.rows, k = from->a.cols, n = from->b.cols;
    const uint64_t stream = run * STREAMS;
    struct gemm_data p = { 0 };
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
        draw(row, rows, m, run || rows < m, rng_start(seed, stream + STREAM_ROWS));
        draw(col, cols, n, run || cols < n, rng_start(seed, stream + STREAM_COLUMNS));
        draw(at, k, k, run && !ordered, rng_start(seed, stream + STREAM_K));
        status = pick(&p.a, &from->a, row, rows, at, k, f);
    }
    if (status == BITCUT_OK) status = pick(&p.b, &from->b, at, k, col, cols, f);
    if (status == BITCUT_OK && from->c.at)
        status = pick(&p.c, &from->c, row, rows, col, cols, f);
    if (status == BITCUT_OK) *to = p;
    else gemm_data_clear(&p);
    free(row);
    free(col);
    free(at);
    return status;
}

enum bitcut_status gemm_data_order(struct gemm_data *to, const struct gemm_data *from,
                                   const size_t *at, struct fault *f)
{
    const size_t m = from->a.rows, k = from->a.cols, n = from->b.cols,
                 most = m > n ? m : n;
    size_t *const line = memory_allocate(most, sizeof *line);
    struct gemm_data p = { 0 };
    enum bitcut_status status =
        line ? BITCUT_OK
             : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t i = 0; i < most && line; i++) line[i] = i;
    if (status == BITCUT_OK) status = pick(&p.a, &from->a, line, m, at, k, f);
    if (status == BITCUT_OK) status = pick(&p.b, &from->b, at, k, line, n, f);
    if (status == BITCUT_OK && from->c.at)
        status = pick(&p.c, &from->c, line, m, line, n, f);
    if (status == BITCUT_OK) *to = p;
    else gemm_data_clear(&p);
    free(line);
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

enum bitcut_status gemm_data_judge(struct judge *j, const struct gemm_data *p,
                                   const struct bitcut_gemm *g, struct fault *f)
{
    const struct exact_update update = { g->alpha, g->beta, p->c.at };
    const struct gemm_options options = { .threads = 1 };
    const enum bitcut_status status =
        judge_init(j, &references[0], &p->a, &p->b, &update, &options, f);
    if (status == BITCUT_OK) j->comparison.format = g->d.format;
    return status;
}

enum bitcut_status gemm_data_run(uint32_t *d, const struct gemm_data *p,
                                 const struct bitcut_gemm *g, struct fault *f)
{
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm own = *g;
    gemm_set_dense(&own, d, p->a.rows, p->b.cols, p->a.cols, p->a.at, p->b.at, p->c.at);
    const enum bitcut_status status = gemm_run(&own, &options, f);
    if (status == BITCUT_OK) result_round(d, p->a.rows * p->b.cols, g->d.format);
    return status;
}
