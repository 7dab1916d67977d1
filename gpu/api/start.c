/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/start.h"

#include "lib/base/size.h"

size_t gpu_work_workspace(const struct gpu_work *w, const struct gpu *gpu)
{
    if (w->gemm.count == 1) return gpu->module->workspace(w);
    struct gpu_work one = *w;
    one.gemm.count = 1;
    return gpu->module->workspace(&one);
}

/* --- checks ----------------------------------------------------------------------- */

/* Check that the device can access the memory at `at`. */
static enum bitcut_status check_reached(const char *name, const void *at,
                                        const struct gpu *gpu,
                                        const struct gpu_device *device, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (!at || gpu->module->reaches(at, device->number, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s %s", name, why);
}

enum bitcut_status gpu_matrix_check(const char *name, const struct bitcut_matrix *m,
                                    size_t elements, const struct gpu *gpu,
                                    const struct gpu_device *device, struct fault *f)
{
    if (!elements) return BITCUT_OK;
    return check_reached(name,
                         m->prepared  ? m->prepared
                         : m->each ? (const void *)m->each
                                   : m->at,
                         gpu, device, f);
}

/* Check all matrices that the GEMM reads and writes. */
static enum bitcut_status check_matrices(const struct bitcut_gemm *g,
                                         const struct gpu *gpu,
                                         const struct gpu_device *device, struct fault *f)
{
    if (!g->count || !g->m || !g->n) return BITCUT_OK;
    enum bitcut_status status = gpu_matrix_check("A", &g->a, g->k, gpu, device, f);
    if (status == BITCUT_OK) status = gpu_matrix_check("B", &g->b, g->k, gpu, device, f);
    const bool is_d = g->c.each == g->d.each && g->c.at == g->d.at;
    if (status == BITCUT_OK && gemm_reads_c(g) && !is_d)
        status = gpu_matrix_check("C", &g->c, 1, gpu, device, f);
    return status == BITCUT_OK ? gpu_matrix_check("D", &g->d, 1, gpu, device, f) : status;
}

static enum bitcut_status check_alignment(const char *name, const void *at, size_t bytes,
                                          struct fault *f)
{
    if (bytes && !at)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s must not be NULL", name);
    if ((uintptr_t)at % GPU_ALIGNMENT)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is not aligned to %d bytes", name,
                         GPU_ALIGNMENT);
    return BITCUT_OK;
}

enum bitcut_status gpu_memory_check(const char *name, const void *at, size_t bytes,
                                    const struct gpu *gpu,
                                    const struct gpu_device *device, struct fault *f)
{
    const enum bitcut_status status = check_alignment(name, at, bytes, f);
    return status == BITCUT_OK && bytes ? check_reached(name, at, gpu, device, f)
                                        : status;
}

enum bitcut_status gpu_room_check(const struct bitcut_gemm *gemm,
                                  const struct gpu_room *room, size_t needed,
                                  const struct gpu *gpu, const struct gpu_device *device,
                                  struct fault *f)
{
    enum bitcut_status status =
        room->reached ? BITCUT_OK : check_matrices(gemm, gpu, device, f);
    if (status != BITCUT_OK) return status;
    if (room->bytes < needed)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the workspace has %zu bytes; required: %zu", room->bytes,
                         needed);
    return room->reached
               ? check_alignment("workspace", room->workspace, needed, f)
               : gpu_memory_check("workspace", room->workspace, needed, gpu, device, f);
}

/* --- starting --------------------------------------------------------------------- */

static void matrix_advance(struct bitcut_matrix *x, size_t count)
{
    if (x->prepared) x->prepared = (const char *)x->prepared + count * x->prepared_stride;
    else if (x->each) x->each += count;
    else if (x->at)
        x->at = (const char *)x->at +
                count * x->stride * (size_t)format_bytes(matrix_format(x));
}

/* Advance to the GEMMs after the first `count`. */
static void gemm_advance(struct bitcut_gemm *g, size_t count)
{
    matrix_advance(&g->a, count);
    matrix_advance(&g->b, count);
    if (gemm_reads_c(g)) matrix_advance(&g->c, count);
    matrix_advance(&g->d, count);
}

/* The number of GEMMs at a time: as many as the workspace has room for and a kernel
   accepts, so that shared parts are made once; one if they are emulated. */
static size_t count_at_a_time(const struct gpu *gpu, const struct gpu_work *w,
                              size_t bytes)
{
    if (gpu_work_emulates(w) || w->gemm.count == 1) return 1;
    if (!gpu_kernel_splits(w->kernel)) return w->gemm.count;
    const size_t most = GPU_COUNT_MAX / (size_t)w->plan.order.slices;
    struct gpu_work many = *w;
    many.gemm.count = smaller(w->gemm.count, most);
    if (bytes >= gpu->module->workspace(&many)) return most;
    return smaller(bytes / gpu_work_workspace(w, gpu), most);
}

static enum bitcut_status start_now(const struct gpu *gpu,
                                    const struct gpu_device *device,
                                    const struct gpu_work *w, const struct gpu_room *room,
                                    struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (!w->gemm.count ||
        gpu->module->start(w, room->workspace, device->number, room->stream, why) == 0)
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s: %s", w->kernel->name, why);
}

static enum bitcut_status start(const struct gpu *gpu, const struct gpu_device *device,
                                const struct gpu_work *w, const struct gpu_room *room,
                                struct fault *f)
{
    const size_t most = count_at_a_time(gpu, w, room->bytes);
    if (w->gemm.count <= most) return start_now(gpu, device, w, room, f);
    struct gpu_work now = *w;
    enum bitcut_status status = BITCUT_OK;
    for (size_t left = w->gemm.count; left && status == BITCUT_OK;
         left -= now.gemm.count) {
        now.gemm.count = left < most ? left : most;
        status = start_now(gpu, device, &now, room, f);
        gemm_advance(&now.gemm, now.gemm.count);
    }
    return status;
}

enum bitcut_status gpu_work_start(const struct gpu_work *w, const struct gpu *gpu,
                                  const struct gpu_device *device,
                                  const struct gpu_room *room, struct fault *f)
{
    const size_t needed = gpu_work_workspace(w, gpu);
    enum bitcut_status status = gpu_work_check(w, f);
    if (status == BITCUT_OK)
        status = gpu_room_check(&w->gemm, room, needed, gpu, device, f);
    return status == BITCUT_OK ? start(gpu, device, w, room, f) : status;
}
