/* Launches that may come to the device while what is before them on the stream still
   runs.  Such a kernel says in every thread, before it touches memory that others write,
   that it waits for the end of what is before: griddepcontrol.wait (PTX ISA), which is
   there from sm_90 on. */
#ifndef BITCUT_GPU_CUDA_LAUNCH_CUH
#define BITCUT_GPU_CUDA_LAUNCH_CUH

#include <cstddef>
#include <cuda_runtime.h>

struct launch_shape {
    dim3 blocks;
    unsigned threads;
    size_t shared_bytes;
    unsigned cluster; /* blocks of a cluster, along x */
    cudaStream_t stream;
};

template <class... Parameter>
int launch_early(void (*kernel)(Parameter...), const launch_shape &shape,
                 const Parameter &...parameter)
{
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = shape.cluster;
    attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = shape.blocks;
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = shape.stream;
    config.attrs = attributes;
    config.numAttrs = shape.cluster > 1 ? 2 : 1;
    return cudaLaunchKernelEx(&config, kernel, parameter...);
}

#endif
