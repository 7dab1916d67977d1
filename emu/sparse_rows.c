/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/sparse_rows.h"

#include "emu/fast/fast_integer.h"
#include "emu/job_run.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/gemm/sparsity.h"

#include <stdlib.h>

/* The number of kept elements of a row. */
static size_t kept_of(const struct job *job) { return job->b.length / 2; }

/* The k of B of each position of a line, in the order of the job; SIZE_MAX: padding. */
static size_t *elements_of(const struct job *job, size_t row)
{
    const size_t length = job->a.length, kept = kept_of(job);
    size_t *const to = memory_allocate(length, sizeof *to);
    for (size_t p = 0; to && p < length; p++) {
        const size_t from = job->parts.element ? job->parts.element[p] : p;
        to[p] = from < kept ? kept_k(job->positions + row * kept, from) : SIZE_MAX;
    }
    return to;
}

/* Compute rows with the same positions, from `from` to `end` - 1. */
static enum bitcut_status run_rows(const struct job *all, size_t from, size_t end,
                                   const struct progress *progress, int threads)
{
    struct job job = *all;
    size_t *const at = elements_of(all, from);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    job.row = from;
    job.m = end;
    job.progress = progress;
    if (at && parts_gather(&job.b, &all->b, at, job.a.length) == BITCUT_OK) {
        if (job.integers_a) job.integers_b = fast_integer_lines(&job.b);
        if (job.integers_b || !job.integers_a) status = job_run(&job, threads);
        free(job.integers_b);
        parts_clear_gathered(&job.b);
    }
    free(at);
    return status;
}

/* The first rows of all runs of rows with the same positions, and m after them; NULL: no
   memory. */
static size_t *find_runs(size_t *count, const struct job *job)
{
    size_t *const first = memory_allocate(job->m + 1, sizeof *first);
    *count = 0;
    for (size_t row = 0; first && row < job->m; row++)
        if (!kept_alike(job->positions, row, kept_of(job))) first[(*count)++] = row;
    if (first) first[*count] = job->m;
    return first;
}

enum bitcut_status sparse_rows_run(const struct job *job, int threads)
{
    const struct progress quiet = { .stop = job->progress ? job->progress->stop : NULL };
    enum bitcut_status worst = BITCUT_OK;
    size_t count, done = 0;
    size_t *const first = find_runs(&count, job);
    if (!first) return BITCUT_NO_MEMORY;
    const int team = threads_for(threads, count);
    struct job one = *job;
    if (team > 1) one.scratch = NULL;
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (size_t i = 0; i < count; i++) {
        enum bitcut_status now;
        size_t so_far;
#pragma omp atomic read
        now = worst;
        if (now != BITCUT_OK) continue;
        now = run_rows(&one, first[i], first[i + 1], &quiet, team > 1 ? 1 : threads);
#pragma omp atomic capture
        so_far = ++done;
        if (threads_first()) progress_report(job->progress, so_far, count);
        if (now == BITCUT_OK) continue;
#pragma omp atomic write
        worst = now;
    }
    free(first);
    return worst;
}
