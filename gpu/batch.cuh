/* What the files of batches share. */
#ifndef BITCUT_GPU_BATCH_CUH
#define BITCUT_GPU_BATCH_CUH

#include "gpu/cuda.cuh"

/* The table of kernels, in gpu/batch.cu. */
extern const struct gpu_batched_kernel batched_kernels[];

/* What the module has for batches, in gpu/batch_host.cu, and how it times them, in
   gpu/batch_timer.cu. */
extern const struct gpu_batched_part batched;
extern const struct gpu_batched_timer batched_timer;

/* As struct gpu_batched_part declares. */
int batched_start(const struct gpu_batched *batch,
                  const struct gpu_batched_kernel *kernel, void *stream, char *fault);

#endif
