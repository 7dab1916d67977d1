/* SPDX-License-Identifier: BSD-3-Clause */
/* One GEMM by the processor's matrix units, from tiles (gpu/cpu/host_tiles.h) to D. */
#ifndef BITCUT_GPU_CPU_HOST_AREAS_H
#define BITCUT_GPU_CPU_HOST_AREAS_H

#include "gpu/cpu/host_code.h"

/* An operand of one GEMM. */
struct host_half {
    struct host_tiles tiles;
    const uint32_t *at;
    const uint32_t *largest; /* of its lines; NULL: they are not equilibrated */
};

/* One GEMM of a batch.  A thread takes an area of D at a time. */
struct host_areas {
    const struct gpu_work *work;
    const struct host_code *code;
    struct host_half a, b;
    struct bitcut_gemm gemm; /* that one */
    struct host_terms terms[RECIPE_ACCUMULATORS_MAX];
    size_t down, across; /* blocks of an area at most */
    size_t room;         /* bytes that a thread has for one */
};

/* All but that one, its tiles and magnitudes. */
void host_areas_set(struct host_areas *areas, const struct gpu_work *work,
                    const struct host_code *code);

/* D of that one, by up to so many threads that have a room each, one behind the other. */
void host_areas_run(const struct host_areas *areas, char *rooms, int threads);

#endif
