/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by a scheme on a device. */
#ifndef BITCUT_GPU_API_FP64_H
#define BITCUT_GPU_API_FP64_H

#include "gpu/api/gpu.h"

/* The kernel after `at`; the first one for NULL; NULL at the end. */
const struct gpu_fp64_kernel *gpu_fp64_next(const struct gpu *g,
                                            const struct gpu_fp64_kernel *at);

/* Make the GEMM that a kernel computes, without sizes and matrices: its scheme and unit.
   BITCUT_UNSUPPORTED: the device cannot run the kernel, or no table has its scheme or
   unit. */
enum bitcut_status gpu_fp64_gemm(struct bitcut_gemm *to,
                                 const struct gpu_fp64_kernel *kernel,
                                 const struct gpu_device *device, struct fault *f);

/* Run a GEMM as gpu_module.fp64 does.  BITCUT_BAD_ARGUMENT: the kernel does not support
   the sizes or the number of parts.  BITCUT_UNSUPPORTED with the device's reason. */
enum bitcut_status gpu_fp64_run(const struct gpu_fp64 *gemm, double *milliseconds,
                                int repeats, const struct gpu *g,
                                const struct gpu_device *device, struct fault *f);

#endif
