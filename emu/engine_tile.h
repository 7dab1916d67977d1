/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs of a GEMM by the engine, instruction by instruction.  This is the
   definition. */
#ifndef BITCUT_EMU_ENGINE_TILE_H
#define BITCUT_EMU_ENGINE_TILE_H

#include "emu/job.h"

enum { ENGINE_TILE = 16 }; /* most rows and columns that are computed at a time */

/* Bytes of scratch that a thread needs. */
size_t engine_tile_bytes(const struct job *job);

/* Compute any rectangle of outputs, until the job's progress asks to stop.  The thread is
   in the mode of hostfp_enter(); `scratch` is aligned like memory from malloc(). */
void engine_run(const struct job *job, struct number *scratch, size_t i0, size_t j0,
                size_t rows, size_t cols);

#endif
