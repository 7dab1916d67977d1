/* SPDX-License-Identifier: BSD-3-Clause */
/* mma.sync for the parts of GEMMs. */
#ifndef BITCUT_GPU_CUDA_MMA_CUH
#define BITCUT_GPU_CUDA_MMA_CUH

#include "gpu/module/module.h"

#include <cstdint>

#define MMA(FORMAT, SHAPE)                                                               \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." FORMAT "." FORMAT ".f32 "     \
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"             \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),     \
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))

/* D = A B + C by one warp: m16n8k16 for f16 and bf16, m16n8k8 for tf32.  D may be C. */
template <int FORMAT>
static __device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4],
                                           const uint32_t (&b)[2], const float (&c)[4])
{
    if constexpr (FORMAT == FORMAT_F16) MMA("f16", "m16n8k16");
    else if constexpr (FORMAT == FORMAT_BF16) MMA("bf16", "m16n8k16");
    else MMA("tf32", "m16n8k8");
}

#undef MMA

#endif
