/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a GEMM no kernel of a device does, when none does all of it. */
#ifndef BITCUT_GPU_API_CONSTRAINT_H
#define BITCUT_GPU_API_CONSTRAINT_H

#include "gpu/api/gpu.h"

/* Make the work of a GEMM by a kernel, promoted as said, or BITCUT_UNSET: as the kernel
   has it. */
typedef enum bitcut_status gpu_try_kernel(struct gpu_work *to,
                                          const struct gpu_device *device,
                                          const struct bitcut_gemm *g, int promote,
                                          const struct gpu_kernel *k, struct fault *f);

/* Say which constraints of a GEMM, of a recipe and without a kernel's name, no kernel can
   do with all others: a set of which it can keep none; constraints that stand first in
   the table are kept first; and what can be had in their place.  Returns the fault's
   status; BITCUT_OK, and nothing is said, if it is no wish, or some kernel does it all.
 */
enum bitcut_status gpu_constraint_fault(struct fault *f, const struct gpu *gpu,
                                        const struct gpu_device *device,
                                        const struct bitcut_gemm *g, int promote,
                                        gpu_try_kernel *try_kernel);

#endif
