/* SPDX-License-Identifier: BSD-3-Clause */
/* The module for CUDA, and the devices whose memory a program's calls are about. */
#ifndef BITCUT_ANALYSIS_RUN_RUN_GPU_H
#define BITCUT_ANALYSIS_RUN_RUN_GPU_H

#include "gpu/api/choice_cache.h"

/* A device, by a module that computes in streams of others. */
struct run_gpu {
    struct gpu gpu;
    struct gpu_device is;
    struct gpu_chosen *chosen;
};

/* The calling thread's current device; the module is opened at the first use, and stays.
   NULL, and the reason: there is no module, or the device is of no architecture known. */
const struct run_gpu *run_gpu_current(struct fault *f);

#endif
