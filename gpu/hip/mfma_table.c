/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the matrix instructions, from gpu/hip/mfma_rows.h; the code is in
   gpu/hip/mfma.hip. */
#include "gpu/hip/arguments.h"
#include "gpu/hip/hip_tables.h"
#include "gpu/hip/mfma_rows.h"

/* Largest number of blocks.  Each fragment has a block of one wave; with more fragments,
   blocks loop. */
enum { GROUPS_MAX = 1 << 16, WAVE = 64 };

static int start(const struct gpu_instruction *row, const struct gpu_batch *batch,
                 enum gpu_variant variant)
{
    const size_t groups = batch->count < GROUPS_MAX ? batch->count : GROUPS_MAX;
    const struct hip_batch x = { batch->d, batch->a,     batch->b,
                                 batch->c, batch->count, groups };
    const struct hip_launch launch = { (unsigned)groups, 1, 1, WAVE, NULL };
    (void)variant;
    return groups ? hip_code_start(row->name, &launch, &x, sizeof x) : RT_SUCCESS;
}

#define ROW(SET, SHAPE, INPUT, SIDE, BLOCKS, DEPTH, BYTES, OPERAND, BUILTIN)             \
    { .name = "mfma." #SHAPE ".f32." TEXT_##INPUT,                                       \
      .what = "v_mfma_f32_" #BUILTIN,                                                    \
      .m = SIDE,                                                                         \
      .n = SIDE,                                                                         \
      .k = DEPTH,                                                                        \
      .a_bytes = BYTES,                                                                  \
      .b_bytes = BYTES,                                                                  \
      .c_bytes = 4,                                                                      \
      .architectures = SET,                                                              \
      .variants = 1u << GPU_PLAIN,                                                       \
      .launch = start },
#define EVERYWHERE(...) ROW(ON_ALL, __VA_ARGS__)
#define FIRST(...)      ROW(ON_GFX908, __VA_ARGS__)
#define FIRST_TWO(...)  ROW(ON_GFX908 | ON_GFX90A, __VA_ARGS__)
#define SECOND(...)     ROW(ON_GFX90A, __VA_ARGS__)
#define THIRD(...)      ROW(ON_GFX942, __VA_ARGS__)

const struct gpu_instruction mfma_table[] = {
    /* clang-format off */
    MFMA_F16(EVERYWHERE)
    MFMA_F32(EVERYWHERE)
    MFMA_F32_BLOCKS(FIRST)
    MFMA_BF16(FIRST_TWO)
    MFMA_BF16_1K(SECOND, bf16_1k)
    MFMA_BF16_1K(THIRD, bf16)
    MFMA_XF32(THIRD)
    MFMA_FP8(THIRD, fp8, fp8)
    MFMA_FP8(THIRD, fp8, bf8)
    MFMA_FP8(THIRD, bf8, fp8)
    MFMA_FP8(THIRD, bf8, bf8)
    { 0 }
    /* clang-format on */
};
