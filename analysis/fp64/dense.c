/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/dense.h"

#include "analysis/accuracy/gemm_data.h"
#include "lib/base/size.h"

#include <stdlib.h>

void dense_clear(struct dense *x)
{
    free(x->a);
    free(x->b);
    free(x->b_lines);
    free(x->c);
    free(x->d);
}

bool dense_init(struct dense *x, size_t m, size_t n, size_t k, bool reads_c)
{
    size_t of_a, of_b, of_d;
    *x = (struct dense){ .m = m, .n = n, .k = k };
    if (!size_multiply(&of_a, m, k) || !size_multiply(&of_b, k, n) ||
        !size_multiply(&of_d, m, n))
        return false;
    x->a = memory_allocate(of_a, sizeof *x->a);
    x->b = memory_allocate(of_b, sizeof *x->b);
    x->b_lines = memory_allocate(of_b, sizeof *x->b_lines);
    x->d = memory_allocate(of_d, sizeof *x->d);
    if (reads_c) x->c = memory_allocate(of_d, sizeof *x->c);
    return x->a && x->b && x->b_lines && (!reads_c || x->c) && x->d;
}

void dense_set_lines(struct dense *x)
{
    for (size_t p = 0; p < x->k; p++)
        for (size_t j = 0; j < x->n; j++) x->b_lines[j * x->k + p] = x->b[p * x->n + j];
}

void dense_set(struct bitcut_gemm *g, const struct dense *x)
{
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    g->m = x->m, g->n = x->n, g->k = x->k;
    g->count = 1;
    g->a = (struct bitcut_matrix){ .at = x->a, .format = f64 };
    g->b = (struct bitcut_matrix){ .at = x->b, .format = f64 };
    g->c = (struct bitcut_matrix){ .at = x->c, .format = f64 };
    g->d = (struct bitcut_matrix){ .to = x->d, .format = f64 };
}

void dense_set_job(struct fp64_job *job, const struct dense *x)
{
    job->a = x->a;
    job->b = x->b_lines;
    job->c = x->c;
}

/* Rows, columns and products of `from`. */
struct picked {
    const size_t *row, *col, *at;
    size_t rows, cols;
};

static enum bitcut_status pick(struct dense *to, const struct dense *from,
                               const struct picked *p, struct fault *f)
{
    const size_t k = from->k, n = from->n;
    if (!dense_init(to, p->rows, p->cols, k, from->c != NULL)) {
        dense_clear(to);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    }
    for (size_t i = 0; i < p->rows; i++)
        for (size_t q = 0; q < k; q++)
            to->a[i * k + q] = from->a[p->row[i] * k + p->at[q]];
    for (size_t q = 0; q < k; q++)
        for (size_t j = 0; j < p->cols; j++)
            to->b[q * p->cols + j] = from->b[p->at[q] * n + p->col[j]];
    for (size_t i = 0; from->c && i < p->rows; i++)
        for (size_t j = 0; j < p->cols; j++)
            to->c[i * p->cols + j] = from->c[p->row[i] * n + p->col[j]];
    dense_set_lines(to);
    return BITCUT_OK;
}

enum bitcut_status dense_shuffle(struct dense *to, const struct dense *from, size_t rows,
                                 size_t cols, uint64_t seed, uint64_t run, bool ordered,
                                 struct fault *f)
{
    const struct gemm_data sizes = { .a = { .rows = from->m, .cols = from->k },
                                     .b = { .rows = from->k, .cols = from->n } };
    size_t *const row = memory_allocate(from->m, sizeof *row),
                  *const col = memory_allocate(from->n, sizeof *col),
                  *const at = memory_allocate(from->k, sizeof *at);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (row && col && at) {
        gemm_data_draw(row, col, at, &sizes, rows, cols, seed, run, ordered);
        const struct picked p = { row, col, at, smaller(rows, from->m),
                                  smaller(cols, from->n) };
        status = pick(to, from, &p, f);
    } else fault_set(f, status, "not enough memory for a sample");
    free(row);
    free(col);
    free(at);
    return status;
}

enum bitcut_status dense_order(struct dense *to, const struct dense *from,
                               const size_t *at, struct fault *f)
{
    const size_t lines = larger(from->m, from->n);
    size_t *const line = memory_allocate(lines, sizeof *line);
    if (!line) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    for (size_t i = 0; i < lines; i++) line[i] = i;
    const struct picked p = { line, line, at, from->m, from->n };
    const enum bitcut_status status = pick(to, from, &p, f);
    free(line);
    return status;
}

bool dense_make(struct dense *x, const struct bitcut_gemm *g, int threads)
{
    const bool reads_c = gemm_reads_c(g);
    const struct fp64_range k = { 0, g->k }, n = { 0, g->n };
    *x = (struct dense){ .m = g->m,
                         .n = g->n,
                         .k = g->k,
                         .a = fp64_lines(&g->a, g->m, g->k, false, k, threads),
                         .b = fp64_lines(&g->b, g->k, g->n, false, n, threads),
                         .b_lines = fp64_lines(&g->b, g->k, g->n, true, k, threads),
                         .d = g->d.at ? fp64_lines(&g->d, g->m, g->n, false, n, threads)
                                      : memory_allocate(g->m, g->n * sizeof(double)) };
    if (reads_c) x->c = fp64_lines(&g->c, g->m, g->n, false, n, threads);
    return x->a && x->b && x->b_lines && (!reads_c || x->c) && x->d;
}

enum bitcut_status dense_judge(struct judge *j, const struct dense *x,
                               const struct bitcut_gemm *g,
                               const struct reference *reference,
                               const struct gemm_options *options, struct fault *f)
{
    const struct matrices64 matrices = { g->m, g->n, g->k,         x->a,       x->b,
                                         x->c, x->d, g->alpha_f64, g->beta_f64 };
    return judge64_init(j, reference, &matrices, options, f);
}
