/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/exact.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/exact/exact64_tile.h"
#include "lib/exact/exact_tile.h"
#include "lib/exact/lines.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct exact_layer exact_layers[] = {
    [LAYER_DOUBLE] = { "double", "a sum in binary64 and its error bound", layer_double,
                       NULL },
    [LAYER_DOT2] = { "dot2", "a compensated sum and its error bound", layer_dot2,
                     layer64_dot2 },
    [LAYER_BINS] = { "bins", "an exact integer for each exponent", layer_bins,
                     layer64_bins },
    [LAYER_MPFR] = { "mpfr", "mpfr_sum of exact products", layer_mpfr, layer64_mpfr },
    { 0 }
};

/* Whether there are plain sums without the sums of the magnitudes. */
static bool sums_bare(const struct exact_job *job)
{
    return !has_sizes(job) && job->c32 && uses(job, LAYER_DOUBLE);
}

/* --- tiles -------------------------------------------------------------------------- */

static void tile_mark(struct exact_tile *t)
{
    const struct exact_job *job = t->job;
    const int all = (job->c32 != NULL) << EXACT_F32 | (job->c64 != NULL) << EXACT_F64;
    memset(t->worker->pending, 0, sizeof t->worker->pending);
    for (size_t i = 0; i < t->rows; i++) memset(pending(t, i, 0), all, t->cols);
    t->left = all ? t->rows * t->cols : 0;
}

static double magnitude_at(const struct exact_tile *t, size_t i, size_t j)
{
    const double size = t->worker->dgemm.sums.size[i * TILE_COLS + j];
    if (!t->job->update) return size;
    const double product = fabs((double)float_of_bits(t->job->update->alpha)) * size;
    return adds_c(t->job) ? product + fabs(beta_c(t, i, j)) : product;
}

/* The sums that layer_double() certifies, and the magnitudes. */
static void tile_sum(struct exact_tile *t)
{
    const struct exact_job *job = t->job;
    const struct dgemm_operands x = tile_operands(t);
    if (job->sums) panel_take(t);
    else if (job->magnitude) dgemm_plain_sum(&t->worker->dgemm, job->kernel, &x);
    else if (sums_bare(job)) dgemm_sum(&t->worker->dgemm, job->kernel, &x);
    for (size_t i = 0; job->magnitude && i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            job->magnitude[(t->row + i) * job->n + t->col + j] = magnitude_at(t, i, j);
}

/* Elements that no layer settled become NaN. */
static void tile_give_up(struct exact_tile *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            for (int target = 0; target < EXACT_TARGETS; target++) {
                if (!lacks(t, i, j, target)) continue;
                output(t, i, j, target, format_nan(exact_formats[target]));
                t->worker->counts.unsettled[target]++;
            }
}

static void tile_run(const void *of, size_t worker, const struct grid_tile *at)
{
    const struct exact_job *job = of;
    struct exact_tile t = { .job = job,
                            .worker = &job->worker[worker],
                            .row = at->row,
                            .col = at->col,
                            .rows = at->rows,
                            .cols = at->cols };
    tile_mark(&t);
    tile_sum(&t);
    for (t.layer = 0; t.layer < LAYERS; t.layer++)
        if (t.left && uses(job, t.layer)) exact_layers[t.layer].settle(&t);
    if (t.left) tile_give_up(&t);
}

/* --- lines -------------------------------------------------------------------------- */

enum { NORM_ROWS = 8 }; /* rows at a time, so that their sums are independent */

/* `count` rows of A from the first one on, and columns of B. */
static struct lines rows_of(const struct exact_job *job, size_t first, size_t count)
{
    return (struct lines){ job->a + first * job->k, count, job->k, job->k, 1 };
}

static struct lines cols_of(const struct exact_job *job, size_t first, size_t count)
{
    return (struct lines){ job->b + first, count, 1, job->k, job->n };
}

/* Fill in the known facts about at most LINES_MAX rows and columns from the first one
   on. */
static void rows_fill(const void *of, size_t first)
{
    const struct exact_job *job = of;
    const size_t end = smaller(first + LINES_MAX, job->m);
    for (size_t i = first; i < end; i += NORM_ROWS) {
        const struct lines rows = rows_of(job, i, smaller(NORM_ROWS, end - i));
        lines_units(job->row_unit + i, &rows);
        if (sums_bare(job)) lines_norms(job->row_norm + i, &rows);
    }
}

static void cols_fill(const void *of, size_t first)
{
    const struct exact_job *job = of;
    const struct lines cols = cols_of(job, first, smaller(LINES_MAX, job->n - first));
    lines_units(job->col_unit + first, &cols);
    if (sums_bare(job)) lines_norms(job->col_norm + first, &cols);
}

/* --- panels ------------------------------------------------------------------------- */

/* Work panel after panel.  Without sums from elsewhere, all rows form one panel. */
static enum bitcut_status job_run(struct exact_job *job, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    struct grid *const g = &job->grid;
    const size_t each = job->sums ? job->panel_rows : job->m;
    grid_fill_lines(g, job->m, job->k, rows_fill, job);
    grid_fill_lines(g, job->n, job->k, cols_fill, job);
    for (; status == BITCUT_OK && g->first < job->m; g->first += g->rows) {
        g->rows = smaller(each, job->m - g->first);
        if (progress_stopped(job->progress)) break;
        if (job->sums) status = panel_compute(job, f);
        if (status == BITCUT_OK) grid_run(g, tile_run, job);
    }
    return status;
}

static void memory_free(struct exact_job *job)
{
    panel_clear(job);
    free(job->worker);
    free(job->columns);
    free(job->row_unit);
}

/* False if there is not enough memory. */
static bool job_init(struct exact_job *job)
{
    job->worker = aligned_alloc(DGEMM_ALIGNMENT, job->grid.workers * sizeof *job->worker);
    job->columns = memory_allocate(job->k, job->grid.workers * sizeof *job->columns);
    job->row_unit = memory_allocate(job->m + job->n, 2 * sizeof *job->row_unit);
    const bool panels = !job->sums || panel_init(job);
    if (!job->worker || !job->columns || !job->row_unit || !panels) {
        memory_free(job);
        return false;
    }
    job->col_unit = job->row_unit + job->m;
    job->row_norm = job->col_unit + job->n;
    job->col_norm = job->row_norm + job->m;
    for (size_t i = 0; i < job->grid.workers; i++) {
        job->worker[i].column = job->columns + i * job->k;
        job->worker[i].counts = (struct exact_counts){ 0 };
        if (uses(job, LAYER_MPFR)) oracle_init(&job->worker[i].oracle);
    }
    return true;
}

static void job_clear(struct exact_job *job)
{
    for (size_t i = 0; uses(job, LAYER_MPFR) && i < job->grid.workers; i++)
        oracle_clear(&job->worker[i].oracle);
    memory_free(job);
}

static struct exact_counts job_counts(const struct exact_job *job)
{
    struct exact_counts sum = { 0 };
    for (size_t i = 0; i < job->grid.workers; i++)
        for (int target = 0; target < EXACT_TARGETS; target++) {
            const struct exact_counts *x = &job->worker[i].counts;
            sum.unsettled[target] += x->unsettled[target];
            for (int layer = 0; layer < LAYERS; layer++)
                sum.settled[target][layer] += x->settled[target][layer];
        }
    return sum;
}

/* --- the whole ---------------------------------------------------------------------- */

static const struct exact_options defaults;

/* NULL if the update is A B itself. */
static const struct exact_update *update_of(const struct exact_options *o)
{
    const struct exact_update *u = o->update;
    return u && u->alpha == F32_ONE && u->beta << 1 == 0 ? NULL : u;
}

enum bitcut_status exact_gemm(uint32_t *c32, uint64_t *c64, double *magnitude,
                              struct exact_counts *counts,
                              const struct exact_options *options, size_t m, size_t n,
                              size_t k, const uint32_t *a, const uint32_t *b,
                              struct fault *f)
{
    const struct exact_options *o = options ? options : &defaults;
    struct exact_job job = { .c32 = c32,
                             .c64 = c64,
                             .magnitude = magnitude,
                             .m = m,
                             .n = n,
                             .k = k,
                             .a = a,
                             .b = b,
                             .layers = o->layers ? o->layers : LAYERS_DEFAULT,
                             .kernel = o->kernel ? o->kernel : dgemm_best(),
                             .progress = o->progress,
                             .update = update_of(o) };
    if (m == 0 || n == 0) { /* the other size may be any number     */
        if (counts) *counts = (struct exact_counts){ .unsettled = { 0 } };
        return BITCUT_OK;
    }
    const bool serial = uses(&job, LAYER_MPFR) && !mpfr_buildopt_tls_p();
    if (uses(&job, LAYER_DOT2)) job.sums = exact_sums_for(o->sums, m, n, k);
    job.grid = (struct grid){ .m = m, .n = n, .progress = o->progress };
    grid_choose(&job.grid, serial ? 1 : grid_threads(o->threads, m, n, k));
    if (!job_init(&job))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %zu threads",
                         job.grid.workers);
    const enum bitcut_status status = job_run(&job, f);
    if (status == BITCUT_OK && counts) *counts = job_counts(&job);
    job_clear(&job);
    return status == BITCUT_OK && progress_stopped(o->progress)
               ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
               : status;
}

enum bitcut_status bitcut_exact_gemm(uint32_t *c32, uint64_t *c64, size_t m, size_t n,
                                     size_t k, const uint32_t *a, const uint32_t *b,
                                     int threads)
{
    const struct exact_options options = { .threads = threads,
                                           .progress = progress_of_thread() };
    const size_t k_most = (size_t)1 << 46;
    if (m && n &&
        (k > k_most || !memory_holds(a, m, k, k, sizeof *a) ||
         !memory_holds(b, k, n, n, sizeof *b) ||
         (c32 && !memory_holds(c32, m, n, n, sizeof *c32)) ||
         (c64 && !memory_holds(c64, m, n, n, sizeof *c64))))
        return BITCUT_BAD_ARGUMENT;
    return exact_gemm(c32, c64, NULL, NULL, &options, m, n, k, a, b, NULL);
}
