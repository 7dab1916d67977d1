/* SPDX-License-Identifier: BSD-3-Clause */
/* What gpu/module/product.h asks of a module and the runtime has no function for: faults
   in words, a launch that does nothing. */
#include "gpu/cuda/cuda.cuh"

#include <cstdio>

/* What to do about a device whose code was not compiled. */
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
