/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/cublas.h"
#include "analysis/predict/library.h"

#include <string.h>

/* clang-format off */
static const struct cublas_types all_types[] = {
    { "f16.f32", CUBLAS_HALF, 2, false, "plain", "hopper/mma.m16n8k16.f32.f16",
      "hopper/mma.m16n8k8.f32.f16", 0, 1, true },
    { "f16", CUBLAS_HALF, 2, true, "plain", "hopper/mma.m16n8k16.f32.f16",
      "hopper/mma.m16n8k8.f32.f16", 0, 1, false },
    { "bf16.f32", CUBLAS_HALF, 2, false, "plain", "hopper/mma.m16n8k16.f32.bf16",
      "hopper/mma.m16n8k8.f32.bf16", 0, 0, true },
    { "bf16", CUBLAS_HALF, 2, true, "plain", "hopper/mma.m16n8k16.f32.bf16",
      "hopper/mma.m16n8k8.f32.bf16", 0, 0, false },
    { "e4m3.bf16", CUBLAS_FP8, 1, true, "plain", "hopper/wgmma.m64n8k32.f32.e4m3", NULL, 4, 0, false },
    { "e4m3.f32", CUBLAS_FP8, 1, false, "plain", "hopper/wgmma.m64n8k32.f32.e4m3", NULL, 4, 2, false },
    { "e4m3fast.bf16", CUBLAS_FP8, 1, true, "plain", "hopper/wgmma.m64n8k32.f32.e4m3", NULL, 0, 1, false },
    { "f32", CUBLAS_FP32, 4, false, "fp32", "fma/f32", NULL, 0, 0, false },
    { "tf32", CUBLAS_TF32, 4, false, "cublas-tf32", "hopper/mma.m16n8k8.f32.tf32", NULL, 0, 0, false },
    { "s8.s32", CUBLAS_INT8, 1, false, "plain", "hopper/wgmma-sat.m64n8k32.s32.s8", NULL, 0, 0, false },
    { 0 }
};
/* clang-format on */

const struct cublas_types *cublas_types_of(const struct prediction *x)
{
    const struct cublas_types *t = all_types;
    while (strcmp(t->name, x->types->name)) t++;
    return t;
}
