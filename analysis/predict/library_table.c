/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/library.h"

#include "lib/number/format.h"

/* Types of calls of cuBLAS. */
#define CUBLAS_TYPES                                                                     \
    { "f16.f32", "f16, D in FP32", FORMAT_F16, FORMAT_F32 },                             \
        { "f16", "f16", FORMAT_F16, FORMAT_F16 },                                        \
        { "bf16.f32", "bf16, D in FP32", FORMAT_BF16, FORMAT_F32 },                      \
        { "bf16", "bf16", FORMAT_BF16, FORMAT_BF16 },                                    \
        { "e4m3.bf16", "e4m3, D in bf16", FORMAT_E4M3, FORMAT_BF16 },                    \
        { "e4m3.f32", "e4m3, D in FP32", FORMAT_E4M3, FORMAT_F32 },                      \
        { "e4m3fast.bf16", "e4m3 with fast accumulation, D in bf16", FORMAT_E4M3,        \
          FORMAT_BF16 },                                                                 \
        { "f32", "FP32", FORMAT_F32, FORMAT_F32 },                                       \
        { "tf32", "FP32 matrices, CUBLAS_COMPUTE_32F_FAST_TF32", FORMAT_F32,             \
          FORMAT_F32 },                                                                  \
    {                                                                                    \
        "s8.s32", "s8, D in s32", FORMAT_S8, FORMAT_S32                                  \
    }

const struct library libraries[] = {
    { .name = "openblas-0.3.21",
      .what = "OpenBLAS 0.3.21 with kernels for many processors, of Debian 12",
      .function = "sgemm_, cblas_sgemm",
      .chips = openblas_chips,
      .types = { { "f32", "FP32 matrices", FORMAT_F32, FORMAT_F32 } },
      .settings = "OPENBLAS_CORETYPE, or the processor",
      .predict = openblas_predict,
      .source = "data/libraries/shapes, openblas-0.3.21-*" },
    { .name = "blis-0.9.0",
      .what = "BLIS 0.9.0 with configurations for many processors, of Debian 12",
      .function = "sgemm_, cblas_sgemm",
      .chips = blis_chips,
      .types = { { "f32", "FP32 matrices", FORMAT_F32, FORMAT_F32 } },
      .settings = "BLIS_ARCH_TYPE (0: skx, 3: haswell, 4: sandybridge, 6: zen3, 7: zen2, "
                  "8: zen), or the processor",
      .predict = blis_predict,
      .source = "data/libraries/shapes, blis-0.9.0-*" },
    { .name = "cublas-13.1",
      .what = "cuBLAS 13.1 with a workspace of 32 MiB",
      .function =
          "cublasLtMatmul with the first algorithm of its heuristic, cublasGemmEx",
      .chips = cublas_chips,
      .types = { CUBLAS_TYPES },
      .has_fields = true,
      .settings = "the GPU",
      .has_batches = true,
      .predict = cublas_predict,
      .source = "data/libraries/plans" },
    { .name = "torch-2.11",
      .what = "PyTorch 2.11 with cuBLAS 13.1, on CUDA",
      .function = "cublasGemmEx, cublasLtMatmul",
      .chips = cublas_chips,
      .calls = torch_calls,
      .types = { CUBLAS_TYPES },
      .has_fields = true,
      .settings = "the GPU",
      .has_batches = true,
      .predict = torch_predict,
      .source = "data/libraries/plans, torch-*" },
    { .name = "torch-1.13",
      .what = "PyTorch 1.13 with OpenBLAS 0.3.21 on a processor, of Debian 12",
      .function = "sgemm_",
      .chips = openblas_chips,
      .calls = torch_cpu_calls,
      .types = { { "f32", "FP32 matrices", FORMAT_F32, FORMAT_F32 } },
      .settings = "OPENBLAS_CORETYPE, or the processor",
      .predict = torch_cpu_predict,
      .source = "data/libraries/shapes, openblas-0.3.21-*" },
    { 0 }
};
