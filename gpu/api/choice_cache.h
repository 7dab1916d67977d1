/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of the choices for the last GEMMs on a device, because choosing takes longer
   than starting the chosen kernel. */
#ifndef BITCUT_GPU_API_CHOICE_CACHE_H
#define BITCUT_GPU_API_CHOICE_CACHE_H

#include "gpu/api/choose.h"

struct gpu_chosen; /* cache of one device; any number of threads may use it at a time */

/* NULL: not enough memory. */
struct gpu_chosen *gpu_chosen_make(void);
void gpu_chosen_free(struct gpu_chosen *x); /* or NULL */

/* gpu_work_choose() with a cache: the same result, with the same checks of the GEMM.  The
   choice is stored if a kernel computes the GEMM.  GEMMs may differ in what the choice
   does not depend on: alpha, beta except 0, and the addresses and strides of matrices and
   prepared parts.  Rows of tables are compared by their addresses, and must not change.
   If a kernel computes the GEMM, to->emulation is undefined. */
enum bitcut_status gpu_work_recall(struct gpu_work *to, struct gpu_chosen *x,
                                   const struct gpu *g, const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f);

#endif
