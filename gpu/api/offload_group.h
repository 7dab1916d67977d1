/* SPDX-License-Identifier: BSD-3-Clause */
/* Several devices that compute one GEMM together. */
#ifndef BITCUT_GPU_API_OFFLOAD_GROUP_H
#define BITCUT_GPU_API_OFFLOAD_GROUP_H

#include "gpu/api/offload.h"

enum { GPU_GROUP_MAX = 16 };

/* Devices of one architecture, with an offload each. */
struct gpu_offload_group {
    struct gpu_device device[GPU_GROUP_MAX];
    struct gpu_offload member[GPU_GROUP_MAX];
    int count;
    struct gemm_offload offload; /* for a gemm_options */
};

/* Offload to the `count` devices that to->device has, as gpu_offload_init() does to one.
   The rows of D are divided among the devices, at least 16 to each.  An output depends on
   one row of A, so that the bits are those of one device.  The first device computes FP64
   GEMMs and sums for exact references.  A device that fails ends the GEMM with its fault.
   *to must not be moved, and neither must `gpu`. */
void gpu_offload_group_init(struct gpu_offload_group *to, const struct gpu *gpu);

/* The number of GEMMs, parts of GEMMs, and sums that the devices have run. */
size_t gpu_offload_group_runs(const struct gpu_offload_group *g);

#endif
