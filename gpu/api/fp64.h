/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by a scheme on a device. */
#ifndef BITCUT_GPU_API_FP64_H
#define BITCUT_GPU_API_FP64_H

#include "emu/fp64/fp64_gemm.h"
#include "gpu/api/start.h"

/* The kernel after `at`; the first one for NULL; NULL at the end. */
const struct gpu_fp64_kernel *gpu_fp64_next(const struct gpu *g,
                                            const struct gpu_fp64_kernel *at);

/* Make the GEMM that a kernel computes, without sizes and matrices: its scheme and unit.
   BITCUT_UNSUPPORTED: the device cannot run the kernel, or no table has its scheme or
   unit. */
enum bitcut_status gpu_fp64_gemm(struct bitcut_gemm *to,
                                 const struct gpu_fp64_kernel *kernel,
                                 const struct gpu_device *device, struct fault *f);

/* The first kernel that computes the scheme and runs on the device; NULL: there is none.
 */
const struct gpu_fp64_kernel *gpu_fp64_find(const struct gpu *g,
                                            const struct gpu_device *device,
                                            const struct bitcut_scheme *scheme);

/* Make the work of a GEMM with a scheme, which gemm_take_any() accepted, by the kernel on
   the device: its unit, parts and leading dimensions are set.  Addresses are not read,
   except whether prepared parts are NULL.  Statuses as for gpu_fp64_choose(). */
enum bitcut_status gpu_fp64_make(struct gpu_fp64 *to, const struct bitcut_gemm *gemm,
                                 const struct gpu_fp64_kernel *kernel,
                                 const struct gpu_device *device, struct fault *f);

/* The same by the kernel that the GEMM names, or by gpu_fp64_find().
   BITCUT_UNSUPPORTED: no kernel computes the scheme on the device, or the GEMM asks for a
   unit of another architecture, or of other formats.  BITCUT_BAD_ARGUMENT: as
   fp64_plan(); there is no kernel of that name; it computes another scheme; or it does
   not take the formats, pointers, prepared parts, slices of k, sizes or the number of
   parts. */
enum bitcut_status gpu_fp64_choose(struct gpu_fp64 *to, const struct gpu *g,
                                   const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f);

/* Run a GEMM as gpu_module.fp64 does.  BITCUT_UNSUPPORTED with the device's reason. */
enum bitcut_status gpu_fp64_run(const struct gpu_fp64 *gemm, double *milliseconds,
                                int repeats, const struct gpu *g,
                                const struct gpu_device *device, struct fault *f);

/* Compute the job's A B in job->d on the device as the scheme does on the emulator, bit
   for bit: by this kernel, or for NULL by gpu_fp64_find().  *took is false: it does not
   compute the job, and nothing has begun.  Sums of products must be exact on the job's
   unit. */
enum bitcut_status gpu_fp64_offload(bool *took, const struct fp64_job *job,
                                    const struct gpu_fp64_kernel *kernel,
                                    const struct gpu *g, const struct gpu_device *device,
                                    struct fault *f);

/* Bytes of device memory that one GEMM of a batch needs. */
size_t gpu_fp64_workspace(const struct gpu_fp64 *gemm, const struct gpu *g,
                          const struct gpu_device *device);

/* Check the matrices and the workspace, and start the GEMMs of the batch on a stream, one
   after the other, as gpu_work_start() (gpu/api/start.h). */
enum bitcut_status gpu_fp64_start(const struct gpu_fp64 *gemm, const struct gpu *g,
                                  const struct gpu_device *device,
                                  const struct gpu_room *room, struct fault *f);

#endif
