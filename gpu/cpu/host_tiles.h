/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles that the processor's matrix units multiply: parts of 16 bits, in panels. */
#ifndef BITCUT_GPU_CPU_HOST_TILES_H
#define BITCUT_GPU_CPU_HOST_TILES_H

#include "gpu/module/layout.h"

/* A panel has HOST_LINES lines, rows of A or columns of B.  For each step of 32 elements
   along k it has all parts, each in two tiles: one for the first HOST_SIDE lines, and one
   for the other lines.  A tile consists of pairs, which are the 32 bits of two elements
   of a line with successive k: [line][pair] for A, and transposed, [pair][line], for B.
   Missing elements are +0. */
enum {
    HOST_SIDE = 16,
    HOST_PAIRS = 16,
    HOST_TILE = HOST_SIDE * HOST_PAIRS,
    HOST_LINES = 2 * HOST_SIDE,
    HOST_PART = 2 * HOST_TILE /* elements of a step of one part */
};

/* The tiles of an operand.  Steps are in runs: all panels of one run, then all panels of
   the next run, so that data that is multiplied together is close together. */
struct host_tiles {
    struct operand operand;
    bool across;
    size_t run; /* steps of a run */
};

/* Number of panels; number of steps along k; number of elements of a step, in all parts;
   and total number of bytes. */
size_t host_panels(const struct host_tiles *tiles);
size_t host_steps(const struct host_tiles *tiles);
size_t host_step_elements(const struct host_tiles *tiles);
size_t host_tiles_bytes(const struct host_tiles *tiles);

/* The start of a step of a panel, in elements. */
size_t host_step_at(const struct host_tiles *tiles, size_t panel, size_t step);

/* Tiles to be made, and their source: matrix number `matrix` of the operand, with lines
   equilibrated if their largest magnitudes are given; or prepared parts. */
struct host_tiles_work {
    uint32_t *to;
    const struct host_tiles *tiles;
    size_t matrix;
    const uint32_t *largest; /* or NULL */
    const void *parts;       /* or NULL */
};

enum { HOST_TILES_WORK_MAX = 2 };

/* Make the tiles of up to HOST_TILES_WORK_MAX operands; or the parts of matrix i of an
   operand, in lines.  Call only if AVX512F exists. */
void host_tiles_make(const struct host_tiles_work *work, int count);
void host_tiles_parts(void *to, const struct operand *operand, size_t i,
                      const uint32_t *largest);

#endif
