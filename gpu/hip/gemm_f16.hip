/* GEMMs of f16 words: gpu/hip/mfma_gemm.h. */
#include "gpu/hip/mfma_gemm.h"

MFMA_F16(MFMA_CLASS)
GEMM_F16(GEMM_KERNEL)
