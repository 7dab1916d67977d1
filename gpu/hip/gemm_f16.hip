/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of f16 parts: gpu/hip/gemm_hip.h. */
#include "gpu/hip/gemm_hip.h"

MFMA_F16(MFMA_CLASS)
GEMM_F16(GEMM_KERNEL)
