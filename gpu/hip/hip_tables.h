/* SPDX-License-Identifier: BSD-3-Clause */
/* Data shared by the host files of the HIP modules: sets of architectures, and the
   tables. */
#ifndef BITCUT_GPU_HIP_HIP_TABLES_H
#define BITCUT_GPU_HIP_HIP_TABLES_H

#include "gpu/hip/code.h"

/* Sets of architectures. */
enum {
    ON_GFX908 = 1 << GFX908,
    ON_GFX90A = 1 << GFX90A,
    ON_GFX942 = 1 << GFX942,
    ON_ALL = ON_GFX908 | ON_GFX90A | ON_GFX942
};

extern const struct gpu_architecture hip_architectures[];
extern const struct gpu_instruction mfma_table[];
extern const struct gpu_kernel mfma_gemms[];
extern const struct gpu_kernel mfma_batches[];

/* The functions that struct gpu_module declares. */
int hip_describe(struct gpu_device *to, int device, char *fault);
int hip_reaches(const void *at, int device, char *fault);

/* The module of a library: its name and its description. */
#define HIP_MODULE(name_, what_, counts_)                                                \
    static const struct gpu_family families[] = {                                        \
        { "mfma", "MFMA, by one wave", mfma_table, NULL },                               \
        { "gemm", "GEMMs by MFMA", NULL, mfma_gemms },                                   \
        { "batch", "batches of small GEMMs by MFMA", NULL, mfma_batches },               \
        { 0 }                                                                            \
    };                                                                                   \
    __attribute__((                                                                      \
        visibility("default"))) extern const struct gpu_module bitcut_gpu_module;        \
    const struct gpu_module bitcut_gpu_module = {                                        \
        .interface = GPU_INTERFACE,                                                      \
        .name = name_,                                                                   \
        .what = what_,                                                                   \
        .architectures = hip_architectures,                                              \
        .families = families,                                                            \
        .describe = hip_describe,                                                        \
        .run = batch_run,                                                                \
        .parts = gemm_parts,                                                             \
        .split = gemm_split,                                                             \
        .gemm = gemm_run,                                                                \
        .prepare = gemm_prepare,                                                         \
        .workspace = gemm_workspace,                                                     \
        .start = gemm_start,                                                             \
        .reaches = hip_reaches,                                                          \
        .timer = &timer,                                                                 \
        .counts = counts_,                                                               \
    }

#endif
