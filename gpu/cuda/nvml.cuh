/* SPDX-License-Identifier: BSD-3-Clause */
/* NVML, which comes with the driver, opened while the module runs.  It provides data that
   CUDA does not. */
#ifndef BITCUT_GPU_CUDA_NVML_CUH
#define BITCUT_GPU_CUDA_NVML_CUH

#include "gpu/module/module.h"

struct nvml {
    void *library, *device; /* NULL: NVML or the device is not available */
};

/* Open NVML, and find the current CUDA device in it.  If this fails, the functions below
   return 0. */
struct nvml nvml_open(void);
void nvml_close(struct nvml *x);

/* Write the driver's version into text; 0: text is unchanged. */
int nvml_driver(char text[GPU_TEXT_MAX], const struct nvml *x);

/* Energy used by the board since the driver was loaded, in mJ. */
double nvml_millijoules(const struct nvml *x);

/* The power limit of the board in force, in W. */
double nvml_watts_most(const struct nvml *x);

/* The current clock of the multiprocessors, in MHz. */
int nvml_megahertz(const struct nvml *x);

/* What limits this clock: a set of GPU_LIMIT_...; -1: unknown. */
int nvml_limits(const struct nvml *x);

#endif
