/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches that may begin on the device while the launch before them on the stream, by
   this module, still runs: programmatic dependent launch.  In a kernel launched in this
   way, every thread waits for the end of the launch before, and then accesses memory that
   others write.  It waits for no earlier launch.  So it may only follow a launch that
   itself began after everything before it had ended; then no kernel of other code is
   overtaken. */
#ifndef BITCUT_GPU_CUDA_LAUNCH_CUH
#define BITCUT_GPU_CUDA_LAUNCH_CUH

#include <cstddef>
#include <cuda_runtime.h>

/* In the earlier kernel: allow the next kernel to start on multiprocessors that this
   kernel leaves.  In code for less than sm_90 it does nothing; the next kernel starts
   when all of this kernel has ended. */
static __device__ __forceinline__ void let_next_come()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* In the next kernel: wait for the end of the launch before, and for everything that it
   wrote. */
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
    dim3 cluster; /* blocks of a cluster */
    cudaStream_t stream;
    bool early; /* whether the launch before on the stream is this module's, and the
                   kernel waits                                                        */
};

/* Whether a stream executes its work.  While it captures, the graph gets plain edges,
   because programs that query the edges of a graph know no others. */
inline bool runs_now(cudaStream_t stream)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    if (cudaStreamIsCapturing(stream, &capture)) cudaGetLastError();
    return capture == cudaStreamCaptureStatusNone;
}

/* The same in the form of the runtime. */
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

/* Start a kernel.  Returns a status of the runtime. */
template <class... Parameter>
int launch_kernel(void (*kernel)(Parameter...), const launch_shape &shape,
                  const Parameter &...parameter)
{
    const launch_config config(shape);
    return cudaLaunchKernelEx(&config.is, kernel, parameter...);
}

#endif
