/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of `bitcut run --device` in a process of the program. */
#ifndef BITCUT_ANALYSIS_RUN_RUN_DEVICE_H
#define BITCUT_ANALYSIS_RUN_RUN_DEVICE_H

#include "gpu/api/offload.h"

/* The device named by the settings.  It is opened at the first use and stays open until
   the process ends; a child of fork() opens it again.  NULL: no device is named, or it
   cannot be opened, which is printed once to standard error and logged. */
struct gpu_offload *run_device(void);

/* Whether it is the CPU.  Then its kernels compute products of any size, except those
   that are compared with one of these kernels. */
bool run_device_is_own(void);

/* Record that the device could not compute a product, possibly for lack of memory.  The
   first time it is also printed. */
void run_device_failed(const struct fault *f);

#endif
