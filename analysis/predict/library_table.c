/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/library.h"

#include "lib/number/format.h"

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
      .settings = "BLIS_ARCH_TYPE (0: skx, 4: sandybridge), or the processor",
      .predict = blis_predict,
      .source = "data/libraries/shapes, blis-0.9.0-*" },
    { .name = "cublas-13.1",
      .what = "cuBLAS 13.1 with a workspace of 32 MiB, as PyTorch 2.11 uses it",
      .function = "cublasLtMatmul with the first algorithm of its heuristic, cublasGemmEx",
      .chips = cublas_chips,
      .types = { { "f16.f32", "f16, D in FP32", FORMAT_F16, FORMAT_F32 },
                 { "f16", "f16", FORMAT_F16, FORMAT_F16 },
                 { "bf16.f32", "bf16, D in FP32", FORMAT_BF16, FORMAT_F32 },
                 { "bf16", "bf16", FORMAT_BF16, FORMAT_BF16 },
                 { "e4m3.bf16", "e4m3, D in bf16", FORMAT_E4M3, FORMAT_BF16 },
                 { "e4m3.f32", "e4m3, D in FP32", FORMAT_E4M3, FORMAT_F32 },
                 { "e4m3fast.bf16", "e4m3 with fast accumulation, D in bf16", FORMAT_E4M3,
                   FORMAT_BF16 },
                 { "f32", "FP32", FORMAT_F32, FORMAT_F32 },
                 { "tf32", "FP32 matrices, CUBLAS_COMPUTE_32F_FAST_TF32", FORMAT_F32,
                   FORMAT_F32 } },
      .has_fields = true,
      .settings = "the GPU",
      .predict = cublas_predict,
      .source = "data/libraries/plans" },
    { 0 }
};
