/* SPDX-License-Identifier: BSD-3-Clause */
/* Code shared by the files of GEMM kernels: a GEMM whose operands are parts. */
#ifndef BITCUT_GPU_CUDA_GEMM_CUH
#define BITCUT_GPU_CUDA_GEMM_CUH

#include "gpu/cuda/cuda.cuh"

/* The tables of kernels, one in each file. */
extern const struct gpu_kernel batch_kernels[], gemm_sm80[], gemm_sm90[], gemm_wmma[],
    gemv_sm90[];

constexpr size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

/* --- equilibration ---------------------------------------------------------------- */

/* The exponent of a line whose largest finite magnitude is this, an FP32 encoding. */
inline __device__ int line_exponent(uint32_t largest, int target)
{
    const int field = (int)(largest >> 23);
    const int exponent = field ? field - 127 : -118 - __clz(largest);
    return largest ? target - exponent : 0;
}

/* RN(2^exponent x) in two FP32 products, as if rounded once.  Upward, by at most 2^254, a
   product is exact or infinite.  Downward it is inexact only below 2^-126; if the first
   product is inexact, the second one, by 2^-126, gives zero, which is the correct result.
   An exponent below -252 is replaced by -252: no sum of equilibrated lines is large
   enough to make a difference. */
inline __device__ float scale_once(float x, int exponent)
{
    const int second = exponent < 0 ? max(exponent, -126) : max(exponent - 127, 0);
    const int first = max(exponent - second, -126);
    x = __fmul_rn(x, __int_as_float((first + 127) << 23));
    return __fmul_rn(x, __int_as_float((second + 127) << 23));
}

/* The lines of one matrix. */
inline __device__ struct lines lines_of(const struct lines &x, size_t matrix)
{
    return x.a ? lines{ x.a + matrix * x.stride_a, x.b + matrix * x.stride_b, 0, 0,
                        x.target }
               : x;
}

/* An output, scaled back by the exponents of its row and column. */
inline __device__ float lines_restore(float v, const struct lines &x, size_t i, size_t j)
{
    return x.a ? scale_once(v, -line_exponent(x.a[i], x.target) -
                                   line_exponent(x.b[j], x.target))
               : v;
}

/* --- split-K ---------------------------------------------------------------------- */

/* Bytes of a line of the first part in a k-step: an instruction takes 32 bytes of a line.
   If parts have two formats, a k-step takes 32 bytes of the shorter lines. */
constexpr int STEP_BYTES = 32;

/* Whether a kernel that adds no slices leaves sums in the workspace,
   [matrix][slice][m][n], from which D is computed afterwards: if there are several
   slices, or if C or D is column-major. */
inline bool makes_sums(const struct gpu_product *p, const k_cut &cut)
{
    return cut.slices > 1 || p->c.turned || p->d.turned;
}

/* The size of these sums in bytes. */
inline size_t sums_bytes(const struct gpu_product *p, const k_cut &cut)
{
    return p->count * cut.slices * p->m * p->n * sizeof(float);
}

/* Start the computation of D from the sums. */
rt_error sums_add(const struct gpu_product *product, int slices);

/* alpha `total` + beta C as lib/gemm/recipe.h defines; the element of C is c[at].  c may
   be NULL. */
inline __device__ float output_of(float alpha, float total, float beta, const float *c,
                                  size_t at)
{
    const float v = __fmul_rn(alpha, total);
    return c ? __fmaf_rn(beta, c[at], v) : v;
}

/* The functions that struct gpu_module declares, in gpu/cuda/cuda.cu. */
int gemm_reaches(const void *at, int device, char *fault);

#endif
