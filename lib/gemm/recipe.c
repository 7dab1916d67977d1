/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/recipe.h"

#include "lib/base/table.h"

#define SPLIT(index) &splits[SPLIT_##index]

/* lh is the low part of A times the high part of B. */
#define TERM(a, b, accumulator) { a, b, accumulator, false }
#define SCALED(a, b, accumulator) { a, b, accumulator, true }
#define HH(accumulator) TERM(0, 0, accumulator)
#define HL(accumulator) TERM(0, 1, accumulator)
#define LH(accumulator) TERM(1, 0, accumulator)
#define LL(accumulator) TERM(1, 1, accumulator)

/* Six and nine products in one accumulator, in the order of Triton and XLA.  Among
   products of one order of magnitude, the product of the two middle parts comes first. */
#define SIX  LL(0), TERM(2, 0, 0), TERM(0, 2, 0), LH(0), HL(0), HH(0)
#define NINE TERM(2, 2, 0), TERM(1, 2, 0), TERM(2, 1, 0), SIX

/* In CUTLASS, Triton and XLA the caller chooses the k of a tile.  This is the typical
   value for FP32 operands.  CUTLASS executes three products of instructions of k = 8 for
   it. */
enum { TYPICAL_TILE = 32, CUTLASS_STAGE = 3 * TYPICAL_TILE / 8 };

const char *const recipe_zeroed_names[] = {
    [RECIPE_ZEROES_NOTHING] = "nothing",
    [RECIPE_ZEROES_NAN] = "nan",
    [RECIPE_ZEROES_NOT_FINITE] = "not finite",
};

const struct bitcut_recipe recipes[] = {
    [RECIPE_PLAIN] = { .name = "plain",
                       .what = "one product of the operands rounded to the unit's format",
                       .terms = 1,
                       .term = { HH(0) },
                       .source = "WMMA and rocWMMA baseline" },
    [RECIPE_MARKIDIS] = { .name = "markidis",
                          .what = "four products in one accumulator, smallest first",
                          .split = SPLIT(MARKIDIS),
                          .terms = 3,
                          .term = { LH(0), HL(0), HH(0) },
                          .dropped_term = LL(0),
                          .keeps_dropped_term = true,
                          .source = "Markidis 2018; Ootomo Code 2" },
    [RECIPE_FENG] = { .name = "feng",
                      .what = "as markidis with the round-split of EGEMM-TC",
                      .split = SPLIT(FENG),
                      .terms = 3,
                      .term = { LH(0), HL(0), HH(0) },
                      .dropped_term = LL(0),
                      .keeps_dropped_term = true,
                      .source = "EGEMM-TC as Ootomo section 1 describes it" },
    [RECIPE_OOTOMO] = { .name = "ootomo",
                        .what = "corrections in a separate accumulator; the main product "
                                "is promoted to FP32 after every instruction",
                        .split = SPLIT(HALFHALF),
                        .terms = 3,
                        .term = { LH(1), HL(1), HH(0) },
                        .dropped_term = LL(2),
                        .promote = 1,
                        .source = "Ootomo Code 3, cutlass_halfhalf" },
    [RECIPE_OOTOMO_TF32] = { .name = "ootomo-tf32",
                             .what = "as ootomo with tf32 parts",
                             .split = SPLIT(TF32TF32),
                             .terms = 3,
                             .term = { LH(1), HL(1), HH(0) },
                             .dropped_term = LL(2),
                             .promote = 1,
                             .source = "Ootomo section 3.5, cutlass_tf32tf32" },
    [RECIPE_LEGEMM] = { .name = "legemm",
                        .what = "bit-cut parts, corrections in a separate accumulator, "
                                "no promotion",
                        .split = SPLIT(BITCUT),
                        .terms = 3,
                        .term = { HH(0), HL(1), LH(1) },
                        .dropped_term = LL(2),
                        .source = "LE-GEMM Algorithm 1" },
    [RECIPE_FP32] = { .name = "fp32",
                      .what = "FP32 multiply-add, k ascending (SGEMM of a library has "
                              "its own order of k)",
                      .split = SPLIT(F32),
                      .terms = 1,
                      .term = { HH(0) },
                      .source = "SIMT SGEMM yardstick" },
    [RECIPE_TF32X3] = { .name = "tf32x3",
                        .what = "three products of tf32 parts in one accumulator, "
                                "smallest first",
                        .split = SPLIT(TF32TF32),
                        .terms = 3,
                        .term = { LH(0), HL(0), HH(0) },
                        .dropped_term = LL(0),
                        .source = "this project's kernels: the order of CUTLASS and "
                                  "Triton on the parts of "
                                  "Ootomo section 3.3; those run cutlass-tf32x3 and "
                                  "triton-tf32x3" },
    [RECIPE_BF16X3] = { .name = "bf16x3",
                        .what = "three products of two bf16 parts in one accumulator, "
                                "smallest first",
                        .split = SPLIT(BF16X2),
                        .terms = 3,
                        .term = { LH(0), HL(0), HH(0) },
                        .dropped_term = LL(0),
                        .source = "Henry, Tang and Heinecke 2019, three products; what "
                                  "frameworks run are "
                                  "triton-bf16x3 and xla-bf16x3" },
    [RECIPE_BF16X6] = { .name = "bf16x6",
                        .what = "six products of three bf16 parts in one accumulator, "
                                "smallest first",
                        .split = SPLIT(BF16X3),
                        .terms = 6,
                        .term = { TERM(2, 0, 0), LL(0), TERM(0, 2, 0), LH(0), HL(0),
                                  HH(0) },
                        .source = "Henry, Tang and Heinecke 2019, six products; what "
                                  "frameworks run are "
                                  "triton-bf16x6 and xla-bf16x6" },
    [RECIPE_BF16X9] = { .name = "bf16x9",
                        .what = "nine products of three scaled bf16 parts, one "
                                "accumulator for each order of magnitude",
                        .split = SPLIT(BF16X3_SCALED),
                        .terms = 9,
                        .term = { TERM(2, 2, 4), TERM(2, 1, 3), TERM(1, 2, 3),
                                  TERM(2, 0, 2), LL(2), TERM(0, 2, 2), LH(1), HL(1),
                                  HH(0) },
                        .source = "parts and scale of cuBLAS BF16x9, whose order NVIDIA "
                                  "does not publish; "
                                  "accumulators as Ootomo's.  CUTLASS's is "
                                  "cutlass-sm100-bf16x9" },
    [RECIPE_CUBLAS_TF32] = { .name = "cublas-tf32",
                             .what = "one product of operands rounded to tf32, to "
                                     "nearest even",
                             .split = SPLIT(TF32_RN),
                             .terms = 1,
                             .term = { HH(0) },
                             .source = "cuBLAS 13.1, CUBLAS_COMPUTE_32F_FAST_TF32, by "
                                       "its results on an H200 "
                                       "(data/libraries; it orders k by the shape)" },
    [RECIPE_CUTLASS_TF32X3] = { .name = "cutlass-tf32x3",
                                .what = "three products of parts by RZ and RNA, smallest "
                                        "first, promoted every 32 k",
                                .split = SPLIT(CUTLASS_TF32X2),
                                .terms = 3,
                                .term = { LH(0), HL(0), HH(0) },
                                .dropped_term = LL(0),
                                .promote = CUTLASS_STAGE,
                                .source =
                                    "CUTLASS 4.7 OpMultiplyAddFastF32 on sm80: gemm/warp/"
                                    "mma_tensor_op_fast_f32.h, "
                                    "MmaTensorOpFastF32::operator(); gemm/"
                                    "threadblock/mma_multistage.h, "
                                    "UseStagedAccumulation; its tile of k is "
                                    "32 here" },
    [RECIPE_CUTLASS_SM100_BF16X9] = { .name = "cutlass-sm100-bf16x9",
                                      .what = "nine products in one scaled accumulator, "
                                              "promoted every 16 k",
                                      .split = SPLIT(CUTLASS_BF16X3),
                                      .terms = 9,
                                      .term = { TERM(2, 2, 0), SCALED(1, 2, 0),
                                                TERM(2, 1, 0), SCALED(0, 2, 0), LL(0),
                                                TERM(2, 0, 0), SCALED(0, 1, 0), LH(0),
                                                SCALED(0, 0, 0) },
                                      .tile_k = 16, /* for one tcgen05.mma:
                                                       AccPromotionInterval is 1 */
                                      .source = "CUTLASS 4.7 "
                                                "MainloopSm100TmaUmmaWarpSpecializedFastF"
                                                "32: gemm/collective/"
                                                "sm100_mma_warpspecialized_emulated.hpp, "
                                                "CollectiveMma::mma and accum" },
    [RECIPE_TRITON_TF32X3] = { .name = "triton-tf32x3",
                               .what = "three products of parts by RNA and RZ, one tile "
                                       "after another",
                               .split = SPLIT(TRITON_TF32X2),
                               .terms = 3,
                               .term = { LH(0), HL(0), HH(0) },
                               .dropped_term = LL(0),
                               .tile_k = TYPICAL_TILE,
                               .zeroed = RECIPE_ZEROES_NAN,
                               .source = "Triton 2025 tl.dot tf32x3: "
                                         "lib/Dialect/TritonGPU/Transforms/"
                                         "F32DotTC.cpp, TF32x3; its BLOCK_K is 32 here" },
    [RECIPE_TRITON_BF16X3] = { .name = "triton-bf16x3",
                               .what = "three products of two bf16 parts, one tile after "
                                       "another",
                               .split = SPLIT(BF16X2),
                               .terms = 3,
                               .term = { LH(0), HL(0), HH(0) },
                               .dropped_term = LL(0),
                               .tile_k = TYPICAL_TILE,
                               .zeroed = RECIPE_ZEROES_NAN,
                               .source = "Triton 2025 tl.dot bf16x3: the same file, "
                                         "BF16xN; its BLOCK_K is 32 "
                                         "here" },
    [RECIPE_TRITON_BF16X6] = { .name = "triton-bf16x6",
                               .what = "six products of three bf16 parts, one tile after "
                                       "another",
                               .split = SPLIT(BF16X3),
                               .terms = 6,
                               .term = { SIX },
                               .tile_k = TYPICAL_TILE,
                               .zeroed = RECIPE_ZEROES_NAN,
                               .source = "Triton 2025 tl.dot bf16x6: the same file, "
                                         "BF16xN; its BLOCK_K is 32 "
                                         "here" },
    [RECIPE_XLA_BF16X3] = { .name = "xla-bf16x3",
                            .what =
                                "as triton-bf16x3; infinite corrections are also zeroed",
                            .split = SPLIT(BF16X2),
                            .terms = 3,
                            .term = { LH(0), HL(0), HH(0) },
                            .dropped_term = LL(0),
                            .tile_k = TYPICAL_TILE,
                            .zeroed = RECIPE_ZEROES_NOT_FINITE,
                            .source = "XLA 2025 (JAX) BF16_BF16_F32_X3: "
                                      "xla/backends/gpu/codegen/triton/"
                                      "transforms/stablehlo_lower_to_triton.cc, "
                                      "EmitBF16x3Matmul" },
    [RECIPE_XLA_BF16X6] = { .name = "xla-bf16x6",
                            .what =
                                "as triton-bf16x6; infinite corrections are also zeroed",
                            .split = SPLIT(BF16X3),
                            .terms = 6,
                            .term = { SIX },
                            .tile_k = TYPICAL_TILE,
                            .zeroed = RECIPE_ZEROES_NOT_FINITE,
                            .source = "XLA 2025 (JAX) BF16_BF16_F32_X6: the same file, "
                                      "EmitBF16x6Matmul" },
    [RECIPE_XLA_BF16X9] = { .name = "xla-bf16x9",
                            .what =
                                "as xla-bf16x6, preceded by the three smallest products",
                            .split = SPLIT(BF16X3),
                            .terms = 9,
                            .term = { NINE },
                            .tile_k = TYPICAL_TILE,
                            .zeroed = RECIPE_ZEROES_NOT_FINITE,
                            .source = "XLA 2025 (JAX) BF16_BF16_F32_X9: the same file, "
                                      "EmitBF16x9Matmul" },
    [RECIPE_HALF_FP8] = { .name = "half-fp8",
                          .what = "as ootomo with corrections in 8 bits: residuals times "
                                  "copies of the value",
                          .split = SPLIT(HALF_E4M3),
                          .terms = 3,
                          .term = { TERM(1, 2, 1), TERM(2, 1, 1), HH(0) },
                          .dropped_term = LL(2),
                          .promote = 4,
                          .source = "this project's own; none that mixes formats was "
                                    "found published" },
    [RECIPE_HALF_INT8] = { .name = "half-int8",
                           .what = "as half-fp8 with exact 8-bit integer corrections, on "
                                   "equilibrated rows and columns",
                           .split = SPLIT(HALF_S8),
                           .terms = 3,
                           .term = { TERM(1, 2, 1), TERM(2, 1, 1), HH(0) },
                           .dropped_term = LL(2),
                           .promote = 4,
                           .source = "this project's own; integers of equilibrated "
                                     "lines, added exactly, are "
                                     "the parts of the Ozaki scheme on INT8 (Ootomo, "
                                     "Ozaki and Yokota 2024)" },
    { 0 }
};

const struct bitcut_recipe *bitcut_recipe_find(const char *name)
{
    return table_find(TABLE(recipes), name);
}

/* The content of accumulators: products that carry 2^(scale level); EMPTY: no products
   yet. */
enum { EMPTY = -1 };

static enum bitcut_status refuse_scales(const struct bitcut_recipe *r, struct fault *f)
{
    return fault_set(
        f, BITCUT_BAD_ARGUMENT,
        "recipe %s adds parts of different scale; choose a split with scale 0", r->name);
}

/* The splits of A and B. */
struct pair {
    const struct bitcut_split *a, *b;
    int scale; /* scale of the low parts of A and B; 0 if neither has low parts */
};

static enum bitcut_status add_term(int level[RECIPE_ACCUMULATORS_MAX],
                                   const struct bitcut_recipe *r, struct pair split,
                                   struct recipe_term t, struct fault *f)
{
    int *at = &level[t.accumulator];
    if (t.a >= split.a->parts || t.b >= split.b->parts)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "recipe %s needs more parts than split %s has", r->name,
                         (t.a >= split.a->parts ? split.a : split.b)->name);
    const int product = split.a->part[t.a].level + split.b->part[t.b].level;
    *at = *at == EMPTY ? product : *at - t.scaled;
    return split.scale && *at != product ? refuse_scales(r, f) : BITCUT_OK;
}

/* Check that all final contents of accumulators have the scale by which they are
   folded. */
static enum bitcut_status check_levels(const int level[RECIPE_ACCUMULATORS_MAX],
                                       const struct bitcut_recipe *r, struct fault *f)
{
    for (int i = 0; i < RECIPE_ACCUMULATORS_MAX; i++)
        if (level[i] != EMPTY && level[i] != i) return refuse_scales(r, f);
    return BITCUT_OK;
}

enum bitcut_status recipe_takes(const struct bitcut_recipe *r,
                                const struct bitcut_split *split_a,
                                const struct bitcut_split *split_b, bool dropped_term,
                                struct fault *f)
{
    const bool low_a = split_a->parts > 1, low_b = split_b->parts > 1;
    const struct pair split = { split_a, split_b,
                                low_a   ? split_a->scale
                                : low_b ? split_b->scale
                                        : 0 };
    int level[RECIPE_ACCUMULATORS_MAX];
    for (int i = 0; i < RECIPE_ACCUMULATORS_MAX; i++) level[i] = EMPTY;
    if (dropped_term && (split_own_parts(split_a) != 2 || split_own_parts(split_b) != 2 ||
                         r->dropped_term.a != 1))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "only recipes with two parts have a low*low term; %s has %d terms", r->name,
            r->terms);
    if (low_a && low_b && split_a->scale != split_b->scale)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "low parts of A are scaled by 2^%d, low parts of B by 2^%d; "
                         "choose splits of equal scale",
                         split_a->scale, split_b->scale);
    enum bitcut_status status =
        dropped_term ? add_term(level, r, split, r->dropped_term, f) : BITCUT_OK;
    for (int i = 0; i < r->terms && status == BITCUT_OK; i++)
        status = add_term(level, r, split, r->term[i], f);
    return status == BITCUT_OK && split.scale ? check_levels(level, r, f) : status;
}
