/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel computes a GEMM, among kernels with the same bits: a tile model
   (gpu/api/tile.h) applied to existing kernels and a device.  Kernels with the same
   recipe, program, part format and instruction give the same bits for any tile, so the
   choice may depend on the shape. */
#ifndef BITCUT_GPU_API_CHOOSE_H
#define BITCUT_GPU_API_CHOOSE_H

#include "gpu/api/gpu.h"
#include "gpu/api/tile.h"

/* A kernel and its rating by the model. */
struct gpu_choice {
    const struct gpu_kernel *kernel;
    struct tile_choice judged;
};

/* The default model for the kernels of a device: tile_model_of() its rates. */
const struct tile_model *gpu_model(const struct gpu_device *device);

/* Rate one kernel, whose tile the device can run.  Of the GEMM only count, m, n, k and
   slices are read; a 0 among them counts as 1. */
void gpu_kernel_judge(struct gpu_choice *choice, const struct gpu_kernel *kernel,
                      const struct gpu_device *device, const struct bitcut_gemm *gemm);

/* Whether two kernels give the same bits for every GEMM that both accept. */
bool gpu_kernel_alike(const struct gpu_kernel *x, const struct gpu_kernel *y);

enum { GPU_CHOICES_MAX = 64 };

/* Rate all kernels with the bits of `like` that the device can run and that accept the
   GEMM's sizes and slices, the best first.  Of the GEMM only count, m, n, k and slices
   are read; a size or a count of 0 counts as 1.  Returns their number; 0 if not even
   `like` is among them. */
size_t gpu_kernel_rank(struct gpu_choice choices[GPU_CHOICES_MAX], const struct gpu *g,
                       const struct gpu_device *device, const struct gpu_kernel *like,
                       const struct bitcut_gemm *gemm);

/* The same by `model`, whose requirements are met. */
size_t gpu_kernel_rank_by(struct gpu_choice choices[GPU_CHOICES_MAX],
                          const struct tile_model *model, const struct gpu *g,
                          const struct gpu_device *device, const struct gpu_kernel *like,
                          const struct bitcut_gemm *gemm);

/* Choose what the device runs for a GEMM, as bitcut_gemm_choose() (lib/bitcut.h)
   describes. */
enum bitcut_status gpu_work_choose(struct gpu_work *to, const struct gpu *g,
                                   const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f);

#endif
