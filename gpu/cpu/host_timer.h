/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing GEMMs on the processor's matrix units. */
#ifndef BITCUT_GPU_CPU_HOST_TIMER_H
#define BITCUT_GPU_CPU_HOST_TIMER_H

#include "gpu/module/module.h"

/* Measured by the clock of the program: every call is complete when it returns.  No board
   is read. */
extern const struct gpu_timer host_timer;

#endif
