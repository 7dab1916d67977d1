/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix units of this machine's processor, as a module. */
#ifndef BITCUT_GPU_CPU_HOST_MODULE_H
#define BITCUT_GPU_CPU_HOST_MODULE_H

#include "gpu/module/module.h"

/* The module is part of the program on every machine.  Without such a unit it has no
   device, and reports the units that it looked for.  Its one device has all architectures
   whose units exist. */
extern const struct gpu_module host_module;

#endif
