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
   operands are out of the kernels' range, or if the order of k starts accumulators from
   sums that the kernels cannot hold.  Outputs of lines with NaN or Inf
   (parts_special()) are not the unit's; the engine must compute them again.  The calling
   thread is in the mode of hostfp_enter(). */
bool fast_tile(const struct job *job, void *scratch, size_t i0, size_t j0);

#endif
