/* Batches of small GEMMs: the kernels of a module, and what they take. */
#ifndef BITCUT_GPU_BATCHED_H
#define BITCUT_GPU_BATCHED_H

#include "gpu/gpu.h"

/* The kernel after `at`; the first for NULL; NULL at the end, or if the module has
   none. */
const struct gpu_batched_kernel *gpu_batched_next(const struct gpu *g,
                                                  const struct gpu_batched_kernel *at);

/* Whether the device's compute capability is one of the kernel's, and its shared memory
   enough. */
bool gpu_batched_fits(const struct gpu_device *device,
                      const struct gpu_batched_kernel *kernel);

/* The recipe of which a kernel computes every GEMM, and the name of the unit that it runs
   on, of an architecture. */
const struct bitcut_recipe *gpu_batched_recipe(const struct gpu_batched_kernel *kernel);
void gpu_batched_unit(char *name, size_t size,
                      const struct gpu_architecture *architecture,
                      const struct gpu_batched_kernel *kernel);

/* Whether the kernel takes GEMMs of that size.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_batched_suits(size_t m, size_t n, size_t k,
                                     const struct gpu_batched_kernel *kernel,
                                     struct fault *f);

/* The same, and whether every matrix can be there: leading dimensions are not below row
   lengths, bytes have a size, what is read or written is there and aligned to 2 bytes, C
   and D are not transposed, D has no element twice as far as strides tell, and D is C
   only with its leading dimension and stride.  BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_batched_check(const struct gpu_batched *batch,
                                     const struct gpu_batched_kernel *kernel,
                                     struct fault *f);

/* Run a checked batch as gpu_batched_part.run says.  BITCUT_CANNOT with the device's
   reason. */
enum bitcut_status gpu_batched_run(const struct gpu_batched *batch, const struct gpu *g,
                                   const struct gpu_batched_kernel *kernel,
                                   const struct gpu_memory memory[4], struct fault *f);

#endif
