/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the kernels for batches of small GEMMs, for the device's code and for the
   host's rows.

   X(shape of the instruction, its name in the kernel's name, size, waves of a block,
   method, whether it uses shared memory): m, n and k are at most `size`.  For 4x4x4, the
   instruction's 16 blocks are the tiles of D of 1, 4 or 16 GEMMs.  The first kernel of a
   size is the kernel that executes the fewest instructions (verify --kernel in the
   executor). */
#ifndef BITCUT_GPU_HIP_BATCH_ROWS_H
#define BITCUT_GPU_HIP_BATCH_ROWS_H

/* clang-format off */
#define BATCH_ROWS(X)                                                                    \
    X(4x4x4_16b, 4x4x4,     4, 4, direct, 0)                                             \
    X(4x4x4_16b, 4x4x4,     4, 4, staged, 1)                                             \
    X(4x4x4_16b, 4x4x4,     8, 4, staged, 1)                                             \
    X(4x4x4_16b, 4x4x4,     8, 4, direct, 0)                                             \
    X(16x16x16,  16x16x16, 16, 4, direct, 0)                                             \
    X(16x16x16,  16x16x16, 16, 4, staged, 1)                                             \
    X(4x4x4_16b, 4x4x4,    16, 4, staged, 1)                                             \
    X(4x4x4_16b, 4x4x4,    16, 4, direct, 0)                                             \
    X(32x32x8,   32x32x8,  32, 4, direct, 0)                                             \
    X(32x32x8,   32x32x8,  32, 4, staged, 1)                                             \
    X(32x32x8,   32x32x8,  64, 2, direct, 0)                                             \
    X(32x32x8,   32x32x8,  64, 2, staged, 1)

/* Elements from one line of a stage to the next: 8 bytes more than the line, so that
   adjacent lines are in other banks. */
#define BATCH_PITCH(SIZE) (SIZE + 4)

/* The number of GEMMs that a wave computes at a time, and its bytes of shared memory. */
#define BATCH_GEMMS(SIZE)  (SIZE < 16 ? 256 / (SIZE * SIZE) : 1)
#define BATCH_SHARED(SIZE) (BATCH_GEMMS(SIZE) * 2 * SIZE * BATCH_PITCH(SIZE) * 2)
/* clang-format on */

#endif
