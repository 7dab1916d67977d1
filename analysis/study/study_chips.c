/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of chips: where promotion is needed, xf32 against TF32, and f16 against
   bf16 on a chip that flushes. */
#include "analysis/study/compare.h"
#include "analysis/study/crossing.h"

/* --- promotion -------------------------------------------------------------------- */

static const struct pair_of promotion_pairs[] = { { "mixed", "urand(-1,1)",
                                                    "urand(-1,1)" } };

#define BOTH_WAYS(UNIT)                                                                  \
    { .name = "promoted", .recipe = RECIPE_OOTOMO, .unit = UNIT },                       \
    {                                                                                    \
        .name = "unpromoted", .recipe = RECIPE_OOTOMO, .unit = UNIT,                     \
        .promote = PROMOTE_NEVER                                                         \
    }

static const struct entrant promotion_methods[] = {
    BOTH_WAYS("v100"),
    BOTH_WAYS("a100"),
    BOTH_WAYS("h100"),
    BOTH_WAYS("b200"),
    BOTH_WAYS("mi100"),
    BOTH_WAYS("mi210"),
    BOTH_WAYS("mi300"),
    { .name = "tf32x3",
      .recipe = RECIPE_CUTLASS_TF32X3,
      .unit = "h100",
      .promote = PROMOTE_NEVER },
    { .name = "tf32x3-promoted",
      .recipe = RECIPE_CUTLASS_TF32X3,
      .unit = "h100",
      .promote = 1 },
    { .name = "bf16x6", .recipe = RECIPE_BF16X6, .unit = "h100" },
    { .name = "bf16x6-promoted", .recipe = RECIPE_BF16X6, .unit = "h100", .promote = 1 },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static const struct crossing promotion = { .pairs = promotion_pairs,
                                           .count = 1,
                                           .methods = promotion_methods };

/* The loss without promotion on a chip. */
#define WITHOUT(UNITS, LEAST, MOST)                                                      \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "relres", .top = "n=256|1024|4096 recipe=unpromoted unit=" UNITS,         \
        .bottom = "recipe=promoted unit=" UNITS, .cases = "unit n", .least = LEAST,      \
        .most = MOST                                                                     \
    }

#define NVIDIA "v100|a100|h100|b200"
#define AMD    "mi100|mi210|mi300"

/* A recipe of frameworks compared with an FP32 sum. */
#define BESIDE_FP32(NAME)                                                                \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "relres", .top = "recipe=" NAME, .bottom = "recipe=fp32", .cases = "n",   \
        .most = SAME_ACCURACY                                                            \
    }

static const struct claim promotion_claims[] = {
    /* clang-format off */
    { .name = "promotion-nvidia", .printed = "one of the main causes of error",
      .criterion = CRITERION_SAME,
      .what = "without promotion the method loses accuracy on Tensor Cores, defined as "
              "twice the residual, from n = 256 on",
      .paper = "Ootomo and Yokota, section 1", .judge = claim_judge_ratios,
      .about = WITHOUT(NVIDIA, SAME_ACCURACY, 0),
      .other = WITHOUT(AMD, SAME_ACCURACY, 0), .otherwise = "units of AMD" },
    { .name = "promotion-amd", .printed = "not needed", OWN_QUESTION,
      .criterion = CRITERION_STATED,
      .what = "on Matrix Cores, which round to nearest, the residual grows by less than "
              "half, from n = 256 on",
      .judge = claim_judge_ratios, .about = WITHOUT(AMD, 0, 1.5),
      .other = WITHOUT(NVIDIA, 0, 1.5), .otherwise = "units of NVIDIA" },
    { .name = "promotion-tf32x3", .printed = "the same accuracy", .unit = "h100",
      OWN_QUESTION, .criterion = CRITERION_SAME,
      .what = "three TF32 products without promotion are as accurate as FP32 on an H100",
      .judge = claim_judge_ratios, .about = BESIDE_FP32("tf32x3"),
      .other = BESIDE_FP32("bf16x6"), .otherwise = "six bf16 products",
      .beside = "residual over that of one FP32 sum; CUTLASS promotes for every tile" },
    { .name = "promotion-bf16x6", .printed = "the same accuracy", .unit = "h100",
      OWN_QUESTION, .criterion = CRITERION_SAME,
      .what = "six bf16 products without promotion are as accurate as FP32 on an H100",
      .judge = claim_judge_ratios, .about = BESIDE_FP32("bf16x6"),
      .other = BESIDE_FP32("tf32x3"), .otherwise = "three TF32 products",
      .beside = "residual over that of one FP32 sum; Henry, Tang and Heinecke (2019) "
                "propose them for units of FMA, which round sums to nearest" },
    { 0 }
    /* clang-format on */
};

const struct study study_promotion = {
    /* clang-format off */
    .name = "promotion",
    .chapter = CHAPTER_UNIT,
    .what = "which recipes need promotion on which chip",
    .title = "Promotion by chip",
    .text = "Ootomo and Yokota's method with its promotion after every instruction and "
            "without promotion, n x n x n with elements of (-1, 1), on every chip with "
            "f16 parts; and two recipes of frameworks on an H100, compared with one FP32 "
            "sum.",
    .claims = promotion_claims, .about = &promotion,
    CROSSING_PLOT("unit split",
                  "On NVIDIA's units the residuals without promotion grow away from the "
                  "promoted ones; on AMD's units, which round to nearest, both coincide."),
    /* clang-format on */
};

/* --- xf32 and TF32 ---------------------------------------------------------------- */

static const struct pair_of tf32_pairs[] = { { "mixed", "urand(-1,1)", "urand(-1,1)" },
                                             { "positive", "positive", "positive" } };

/* FP32 values as CDNA3 reads them: the last 13 bits are cut. */
static const struct bitcut_split cut_tf32 = {
    .name = "tf32-rz",
    .parts = 1,
    .part = { { &formats[FORMAT_TF32], &roundings[ROUND_RZ], 0, false } }
};

static const struct entrant tf32_methods[] = {
    { .name = "tf32", .recipe = RECIPE_CUBLAS_TF32, .unit = "h100" },
    { .name = "xf32", .recipe = RECIPE_PLAIN, .unit = "mi300", .split = &cut_tf32 },
    { .name = "xf32-rounded", .recipe = RECIPE_CUBLAS_TF32, .unit = "mi300" },
    { 0 }
};

static const struct crossing tf32_chips = { .pairs = tf32_pairs,
                                            .count = 2,
                                            .methods = tf32_methods };

#define AS_TF32(NAME)                                                                    \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "relres", .top = "recipe=" NAME, .bottom = "recipe=tf32",                 \
        .cases = "pair n", .most = 1.1                                                   \
    }

static const struct claim xf32_claims[] = {
    /* clang-format off */
    { .name = "xf32-as-tf32", .printed = "the same bits of precision", OWN_QUESTION,
      .criterion = CRITERION_STATED, .unit = "mi300",
      .what = "MI300 with xf32 is as accurate as an H100 with TF32, to within a tenth",
      .judge = claim_judge_ratios, .about = AS_TF32("xf32"),
      .otherwise = "no method in these rows is worse",
      .beside = "the unit cuts FP32 values to 10 bits, cuBLAS rounds them" },
    { .name = "xf32-rounded", .printed = "the same bits of precision", OWN_QUESTION,
      .criterion = CRITERION_STATED, .unit = "mi300",
      .what = "xf32 is as accurate if values are rounded to TF32 first",
      .judge = claim_judge_ratios, .about = AS_TF32("xf32-rounded"),
      .other = AS_TF32("xf32"), .otherwise = "values as they are" },
    { 0 }
    /* clang-format on */
};

const struct study study_xf32 = {
    /* clang-format off */
    .name = "xf32",
    .chapter = CHAPTER_UNIT,
    .what = "MI300's xf32 against TF32 of an H100",
    .title = "xf32 and TF32",
    .text = "One part of an FP32 value: TF32 as cuBLAS rounds it on an H100; xf32 as "
            "MI300 truncates it; xf32 of values that were rounded to nearest first.",
    .claims = xf32_claims, .about = &tf32_chips,
    CROSSING_PLOT("pair",
                  "xf32 lies above TF32, mostly for positive values, and is equal to it "
                  "if values are rounded first."),
    /* clang-format on */
};

/* --- f16 as bf16 on MI200 --------------------------------------------------------- */

static const struct pair_of small_pairs[] = {
    { "mixed", "urand(-1,1)", "urand(-1,1)" },
    { "gradients", "exp_rand(-24,-14)", "urand(-1,1)" },
    { "gradients-both", "exp_rand(-24,-14)", "exp_rand(-24,-14)" }
};

static const struct entrant small_methods[] = {
    { .name = "f16", .recipe = RECIPE_PLAIN, .unit = "mi210" },
    { .name = "bf16",
      .recipe = RECIPE_PLAIN,
      .unit = "mi210",
      .split = &splits[SPLIT_BF16] },
    { .name = "f16-a100", .recipe = RECIPE_PLAIN, .unit = "a100" },
    { .name = "f16-mi300", .recipe = RECIPE_PLAIN, .unit = "mi300" },
    { 0 }
};

static const struct crossing small_parts = { .pairs = small_pairs,
                                             .count = 3,
                                             .methods = small_methods };

#define BF16_OVER_F16(PAIRS, LEAST, MOST)                                                \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "relres", .top = "recipe=bf16 pair=" PAIRS,                               \
        .bottom = "recipe=f16 pair=" PAIRS, .cases = "pair n", .least = LEAST,           \
        .most = MOST                                                                     \
    }

#define MIOPEN "AMD, MIOpen, MI200 MFMA behavior specifics"

static const struct claim mi200_claims[] = {
    /* clang-format off */
    { .name = "mi200-bf16-small", .printed = "larger exponent range", .unit = "mi210",
      .criterion = CRITERION_ORDER,
      .what = "values that are subnormal in f16 are better multiplied as bf16 on MI200",
      .paper = MIOPEN, .judge = claim_judge_ratios,
      .about = BF16_OVER_F16("gradients|gradients-both", 0, 1),
      .other = BF16_OVER_F16("mixed", 0, 1), .otherwise = "values around 1",
      .beside = "residual over the residual with f16 parts, which CDNA2 reads as zeros "
                "there" },
    { .name = "mi200-bf16-mixed", .printed = "reduced accuracy", .unit = "mi210",
      .criterion = CRITERION_ORDER,
      .what = "values around 1 lose accuracy in bf16",
      .paper = MIOPEN, .judge = claim_judge_ratios,
      .about = BF16_OVER_F16("mixed", 1, 0),
      .other = BF16_OVER_F16("gradients|gradients-both", 1, 0),
      .otherwise = "values that are subnormal in f16",
      .beside = "bf16 has three bits fewer" },
    { 0 }
    /* clang-format on */
};

const struct study study_mi200 = {
    /* clang-format off */
    .name = "mi200",
    .chapter = CHAPTER_UNDERFLOW,
    .what = "MI200's alternative to flushed f16: bf16 parts",
    .title = "f16 as bf16 on MI200",
    .text = "One part: f16 and bf16 on MI210, and f16 on an A100 and an MI300, which "
            "read subnormal numbers. A with exponents from -24 to -14 stands for "
            "gradients: most of its values are subnormal in f16.",
    .claims = mi200_claims, .about = &small_parts,
    CROSSING_PLOT("pair",
                  "Where A or both matrices are subnormal in f16, MI210 loses half of "
                  "the product and more in f16, and retains it in bf16. Around 1, f16 is "
                  "more accurate."),
    /* clang-format on */
};
