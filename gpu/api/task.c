/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/task.h"

#include <stddef.h>

/* Whether a caller's GEMM, of any version of the struct, is an FP64 GEMM. */
static bool has_scheme(const struct bitcut_gemm *g)
{
    return g && g->size >= offsetof(struct bitcut_gemm, scheme) + sizeof g->scheme &&
           g->scheme;
}

static enum bitcut_status choose_fp64(struct gpu_fp64 *to, const struct bitcut_device *x,
                                      const struct bitcut_gemm *gemm, struct fault *f)
{
    struct bitcut_gemm g;
    const enum bitcut_status status = gemm_take_any(&g, gemm, f);
    return status == BITCUT_OK ? gpu_fp64_choose(to, &x->gpu, &x->is, &g, f) : status;
}

enum bitcut_status gpu_task_choose(struct gpu_task *to, const struct bitcut_device *x,
                                   const struct bitcut_gemm *gemm, struct fault *f)
{
    if (!x)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "device, name and result must not be NULL");
    to->is_fp64 = has_scheme(gemm);
    return to->is_fp64 ? choose_fp64(&to->fp64, x, gemm, f)
                       : gpu_work_recall(&to->work, x->chosen, &x->gpu, &x->is, gemm, f);
}

void gpu_task_settle(struct bitcut_gemm *ran, const struct gpu_task *t)
{
    if (!ran) return;
    struct bitcut_gemm g = t->is_fp64 ? t->fp64.gemm : t->work.gemm;
    if (t->is_fp64) {
        g.kernel = t->fp64.kernel->name;
    } else {
        gemm_settle(&g, &t->work.plan);
        g.kernel = gpu_work_emulates(&t->work) ? NULL : t->work.kernel->name;
        g.any_promotion = g.any_slices = false;
    }
    gemm_give(ran, &g);
}

const char *gpu_task_method(const struct gpu_task *t, size_t index)
{
    if (t->is_fp64) return index ? NULL : "kernel";
    return gpu_work_method(&t->work, index);
}

size_t gpu_task_workspace(const struct gpu_task *t, const struct bitcut_device *x)
{
    return t->is_fp64 ? gpu_fp64_workspace(&t->fp64, &x->gpu, &x->is)
                      : gpu_work_workspace(&t->work, &x->gpu);
}

enum bitcut_status gpu_task_start(const struct gpu_task *t, const struct bitcut_device *x,
                                  const struct gpu_room *room, struct fault *f)
{
    return t->is_fp64 ? gpu_fp64_start(&t->fp64, &x->gpu, &x->is, room, f)
                      : gpu_work_start(&t->work, &x->gpu, &x->is, room, f);
}
