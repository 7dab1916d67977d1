/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs on the processor's matrix units: the rows, and the functions that struct
   gpu_module (gpu/module/module.h) declares, for matrices in this process's memory. */
#ifndef BITCUT_GPU_CPU_HOST_PRODUCT_H
#define BITCUT_GPU_CPU_HOST_PRODUCT_H

#include "gpu/module/module.h"

extern const struct gpu_kernel host_kernels[]; /* ended by a row without a name */

size_t host_parts(const struct gpu_work *work, enum bitcut_operand operand);
int host_split(void *parts, const struct gpu_work *work, enum bitcut_operand operand,
               int device, char *fault);
int host_gemm(const struct gpu_work *work, const struct gpu_memory memory[4], int device,
              char *fault);

/* These functions return when their work is complete: there are no streams. */
int host_prepare(void *parts, const struct gpu_work *work, enum bitcut_operand operand,
                 int device, void *stream, char *fault);
size_t host_workspace(const struct gpu_work *work);
int host_start(const struct gpu_work *work, void *workspace, int device, void *stream,
               char *fault);

#endif
