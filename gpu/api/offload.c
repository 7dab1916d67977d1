/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/offload.h"

#include "gpu/api/fp64.h"
#include "gpu/api/start.h"
#include "lib/base/size.h"
#include "lib/number/format.h"

#include <stdlib.h>

/* The memory of a matrix, whose leading dimension is set, from its first element to its
   last.  gemm_check_matrices() has checked its size. */
static struct gpu_memory memory_of(const struct bitcut_matrix *x, size_t rows,
                                   size_t cols)
{
    const bool by_rows = x->layout == BITCUT_ROW_MAJOR;
    const size_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    if (!x->at || !rows || !cols) return (struct gpu_memory){ NULL, 0 };
    return (struct gpu_memory){ x->to, ((lines - 1) * x->ld + length) *
                                           (size_t)format_bytes(x->format) };
}

/* One run at a time, because each may take all of the device's memory. */
static enum bitcut_status run_work(struct gpu_offload *to, const struct gpu_work *w,
                                   struct fault *f)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct gpu_memory memory[4] = {
        memory_of(&g->a, g->m, g->k), memory_of(&g->b, g->k, g->n),
        gemm_reads_c(g) ? memory_of(&g->c, g->m, g->n) : (struct gpu_memory){ NULL, 0 },
        memory_of(&g->d, g->m, g->n)
    };
    struct fault own;
    pthread_mutex_lock(&to->lock);
    const enum bitcut_status status = gpu_work_run(w, memory, to->gpu, to->device, &own);
    to->runs++;
    pthread_mutex_unlock(&to->lock);
    return status == BITCUT_OK
               ? status
               : fault_set(f, status, "%.80s: %s", to->device->name, own.text);
}

static enum bitcut_status run(bool *took, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, void *context,
                              struct fault *f)
{
    struct gpu_offload *const to = context;
    struct gpu_work w;
    *took = gpu_emulates(to->gpu) &&
            gpu_work_emulate_plan(&w, to->gpu, to->device, g, plan, NULL) == BITCUT_OK;
    return *took ? run_work(to, &w, f) : BITCUT_OK;
}

static enum bitcut_status sums(const struct exact_sums_to *sums, size_t m, size_t n,
                               size_t k, const uint32_t *a, const uint32_t *b,
                               void *context, struct fault *f)
{
    struct gpu_offload *const to = context;
    char why[GPU_FAULT_MAX];
    pthread_mutex_lock(&to->lock);
    const int failed =
        to->gpu->module->sums(sums, m, n, k, a, b, to->device->number, why);
    to->runs++;
    pthread_mutex_unlock(&to->lock);
    return failed ? fault_set(f, BITCUT_UNSUPPORTED, "%.80s: %s", to->device->name, why)
                  : BITCUT_OK;
}

static enum bitcut_status run_fp64(bool *took, const struct fp64_job *job, void *context,
                                   struct fault *f)
{
    struct gpu_offload *const to = context;
    struct fault own;
    pthread_mutex_lock(&to->lock);
    const enum bitcut_status status =
        gpu_fp64_offload(took, job, to->fp64, to->gpu, to->device, &own);
    to->runs += *took;
    pthread_mutex_unlock(&to->lock);
    return status == BITCUT_OK
               ? status
               : fault_set(f, status, "%.80s: %s", to->device->name, own.text);
}

/* Sums with fewer terms are computed faster here than transferred to the device and
   back. */
enum { SUMS_MIN = 1 << 26, SUMS_BYTES = 1 << 30 };

void gpu_offload_init(struct gpu_offload *to, const struct gpu *gpu,
                      const struct gpu_device *device)
{
    *to = (struct gpu_offload){
        .gpu = gpu,
        .device = device,
        .offload = { .run = run, .context = to, .least = GEMM_OFFLOAD_MIN },
        .sums = { sums, to, SUMS_MIN, SUMS_BYTES },
        .lock = PTHREAD_MUTEX_INITIALIZER
    };
    if (gpu->module->sums) to->offload.sums = &to->sums;
    if (gpu->module->fp64) to->offload.fp64 = run_fp64;
}

/* --- kernels ---------------------------------------------------------------------- */

/* Largest memory that is retained for the next GEMM. */
enum { ROOM_MAX = 256 << 20 };

/* Take memory of at least this size; NULL: not enough memory. */
static void *room_take(struct gpu_offload *to, size_t *bytes, size_t least)
{
    pthread_mutex_lock(&to->lock);
    void *at = to->room;
    *bytes = to->room_bytes;
    to->room = NULL;
    pthread_mutex_unlock(&to->lock);
    if (at && *bytes >= least) return at;
    free(at);
    *bytes = (least / GPU_ALIGNMENT + 1) * GPU_ALIGNMENT;
    return aligned_alloc(GPU_ALIGNMENT, *bytes);
}

/* Retain the memory, if it is not too large and none is retained yet; and count a run. */
static void room_give(struct gpu_offload *to, void *at, size_t bytes)
{
    pthread_mutex_lock(&to->lock);
    const bool keeps = !to->room && bytes <= ROOM_MAX;
    if (keeps) to->room = at, to->room_bytes = bytes;
    to->runs++;
    pthread_mutex_unlock(&to->lock);
    if (!keeps) free(at);
}

/* Whether a kernel's plan equals the plan that was made of the GEMM, in everything that
   may have been changed since. */
static bool same_plan(const struct gemm_plan *x, const struct gemm_plan *y)
{
    bool same =
        x->recipe == y->recipe && x->terms == y->terms && x->scale == y->scale &&
        x->promote == y->promote && !y->faults && x->split_a.parts == y->split_a.parts &&
        x->split_b.parts == y->split_b.parts && x->split_a.scale == y->split_a.scale &&
        x->split_b.scale == y->split_b.scale;
    for (int i = 0; i < x->terms && same; i++)
        same = x->term[i].a == y->term[i].a && x->term[i].b == y->term[i].b &&
               x->term[i].accumulator == y->term[i].accumulator;
    for (int i = 0; i < x->split_a.parts && same; i++)
        same = x->split_a.part[i].rounding == y->split_a.part[i].rounding &&
               x->split_b.part[i].rounding == y->split_b.part[i].rounding;
    return same;
}

static enum bitcut_status run_kernel(bool *took, const struct bitcut_gemm *g,
                                     const struct gemm_plan *plan, void *context,
                                     struct fault *f)
{
    struct gpu_offload *const to = context;
    struct gpu_work w;
    struct fault none;
    size_t bytes;
    *took = gpu_work_recall(&w, to->chosen, to->gpu, to->device, g, &none) == BITCUT_OK &&
            !gpu_work_emulates(&w) && same_plan(&w.plan, plan);
    if (!*took) return BITCUT_OK;
    void *const workspace = room_take(to, &bytes, gpu_work_workspace(&w, to->gpu));
    if (!workspace)
        return fault_set(f, BITCUT_UNSUPPORTED, "not enough memory for a workspace");
    const struct gpu_room room = { .workspace = workspace, .bytes = bytes };
    const enum bitcut_status status = gpu_work_start(&w, to->gpu, to->device, &room, f);
    room_give(to, workspace, bytes);
    return status;
}

void gpu_offload_init_kernels(struct gpu_offload *to, const struct gpu *gpu,
                              const struct gpu_device *device, struct gpu_chosen *chosen)
{
    *to = (struct gpu_offload){ .gpu = gpu,
                                .device = device,
                                .chosen = chosen,
                                .offload = { .run = run_kernel, .context = to },
                                .lock = PTHREAD_MUTEX_INITIALIZER };
}
