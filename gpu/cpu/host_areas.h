/* SPDX-License-Identifier: BSD-3-Clause */
/* One GEMM on the processor's matrix units, from tiles (gpu/cpu/host_tiles.h) to D. */
#ifndef BITCUT_GPU_CPU_HOST_AREAS_H
#define BITCUT_GPU_CPU_HOST_AREAS_H

#include "gpu/cpu/host_code.h"

/* An operand of one GEMM. */
struct host_half {
    struct host_tiles tiles;
    const uint32_t *at;
    const uint32_t *largest; /* largest magnitudes of its lines; NULL: not equilibrated */
};

/* One GEMM of a batch.  A thread computes one area of D at a time. */
struct host_areas {
    const struct gpu_work *work;
    const struct host_code *code;
    struct host_half a, b;
    struct bitcut_gemm gemm; /* the GEMM */
    struct host_terms terms[RECIPE_ACCUMULATORS_MAX];
    size_t down, across; /* blocks of an area, at most */
    size_t room;         /* bytes that a thread needs for an area */
};

/* Set everything except the GEMM itself, its tiles and magnitudes. */
void host_areas_set(struct host_areas *areas, const struct gpu_work *work,
                    const struct host_code *code);

/* Compute D of the GEMM by up to `threads` threads, each with its own room, one after the
   other in `rooms`. */
void host_areas_run(const struct host_areas *areas, char *rooms, int threads);

#endif
