/* SPDX-License-Identifier: BSD-3-Clause */
/* Code shared by device files: clang's builtins under short names, exact FP32 steps, MFMA
   instructions.  No header of HIP is included, so that hipcc and plain clang both compile
   it.  C++14, device only.

   Every loop over the registers of a fragment is unrolled, because a vector indexed by a
   variable would be placed in memory.  Nothing is divided by a number that the compiler
   does not know. */
#ifndef BITCUT_GPU_HIP_DEVICE_H
#define BITCUT_GPU_HIP_DEVICE_H

#include "gpu/hip/arguments.h"

#define DEVICE inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

/* A kernel whose blocks have this number of threads. */
#define KERNEL(threads)                                                                  \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void

enum { WAVE = 64 };

DEVICE unsigned thread_x() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE unsigned block_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE unsigned block_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE unsigned block_z() { return __builtin_amdgcn_workgroup_id_z(); }

/* Wait until all threads of the block are here, and see what the others wrote to shared
   memory. */
DEVICE void block_wait()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Make the lanes of the wave see what the others wrote to shared memory. */
DEVICE void wave_wait()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

template <class T, class F> DEVICE T bits_as(F x) { return __builtin_bit_cast(T, x); }

/* --- vectors ---------------------------------------------------------------------- */

typedef uint32_t uint2_ __attribute__((ext_vector_type(2)));
typedef uint32_t uint4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half4_ __attribute__((ext_vector_type(4)));
typedef short short2_ __attribute__((ext_vector_type(2)));
typedef short short4_ __attribute__((ext_vector_type(4)));
typedef float float2_ __attribute__((ext_vector_type(2)));
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float16_ __attribute__((ext_vector_type(16)));
typedef float float32_ __attribute__((ext_vector_type(32)));

/* Registers of the accumulator of an instruction with COUNT elements in a lane. */
template <int COUNT> struct accumulator;
template <> struct accumulator<4> {
    typedef float4_ type;
};
template <> struct accumulator<16> {
    typedef float16_ type;
};
template <> struct accumulator<32> {
    typedef float32_ type;
};

/* --- the matrix instructions ------------------------------------------------------ */

/* A row of gpu/hip/mfma_rows.h as a class: BLOCKS products of SIDE x SIDE x DEPTH at a
   time.  A lane has `each` elements of A and of B, consecutive in k, and `count` of C and
   D (AMD matrix instruction calculator):
     A: line lane % SIDE, in block lane / SIDE, or for k from each (lane / SIDE) on; B has
        the same layout;
     D: see row() and column(), in block q / (count / BLOCKS); lane / 4 if SIDE is 4. */
template <int SIDE, int BLOCKS, int DEPTH, class OPERAND> struct mfma {
    typedef OPERAND operand;
    enum {
        side = SIDE,
        blocks = BLOCKS,
        depth = DEPTH,
        each = SIDE * DEPTH * BLOCKS / WAVE,
        count = SIDE * SIDE * BLOCKS / WAVE,
        element_bytes = sizeof(OPERAND) / each
    };
    typedef typename accumulator<count>::type sums;

    static DEVICE int block(int lane, int q)
    {
        return SIDE == 4 ? lane / 4 : q / (count / BLOCKS);
    }
    static DEVICE int row(int lane, int q)
    {
        return SIDE == 32   ? 8 * (q % 16 / 4) + 4 * (lane / 32) + q % 4
               : SIDE == 16 ? 4 * (lane / 16) + q % 4
                            : q;
    }
    static DEVICE int column(int lane) { return lane % SIDE; }
};

#define MFMA_CLASS(SHAPE, INPUT, SIDE, BLOCKS, DEPTH, BYTES, OPERAND, BUILTIN)           \
    struct i##SHAPE##_##INPUT : mfma<SIDE, BLOCKS, DEPTH, OPERAND> {                     \
        static DEVICE sums issue(operand a, operand b, sums c)                           \
        {                                                                                \
            return __builtin_amdgcn_mfma_f32_##BUILTIN(a, b, c, 0, 0, 0);                \
        }                                                                                \
    };

/* --- exact steps ------------------------------------------------------------------ */

DEVICE int exponent_larger(int a, int b) { return a > b ? a : b; }

/* The exponent of a line whose largest finite magnitude is this, an FP32 encoding. */
DEVICE int line_exponent(uint32_t largest, int target)
{
    const int field = (int)(largest >> 23);
    const int exponent =
        field ? field - 127 : -118 - (largest ? __builtin_clz(largest) : 32);
    return largest ? target - exponent : 0;
}

/* RN(2^exponent x) in two FP32 products, as if rounded once.  Upward, by at most 2^254,
   each factor is half of it, and a product is exact or infinite.  Downward it is inexact
   only below 2^-126; if the first product is inexact, the second one, by 2^-126, gives
   zero, which is the correct result.  An exponent below -252 is replaced by -252: no sum
   of equilibrated lines is large enough to make a difference. */
DEVICE float scale_once(float x, int exponent)
{
    const int second = exponent < 0 ? exponent_larger(exponent, -126) : exponent >> 1;
    const int first = exponent_larger(exponent - second, -126);
    x = x * bits_as<float>((uint32_t)(first + 127) << 23);
    return x * bits_as<float>((uint32_t)(second + 127) << 23);
}

/* The NaN of all MFMA of CDNA, which is the NaN of every step of a GEMM
   (lib/gemm/recipe.h).  The vector unit would propagate the NaN of an operand. */
DEVICE float with_own_nan(float x)
{
    return x != x ? bits_as<float>((uint32_t)0xffc00000) : x;
}

/* alpha v + beta c as lib/gemm/recipe.h defines, with v in the scale of its row and
   column. */
DEVICE float output_of(const struct hip_output &x, float v, uint64_t matrix, uint64_t i,
                       uint64_t j)
{
    if (x.lines_a) {
        const int a = line_exponent(x.lines_a[matrix * x.lines_a_stride + i], x.target);
        const int b = line_exponent(x.lines_b[matrix * x.lines_b_stride + j], x.target);
        v = scale_once(v, -a - b);
    }
    float t = x.alpha * v;
    if (x.c.at) {
        const float c = x.c.at[matrix * x.c.stride + i * x.c.row + j * x.c.column];
        t = __builtin_fmaf(x.beta, c, t);
    }
    return with_own_nan(t);
}

/* Store output (i, j) of a matrix. */
DEVICE void output_store(const struct hip_output &x, float v, uint64_t matrix, uint64_t i,
                         uint64_t j)
{
    x.d.at[matrix * x.d.stride + i * x.d.row + j * x.d.column] =
        output_of(x, v, matrix, i, j);
}

#endif
