/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of `bitcut run --device`, as a process of the program has it. */
#ifndef BITCUT_ANALYSIS_RUN_RUN_DEVICE_H
#define BITCUT_ANALYSIS_RUN_RUN_DEVICE_H

#include "gpu/api/offload.h"

/* The device that the settings name: opened at the first use, and then it stays until the
   process ends; by a child of fork() anew.  NULL: none is named, or it cannot be opened,
   which is said once in a line on standard error and written down. */
struct gpu_offload *run_device(void);

/* Whether it is the processor's own: then products of any size are for it, by its kernels,
   but none that one of them is compared with. */
bool run_device_is_own(void);

/* It could not compute a product, for lack of memory perhaps: written down, and said the
   first time. */
void run_device_failed(const struct fault *f);

#endif
