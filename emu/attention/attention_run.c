/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/attention/attention_run.h"

#include "emu/attention/attention_block.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <string.h>

/* Queries of a block that no mask limits, at least, and of a block of a list, at most.
   Neither changes a bit. */
enum { QUERIES_AT_A_TIME = 256, QUERIES_OF_A_LIST = 64 };

/* --- all of them ----------------------------------------------------------------------
 */

/* Run block `at` of all, or the queries of the list's place `at`, block by block. */
static enum bitcut_status run_nth(struct attention_block *w, size_t at, struct fault *f)
{
    const struct attention_job *const job = w->job;
    const struct attention_place *const only = job->options->only;
    const size_t head = only ? only[at].head : at / job->blocks,
                 block_m = job->plan->block_m;
    size_t first = only ? only[at].query : at % job->blocks * job->block;
    const size_t end =
        only ? first + only[at].count : smaller(first + job->block, job->plan->a.queries);
    enum bitcut_status status = BITCUT_OK;
    struct hostfp saved;
    hostfp_enter(&saved);
    while (first < end && status == BITCUT_OK) {
        size_t rows = smaller(end - first, job->block);
        if (only) rows = smaller(rows, block_m - first % block_m);
        attention_block_set(w, head, first, rows);
        status = attention_block_run(w, f);
        if (status == BITCUT_OK) attention_block_store(w);
        first += rows;
    }
    hostfp_leave(&saved);
    return status;
}

/* Run all blocks that this thread takes. */
static void run_thread(enum bitcut_status *worst, struct fault *why,
                       const struct attention_job *job, size_t count, size_t *done)
{
    struct attention_block w;
    struct fault f = { .status = BITCUT_OK };
    const bool made = attention_block_make(&w, job);
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < count; i++) {
        enum bitcut_status now;
        size_t finished;
#pragma omp atomic read
        now = *worst;
        if (now != BITCUT_OK) continue;
        now = made ? run_nth(&w, i, &f) : BITCUT_NO_MEMORY;
#pragma omp atomic capture
        finished = ++*done;
        if (now == BITCUT_OK && threads_first())
            progress_report(job->options->progress, finished, count);
        if (now == BITCUT_OK) continue;
#pragma omp critical(attention)
        if (*worst == BITCUT_OK) *worst = now, *why = f;
    }
    attention_block_clear(&w);
}

static enum bitcut_status run_blocks(const struct attention_job *job, struct fault *f)
{
    const struct attention_options *const o = job->options;
    const size_t count = o->only ? o->only_count : job->plan->a.heads * job->blocks;
    const int team = threads_for(job->options->threads, count);
    enum bitcut_status worst = BITCUT_OK;
    struct fault why = { .status = BITCUT_OK };
    size_t done = 0;
#pragma omp parallel num_threads(team)
    run_thread(&worst, &why, job, count, &done);
    if (worst == BITCUT_NO_MEMORY)
        return fault_set(f, worst, "not enough memory for the attention");
    if (worst == BITCUT_UNSUPPORTED && progress_stopped(job->options->progress))
        return fault_set(f, worst, "stopped");
    if (worst != BITCUT_OK && f) *f = why;
    return worst;
}

/* The queries of the longest place of a list. */
static size_t longest(const struct attention_options *o)
{
    size_t most = 1;
    for (size_t i = 0; i < o->only_count; i++) most = larger(most, o->only[i].count);
    return smaller(most, QUERIES_OF_A_LIST);
}

/* Run the plan on its operands. */
static enum bitcut_status run_on(const struct attention_plan *plan,
                                 const struct attention_operands *x,
                                 const struct attention_options *options, struct fault *f)
{
    const struct bitcut_attention *const a = &plan->a;
    struct attention_job job = { .plan = plan, .x = x, .options = options };
    job.block = options->only  ? longest(options)
                : plan->masked ? plan->block_m
                               : larger(plan->block_m, QUERIES_AT_A_TIME);
    job.block = smaller(job.block, a->queries);
    job.blocks = divide_up(a->queries, job.block);
    job.ahead = attention_tiles_ahead(plan);
    return run_blocks(&job, f);
}

enum bitcut_status attention_run(const struct attention_plan *plan,
                                 const struct attention_options *options, struct fault *f)
{
    struct attention_operands x;
    if (!plan->a.heads || !plan->a.queries) return BITCUT_OK;
    if (plan->row.splits > ATTENTION_SPLITS_MAX)
        return fault_option(f, "vary", "splits must be at most %d", ATTENTION_SPLITS_MAX);
    if (options->operands) return run_on(plan, options->operands, options, f);
    enum bitcut_status status = attention_operands_make(&x, plan, 0, options->threads);
    if (status != BITCUT_OK)
        return fault_set(f, status, "not enough memory for the operands");
    status = run_on(plan, &x, options, f);
    attention_operands_clear(&x);
    return status;
}

/* --- one query ------------------------------------------------------------------------
 */

static enum bitcut_status watch_block(float *merged, uint64_t *o,
                                      struct attention_block *w, struct fault *f)
{
    const struct bitcut_attention *const a = &w->job->plan->a;
    const struct bitcut_format *const format = matrix_format(&a->o);
    const struct bitcut_matrix row = { .to = w->product, .format = format };
    const struct view to = view_of(&row, 0, 1, a->value_dim, false);
    struct hostfp saved;
    hostfp_enter(&saved);
    const enum bitcut_status status = attention_block_run(w, f);
    if (status == BITCUT_OK) {
        memcpy(merged, w->o, a->value_dim * sizeof *merged);
        attention_block_store_row(&to, 0, w, 0);
        for (size_t p = 0; p < a->value_dim; p++) o[p] = view_encoding(&to, 0, p);
    }
    hostfp_leave(&saved);
    return status;
}

enum bitcut_status
attention_watch_query(float *merged, uint64_t *o, const struct attention_plan *plan,
                      const struct attention_operands *x, size_t head, size_t query,
                      const struct attention_watch *watch, struct fault *f)
{
    const struct attention_options options = { .threads = 1 };
    const struct attention_job job = { .plan = plan,
                                       .x = x,
                                       .options = &options,
                                       .watch = watch,
                                       .block = 1,
                                       .blocks = plan->a.queries,
                                       .ahead = attention_tiles_ahead(plan) };
    struct attention_block w;
    enum bitcut_status status =
        attention_block_make(&w, &job) ? BITCUT_OK : BITCUT_NO_MEMORY;
    attention_block_set(&w, head, query, 1);
    if (status == BITCUT_OK) status = watch_block(merged, o, &w, f);
    else fault_set(f, status, "not enough memory for the attention");
    attention_block_clear(&w);
    return status;
}
