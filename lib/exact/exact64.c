/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/exact64.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/exact/exact64_tile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- tiles -------------------------------------------------------------------------- */

static void tile_sum(const struct exact64_tile *t)
{
    const struct exact64_job *job = t->job;
    const struct dgemm_operands64 x = { .rows = t->rows,
                                        .cols = t->cols,
                                        .k = job->k,
                                        .a = job->a + t->row * job->k,
                                        .lda = job->k,
                                        .b = job->b + t->col,
                                        .ldb = job->n,
                                        .row_shift = job->shift + t->row,
                                        .col_shift = job->shift + job->m + t->col };
    dgemm_dot3(&t->worker->dgemm, job->kernel, &x);
}

/* Elements that no layer settled become NaN. */
static void tile_give_up(struct exact64_tile *t)
{
    const double nan = double_of_bits(formats[FORMAT_F64].nan);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (*pending64(t, i, j)) output64(t, i, j, nan, nan);
    t->worker->counts.unsettled[EXACT_F64] += t->left;
}

static void tile_run(const void *of, size_t worker, const struct grid_tile *at)
{
    const struct exact64_job *job = of;
    struct exact64_tile t = { .job = job,
                              .worker = &job->worker[worker],
                              .row = at->row,
                              .col = at->col,
                              .rows = at->rows,
                              .cols = at->cols };
    const bool settles = job->high || job->low;
    memset(t.worker->pending, settles, sizeof t.worker->pending);
    t.left = settles ? t.rows * t.cols : 0;
    if (job->magnitude || (t.left && uses64(job, LAYER_DOT2))) tile_sum(&t);
    if (job->magnitude) tile64_magnitudes(&t);
    for (t.layer = 0; t.layer < LAYERS; t.layer++)
        if (t.left && uses64(job, t.layer) && exact_layers[t.layer].settle64)
            exact_layers[t.layer].settle64(&t);
    if (t.left) tile_give_up(&t);
}

/* --- lines -------------------------------------------------------------------------- */

enum { ROWS = 8 }; /* rows at a time */

/* Fill in the known facts about `lines`; the first of them has the number `at`. */
static void lines_take(const struct exact64_job *job, size_t at, struct lines64 lines)
{
    lines_ranges(job->range + at, &lines);
    for (size_t i = at; i < at + lines.count; i++)
        job->shift[i] = job->range[i].special ? 0 : SHIFTED_TOP - job->range[i].top;
}

static void rows_fill(const void *of, size_t first)
{
    const struct exact64_job *job = of;
    const size_t end = smaller(first + LINES_MAX, job->m);
    for (size_t i = first; i < end; i += ROWS)
        lines_take(job, i,
                   (struct lines64){ .at = job->a + i * job->k,
                                     .count = smaller(ROWS, end - i),
                                     .step = job->k,
                                     .k = job->k,
                                     .stride = 1 });
}

static void cols_fill(const void *of, size_t first)
{
    const struct exact64_job *job = of;
    lines_take(job, job->m + first,
               (struct lines64){ .at = job->b + first,
                                 .count = smaller(LINES_MAX, job->n - first),
                                 .step = 1,
                                 .k = job->k,
                                 .stride = job->n });
}

/* --- the whole ---------------------------------------------------------------------- */

static void memory_free(struct exact64_job *job)
{
    free(job->worker);
    free(job->columns);
    free(job->range);
    free(job->shift);
}

/* False if there is not enough memory. */
static bool job_init(struct exact64_job *job)
{
    const size_t workers = job->grid.workers;
    job->worker = aligned_alloc(DGEMM_ALIGNMENT, workers * sizeof *job->worker);
    job->columns = memory_allocate(job->k, workers * sizeof *job->columns);
    job->range = memory_allocate(job->m + job->n, sizeof *job->range);
    job->shift = memory_allocate(job->m + job->n, sizeof *job->shift);
    if (!job->worker || !job->columns || !job->range || !job->shift) {
        memory_free(job);
        return false;
    }
    for (size_t i = 0; i < workers; i++) {
        job->worker[i].column = job->columns + i * job->k;
        job->worker[i].counts = (struct exact_counts){ 0 };
        memset(job->worker[i].bin, 0, sizeof job->worker[i].bin);
        if (uses64(job, LAYER_MPFR)) oracle64_init(&job->worker[i].oracle);
    }
    return true;
}

static void job_clear(struct exact64_job *job)
{
    for (size_t i = 0; uses64(job, LAYER_MPFR) && i < job->grid.workers; i++)
        oracle_clear(&job->worker[i].oracle);
    memory_free(job);
}

static struct exact_counts job_counts(const struct exact64_job *job)
{
    struct exact_counts sum = { 0 };
    for (size_t i = 0; i < job->grid.workers; i++) {
        const struct exact_counts *x = &job->worker[i].counts;
        sum.unsettled[EXACT_F64] += x->unsettled[EXACT_F64];
        for (int layer = 0; layer < LAYERS; layer++)
            sum.settled[EXACT_F64][layer] += x->settled[EXACT_F64][layer];
    }
    return sum;
}

static const struct exact_options defaults;

/* NULL if the update is A B itself. */
static const struct exact64_update *update_of(const struct exact64_update *u)
{
    return u && u->alpha == 1 && u->beta == 0 ? NULL : u;
}

enum bitcut_status exact64_gemm(double *high, double *low, double *magnitude,
                                struct exact_counts *counts,
                                const struct exact_options *options,
                                const struct exact64_update *update, size_t m, size_t n,
                                size_t k, const double *a, const double *b,
                                struct fault *f)
{
    const struct exact_options *o = options ? options : &defaults;
    struct exact64_job job = { .high = high,
                               .low = low,
                               .magnitude = magnitude,
                               .m = m,
                               .n = n,
                               .k = k,
                               .a = a,
                               .b = b,
                               .layers = o->layers ? o->layers : LAYERS_DEFAULT,
                               .kernel = o->kernel ? o->kernel : dgemm_best(),
                               .update = update_of(update),
                               .grid = { .m = m, .n = n, .progress = o->progress } };
    assert(!o->update);
    if (m == 0 || n == 0) { /* the other sizes may be any numbers */
        if (counts) *counts = (struct exact_counts){ .unsettled = { 0 } };
        return BITCUT_OK;
    }
    const bool serial = uses64(&job, LAYER_MPFR) && !mpfr_buildopt_tls_p();
    grid_choose(&job.grid, serial ? 1 : grid_threads(o->threads, m, n, k));
    if (!job_init(&job))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %zu threads",
                         job.grid.workers);
    grid_fill_lines(&job.grid, m, k, rows_fill, &job);
    grid_fill_lines(&job.grid, n, k, cols_fill, &job);
    grid_run(&job.grid, tile_run, &job);
    const bool stopped = progress_stopped(o->progress);
    if (!stopped && counts) *counts = job_counts(&job);
    job_clear(&job);
    return stopped ? fault_set(f, BITCUT_UNSUPPORTED, "stopped") : BITCUT_OK;
}
