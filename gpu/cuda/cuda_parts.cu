/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that gpu/module/product.h requires of a module, and that the runtime does
   not have: messages of faults, and a launch that does nothing. */
#include "gpu/cuda/cuda.cuh"

#include <cstdio>

/* Write what to do about a device for which no code was compiled. */
static void fault_uncompiled(char *fault)
{
    int device = 0, major = 0, minor = 0;
    rt_device_get(&device);
    rt_device_ask(&major, cudaDevAttrComputeCapabilityMajor, device);
    rt_device_ask(&minor, cudaDevAttrComputeCapabilityMinor, device);
    const int code = 10 * major + minor;
    const char *own = code == 90 ? "a" : ""; /* wgmma and setmaxnreg */
    snprintf(fault, GPU_FAULT_MAX,
             "not compiled for this device: CUDA_GENCODE='-gencode "
             "arch=compute_%d%s,code=sm_%d%s' ./bootstrap.sh",
             code, own, code, own);
}

int fault_of(char *fault, rt_error status)
{
    if (status == RT_SUCCESS) return status;
    if (status == RT_NO_CODE || status == RT_NO_FUNCTION) fault_uncompiled(fault);
    else snprintf(fault, GPU_FAULT_MAX, "%s", rt_error_text(status));
    rt_last_error();
    return status;
}

static __global__ void empty_kernel() {}

rt_error empty_start(rt_stream stream)
{
    empty_kernel<<<1, 1, 0, stream>>>();
    return rt_last_error();
}
