/* SPDX-License-Identifier: BSD-3-Clause */
/* The split of values into parts of 16 bits rounded to nearest even, two at a time, for
   kernels that split what they multiply. */
#ifndef BITCUT_GPU_CUDA_SPLIT_TWO_CUH
#define BITCUT_GPU_CUDA_SPLIT_TWO_CUH

#include "gpu/module/product.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace
{

/* Two values rounded to nearest even, the first one in the low half.  A NaN is a NaN,
   whose bits do not matter: the unit's NaN has always the same. */
template <int FORMAT> __device__ uint32_t round_two(float x, float y)
{
    if constexpr (FORMAT == FORMAT_F16) {
        const __half2 two = __floats2half2_rn(x, y);
        return *(const uint32_t *)&two;
    } else {
        const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
        return *(const uint32_t *)&two;
    }
}
template <int FORMAT> __device__ float2 values_of(uint32_t two)
{
    if constexpr (FORMAT == FORMAT_F16) return __half22float2(*(const __half2 *)&two);
    else return { __uint_as_float(two << 16), __uint_as_float(two & 0xffff0000) };
}

/* Split two values into parts, the residual of the last one being dropped. */
template <int FORMAT, int PARTS>
__device__ void split_two(uint32_t (&to)[PARTS], float x, float y, float scale)
{
#pragma unroll
    for (int w = 0; w < PARTS; w++) {
        to[w] = round_two<FORMAT>(x, y);
        if (w == PARTS - 1) break;
        const float2 high = values_of<FORMAT>(to[w]);
        x = __fmul_rn(__fadd_rn(x, -high.x), scale);
        y = __fmul_rn(__fadd_rn(y, -high.y), scale);
    }
}

} // namespace

#endif
