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
    { 0 }
};
