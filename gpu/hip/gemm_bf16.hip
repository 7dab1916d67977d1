/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of bf16 parts: gpu/hip/gemm_hip.h.  gfx908 has only the shapes of half the depth,
   gfx942 only the other shapes, gfx90a both. */
#include "gpu/hip/gemm_hip.h"

#if defined(__gfx908__) || defined(__gfx90a__)
MFMA_BF16(MFMA_CLASS)
GEMM_BF16(GEMM_KERNEL)
#endif
#ifdef __gfx90a__
MFMA_BF16_1K(MFMA_CLASS, bf16_1k)
GEMM_BF16_1K(GEMM_KERNEL, bf16_1k)
#endif
#ifdef __gfx942__
MFMA_BF16_1K(MFMA_CLASS, bf16)
GEMM_BF16_1K(GEMM_KERNEL, bf16)
#endif
