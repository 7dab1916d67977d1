/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix units of this machine's own processor, as a module. */
#ifndef BITCUT_GPU_CPU_HOST_MODULE_H
#define BITCUT_GPU_CPU_HOST_MODULE_H

#include "gpu/module/module.h"

/* Part of the program on every machine; without such a unit it has no device, and says
   which it looked for.  Its one device is of all architectures whose units are there. */
extern const struct gpu_module host_module;

#endif
