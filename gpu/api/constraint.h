/* SPDX-License-Identifier: BSD-3-Clause */
/* Which constraints of a GEMM no kernel of a device satisfies. */
#ifndef BITCUT_GPU_API_CONSTRAINT_H
#define BITCUT_GPU_API_CONSTRAINT_H

#include "gpu/api/gpu.h"

/* Make the work of a GEMM by a kernel, with this promotion; BITCUT_UNSET: the kernel's
   promotion. */
typedef enum bitcut_status gpu_try_kernel(struct gpu_work *to,
                                          const struct gpu_device *device,
                                          const struct bitcut_gemm *g, int promote,
                                          const struct gpu_kernel *k, struct fault *f);

/* Report a set of constraints of a GEMM that no kernel satisfies together with all
   others, and the supported values.  The GEMM has a recipe and no kernel name.
   Constraints that come first in the table are satisfied first.  Returns the status of
   the fault; BITCUT_OK, without a report, if the cause is not a constraint, or if a
   kernel computes the GEMM. */
enum bitcut_status gpu_constraint_fault(struct fault *f, const struct gpu *gpu,
                                        const struct gpu_device *device,
                                        const struct bitcut_gemm *g, int promote,
                                        gpu_try_kernel *try_kernel);

#endif
