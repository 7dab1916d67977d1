/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/job_run.h"

#include "emu/engine_tile.h"
#include "emu/fast/fast_integer.h"
#include "emu/fast/fast_tile.h"
#include "emu/gemm.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>

/* How the outputs are divided among threads: tiles of the engine, or of a fast path. */
struct grid {
    size_t rows, cols, across, tiles;
    size_t engine_bytes, thread_bytes; /* scratch: the engine's, and the total for a
                                          thread                                      */
};

static struct grid grid_make(const struct job *job)
{
    struct grid x = { .rows = job->kernels ? FAST_ROWS : ENGINE_TILE,
                      .cols = job->kernels ? FAST_COLUMNS : ENGINE_TILE };
    x.across = divide_up(job->n, x.cols);
    x.tiles = divide_up(job->m - job->row, x.rows) * x.across;
    x.engine_bytes = engine_tile_bytes(job);
    x.thread_bytes = x.engine_bytes + (job->kernels ? fast_scratch_bytes(job) : 0);
    return x;
}

/* Compute a tile by a fast path, and its lines with NaN or Inf by the engine. */
static void fast_run(const struct job *job, const struct grid *x, char *scratch,
                     size_t i0, size_t j0, size_t rows, size_t cols)
{
    struct number *numbers = (struct number *)(void *)scratch;
    bool left[FAST_ROWS];
    if (!fast_tile(left, job, scratch + x->engine_bytes, i0, j0)) {
        engine_run(job, numbers, i0, j0, rows, cols);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        if (left[i] || parts_special(&job->a, i0 + i))
            engine_run(job, numbers, i0 + i, j0, 1, cols);
    for (size_t j = 0; j < cols; j++)
        if (parts_special(&job->b, j0 + j)) engine_run(job, numbers, i0, j0 + j, rows, 1);
}

static void grid_run(const struct job *job, const struct grid *x, char *scratch,
                     size_t at)
{
    const size_t i0 = job->row + at / x->across * x->rows, j0 = at % x->across * x->cols;
    const size_t rows = smaller(x->rows, job->m - i0),
                 cols = smaller(x->cols, job->n - j0);
    struct hostfp saved;
    hostfp_enter(&saved);
    if (job->integers_b)
        for (size_t i = i0; i < i0 + rows; i++) fast_integer_row(job, i, j0, cols);
    else if (job->kernels) fast_run(job, x, scratch, i0, j0, rows, cols);
    else engine_run(job, (struct number *)(void *)scratch, i0, j0, rows, cols);
    hostfp_leave(&saved);
}

/* Memory for the threads of a job, reused between jobs if the job says so. */
static char *scratch_take(const struct job *job, size_t threads, size_t bytes)
{
    struct gemm_scratch *const kept = job->scratch;
    size_t all;
    if (!kept || !size_multiply(&all, threads, bytes))
        return memory_allocate(threads, bytes);
    if (all > kept->bytes) {
        free(kept->at);
        kept->at = memory_allocate(threads, bytes);
        kept->bytes = kept->at ? all : 0;
    }
    return kept->at;
}

/* Compute tile t in one thread, in its scratch, and report progress. */
static void run_tile(const struct job *job, const struct grid *x, char *scratch, size_t t,
                     int thread, size_t *done)
{
    size_t now;
    if (progress_stopped(job->progress)) return;
    grid_run(job, x, scratch + (size_t)thread * x->thread_bytes, t);
#pragma omp atomic capture
    now = ++*done;
    if (thread == 0) progress_report(job->progress, now, x->tiles);
}

/* About how long a tile takes, in nanoseconds. */
static size_t tile_time(const struct job *job, const struct grid *x)
{
    enum { FAST = 1, ENGINE = 50 }; /* a product */
    return smaller(x->rows, job->m - job->row) * smaller(x->cols, job->n) *
           job->a.length * (size_t)job->plan->terms *
           (job->kernels || job->integers_b ? FAST : ENGINE);
}

/* A team of one thread avoids a system call each time that would wake no other thread. */
enum bitcut_status job_run(const struct job *job, int threads)
{
    enum { ALIGNMENT = 64 };
    const struct grid x = grid_make(job);
    const int count = threads_for_work(threads, x.tiles, tile_time(job, &x));
    size_t done = 0;
    char *memory = scratch_take(job, (size_t)count + 1, x.thread_bytes + ALIGNMENT);
    if (!memory) return BITCUT_NO_MEMORY;
    char *const scratch = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
    if (count == 1) {
        for (size_t t = 0; t < x.tiles; t++) run_tile(job, &x, scratch, t, 0, &done);
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(count)
        for (size_t t = 0; t < x.tiles; t++)
            run_tile(job, &x, scratch, t, threads_number(), &done);
    }
    if (!job->scratch) free(memory);
    return progress_stopped(job->progress) ? BITCUT_UNSUPPORTED : BITCUT_OK;
}
