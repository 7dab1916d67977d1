/* GEMMs of f16 words: gpu/hip/gemm.h. */
#include "gpu/hip/gemm.h"

MFMA_F16(MFMA_CLASS)
GEMM_F16(GEMM_KERNEL)
