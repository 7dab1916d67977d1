/* SPDX-License-Identifier: BSD-3-Clause */
/* NVML, which comes with the driver, opened while the module runs: what CUDA does not
   tell. */
#ifndef BITCUT_GPU_CUDA_NVML_CUH
#define BITCUT_GPU_CUDA_NVML_CUH

#include "gpu/module/module.h"

struct nvml {
    void *library, *device; /* NULL: NVML or the device is not there */
};

/* Open NVML and find in it the CUDA device that is current.  It need not succeed: the
   others give 0 then. */
struct nvml nvml_open(void);
void nvml_close(struct nvml *x);

/* The driver's version into text; 0 leaves it alone. */
int nvml_driver(char text[GPU_TEXT_MAX], const struct nvml *x);

/* What the board has used since the driver was loaded, in mJ. */
double nvml_millijoules(const struct nvml *x);

/* The limit of the board's power that is in force, in W. */
double nvml_watts_most(const struct nvml *x);

/* The clock of the multiprocessors now, in MHz. */
int nvml_megahertz(const struct nvml *x);

/* What limits it now: a set of GPU_LIMIT_...; -1: NVML does not say. */
int nvml_limits(const struct nvml *x);

#endif
