/* SPDX-License-Identifier: BSD-3-Clause */
/* Every recipe on the Matrix Cores of CDNA1, CDNA2 and CDNA3: the effect of their
   rounding, and whether recipes need promotion; compared with an H100, which truncates.
 */
#include "analysis/study/compare.h"
#include "analysis/study/crossing.h"

static const struct pair_of pairs[] = { { "mixed", "urand(-1,1)", "urand(-1,1)" } };

#define RECIPES_ON(UNIT)                                                                 \
    { .name = "f16", .recipe = RECIPE_PLAIN, .unit = UNIT },                             \
        { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = UNIT },                 \
        { .name = "feng", .recipe = RECIPE_FENG, .unit = UNIT },                         \
        { .name = "ootomo", .recipe = RECIPE_OOTOMO, .unit = UNIT },                     \
        { .name = "ootomo-unpromoted",                                                   \
          .recipe = RECIPE_OOTOMO,                                                       \
          .unit = UNIT,                                                                  \
          .promote = PROMOTE_NEVER },                                                    \
        { .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = UNIT },                     \
        { .name = "bf16x3", .recipe = RECIPE_BF16X3, .unit = UNIT },                     \
        { .name = "bf16x6", .recipe = RECIPE_BF16X6, .unit = UNIT },                     \
    {                                                                                    \
        .name = "bf16x9", .recipe = RECIPE_BF16X9, .unit = UNIT                          \
    }

static const struct entrant methods[] = {
    RECIPES_ON("mi100"),
    RECIPES_ON("mi210"),
    RECIPES_ON("mi300"),
    RECIPES_ON("h100"),
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "h100" },
    { 0 }
};

static const struct crossing recipes_on_chips = {
    .pairs = pairs, .count = 1, .methods = methods, .n_most = 1024
};

/* --- claims ----------------------------------------------------------------------- */

/* A recipe on a chip compared with the same on another chip, or with an FP32 sum, from
   the size on at which sums matter and not parts alone. */
#define BESIDE(BOTTOM, RECIPE, UNIT, LEAST, MOST)                                        \
    {                                                                                    \
        .key = "relres", .top = "n=256|1024 recipe=" RECIPE " unit=" UNIT,               \
        .bottom = BOTTOM, .cases = "n", .least = LEAST, .most = MOST                     \
    }
#define BESIDE_FP32(RECIPE, UNIT) BESIDE("recipe=fp32", RECIPE, UNIT, 0, SAME_ACCURACY)
#define BESIDE_MI300(RECIPE, UNIT)                                                       \
    BESIDE("unit=mi300 recipe=" RECIPE, RECIPE, UNIT, 1.5, 0)

/* Recipes whose parts hold FP32 values, or nearly, without promotion: rounded f16 parts,
   some of which are subnormal, and parts without significant subnormals. */
#define OF_ROUNDED(EACH, UNIT)                                                           \
    EACH("markidis", UNIT), EACH("feng", UNIT), EACH("ootomo-unpromoted", UNIT)
#define OF_OTHERS(EACH, UNIT)                                                            \
    EACH("legemm", UNIT), EACH("bf16x6", UNIT), EACH("bf16x9", UNIT)

#define ALL(EACH, UNIT)                                                                  \
    {                                                                                    \
        OF_ROUNDED(EACH, UNIT), OF_OTHERS(EACH, UNIT), { 0 }                             \
    }
#define ROUNDED(EACH, UNIT)                                                              \
    {                                                                                    \
        OF_ROUNDED(EACH, UNIT), { 0 }                                                    \
    }
#define OTHERS(EACH, UNIT)                                                               \
    {                                                                                    \
        OF_OTHERS(EACH, UNIT), { 0 }                                                     \
    }

static const struct claim_ratios mi100[] = ALL(BESIDE_FP32, "mi100"),
                                 mi300[] = ALL(BESIDE_FP32, "mi300"),
                                 on_h100[] = ALL(BESIDE_FP32, "h100"),
                                 mi210[] = OTHERS(BESIDE_FP32, "mi210"),
                                 others_on_h100[] = OTHERS(BESIDE_FP32, "h100"),
                                 mi210_rounded[] = ROUNDED(BESIDE_FP32, "mi210"),
                                 rounded_on_h100[] = ROUNDED(BESIDE_FP32, "h100"),
                                 h100[] = ALL(BESIDE_MI300, "h100"),
                                 mi100_as_h100[] = ALL(BESIDE_MI300, "mi100");

static const struct claim cdna_claims[] = {
    /* clang-format off */
    { .name = "cdna-mi100", .printed = "not needed", OWN_QUESTION, .unit = "mi100",
      .criterion = CRITERION_SAME,
      .what = "no recipe with several parts needs promotion on an MI100: every recipe "
              "whose parts hold FP32 values has at most twice the residual of an FP32 "
              "sum, from n = 256 on",
      .judge = claim_judge_all_ratios, .about = mi100,
      .other = on_h100, .otherwise = "an H100" },
    { .name = "cdna-mi210", .printed = "not needed", OWN_QUESTION, .unit = "mi210",
      .criterion = CRITERION_SAME,
      .what = "on an MI210, LE-GEMM's cut and bf16 parts need no promotion either",
      .judge = claim_judge_all_ratios, .about = mi210,
      .other = others_on_h100, .otherwise = "an H100" },
    { .name = "cdna-mi210-rounded", .printed = "not needed", OWN_QUESTION,
      .criterion = CRITERION_SAME, .unit = "mi210",
      .what = "rounded f16 parts on an MI210 need none either",
      .judge = claim_judge_all_ratios, .about = mi210_rounded,
      .other = rounded_on_h100, .otherwise = "an H100",
      .beside = "the unit reads low parts as zeros; promotion does not bring them back" },
    { .name = "cdna-mi300", .printed = "not needed", OWN_QUESTION, .unit = "mi300",
      .criterion = CRITERION_SAME,
      .what = "no recipe needs it on an MI300 either",
      .judge = claim_judge_all_ratios, .about = mi300,
      .other = on_h100, .otherwise = "an H100" },
    { .name = "cdna-h100", .printed = "needed", OWN_QUESTION, .unit = "h100",
      .criterion = CRITERION_STATED,
      .what = "each recipe loses more than one and a half times as much on an H100, "
              "which truncates",
      .judge = claim_judge_all_ratios, .about = h100,
      .other = mi100_as_h100, .otherwise = "an MI100" },
    { 0 }
    /* clang-format on */
};

const struct study study_cdna = {
    /* clang-format off */
    .name = "cdna",
    .chapter = CHAPTER_UNIT,
    .what = "effect of the rounding of Matrix Cores on each recipe",
    .title = "Recipes on Matrix Cores",
    .text = "n x n x n with elements of (-1, 1): every recipe of f16 and bf16 parts on "
            "MI100, MI210 and MI300, and on an H100, compared with one FP32 sum.",
    .claims = cdna_claims, .about = &recipes_on_chips,
    CROSSING_PLOT("unit",
                  "On the MI100 and the MI300, promoted and unpromoted residuals coincide, "
                  "and are close to FP32 except for f16 and bf16x3, whose parts lack bits. "
                  "On the MI210, markidis and feng are high, since subnormal low parts are "
                  "lost. On the H100, the residuals without promotion grow."),
    /* clang-format on */
};
