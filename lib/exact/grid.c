/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/grid.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/exact/dgemm.h"
#include "lib/exact/lines.h"
#include "lib/number/hostfp.h"

static size_t tiles_across(const struct grid *g) { return divide_up(g->n, g->tile_cols); }

/* The number of tiles in `rows` rows that begin at the first row of a tile. */
static size_t tiles_count(const struct grid *g, size_t rows)
{
    return divide_up(rows, g->tile_rows) * tiles_across(g);
}

size_t grid_threads(int threads, size_t m, size_t n, size_t k)
{
    enum { OUTPUT = 100 }; /* nanoseconds, and 1 for a product */
    return (size_t)threads_for_work(threads, m * n, OUTPUT + k);
}

void grid_choose(struct grid *g, size_t threads)
{
    g->tile_rows = TILE_ROWS;
    g->tile_cols = TILE_COLS;
    g->first = 0;
    g->rows = g->m;
    const size_t enough = threads > 1 ? 4 * threads : 1;
    while (tiles_count(g, g->m) < enough && g->tile_rows > TILE_ROWS / 8) {
        if (g->tile_cols > g->tile_rows) g->tile_cols /= 2;
        else g->tile_rows /= 2;
    }
    g->workers = smaller(threads, tiles_count(g, g->m));
    if (g->workers == 0) g->workers = 1;
}

static struct grid_tile tile_at(const struct grid *g, size_t i)
{
    const size_t across = tiles_across(g);
    const size_t row = g->first + i / across * g->tile_rows;
    const size_t col = i % across * g->tile_cols;
    return (struct grid_tile){ .row = row,
                               .col = col,
                               .rows = smaller(g->tile_rows, g->first + g->rows - row),
                               .cols = smaller(g->tile_cols, g->n - col) };
}

static void worker_run(const struct grid *g, size_t worker,
                       void (*run)(const void *job, size_t worker,
                                   const struct grid_tile *tile),
                       const void *job)
{
    struct hostfp found;
    hostfp_enter(&found);
    const size_t all = tiles_count(g, g->m), before = tiles_count(g, g->first);
    const size_t tiles = tiles_count(g, g->rows);
    for (size_t i = worker; i < tiles; i += g->workers) {
        if (progress_stopped(g->progress)) break;
        const struct grid_tile tile = tile_at(g, i);
        run(job, worker, &tile);
        if (worker == 0)
            progress_report(g->progress, before + smaller(i + g->workers, tiles), all);
    }
    hostfp_leave(&found);
}

void grid_run(const struct grid *g,
              void (*run)(const void *job, size_t worker, const struct grid_tile *tile),
              const void *job)
{
#pragma omp parallel for schedule(static, 1) num_threads((int)g->workers)
    for (size_t i = 0; i < g->workers; i++) worker_run(g, i, run, job);
}

void grid_fill_lines(const struct grid *g, size_t count, size_t k,
                     void (*fill)(const void *job, size_t first), const void *job)
{
    const bool worth = k * (g->m + g->n) > 1 << 16;
    const int threads = worth ? (int)g->workers : 1;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t i = 0; i < count; i += LINES_MAX) {
        struct hostfp found;
        hostfp_enter(&found);
        fill(job, i);
        hostfp_leave(&found);
    }
}
