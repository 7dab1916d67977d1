/* SPDX-License-Identifier: BSD-3-Clause */
/* What was chosen for the last GEMMs on a device, so that others like them need no choice
   of their own: to choose takes longer than to start what is chosen. */
#ifndef BITCUT_GPU_API_CHOICE_CACHE_H
#define BITCUT_GPU_API_CHOICE_CACHE_H

#include "gpu/api/choose.h"

struct gpu_chosen; /* of one device; any number of threads may use it at a time */

/* NULL: there is no memory. */
struct gpu_chosen *gpu_chosen_make(void);
void gpu_chosen_free(struct gpu_chosen *x); /* or NULL */

/* gpu_work_choose(), to the same outcome, with the same checks of what the GEMM says.  It
   is remembered if a kernel computes it.  What the choice does not depend on may differ
   from one GEMM to the next: alpha, beta but for 0, where matrices and words are and how
   far from each other.  Rows of tables are told apart by their addresses, and must not
   change.  Of a GEMM that a kernel computes to->emulation is undefined. */
enum bitcut_status gpu_work_recall(struct gpu_work *to, struct gpu_chosen *x,
                                   const struct gpu *g, const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f);

#endif
