/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/offload_group.h"

#include "lib/gemm/plan.h"

/* What all members compute: a GEMM by a plan, or sums of products of rows of `a`. */
struct whole {
    struct gpu_offload_group *group;
    size_t m;
    const struct bitcut_gemm *gemm; /* NULL: sums */
    const struct gemm_plan *plan;
    const struct exact_sums_to *sums;
    size_t n, k;
    const uint32_t *a, *b;
};

/* The rows of a member, and what became of them. */
struct share {
    const struct whole *whole;
    struct gpu_offload *member;
    size_t from, rows;
    bool took;
    enum bitcut_status status;
    struct fault fault;
    pthread_t thread;
    bool started;
};

static void run_gemm(struct share *s)
{
    const struct gemm_offload *const to = &s->member->offload;
    struct bitcut_gemm g = *s->whole->gemm;
    gemm_take_rows(&g, s->whole->gemm, s->from, s->rows);
    s->status = to->run(&s->took, &g, s->whole->plan, to->context, &s->fault);
}

static double *skip_rows(double *sums, size_t numbers)
{
    return sums ? sums + numbers : NULL;
}

static void run_sums(struct share *s)
{
    const struct whole *const w = s->whole;
    const struct exact_sums *const to = &s->member->sums;
    const size_t before = s->from * w->n;
    const struct exact_sums_to sums = { .high = skip_rows(w->sums->high, before),
                                        .low = skip_rows(w->sums->low, before),
                                        .size = skip_rows(w->sums->size, before),
                                        .squares = skip_rows(w->sums->squares, before) };
    s->took = true;
    s->status = to->compute(&sums, s->rows, w->n, w->k, w->a + s->from * w->k, w->b,
                            to->context, &s->fault);
}

static void *run_share(void *share)
{
    struct share *const s = share;
    if (s->whole->gemm) run_gemm(s);
    else run_sums(s);
    return NULL;
}

/* Divide the rows among the members, and wait for all of them.  A share whose thread
   cannot be started is computed here.  *took is false: no member takes its share. */
static enum bitcut_status run_all(bool *took, const struct whole *w, struct fault *f)
{
    enum { STEP = 16 };
    struct share share[GPU_GROUP_MAX];
    struct gpu_offload_group *const g = w->group;
    const size_t steps = (w->m + STEP - 1) / STEP, count = (size_t)g->count,
                 each = (steps + count - 1) / count * STEP;
    enum bitcut_status status = BITCUT_OK;
    size_t shares = 0, taken = 0;
    for (size_t from = 0; from < w->m; from += each, shares++)
        share[shares] = (struct share){ .whole = w,
                                        .member = &g->member[shares],
                                        .from = from,
                                        .rows = w->m - from < each ? w->m - from : each };
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

static enum bitcut_status run(bool *took, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, void *context,
                              struct fault *f)
{
    const struct whole w = { .group = context, .m = g->m, .gemm = g, .plan = plan };
    return run_all(took, &w, f);
}

static enum bitcut_status sums(const struct exact_sums_to *to, size_t m, size_t n,
                               size_t k, const uint32_t *a, const uint32_t *b,
                               void *context, struct fault *f)
{
    const struct whole w = {
        .group = context, .m = m, .sums = to, .n = n, .k = k, .a = a, .b = b
    };
    bool took;
    return run_all(&took, &w, f);
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
    to->sums = to->member[0].sums;
    to->sums.compute = sums;
    to->sums.context = to;
    if (to->offload.sums) to->offload.sums = &to->sums;
    if (to->offload.fp64) to->offload.fp64 = fp64;
}

size_t gpu_offload_group_runs(const struct gpu_offload_group *g)
{
    size_t runs = 0;
    for (int i = 0; i < g->count; i++) runs += g->member[i].runs;
    return runs;
}
