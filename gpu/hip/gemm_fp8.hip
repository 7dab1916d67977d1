/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of 8-bit parts, all in e4m3fnuz (fp8) or all in e5m2fnuz (bf8):
   gpu/hip/gemm_hip.h.  Only gfx942 has instructions for them. */
#include "gpu/hip/gemm_hip.h"

MFMA_FP8(MFMA_CLASS, fp8, fp8)
MFMA_FP8(MFMA_CLASS, bf8, bf8)
GEMM_FP8(GEMM_KERNEL, fp8_fp8)
GEMM_FP8(GEMM_KERNEL, bf8_bf8)
