/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures 11 and 13 of Ootomo and Yokota, and section 3.4: exponent ranges and patterns
   of A and B, and the effect of the product of the low parts. */
#include "analysis/study/compare.h"
#include "analysis/study/crossing.h"

/* The residual of one method over that of another, for a pair of inputs, as averages over
   seeds, as in the paper. */
#define RESIDUAL_OF(PAIR, TOP, BOTTOM, LEAST, MOST)                                      \
    {                                                                                    \
        .key = "relres", .top = PAIR "recipe=" TOP, .bottom = PAIR "recipe=" BOTTOM,     \
        .cases = "pair n", .averages = true, .least = LEAST, .most = MOST                \
    }

#define AS_FP32(PAIR, METHOD) RESIDUAL_OF(PAIR, METHOD, "fp32", 0, SAME_ACCURACY)
#define LOSES(PAIR, METHOD)   RESIDUAL_OF(PAIR, METHOD, "fp32", SAME_ACCURACY, 0)

/* --- ranges of exponents: Figure 11 ----------------------------------------------- */

static const struct pair_of types[] = {
    { "type1", "exp_rand(-15,14)", "exp_rand(-15,14)" },
    { "type2", "exp_rand(-15,14)", "exp_rand(-35,-15)" },
    { "type3", "exp_rand(-35,-15)", "exp_rand(-35,-15)" },
    { "type4", "exp_rand(-15,14)", "exp_rand(-100,-35)" }
};

static const struct entrant type_methods[] = {
    { .name = "halfhalf", .recipe = RECIPE_OOTOMO, .unit = OOTOMO_UNIT },
    { .name = "tf32tf32", .recipe = RECIPE_OOTOMO_TF32, .unit = "a100" },
    { .name = "f16", .recipe = RECIPE_PLAIN, .unit = "a100" },
    { .name = "tf32", .recipe = RECIPE_CUBLAS_TF32, .unit = "a100" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static const struct crossing figure11 = { .pairs = types,
                                          .count = 4,
                                          .methods = type_methods };

#define TYPE(N)   "pair=type" N " "
#define ALL_TYPES "pair=type1|type2|type3|type4 "

static const struct claim_ratios type1 = AS_FP32(TYPE("1"), "halfhalf"),
                                 type1_f16 = AS_FP32(TYPE("1"), "f16"),
                                 type2 = LOSES(TYPE("2"), "halfhalf"),
                                 type2_tf32 = LOSES(TYPE("2"), "tf32tf32"),
                                 type3 = LOSES(TYPE("3"), "halfhalf"),
                                 type3_tf32 = LOSES(TYPE("3"), "tf32tf32"),
                                 tf32_all = AS_FP32(ALL_TYPES, "tf32tf32"),
                                 tf32_one = AS_FP32(ALL_TYPES, "tf32");

/* Relative residual of type 4: 1 if D is zero. */
#define LOST(METHOD)                                                                     \
    {                                                                                    \
        .key = "relres", .where = TYPE("4") "recipe=" METHOD, .least = 0.99              \
    }

static const struct claim_values type4 = LOST("halfhalf"), type4_tf32 = LOST("tf32tf32");

#define SECTION411 "Ootomo and Yokota, section 4.1.1"

static const struct claim figure11_claims[] = {
    /* clang-format off */
    { .name = "figure11-type1", .printed = "the same accuracy",
      .criterion = CRITERION_SAME, .unit = OOTOMO_UNIT,
      .what = "halfhalf is as accurate as FP32 with exponents from -15 to 14",
      .paper = SECTION411, .judge = claim_judge_ratios, .about = &type1,
      .other = &type1_f16, .otherwise = "one f16 part" },
    { .name = "figure11-type2", .printed = "loss of accuracy",
      .criterion = CRITERION_SAME, .unit = OOTOMO_UNIT,
      .what = "halfhalf loses accuracy where one matrix has exponents from -35 to -15",
      .paper = SECTION411, .judge = claim_judge_ratios, .about = &type2,
      .other = &type2_tf32, .otherwise = "tf32tf32",
      .beside = "the text of section 4.1.1 has exponents from -100 to -35 for type 2, "
                "which would be type 4; the range here is the range in the parts of the "
                "figure" },
    { .name = "figure11-type3", .printed = "loss of accuracy",
      .criterion = CRITERION_SAME, .unit = OOTOMO_UNIT,
      .what = "halfhalf loses accuracy where both matrices have exponents from -35 to "
              "-15",
      .paper = SECTION411, .judge = claim_judge_ratios, .about = &type3,
      .other = &type3_tf32, .otherwise = "tf32tf32" },
    { .name = "figure11-type4", .printed = "all zero",
      .criterion = CRITERION_STATED, .unit = OOTOMO_UNIT,
      .what = "a matrix with exponents from -100 to -35 is all zero in halfhalf: the "
              "residual is at least 0.99",
      .paper = "Ootomo and Yokota, Fig. 11",
      .judge = claim_judge_values, .about = &type4,
      .other = &type4_tf32, .otherwise = "tf32tf32",
      .beside = "relative residual, 1 if D is zero: values of 2^-35, one in 66, are the "
                "largest and still have a bit in the low part" },
    { .name = "figure11-tf32", .printed = "the same accuracy as FP32 SIMT in all cases",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "tf32tf32 is as accurate as FP32 for all four ranges",
      .paper = SECTION411, .judge = claim_judge_ratios, .about = &tf32_all,
      .other = &tf32_one, .otherwise = "one tf32 part" },
    { 0 }
    /* clang-format on */
};

const struct study study_figure11 = {
    /* clang-format off */
    .name = "figure11",
    .chapter = CHAPTER_USES,
    .what = "ranges of exponents (Ootomo and Yokota, Figure 11, types 1 to 4)",
    .title = "Ranges of exponents",
    .text = "n x n x n with exponents drawn evenly from a range (Eq. 25), on an A100: "
            "the method with f16 parts (halfhalf) and with tf32 parts (tf32tf32), both "
            "on m16n8k8 as in the authors' kernels, one part of either format, and FP32. "
            "Below 2^-15 the high part of halfhalf is subnormal; below 2^-25 it is zero, "
            "and the low part ends near 2^-35.",
    .claims = figure11_claims, .about = &figure11,
    CROSSING_PLOT("pair",
                  "halfhalf coincides with FP32 in type1 and departs from it from type2 to "
                  "type4 as exponents fall; tf32tf32 coincides with FP32 in all types."),
    /* clang-format on */
};

/* --- patterns of exponents: Figure 13 --------------------------------------------- */

static const struct pair_of patterns[] = {
    { "urand-randtlr", "urand(-1,1)", "randtlr" },
    { "urand-spatial", "urand(-1,1)", "spatial" },
    { "urand-cauchy", "urand(-1,1)", "cauchy" },
    { "exp_rand-randtlr", "exp_rand(-15,0)", "randtlr" },
    { "exp_rand-spatial", "exp_rand(-15,0)", "spatial" },
    { "exp_rand-cauchy", "exp_rand(-15,0)", "cauchy" }
};

static const struct entrant pattern_methods[] = {
    { .name = "halfhalf", .recipe = RECIPE_OOTOMO, .unit = OOTOMO_UNIT },
    { .name = "tf32tf32", .recipe = RECIPE_OOTOMO_TF32, .unit = "a100" },
    { .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = "a100" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static const struct crossing figure13 = { .pairs = patterns,
                                          .count = 6,
                                          .methods = pattern_methods };

static const struct claim_ratios half_patterns = AS_FP32("", "halfhalf"),
                                 tf32_patterns = AS_FP32("", "tf32tf32"),
                                 cut_patterns = AS_FP32("", "legemm");

#define SECTION412 "Ootomo and Yokota, section 4.1.2"

static const struct claim figure13_claims[] = {
    /* clang-format off */
    { .name = "figure13-halfhalf", .printed = "the same as cuBLAS SGEMM",
      .criterion = CRITERION_SAME, .unit = OOTOMO_UNIT,
      .what = "halfhalf is as accurate as FP32 on matrices of STARS-H",
      .paper = SECTION412, .judge = claim_judge_ratios, .about = &half_patterns,
      .other = &cut_patterns, .otherwise = "LE-GEMM, which does not promote" },
    { .name = "figure13-tf32tf32", .printed = "the same as cuBLAS SGEMM",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "tf32tf32 is as accurate as FP32 on matrices of STARS-H",
      .paper = SECTION412, .judge = claim_judge_ratios, .about = &tf32_patterns,
      .other = &cut_patterns, .otherwise = "LE-GEMM, which does not promote" },
    { .name = "figure13-legemm", .printed = "the same accuracy",
      .criterion = CRITERION_SAME, .unit = "a100", OWN_QUESTION,
      .what = "LE-GEMM is also as accurate as FP32 on matrices of STARS-H",
      .judge = claim_judge_ratios, .about = &cut_patterns,
      .otherwise = "no method in these rows is worse",
      .beside = "the accumulator truncates and is not promoted" },
    { 0 }
    /* clang-format on */
};

const struct study study_figure13 = {
    /* clang-format off */
    .name = "figure13",
    .chapter = CHAPTER_USES,
    .what = "matrices of STARS-H (Ootomo and Yokota, Figures 12 and 13)",
    .title = "Patterns of exponents",
    .text = "n x n x n on an A100: A is uniform in (-1, 1), or has exponents from -15 to "
            "0. B is from a family of STARS-H: random tiles of low rank, an exponential "
            "kernel of points in a square, or a Cauchy matrix.",
    .claims = figure13_claims, .about = &figure13,
    CROSSING_PLOT("pair",
                  "halfhalf and tf32tf32 lie below one FP32 sum on every matrix; "
                  "LE-GEMM, whose sums are not promoted, mostly lies above."),
    /* clang-format on */
};

/* --- the product of the low parts: section 3.4 ------------------------------------ */

static const struct pair_of signs[] = { { "mixed", "urand(-1,1)", "urand(-1,1)" },
                                        { "positive", "positive", "positive" },
                                        { "range", "llm", "llm" } };

#define WITH_AND_WITHOUT(NAME, RECIPE, UNIT)                                             \
    { .name = NAME "-3", .recipe = RECIPE, .unit = UNIT },                               \
    {                                                                                    \
        .name = NAME "-4", .recipe = RECIPE, .unit = UNIT, .terms = 4                    \
    }

static const struct entrant term_methods[] = {
    WITH_AND_WITHOUT("ootomo", RECIPE_OOTOMO, OOTOMO_UNIT),
    WITH_AND_WITHOUT("legemm-a800", RECIPE_LEGEMM, "a800"),
    WITH_AND_WITHOUT("legemm-mi210", RECIPE_LEGEMM, "mi210"),
    { .name = "f16", .recipe = RECIPE_PLAIN, .unit = OOTOMO_UNIT },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static const struct crossing dropped = { .pairs = signs,
                                         .count = 3,
                                         .methods = term_methods };

/* The loss without the term. */
#define COSTS(TOP, BOTTOM)                                                               \
    &(const struct claim_ratios)RESIDUAL_OF("", TOP, BOTTOM, 0, SAME_ACCURACY)

#define LITTLE_EFFECT(NAME, UNIT, BESIDE)                                                \
    {                                                                                    \
        .name = "dropped-" NAME, .printed = "little effect", .unit = UNIT,               \
        .criterion = CRITERION_SAME,                                                     \
        .what = "LE-GEMM loses little by dropping the product of the low parts, "        \
                "on " UNIT,                                                              \
        .paper = "LE-GEMM, section 4.1", .judge = claim_judge_ratios,                    \
        .about = COSTS(NAME "-3", NAME "-4"), .other = COSTS("f16", NAME "-4"),          \
        .otherwise = "one product alone", .beside = BESIDE                               \
    }

#define OVER_FOUR "residual over the residual with four products"

static const struct claim dropped_claims[] = {
    /* clang-format off */
    { .name = "dropped-ootomo", .printed = "without loss of any accuracy",
      .criterion = CRITERION_SAME, .unit = OOTOMO_UNIT,
      .what = "Ootomo and Yokota's method loses nothing by dropping the product of the "
              "low parts",
      .paper = "Ootomo and Yokota, section 1",
      .judge = claim_judge_ratios, .about = COSTS("ootomo-3", "ootomo-4"),
      .other = COSTS("f16", "ootomo-4"), .otherwise = "one product alone",
      .beside = OVER_FOUR },
    LITTLE_EFFECT("legemm-a800", "a800", OVER_FOUR),
    LITTLE_EFFECT("legemm-mi210", "mi210",
                  OVER_FOUR ": the low parts of truncated values have the sign of the "
                            "high parts, so the dropped terms do not cancel"),
    { 0 }
    /* clang-format on */
};

const struct study study_dropped = {
    /* clang-format off */
    .name = "dropped",
    .chapter = CHAPTER_DROPPED,
    .what = "three products of parts against four (Ootomo and Yokota, section 3.4)",
    .title = "The product of the low parts",
    .text = "n x n x n with elements of both signs, positive elements, and elements of "
            "[0.5, 2.5]: Ootomo and Yokota's method and LE-GEMM without the product of "
            "the two low parts (-3), as in both papers, and with it (-4); and one f16 "
            "part, whose single product shows the cost of dropping more. bias is the "
            "mean error in ulps: where the low parts of truncation have one sign, the "
            "dropped product is missing everywhere.",
    .claims = dropped_claims, .about = &dropped,
    CROSSING_PLOT("pair split",
                  "With halfhalf, three products and four coincide; with bitcut the "
                  "fourth product lowers the residual, mostly on MI210."),
    /* clang-format on */
};
