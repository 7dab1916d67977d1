/* SPDX-License-Identifier: BSD-3-Clause */
/* The code objects of this module: kept in it, loaded on a device, their kernels started
   by name. */
#ifndef BITCUT_GPU_HIP_CODE_H
#define BITCUT_GPU_HIP_CODE_H

#include "gpu/hip/runtime.h"

/* Architectures, in the order of the module's table; sets have 1u << one of them. */
enum hip_target { GFX908, GFX90A, GFX942, HIP_TARGETS };

/* The code objects of a target, ended by NULL; without any it was not compiled for. */
extern const void *const *const hip_objects[HIP_TARGETS];

/* Of which target the current device is: of the one whose code it takes.  A status of the
   runtime, HIP_NO_BINARY if it is of none that there is code for.  What was loaded stays
   so to the end of the process. */
rt_error hip_code_target(enum hip_target *target);

/* How a kernel is started: blocks, threads of one along x, a stream. */
struct hip_launch {
    unsigned x, y, z, threads;
    rt_stream stream;
};

/* Start a kernel of the current device's code with its arguments, a structure of
   gpu/hip/arguments.h.  Characters of the name that no C name has count as '_'.
   HIP_NOT_COMPILED: there is none of that name. */
rt_error hip_code_start(const char *kernel, const struct hip_launch *launch,
                        const void *arguments, size_t bytes);

#endif
