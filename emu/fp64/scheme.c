/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fp64/scheme.h"

#include "emu/fp64/cublas_choice.h"
#include "lib/base/table.h"

#define PART(NAME) .part = &formats[FORMAT_##NAME]

#define OZIMMU                                                                           \
    "enp1s0/ozIMMU, commit 80bb87a, src/split.cu and gemm.cu; Ootomo, Ozaki and "        \
    "Yokota 2024"
#define ACCELERATED                                                                      \
    "RIKEN-RCCS/accelerator_for_ozIMMU, commit bf9a235; Uchino, Ozaki and Imamura 2025"
#define GEMMUL8                                                                          \
    "RIKEN-RCCS/GEMMul8, commit 71296f9; Ozaki, Uchino and Imamura 2025, arXiv "         \
    "2504.08009"

#define CUBLAS                                                                           \
    "cuBLAS 13.1.0.3 with fixed-point emulation on an H200, as recorded; slices as in "  \
    "NVIDIA/CUDALibrarySamples, commit 096947b, MathDx/cuBLASDx/16_dgemm_emulation"

#define BY_CUBLAS                                                                        \
    PART(S8), .least = 1, .most = CUT_PARTS_MAX, .cut = &cut_carried_once,               \
              .levels = true, .finite = true, .window = CUBLAS_WINDOW,                   \
              .slices = cublas_slices, .update = fp64_update_fused,                      \
              .run = fp64_run_slices

const struct bitcut_scheme schemes[] = {
    { .name = "fp64",
      .what =
          "FP64 multiply-add, k ascending (DGEMM of a library has its own order of k)",
      PART(F64),
      .parts = 1,
      .least = 1,
      .most = 1,
      .update = fp64_update,
      .run = fp64_run_chain,
      .source = "IEEE 754" },
    { .name = "ozimmu",
      .what = "truncated slices of 7 bits; every product is added in FP64",
      PART(S8),
      .parts = 8,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_truncated,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source = OZIMMU },
    { .name = "ozimmu-ef",
      .what = "as ozimmu; products of one weight are first added in s32",
      PART(S8),
      .parts = 8,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_truncated,
      .groups = true,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source = ACCELERATED ", src_errfree_sum" },
    { .name = "ozimmu-rn",
      .what =
          "slices rounded to nearest, each by the residuals of the line; every product "
          "is added in FP64",
      PART(S8),
      .parts = 8,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_nearest_each,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source = ACCELERATED ", src_nearest_split" },
    { .name = "ozimmu-h",
      .what = "slices rounded to nearest; products of one weight are first added in s32",
      PART(S8),
      .parts = 8,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_nearest,
      .groups = true,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source = ACCELERATED ", src_nearest_split+errfree_sum" },
    { .name = "cublasdx",
      .what =
          "two's complement slices of 8 bits; products of one weight are added in s32, "
          "from the smallest weight on",
      PART(S8),
      .parts = 7,
      .least = 1,
      .most = 8,
      .cut = &cut_carried,
      .levels = true,
      .backward = true,
      .run = fp64_run_slices,
      .source = "NVIDIA/CUDALibrarySamples, commit 096947b, MathDx/cuBLASDx/"
                "16_dgemm_emulation, which is not what cuBLAS itself runs" },
    { .name = "gemmul8",
      .what = "residues modulo up to 20 integers, scaled by a first product (accurate "
              "mode); N parts are N moduli",
      PART(S8),
      .parts = 15,
      .least = 2,
      .most = 20,
      .update = fp64_update_adding,
      .run = fp64_run_residues,
      .source = GEMMUL8 ", GEMMul8/src, INT8, accurate mode" },
    { .name = "gemmul8-fast",
      .what =
          "residues modulo up to 20 integers, scaled by the norms of lines (fast mode)",
      PART(S8),
      .parts = 15,
      .least = 2,
      .most = 20,
      .update = fp64_update_adding,
      .run = fp64_run_residues_fast,
      .source = GEMMUL8 ", GEMMul8/src, INT8, fast mode" },
    { .name = "cublas-dynamic",
      .what = "as cublas-fixed, with as many parts as the exponents of A and B require, "
              "at most N; if they require more, FP64 multiply-adds",
      BY_CUBLAS,
      .parts = 10,
      .bits = cublas_bits,
      .source = CUBLAS "; Schwarz et al. 2025, arXiv 2511.13778" },
    { .name = "cublas-fixed",
      .what =
          "bytes of integers of two's complement; all products of one weight are first "
          "added in s32; N parts are 8 N - 1 bits",
      BY_CUBLAS,
      .parts = 7,
      .source = CUBLAS },
    { .name = "slices-f16",
      .what =
          "as ozimmu-h with slices in f16, whose sums are FP32; every product is added "
          "in FP64",
      PART(F16),
      .parts = 11,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_nearest,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source =
          "this project's own, after Mukunoki, Ozaki, Ogita and Imamura 2020, which "
          "cuts each slice anew" },
    { .name = "slices-bf16",
      .what = "as slices-f16 with slices in bf16",
      PART(BF16),
      .parts = 11,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_nearest,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source = "this project's own, as slices-f16" },
    { .name = "slices-e4m3",
      .what = "as slices-f16 with slices in e4m3",
      PART(E4M3),
      .parts = 14,
      .least = 1,
      .most = CUT_PARTS_MAX,
      .cut = &cut_nearest,
      .update = fp64_update,
      .run = fp64_run_slices,
      .source = "this project's own, after Mukunoki 2025, which cuts each slice anew" },
    { .name = NULL },
};

const struct bitcut_scheme *bitcut_scheme_find(const char *name)
{
    return table_find(TABLE(schemes), name);
}
