/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA module, and the devices that a program uses. */
#ifndef BITCUT_ANALYSIS_RUN_RUN_GPU_H
#define BITCUT_ANALYSIS_RUN_RUN_GPU_H

#include "gpu/api/choice_cache.h"

/* A device, with a module that can compute in another program's streams. */
struct run_gpu {
    struct gpu gpu;
    struct gpu_device is;
    struct gpu_chosen *chosen;
};

/* The calling thread's current device.  The module is opened at the first use, and stays.
   NULL with the reason: there is no module, or the device has an unknown architecture. */
const struct run_gpu *run_gpu_current(struct fault *f);

#endif
