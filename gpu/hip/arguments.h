/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the kernels, as the host writes them and the device reads them: little
   endian, 64-bit addresses.  C and C++. */
#ifndef BITCUT_GPU_HIP_ARGUMENTS_H
#define BITCUT_GPU_HIP_ARGUMENTS_H

#include "lib/number/round.h"

/* --- single instructions ---------------------------------------------------------- */

/* A batch as in struct gpu_batch.  Launch: `groups` blocks of a wave along x. */
struct hip_batch {
    void *d;
    const void *a, *b, *c;
    uint64_t count, groups;
};

/* --- the split pass --------------------------------------------------------------- */

struct hip_rounding {
    int32_t direction, bit, overflow, flush; /* fields of struct bitcut_rounding */
};

/* Launch: blocks of SPLIT_LINES lines along x, of SPLIT_K of k along y, matrices along z.
   If lines are equilibrated, a block has all of k. */
struct hip_split {
    char *parts;
    const float *from;
    uint64_t prepared_stride, stride; /* bytes, and elements, to the next matrix */
    uint64_t lines, k, ld;
    uint64_t largest_at; /* bytes from the parts to the magnitudes of the lines */
    uint32_t blocks;     /* along y                                       */
    int32_t across, count;
    int32_t largest; /* 0: lines are not equilibrated               */
    int32_t target;  /* t of lib/number/equilibrate.h, if lines are equilibrated */
    float scale;
    struct hip_rounding high, low;
};

enum { SPLIT_LINES = 32, SPLIT_K = 64, SPLIT_EACH = 8, SPLIT_THREADS = 256 };

/* --- whole GEMMs ------------------------------------------------------------------ */

/* Element (i, j) of a matrix is at[matrix stride + i row + j column]. */
struct hip_from {
    const float *at; /* NULL: it is not read */
    uint64_t stride, row, column;
};
struct hip_to {
    float *at;
    uint64_t stride, row, column;
};

/* How outputs are made from sums. */
struct hip_output {
    struct hip_from c;
    struct hip_to d;
    const uint32_t *lines_a, *lines_b; /* NULL: not equilibrated */
    uint64_t lines_a_stride, lines_b_stride;
    int32_t target; /* as for the split pass */
    float alpha, beta;
};

/* Launch: blocks of a tile, n along x, m along y from tile `first_m` on, slices of all
   matrices along z. */
struct hip_gemm {
    const char *a, *b; /* parts */
    uint64_t a_stride, b_stride, m, n, row_bytes;
    uint64_t k_bytes, slice_bytes; /* whole k-steps    */
    uint64_t slice_reciprocal;     /* floor(2^32 / slices) + 1 */
    uint32_t slices, first_m;
    float *partial; /* [matrix][slice][m][n]; NULL: one slice */
    struct hip_output output;
    float unscale; /* 2^-scale of the low parts */
};

/* Launch: blocks of SUMS_THREADS outputs of a row along x, rows along y, `rows` blocks
   apart, matrices along z. */
struct hip_sums {
    const float *partial;
    uint64_t m, n;
    uint32_t slices, rows;
    struct hip_output output;
};

enum { SUMS_THREADS = 256 };

/* --- batches of small GEMMs ------------------------------------------------------- */

/* Element (i, j) of a matrix is at[matrix stride + i line + j along] or each[matrix][i
   line + j along], all f16.  The lines of B are its columns. */
struct hip_panel {
    const void *at;
    const void *const *each; /* NULL: at strides */
    uint64_t stride, line, along;
};

/* Launch: blocks along x.  A wave computes some GEMMs, and then the GEMMs `step`
   later. */
struct hip_small {
    struct hip_panel a, b, c, d;
    uint64_t count, step;
    int32_t m, n, k, reads_c;
    float alpha, beta;
};

#endif
