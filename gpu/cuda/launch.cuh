/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches that may come to the device while the launch before them on the stream, this
   module's own, still runs: programmatic dependent launch.  A kernel that is launched so
   waits in every thread for the end of that one before it touches memory that others
   write.  As it waits for no other one, it may only follow a launch that itself began
   after all before it: no kernel of somebody else is overtaken. */
#ifndef BITCUT_GPU_CUDA_LAUNCH_CUH
#define BITCUT_GPU_CUDA_LAUNCH_CUH

#include <cstddef>
#include <cuda_runtime.h>

/* In the kernel before: the next one may come to the multiprocessors that it leaves.  In
   code for less than sm_90 nothing: that comes when all of it has ended. */
static __device__ __forceinline__ void let_next_come()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* In the next one: wait for the end of the launch before, and for what it wrote. */
static __device__ __forceinline__ void wait_for_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

struct launch_shape {
    dim3 blocks;
    unsigned threads;
    size_t shared_bytes;
    dim3 cluster; /* blocks of one */
    cudaStream_t stream;
    bool early; /* what is before on the stream is this module's, and the kernel waits */
};

/* Whether a stream runs what it is given: a graph that it captures has plain edges, as
   programs that ask a graph for its edges know no others. */
inline bool runs_now(cudaStream_t stream)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    if (cudaStreamIsCapturing(stream, &capture)) cudaGetLastError();
    return capture == cudaStreamCaptureStatusNone;
}

/* The same as the runtime has it. */
struct launch_config {
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t is = {};

    explicit launch_config(const launch_shape &shape)
    {
        is.gridDim = shape.blocks;
        is.blockDim = dim3(shape.threads);
        is.dynamicSmemBytes = shape.shared_bytes;
        is.stream = shape.stream;
        is.attrs = attributes;
        cudaLaunchAttribute &cluster = attributes[is.numAttrs++];
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim = { shape.cluster.x, shape.cluster.y, shape.cluster.z };
        if (shape.early && runs_now(shape.stream)) {
            cudaLaunchAttribute &a = attributes[is.numAttrs++];
            a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
            a.val.programmaticStreamSerializationAllowed = 1;
        }
    }
    launch_config(const launch_config &) = delete;
};

/* Start a kernel: a status of the runtime. */
template <class... Parameter>
int launch_kernel(void (*kernel)(Parameter...), const launch_shape &shape,
                  const Parameter &...parameter)
{
    const launch_config config(shape);
    return cudaLaunchKernelEx(&config.is, kernel, parameter...);
}

#endif
