/* SPDX-License-Identifier: BSD-3-Clause */
/* The code objects of this module: stored in it, loaded on a device, and their kernels
   started by name. */
#ifndef BITCUT_GPU_HIP_CODE_H
#define BITCUT_GPU_HIP_CODE_H

#include "gpu/hip/runtime.h"

/* Architectures, in the order of the module's table; sets have 1u << one of them. */
enum hip_target { GFX908, GFX90A, GFX942, HIP_TARGETS };

/* The code objects of a target, ended by NULL; empty if the module was not compiled for
   it. */
extern const void *const *const hip_objects[HIP_TARGETS];

/* The target of the current device: the target whose code it accepts.  Returns a status
   of the runtime; HIP_NO_BINARY if there is no code for the device.  Code that was loaded
   stays loaded until the end of the process. */
rt_error hip_code_target(enum hip_target *target);

/* How a kernel is started: number of blocks, threads of a block along x, and a stream. */
struct hip_launch {
    unsigned x, y, z, threads;
    rt_stream stream;
};

/* Start a kernel of the current device's code with its arguments, a structure of
   gpu/hip/arguments.h.  Characters of the name that are invalid in C names count as '_'.
   HIP_NOT_COMPILED: no kernel has this name. */
rt_error hip_code_start(const char *kernel, const struct hip_launch *launch,
                        const void *arguments, size_t bytes);

#endif
