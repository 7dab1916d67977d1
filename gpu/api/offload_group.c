/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/offload_group.h"

#include "lib/gemm/plan.h"

/* The rows of a member, and what became of them. */
struct share {
    const struct bitcut_gemm *whole;
    const struct gemm_plan *plan;
    struct gpu_offload *member;
    size_t from, rows;
    bool took;
    enum bitcut_status status;
    struct fault fault;
    pthread_t thread;
    bool started;
};

static void *run_share(void *share)
{
    struct share *const s = share;
    const struct gemm_offload *const to = &s->member->offload;
    struct bitcut_gemm g = *s->whole;
    gemm_take_rows(&g, s->whole, s->from, s->rows);
    s->status = to->run(&s->took, &g, s->plan, to->context, &s->fault);
    return NULL;
}

/* Divide the rows among the members, and wait for all of them.  A share whose thread
   cannot be started is computed here.  *took is false: no member takes its share. */
static enum bitcut_status run(bool *took, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, void *context,
                              struct fault *f)
{
    enum { STEP = 16 };
    struct share share[GPU_GROUP_MAX];
    struct gpu_offload_group *const to = context;
    const size_t steps = (g->m + STEP - 1) / STEP, count = (size_t)to->count,
                 each = (steps + count - 1) / count * STEP;
    enum bitcut_status status = BITCUT_OK;
    size_t shares = 0, taken = 0;
    for (size_t from = 0; from < g->m; from += each, shares++)
        share[shares] = (struct share){ .whole = g,
                                        .plan = plan,
                                        .member = &to->member[shares],
                                        .from = from,
                                        .rows = g->m - from < each ? g->m - from : each };
    for (size_t i = 1; i < shares; i++)
        share[i].started = !pthread_create(&share[i].thread, NULL, run_share, &share[i]);
    for (size_t i = 0; i < shares; i++) {
        if (share[i].started) pthread_join(share[i].thread, NULL);
        else run_share(&share[i]);
        taken += share[i].took;
        if (status != BITCUT_OK || share[i].status == BITCUT_OK) continue;
        status = share[i].status;
        *f = share[i].fault;
    }
    *took = taken > 0;
    return status != BITCUT_OK || taken == 0 || taken == shares
               ? status
               : fault_set(f, BITCUT_UNSUPPORTED,
                           "only %zu of %zu devices compute their rows of D", taken,
                           shares);
}

static enum bitcut_status fp64(bool *took, const struct fp64_job *job, void *context,
                               struct fault *f)
{
    const struct gpu_offload_group *const g = context;
    const struct gemm_offload *const first = &g->member[0].offload;
    return first->fp64(took, job, first->context, f);
}

void gpu_offload_group_init(struct gpu_offload_group *to, const struct gpu *gpu)
{
    for (int i = 0; i < to->count; i++)
        gpu_offload_init(&to->member[i], gpu, &to->device[i]);
    to->offload = to->member[0].offload;
    to->offload.run = run;
    to->offload.context = to;
    if (to->offload.fp64) to->offload.fp64 = fp64;
}

size_t gpu_offload_group_runs(const struct gpu_offload_group *g)
{
    size_t runs = 0;
    for (int i = 0; i < g->count; i++) runs += g->member[i].runs;
    return runs;
}
