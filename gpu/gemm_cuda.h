/* What the files of the library's calls on a GPU share. */
#ifndef BITCUT_GPU_GEMM_CUDA_H
#define BITCUT_GPU_GEMM_CUDA_H

#include "gpu/gpu.h"

struct bitcut_cuda {
    struct gpu gpu;
    struct gpu_device device;
    const struct gpu_architecture *architecture;
};

/* BITCUT_BAD_ARGUMENT unless there is a place for a result. */
enum bitcut_status cuda_place(bool there, struct fault *f);

/* The status, having told why. */
enum bitcut_status cuda_told(char *why, enum bitcut_status status, const struct fault *f);

#endif
