/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_round.h"

#include <string.h>

struct bitcut_gemm benchmark_round_gemm(const struct benchmark_round *c, int slices)
{
    const struct kernel_shape s = c->shape;
    return (struct bitcut_gemm){
        .count = c->count, .m = s.m, .n = s.n, .k = s.k, .order.slices = slices
    };
}

static bool takes_part(const struct benchmark_round *c, const struct gpu_peer *peer)
{
    const struct gpu_timer *const timer = benchmark_timer(c->benchmark);
    return peer->matrices == c->benchmark->study->matrices &&
           !(timer->absent && timer->absent(peer));
}

const struct gpu_peer *benchmark_round_peer(const struct benchmark_round *c,
                                            const struct gpu_peer *at)
{
    at = at ? at + 1 : benchmark_timer(c->benchmark)->peers;
    while (at->name && !takes_part(c, at)) at++;
    return at->name ? at : NULL;
}

static bool splits_already(const struct benchmark_round *c, const struct runner *r)
{
    for (size_t i = 0; i < c->runners; i++) {
        const struct gpu_entrant *e = &c->runner[i].entrant;
        if (e->part == GPU_SPLIT && !strcmp(c->runner[i].split, r->split) &&
            e->plan.equilibrate == r->entrant.plan.equilibrate)
            return true;
    }
    return false;
}

/* All parts of it.  A split shared by several kernels is timed once. */
static enum bitcut_status add(struct benchmark_round *c, struct runner r, struct fault *f)
{
    for (int part = 0; part < GPU_PARTS; part++) {
        r.entrant.part = (enum gpu_part)part;
        if (part != GPU_WHOLE && !r.split) continue;
        if (part == GPU_SPLIT && splits_already(c, &r)) continue;
        if (c->runners == RUNNERS_MAX)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "too many kernels in one benchmark");
        c->runner[c->runners++] = r;
    }
    return BITCUT_OK;
}

static enum bitcut_status add_peer(struct benchmark_round *c, const struct gpu_peer *peer,
                                   struct fault *f)
{
    struct runner r = { .entrant = { .peer = peer, .plan.order.slices = 1 },
                        .name = peer->name,
                        .split = peer->split };
    const struct bitcut_split *split = r.split ? bitcut_split_find(r.split) : NULL;
    if (r.split && !split)
        return fault_set(f, BITCUT_UNSUPPORTED, "%s: unknown split %s", r.name, r.split);
    if (split) r.entrant.plan.split_a = r.entrant.plan.split_b = *split;
    return add(c, r, f);
}

/* By strides, and by pointers if the kernel supports them. */
static enum bitcut_status add_kernel(struct benchmark_round *c,
                                     const struct gpu_kernel *kernel, int slices,
                                     struct fault *f)
{
    const struct recorder *recorder = c->benchmark->recorder;
    struct gpu_work w;
    struct runner r = { .entrant = { .kernel = kernel }, .name = kernel->name };
    enum bitcut_status status = kernel_gemm(&r.gemm, recorder, kernel, f);
    if (status != BITCUT_OK) return status;
    r.gemm.order.slices = slices;
    r.gemm.equilibrate = c->benchmark->equilibrate;
    status = gpu_work_make(&w, &r.gemm, kernel, &recorder->device, f);
    if (status != BITCUT_OK) return status;
    r.entrant.plan = w.plan;
    if (gpu_kernel_splits(kernel)) r.split = w.plan.split_a.name;
    status = add(c, r, f);
    r.entrant.pointers = true;
    return status == BITCUT_OK && gpu_kernel_takes_pointers(kernel) ? add(c, r, f)
                                                                    : status;
}

static enum bitcut_status fail_empty(const struct benchmark_round *c, struct fault *f)
{
    const struct kernel_shape s = c->shape;
    const char *const lacks = c->benchmark->recorder->device.lacks;
    if (benchmark_is_large(c->benchmark))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "no kernel of study %s runs on this device%s%.110s",
                         c->benchmark->study->name, *lacks ? "; " : "", lacks);
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "no kernel for %zu x %zu x %zu runs on this device", s.m, s.n, s.k);
}

enum bitcut_status benchmark_round_enter(struct benchmark_round *c, struct fault *f)
{
    const struct benchmark *benchmark = c->benchmark;
    const struct bitcut_gemm gemm = benchmark_round_gemm(c, 1);
    const struct gpu_peer *p = NULL;
    const struct gpu_kernel *kernel = NULL;
    enum bitcut_status status = BITCUT_OK;
    size_t kernels = 0;
    c->runners = 0;
    while (status == BITCUT_OK && (p = benchmark_round_peer(c, p)))
        status = add_peer(c, p, f);
    while (status == BITCUT_OK &&
           (kernel = gpu_kernel_next(&benchmark->recorder->gpu, kernel))) {
        if (!bench_wants(kernel, benchmark->recorder, benchmark->study,
                         &benchmark->filter, &gemm))
            continue;
        kernels++;
        for (const int *slices = benchmark->study->slices; *slices && status == BITCUT_OK;
             slices++)
            if (*slices <= kernel->slices_most)
                status = add_kernel(c, kernel, *slices, f);
    }
    return status == BITCUT_OK && !kernels ? fail_empty(c, f) : status;
}
