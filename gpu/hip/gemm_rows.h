/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of GEMM kernels, for the device's code and for the host's rows.

   X(family, side, depth, input, recipe, program, tile m, n, k, wave m, n, pipeline,
   buffers, ahead, more).  The family is named after its instruction, SIDE x SIDE x DEPTH
   for parts in the format INPUT.  `more` is the end of the name of a kernel that differs
   from another in nothing else.  `pipeline` is the part of the kernel's name that says
   what overlaps, as LE-GEMM's levels: 1 or 2 buffers in shared memory; an r means that
   the next tile is loaded into registers while one is multiplied. */
#ifndef BITCUT_GPU_HIP_GEMM_ROWS_H
#define BITCUT_GPU_HIP_GEMM_ROWS_H

/* clang-format off */
#define GEMM_ROWS_F16(X, FAMILY, SIDE, DEPTH, INPUT)                                                  \
    X(FAMILY, SIDE, DEPTH, INPUT, plain,    one,        128, 128, 32, 64, 64, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, plain,    one,         64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, markidis, four,       128, 128, 32, 64, 64, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, markidis, four,        64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, feng,     four,        64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, ootomo,   promoted,   128,  64, 32, 64, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, ootomo,   promoted,    64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, ootomo,   main_last,  128, 128, 32, 64, 64, 2r, 2, 1, _promote0)    \
    X(FAMILY, SIDE, DEPTH, INPUT, ootomo,   main_last,   64,  64, 32, 32, 32, 2r, 2, 1, _promote0)    \
    X(FAMILY, SIDE, DEPTH, INPUT, legemm,   main_first, 128, 128, 32, 64, 64, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, legemm,   main_first, 128, 128, 32, 64, 64, 2,  2, 0, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, legemm,   main_first, 128, 128, 32, 64, 64, 1r, 1, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, legemm,   main_first, 128, 128, 32, 64, 64, 1,  1, 0, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, legemm,   main_first,  64,  64, 32, 32, 32, 2r, 2, 1, )

#define GEMM_ROWS_BF16(X, FAMILY, SIDE, DEPTH, INPUT)                                                 \
    X(FAMILY, SIDE, DEPTH, INPUT, plain,    one,        128, 128, 32, 64, 64, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, plain,    one,         64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, bf16x3,   three,      128, 128, 32, 64, 64, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, bf16x3,   three,       64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, bf16x6,   six,        128, 128, 32, 64, 64, 1r, 1, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, bf16x6,   six,         64,  64, 32, 32, 32, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, bf16x9,   nine,        64,  64, 32, 32, 32, 2r, 2, 1, )

#define GEMM_ROWS_FP8(X, FAMILY, SIDE, DEPTH, INPUT)                                                  \
    X(FAMILY, SIDE, DEPTH, INPUT, plain,    one,        128, 128, 64, 64, 64, 2r, 2, 1, )             \
    X(FAMILY, SIDE, DEPTH, INPUT, plain,    one,         64,  64, 64, 32, 32, 2r, 2, 1, )

/* gfx908, gfx90a, gfx942 */
#define GEMM_F16(X)                                                                      \
    GEMM_ROWS_F16(X, mfma32x32x8, 32, 8, f16)                                            \
    GEMM_ROWS_F16(X, mfma16x16x16, 16, 16, f16)

/* gfx90a as bf16_1k, gfx942 as bf16 */
#define GEMM_BF16_1K(X, INPUT)                                                           \
    GEMM_ROWS_BF16(X, mfma32x32x8, 32, 8, INPUT)                                         \
    GEMM_ROWS_BF16(X, mfma16x16x16, 16, 16, INPUT)

/* gfx908, gfx90a */
#define GEMM_BF16(X)                                                                     \
    GEMM_ROWS_BF16(X, mfma32x32x4, 32, 4, bf16)                                          \
    GEMM_ROWS_BF16(X, mfma16x16x8, 16, 8, bf16)

/* gfx942 */
#define GEMM_FP8(X, INPUT)                                                               \
    GEMM_ROWS_FP8(X, mfma32x32x16, 32, 16, INPUT)                                        \
    GEMM_ROWS_FP8(X, mfma16x16x32, 16, 32, INPUT)
/* clang-format on */

#endif
