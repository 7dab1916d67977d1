/* SPDX-License-Identifier: BSD-3-Clause */
/* A device in the emulator's place, for what compares with it or computes by it. */
#ifndef BITCUT_GPU_API_OFFLOAD_H
#define BITCUT_GPU_API_OFFLOAD_H

#include "emu/gemm.h"
#include "gpu/api/choice_cache.h"
#include "lib/exact/exact_sums.h"

#include <pthread.h>

/* A device that emulates units, and how many GEMMs or sums it has run. */
struct gpu_offload {
    const struct gpu *gpu;
    const struct gpu_device *device;
    struct gemm_offload offload; /* a gemm_options' */
    struct exact_sums sums;      /* the offload's   */
    size_t runs;
    struct gpu_chosen *chosen; /* of one that computes by kernels                */
    void *room;                /* the workspace that it keeps, unless it is used */
    size_t room_bytes;
    pthread_mutex_t lock;
};

/* Offload GEMMs to a device: one whose module can emulate takes those that
   gpu_work_emulate_plan() does, and one whose module has them the sums of exact
   references, one at a time.  *to stays where it is, and so do the others.  A child of
   fork() begins with a new one. */
void gpu_offload_init(struct gpu_offload *to, const struct gpu *gpu,
                      const struct gpu_device *device);

/* The same of a device of a backend that is part of the program, for what computes by it
   and does not compare with its kernels: it takes each GEMM that one of them computes to
   the same bits, of any size, from several threads at a time.  What it chose is
   remembered in `chosen`. */
void gpu_offload_init_kernels(struct gpu_offload *to, const struct gpu *gpu,
                              const struct gpu_device *device, struct gpu_chosen *chosen);

#endif
