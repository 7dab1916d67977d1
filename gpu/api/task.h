/* SPDX-License-Identifier: BSD-3-Clause */
/* Any GEMM that a device computes for the library's calls (lib/bitcut.h): in FP32, or in
   FP64 by a scheme. */
#ifndef BITCUT_GPU_API_TASK_H
#define BITCUT_GPU_API_TASK_H

#include "gpu/api/choice_cache.h"
#include "gpu/api/fp64.h"

struct bitcut_device {
    struct gpu gpu;
    struct gpu_device is;
    struct gpu_chosen *chosen;
};

/* A GEMM with everything chosen. */
struct gpu_task {
    bool is_fp64;
    union {
        struct gpu_work work;
        struct gpu_fp64 fp64;
    };
};

/* The GEMM of a task. */
static inline struct bitcut_gemm *gpu_task_gemm(struct gpu_task *task)
{
    return task->is_fp64 ? &task->fp64.gemm : &task->work.gemm;
}

/* Choose how the device computes a caller's GEMM, of any version of the struct.  Statuses
   as "Kernels" of lib/bitcut.h says; `x` may be NULL. */
enum bitcut_status gpu_task_choose(struct gpu_task *to, const struct bitcut_device *x,
                                   const struct bitcut_gemm *gemm, struct fault *f);

/* Write the GEMM with nothing open to a caller's GEMM, or to NULL. */
void gpu_task_settle(struct bitcut_gemm *ran, const struct gpu_task *task);

/* The method of a product of parts, as bitcut_gemm_method(). */
const char *gpu_task_method(const struct gpu_task *task, size_t index);

/* Bytes of device memory that one GEMM of the batch needs. */
size_t gpu_task_workspace(const struct gpu_task *task, const struct bitcut_device *x);

/* gpu_work_start() or gpu_fp64_start(). */
enum bitcut_status gpu_task_start(const struct gpu_task *task,
                                  const struct bitcut_device *x,
                                  const struct gpu_room *room, struct fault *f);

#endif
