/* What a kernel for batches of small GEMMs must give. */
#ifndef BITCUT_ANALYSIS_BATCH_MODEL_H
#define BITCUT_ANALYSIS_BATCH_MODEL_H

#include "analysis/recorder.h"
#include "emu/gemm.h"
#include "gpu/batched.h"

/* The GEMM that the kernel computes on the recorder's device, of alpha 1 and beta 0.
   BITCUT_CANNOT: the device cannot run it, or the tables do not have what it names. */
enum bitcut_status batch_model_gemm(struct bitcut_gemm *gemm, const struct recorder *r,
                                    const struct gpu_batched_kernel *kernel,
                                    struct fault *f);

/* D_i = alpha A_i B_i + beta C_i for i < count, as gpu/module.h says of batches: f16
   encodings, row-major without gaps, one matrix after the other.  A beta of zero does not
   read C.  BITCUT_NO_MEMORY, or BITCUT_BAD_ARGUMENT and BITCUT_CANNOT by BITCUT_SIMD. */
enum bitcut_status batch_model_run(uint16_t *d, const struct bitcut_gemm *gemm, size_t count,
                                   size_t m, size_t n, size_t k, const uint16_t *a,
                                   const uint16_t *b, const uint16_t *c, int threads,
                                   struct fault *f);

#endif
