/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of a GEMM on the kernels of emu/fast/fast.h. */
#ifndef BITCUT_EMU_FAST_FAST_TILE_H
#define BITCUT_EMU_FAST_FAST_TILE_H

#include "emu/job.h"

/* Rows and columns of a tile. */
enum { FAST_ROWS = 256, FAST_COLUMNS = 256 };

/* Bytes of scratch that one thread needs for a job; they must be aligned to 64. */
size_t fast_scratch_bytes(const struct job *job);

/* Compute the outputs of the tile at (i0, j0).  False, and nothing is done, if its
   operands are out of the kernels' range, or if accumulators start from sums, from C or
   from a bias that the kernels cannot hold.  Outputs of lines with NaN or Inf
   (parts_special()), and of rows i0 + i with left[i], are not the unit's; the engine must
   compute them again.  Such a row starts from values that the kernels cannot hold.  The
   calling thread is in the mode of hostfp_enter(). */
bool fast_tile(bool left[FAST_ROWS], const struct job *job, void *scratch, size_t i0,
               size_t j0);

/* Whether kernels can compute a job whose accumulators start as its plan says. */
bool fast_starts(const struct job *job);

#endif
