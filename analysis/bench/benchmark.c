/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_round.h"

#include <stdlib.h>

/* Collect the results of the kernels.  The first kernel that did not run ends the
   benchmark. */
static enum bitcut_status judge(struct benchmark_result *result,
                                const struct benchmark_round *c, struct fault *f)
{
    for (size_t i = 0; i < c->runners; i++) {
        const struct runner *r = &c->runner[i];
        result->mismatches += r->mismatches;
        if (!r->entrant.kernel || r->mismatches || !r->fault[0]) continue;
        result->failed = r->name;
        return fault_set(f, BITCUT_UNSUPPORTED, "%s", r->fault);
    }
    return BITCUT_OK;
}

static enum bitcut_status run_workload(struct benchmark_result *result,
                                       struct benchmark_round *c,
                                       const struct workload *workload, struct fault *f)
{
    const struct benchmark *benchmark = c->benchmark;
    c->shape = workload->shape;
    c->input = workload->input;
    benchmark->begins(benchmark->listener, workload, c->count);
    enum bitcut_status status = benchmark_round_enter(c, f);
    if (status == BITCUT_OK) status = benchmark_round_run(c, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < c->runners; i++)
        benchmark->row(benchmark->listener, benchmark_round_row(c, &c->runner[i]));
    c->done++;
    benchmark_round_add_to_mean(c);
    return judge(result, c, f);
}

/* All workloads in batches of c->count. */
static enum bitcut_status run_count(struct benchmark_result *result,
                                    struct benchmark_round *c, struct fault *f)
{
    const struct benchmark *benchmark = c->benchmark;
    enum bitcut_status status = BITCUT_OK;
    for (int pointers = 0; pointers < 2; pointers++)
        c->mean[pointers] = (struct benchmark_mean){ 0 };
    for (size_t i = 0; i < benchmark->workloads && status == BITCUT_OK; i++)
        status = run_workload(result, c, &benchmark->workload[i], f);
    for (int pointers = 0; pointers < 2 && status == BITCUT_OK; pointers++)
        if (c->mean[pointers].shapes)
            benchmark->row(benchmark->listener, benchmark_round_mean_row(c, pointers));
    return status;
}

enum bitcut_status benchmark_run(struct benchmark_result *result,
                                 const struct benchmark *benchmark, struct fault *f)
{
    struct benchmark_round *c = calloc(1, sizeof *c);
    enum bitcut_status status = BITCUT_OK;
    *result = (struct benchmark_result){ 0 };
    if (!c) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    c->benchmark = benchmark;
    for (size_t i = 0; i < benchmark->counts && status == BITCUT_OK; i++) {
        c->count = benchmark->count[i];
        status = run_count(result, c, f);
    }
    free(c);
    return status;
}
