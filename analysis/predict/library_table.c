/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/library.h"

#include "lib/number/format.h"

const struct library libraries[] = {
    { .name = "openblas-0.3.21",
      .what = "OpenBLAS 0.3.21 with kernels for many processors, of Debian 12",
      .function = "sgemm_",
      .chips = openblas_chips,
      .types = { { "f32", "FP32 matrices", FORMAT_F32, FORMAT_F32 } },
      .settings = "OPENBLAS_CORETYPE, or the processor",
      .predict = openblas_predict,
      .source = "data/libraries/predict-openblas.jsonl" },
    { 0 }
};
