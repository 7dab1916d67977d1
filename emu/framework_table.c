/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/framework.h"

const char *const known_names[] = {
    [KNOWN_MEASURED] = "measured",
    [KNOWN_READ] = "source code",
    [KNOWN_DOCUMENTED] = "documentation",
};

#define RECIPE(index) &recipes[RECIPE_##index]
#define SPLIT(index)  &splits[SPLIT_##index]

#define AMX      "amx/tdpbf16ps.m16n16k32.f32.bf16"
#define AMX_FP16 "amx-fp16/tdpfp16ps.m16n16k32.f32.f16"
#define AVX512   "avx512/vdpbf16ps.m1n16k2.f32.bf16"
#define BFMMLA   "neon/bfmmla.m2n2k4.f32.bf16"

#define ONEDNN_MODE                                                                      \
    "fpmath_mode bf16 or any: DNNL_DEFAULT_FPMATH_MODE, dnnl_set_default_fpmath_mode() " \
    "or the attribute"
#define PANELS      "one chain in each panel of 512 or 1024 k, panels added ascending"
#define PANELS_OPEN "panels of k and how they are added"
#define MKL_SOURCE                                                                       \
    "oneMKL Data Parallel C++ Developer Reference, Compute Modes; the processors are "   \
    "not "                                                                               \
    "named"

const struct framework frameworks[] = {
    { .name = "onednn-bf16-avx512",
      .what = "bf16 matrices on AVX512-BF16; the result is f32, or rounded once to bf16",
      .library = "oneDNN 2.6.3 (Debian 12) matmul; PyTorch 1.13 torch.mm of bfloat16",
      .setting = "operands of bf16",
      .recipe = RECIPE(PLAIN),
      .unit = AVX512,
      .order = PANELS,
      .known = KNOWN_MEASURED,
      .open = "for which sizes panels have 512 k",
      .source = "data/libraries/x86-onednn.jsonl; cpu/x64/brgemm/jit_brgemm_kernel.cpp" },
    { .name = "onednn-bf16-amx",
      .what = "bf16 matrices on AMX",
      .library = "oneDNN 2.6.3 to 3.14 matmul",
      .setting = "operands of bf16",
      .recipe = RECIPE(PLAIN),
      .unit = AMX,
      .order = "k ascending in tiles of 32",
      .known = KNOWN_READ,
      .open = PANELS_OPEN,
      .source = "cpu/x64/brgemm/jit_brgemm_amx_uker.cpp (tdpbf16ps)" },
    { .name = "onednn-bf32-amx",
      .what = "FP32 matrices rounded to bf16, on AMX",
      .library = "oneDNN 2.7 to 3.14 matmul",
      .setting = ONEDNN_MODE,
      .recipe = RECIPE(PLAIN),
      .split = SPLIT(BF16_DAZ),
      .unit = AMX,
      .order = "k ascending in tiles of 32",
      .known = KNOWN_READ,
      .open = PANELS_OPEN "; the payload of NaNs, which the conversion keeps",
      .source = "cpu/x64/matmul/brgemm_matmul_utils.cpp (bf32_dt), "
                "brgemm_matmul_copy_utils.cpp and brgemm/jit_brgemm_amx_uker.cpp "
                "(vcvtneps2bf16, vcvtne2ps2bf16)" },
    { .name = "onednn-f32-avx512",
      .what = "FP32 matrices on x86 with AVX-512, also with fpmath_mode bf16 if AMX is "
              "missing",
      .library = "oneDNN 2.6.3 (Debian 12) matmul",
      .setting = "operands of f32, with or without " ONEDNN_MODE,
      .recipe = RECIPE(FP32),
      .unit = "fma/f32",
      .order = PANELS,
      .known = KNOWN_MEASURED,
      .open = "for which sizes panels have 512 k",
      .source = "data/libraries/x86-onednn.jsonl; up to 3.14 bf32 asks for AMX: "
                "cpu/x64/matmul/brgemm_matmul_utils.cpp" },
    { .name = "onednn-f16-amx",
      .what = "f16 matrices on AMX-FP16",
      .library = "oneDNN 3.0 to 3.14 matmul",
      .setting = "operands of f16",
      .recipe = RECIPE(PLAIN),
      .unit = AMX_FP16,
      .order = "k ascending in tiles of 32",
      .known = KNOWN_READ,
      .open = PANELS_OPEN,
      .source = "cpu/x64/brgemm/jit_brgemm_amx_uker.cpp (tdpfp16ps)" },
    { .name = "onednn-acl-bf16",
      .what =
          "FP32 matrices rounded to bf16 on Arm, by fast math of the Arm Compute Library",
      .library = "oneDNN 2.6.3 to 3.14 with Arm Compute Library; PyTorch on AArch64",
      .setting = ONEDNN_MODE,
      .recipe = RECIPE(PLAIN),
      .split = SPLIT(BF16),
      .unit = BFMMLA,
      .order = "k ascending, four at a time",
      .known = KNOWN_READ,
      .open = "which kernel a shape gets, and how kernels with panels of k add them",
      .source = "oneDNN cpu/aarch64/matmul/acl_matmul_utils.cpp (set_fast_math); Arm "
                "Compute Library arm_gemm, a64_hybrid_fp32bf16fp32_mmla_6x16 (BFCVT by "
                "FPCR, which is 0)" },
    { .name = "pytorch-medium",
      .what = "FP32 products of CPU tensors with m n k above 4096, on AMX",
      .library = "PyTorch 2.x with oneDNN",
      .setting = "torch.set_float32_matmul_precision(\"medium\")",
      .recipe = RECIPE(PLAIN),
      .split = SPLIT(BF16_DAZ),
      .unit = AMX,
      .order = "as onednn-bf32-amx; without AMX as onednn-f32-avx512",
      .known = KNOWN_READ,
      .open = PANELS_OPEN,
      .source = "aten/src/ATen/native/mkldnn/Matmul.cpp (use_mkldnn_bf32_matmul)" },
    { .name = "onemkl-bf16",
      .what = "FP32 matrices rounded to bf16",
      .library = "oneMKL 2023.0 to 2024.1, DPC++ interface",
      .setting = "MKL_BLAS_COMPUTE_MODE=FLOAT_TO_BF16",
      .recipe = RECIPE(PLAIN),
      .split = SPLIT(BF16),
      .order = "not documented",
      .known = KNOWN_DOCUMENTED,
      .open = "how parts are rounded, the unit, the order",
      .source = MKL_SOURCE },
    { .name = "onemkl-bf16x2",
      .what = "FP32 matrices as sums of two bf16 parts",
      .library = "oneMKL 2023.0 to 2024.1, DPC++ interface",
      .setting = "MKL_BLAS_COMPUTE_MODE=FLOAT_TO_BF16X2",
      .recipe = RECIPE(BF16X3),
      .order = "not documented",
      .known = KNOWN_DOCUMENTED,
      .open = "which of the four products are computed, how parts are rounded, the unit, "
              "the order",
      .source = MKL_SOURCE },
    { .name = "onemkl-bf16x3",
      .what = "FP32 matrices as sums of three bf16 parts",
      .library = "oneMKL 2023.0 to 2024.1, DPC++ interface",
      .setting = "MKL_BLAS_COMPUTE_MODE=FLOAT_TO_BF16X3",
      .recipe = RECIPE(BF16X6),
      .order = "not documented",
      .known = KNOWN_DOCUMENTED,
      .open = "which of the nine products are computed, how parts are rounded, the unit, "
              "the order",
      .source = MKL_SOURCE },
    { .name = "onemkl-tf32",
      .what = "FP32 matrices rounded to tf32",
      .library = "oneMKL 2023.0 to 2024.1, DPC++ interface",
      .setting = "MKL_BLAS_COMPUTE_MODE=FLOAT_TO_TF32",
      .recipe = RECIPE(PLAIN),
      .split = SPLIT(TF32),
      .order = "not documented",
      .known = KNOWN_DOCUMENTED,
      .open = "how values are rounded, the unit, the order",
      .source = MKL_SOURCE },
    { .name = "openblas-sbgemm-amx",
      .what = "bf16 matrices by cblas_sbgemm() on AMX",
      .library = "OpenBLAS 0.3.2x built with BUILD_BFLOAT16 (Debian's 0.3.21 is not)",
      .setting = "cblas_sbgemm()",
      .recipe = RECIPE(PLAIN),
      .unit = AMX,
      .order = "k ascending in tiles of 32",
      .known = KNOWN_READ,
      .open = PANELS_OPEN,
      .source = "kernel/x86_64/sbgemm_kernel_16x16_spr_tmpl.c" },
    { .name = "openblas-sbgemm-arm",
      .what = "bf16 matrices by cblas_sbgemm() on Neoverse N2",
      .library = "OpenBLAS 0.3.2x built with BUILD_BFLOAT16 (Debian's 0.3.21 is not)",
      .setting = "cblas_sbgemm()",
      .recipe = RECIPE(PLAIN),
      .unit = BFMMLA,
      .order = "k ascending, four at a time",
      .known = KNOWN_READ,
      .open = PANELS_OPEN,
      .source = "kernel/arm64/sbgemm_kernel_8x4_neoversen2_impl.c" },
    { .name = "openblas-sgemm-avx512",
      .what = "FP32 matrices by SGEMM on x86 with AVX-512",
      .library = "OpenBLAS 0.3.21 (Debian 12)",
      .setting = "cblas_sgemm(), sgemm_()",
      .recipe = RECIPE(FP32),
      .unit = "fma/f32",
      .order = "one chain per panel of 320 or 448 k; the last two share the remainder",
      .known = KNOWN_MEASURED,
      .source = "data/libraries/x86-blas.jsonl" },
    { 0 }
};
