/* What a kernel for batches of small GEMMs must give. */
#ifndef BITCUT_ANALYSIS_BATCH_MODEL_H
#define BITCUT_ANALYSIS_BATCH_MODEL_H

#include "emu/gemm.h"

/* D_i = alpha A_i B_i + beta C_i for i < count, as kernels for small GEMMs compute: f16
   encodings, row-major without gaps, one matrix after the other.  A beta of zero does not
   read C.  BITCUT_NO_MEMORY, or BITCUT_BAD_ARGUMENT and BITCUT_CANNOT by BITCUT_SIMD. */
enum bitcut_status batch_model_run(uint16_t *d, const struct gemm *gemm, size_t count,
                                   size_t m, size_t n, size_t k, const uint16_t *a,
                                   const uint16_t *b, const uint16_t *c, int threads,
                                   struct fault *f);

#endif
