/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of matrix instructions, for the device's code and for the host's rows.

   X(shape, input, side, blocks, depth, bytes of an element, type of an operand, builtin):
   D = A B + C for `blocks` products side x side x depth; the unit mfma.SHAPE.f32.INPUT.
   The rows are the rows of the table of units for the architecture. */
#ifndef BITCUT_GPU_HIP_MFMA_ROWS_H
#define BITCUT_GPU_HIP_MFMA_ROWS_H

/* Formats of A and B in a unit's name. */
#define TEXT_f16     "f16"
#define TEXT_f32     "f32"
#define TEXT_bf16    "bf16"
#define TEXT_bf16_1k "bf16_1k"
#define TEXT_xf32    "xf32"
#define TEXT_fp8_fp8 "fp8.fp8"
#define TEXT_fp8_bf8 "fp8.bf8"
#define TEXT_bf8_fp8 "bf8.fp8"
#define TEXT_bf8_bf8 "bf8.bf8"

/* clang-format off */
/* gfx908, gfx90a, gfx942 */
#define MFMA_F16(X)                                                                      \
    X(32x32x8,     f16,     32,  1,  8, 2, half4_,  32x32x8f16)                          \
    X(32x32x4_2b,  f16,     32,  2,  4, 2, half4_,  32x32x4f16)                          \
    X(16x16x16,    f16,     16,  1, 16, 2, half4_,  16x16x16f16)                         \
    X(16x16x4_4b,  f16,     16,  4,  4, 2, half4_,  16x16x4f16)                          \
    X(4x4x4_16b,   f16,      4, 16,  4, 2, half4_,  4x4x4f16)
#define MFMA_F32(X)                                                                      \
    X(32x32x2,     f32,     32,  1,  2, 4, float,   32x32x2f32)                          \
    X(16x16x4,     f32,     16,  1,  4, 4, float,   16x16x4f32)                          \
    X(4x4x1_16b,   f32,      4, 16,  1, 4, float,   4x4x1f32)

/* gfx908 */
#define MFMA_F32_BLOCKS(X)                                                               \
    X(32x32x1_2b,  f32,     32,  2,  1, 4, float,   32x32x1f32)                          \
    X(16x16x1_4b,  f32,     16,  4,  1, 4, float,   16x16x1f32)

/* gfx908, gfx90a */
#define MFMA_BF16(X)                                                                     \
    X(32x32x4,     bf16,    32,  1,  4, 2, short2_, 32x32x4bf16)                         \
    X(32x32x2_2b,  bf16,    32,  2,  2, 2, short2_, 32x32x2bf16)                         \
    X(16x16x8,     bf16,    16,  1,  8, 2, short2_, 16x16x8bf16)                         \
    X(16x16x2_4b,  bf16,    16,  4,  2, 2, short2_, 16x16x2bf16)                         \
    X(4x4x2_16b,   bf16,     4, 16,  2, 2, short2_, 4x4x2bf16)

/* gfx90a as bf16_1k, gfx942 as bf16 */
#define MFMA_BF16_1K(X, INPUT)                                                           \
    X(32x32x8,     INPUT,   32,  1,  8, 2, short4_, 32x32x8bf16_1k)                      \
    X(32x32x4_2b,  INPUT,   32,  2,  4, 2, short4_, 32x32x4bf16_1k)                      \
    X(16x16x16,    INPUT,   16,  1, 16, 2, short4_, 16x16x16bf16_1k)                     \
    X(16x16x4_4b,  INPUT,   16,  4,  4, 2, short4_, 16x16x4bf16_1k)                      \
    X(4x4x4_16b,   INPUT,    4, 16,  4, 2, short4_, 4x4x4bf16_1k)

/* gfx942 */
#define MFMA_XF32(X)                                                                     \
    X(32x32x4,     xf32,    32,  1,  4, 4, float2_, 32x32x4_xf32)                        \
    X(16x16x8,     xf32,    16,  1,  8, 4, float2_, 16x16x8_xf32)
#define MFMA_FP8(X, FIRST, SECOND)                                                       \
    X(32x32x16,    FIRST##_##SECOND, 32, 1, 16, 1, long, 32x32x16_##FIRST##_##SECOND)    \
    X(16x16x32,    FIRST##_##SECOND, 16, 1, 32, 1, long, 16x16x32_##FIRST##_##SECOND)
/* clang-format on */

#endif
