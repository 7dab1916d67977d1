/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting GEMMs on data in the memory of the device: checks, and the number of GEMMs at
   a time. */
#ifndef BITCUT_GPU_API_START_H
#define BITCUT_GPU_API_START_H

#include "gpu/api/gpu.h"

/* Bytes of device memory that one GEMM of the batch needs. */
size_t gpu_work_workspace(const struct gpu_work *work, const struct gpu *g);

/* Where a batch is computed: a stream, and the workspace that belongs to it. */
struct gpu_room {
    void *workspace;
    size_t bytes;
    void *stream;
    bool reached; /* whether the caller knows that the device can access the matrices and
                     the workspace: the device is not asked                          */
};

/* Check the matrices and the workspace, and start the batch on a stream, as
   bitcut_gemm_start() (lib/bitcut.h) describes.  BITCUT_BAD_ARGUMENT: one of them has an
   invalid address.  BITCUT_UNSUPPORTED with the kernel's name and the device's reason. */
enum bitcut_status gpu_work_start(const struct gpu_work *work, const struct gpu *g,
                                  const struct gpu_device *device,
                                  const struct gpu_room *room, struct fault *f);

/* Check that the device can access a matrix, unless it has no elements.
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_matrix_check(const char *name, const struct bitcut_matrix *x,
                                    size_t elements, const struct gpu *g,
                                    const struct gpu_device *device, struct fault *f);

/* Check that memory of this size exists, is aligned, and is accessible to the device.
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_memory_check(const char *name, const void *at, size_t bytes,
                                    const struct gpu *g, const struct gpu_device *device,
                                    struct fault *f);

/* Check the matrices and the workspace of a GEMM that needs `needed` bytes: the size and
   the alignment of the workspace, and all addresses if they are not known to be reached.
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status gpu_room_check(const struct bitcut_gemm *gemm,
                                  const struct gpu_room *room, size_t needed,
                                  const struct gpu *g, const struct gpu_device *device,
                                  struct fault *f);

#endif
