/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention on a device. */
#ifndef BITCUT_GPU_API_ATTENTION_H
#define BITCUT_GPU_API_ATTENTION_H

#include "emu/attention/attention_plan.h"
#include "gpu/api/gpu.h"

/* The kernel after `at`; the first one for NULL; NULL at the end. */
const struct gpu_attention_kernel *
gpu_attention_next(const struct gpu *g, const struct gpu_attention_kernel *at);

/* Make the call of the kernel that computes a plan (emu/attention/attention_plan.h), bit
   for bit, on a device: for one batch, of as many heads as the plan has.
   BITCUT_UNSUPPORTED: the kernel does not run on the device, or computes no plan with
   this value of a field of the row, these units or this window.  BITCUT_BAD_ARGUMENT: it
   does not take the formats, sizes, layouts or tiles. */
enum bitcut_status gpu_attention_make(struct gpu_attention *to,
                                      const struct attention_plan *plan,
                                      const struct gpu_attention_kernel *kernel,
                                      const struct gpu_device *device, struct fault *f);

/* Run a call as gpu_module.attention does.  BITCUT_UNSUPPORTED with the device's reason.
 */
enum bitcut_status gpu_attention_run(const struct gpu_attention *call,
                                     double *milliseconds, int repeats,
                                     const struct gpu *g, const struct gpu_device *device,
                                     struct fault *f);

#endif
