/* SPDX-License-Identifier: BSD-3-Clause */
/* A device that computes in place of the emulator, for commands that compare with the
   emulator or compute by it. */
#ifndef BITCUT_GPU_API_OFFLOAD_H
#define BITCUT_GPU_API_OFFLOAD_H

#include "emu/gemm.h"
#include "gpu/api/choice_cache.h"
#include "lib/exact/exact_sums.h"

#include <pthread.h>

/* A device that emulates units, and the number of GEMMs or sums that it has run. */
struct gpu_offload {
    const struct gpu *gpu;
    const struct gpu_device *device;
    struct gemm_offload offload; /* for a gemm_options */
    struct exact_sums sums;      /* for the offload */
    size_t runs;
    const struct gpu_fp64_kernel *fp64; /* the kernel of FP64 GEMMs; NULL: the first of
                                           the scheme                                   */
    struct gpu_chosen *chosen; /* for a device that computes by kernels          */
    void *room;                /* the retained workspace, unless it is in use    */
    size_t room_bytes;
    pthread_mutex_t lock;
};

/* Offload GEMMs to a device, one at a time.  A device whose module can emulate takes the
   GEMMs that gpu_work_emulate_plan() accepts.  A device whose module has sums for exact
   references takes these.  A device with kernels for FP64 GEMMs takes those of their
   schemes.  *to must not be moved, and neither must `gpu` and the device.
   A child of fork() begins with a new one. */
void gpu_offload_init(struct gpu_offload *to, const struct gpu *gpu,
                      const struct gpu_device *device);

/* The same for a device of a backend that is part of the program, for commands that
   compute by it and do not compare with its kernels.  It takes each GEMM that one of its
   kernels computes with the same bits, of any size, from several threads at a time.  Its
   choices are stored in `chosen`. */
void gpu_offload_init_kernels(struct gpu_offload *to, const struct gpu *gpu,
                              const struct gpu_device *device, struct gpu_chosen *chosen);

#endif
