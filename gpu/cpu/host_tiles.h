/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles that the processor's matrix units multiply: words of 16 bits, in panels. */
#ifndef BITCUT_GPU_CPU_HOST_TILES_H
#define BITCUT_GPU_CPU_HOST_TILES_H

#include "gpu/module/layout.h"

/* A panel is of HOST_LINES lines, rows of A or columns of B.  For each step of 32
   elements along k it has all words, each in two tiles: of the first HOST_SIDE lines, and
   of the others.  A tile is of pairs, which are the 32 bits of two elements of a line
   that follow each other in k: [line][pair] for A, and across, [pair][line], for B.  What
   there is not is +0. */
enum {
    HOST_SIDE = 16,
    HOST_PAIRS = 16,
    HOST_TILE = HOST_SIDE * HOST_PAIRS,
    HOST_LINES = 2 * HOST_SIDE,
    HOST_WORD = 2 * HOST_TILE /* elements of a step of one word */
};

/* The tiles of an operand.  Steps are in runs: all panels of one, then those of the next,
   so that what is multiplied together lies together. */
struct host_tiles {
    struct operand operand;
    bool across;
    size_t run; /* steps of a run */
};

/* Panels; steps along k; elements of a step, in all words; and bytes of all. */
size_t host_panels(const struct host_tiles *tiles);
size_t host_steps(const struct host_tiles *tiles);
size_t host_step_elements(const struct host_tiles *tiles);
size_t host_tiles_bytes(const struct host_tiles *tiles);

/* Where a step of a panel begins, in elements. */
size_t host_step_at(const struct host_tiles *tiles, size_t panel, size_t step);

/* Make the tiles of matrix i, or of words that are prepared.  Lines are equilibrated
   whose largest magnitudes are given, or else not.  Only where AVX512F is there. */
void host_tiles_make(uint32_t *to, const struct host_tiles *tiles, size_t i,
                     const uint32_t *largest);
void host_tiles_take(uint32_t *to, const struct host_tiles *tiles, const void *words);
void host_tiles_words(void *to, const struct operand *operand, size_t i,
                      const uint32_t *largest);

#endif
