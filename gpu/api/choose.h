/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the kernels of the same bits computes a GEMM: a tile model (gpu/api/tile.h) on
   kernels and a device that exist.

   Kernels of the same recipe, program, word format and instruction give the same bits
   whatever their tiles, so the choice is free to follow the shape. */
#ifndef BITCUT_GPU_API_CHOOSE_H
#define BITCUT_GPU_API_CHOOSE_H

#include "gpu/api/gpu.h"
#include "gpu/api/tile.h"

/* A kernel and what the model says of it. */
struct gpu_choice {
    const struct gpu_kernel *kernel;
    struct tile_choice judged;
};

/* What ranks the device's kernels without a better reason: tile_model_of() its rates. */
const struct tile_model *gpu_model(const struct gpu_device *device);

/* Judge one kernel with a tile that the device can run.  Of the GEMM count, m, n, k and
   slices are read; one of them that is 0 counts as 1. */
void gpu_kernel_judge(struct gpu_choice *choice, const struct gpu_kernel *kernel,
                      const struct gpu_device *device, const struct bitcut_gemm *gemm);

/* Whether two kernels give the same bits for every GEMM that both take. */
bool gpu_kernel_alike(const struct gpu_kernel *x, const struct gpu_kernel *y);

enum { GPU_CHOICES_MAX = 64 };

/* Judge all kernels with a tile like `like` that the device can run and that take the
   GEMM's sizes and slices, the best first.  Of the GEMM count, m, n, k and slices are
   read; a size or a count of 0 counts as 1.  Returns how many, 0 if not even `like` is
   among them. */
size_t gpu_kernel_rank(struct gpu_choice choices[GPU_CHOICES_MAX], const struct gpu *g,
                       const struct gpu_device *device, const struct gpu_kernel *like,
                       const struct bitcut_gemm *gemm);

/* The same by `model`, which has what it needs. */
size_t gpu_kernel_rank_by(struct gpu_choice choices[GPU_CHOICES_MAX],
                          const struct tile_model *model, const struct gpu *g,
                          const struct gpu_device *device, const struct gpu_kernel *like,
                          const struct bitcut_gemm *gemm);

/* What the device runs for a GEMM, as bitcut_gemm_choose() (lib/bitcut.h) says. */
enum bitcut_status gpu_work_choose(struct gpu_work *to, const struct gpu *g,
                                   const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f);

#endif
