/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures 1, 4 and 5 of Ootomo and Yokota: the relative residual of 16 x k times k x 16
   against k. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"

enum { SIDE = 16, FROM = 4 };

/* The number of seeds for each k: the paper uses 8. */
static const int seeds_of[] = { [STUDY_SMALL] = 5, [STUDY_PAPER] = 8 };

/* The methods of a figure, ended by one without a name, and the largest k, 2^to. */
struct residual_figure {
    const struct entrant *methods;
    int to[2]; /* by scale */
};

static const struct entrant figure1_methods[] = {
    { .name = "plain", .recipe = RECIPE_PLAIN, .unit = "a100" },
    { .name = "tf32", .recipe = RECIPE_CUBLAS_TF32, .unit = "a100" },
    { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = "a100" },
    { .name = "feng", .recipe = RECIPE_FENG, .unit = "a100" },
    { .name = "ootomo", .recipe = RECIPE_OOTOMO, .unit = OOTOMO_UNIT },
    { .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = "a100" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static const struct entrant figure4_methods[] = {
    { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = "a100" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { .name = "fp32-cut", .recipe = RECIPE_FP32, .unit = "a100", .cut = 1 },
    { 0 }
};

static const struct entrant figure5_methods[] = {
    { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = "a100" },
    { .name = "mma_rn", .recipe = RECIPE_MARKIDIS, .unit = "ootomo/mma_rn" },
    { .name = "mma_rz", .recipe = RECIPE_MARKIDIS, .unit = "ootomo/mma_rz" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

/* In the first figure, k grows until Markidis' method has lost everything that it
   corrects. */
static const struct residual_figure figure1 = { figure1_methods, { 16, 18 } },
                                    figure4 = { figure4_methods, { 13, 18 } },
                                    figure5 = { figure5_methods, { 13, 18 } };

static size_t residual_points(const struct study *study, enum study_scale scale)
{
    const struct residual_figure *figure = study->about;
    return (size_t)((figure->to[scale] - FROM + 1) * seeds_of[scale]);
}

static size_t residual_k(size_t at, enum study_scale scale)
{
    return (size_t)1 << (FROM + (int)at / seeds_of[scale]);
}

static uint64_t residual_work(const struct study *study, enum study_scale scale,
                              size_t at)
{
    (void)study;
    return residual_k(at, scale);
}

/* The number of parts of a value; NULL: it stays FP32. */
static const char *parts_of(const struct entrant *e)
{
    const struct bitcut_split *split = recipes[e->recipe].split;
    if (e->recipe == RECIPE_FP32) return NULL;
    return split && split->parts > 1 ? "two parts" : "one part";
}

/* The keys of its rows. */
static const unsigned residual_told =
    1u << METRIC_RELRES | 1u << METRIC_MAX_ERROR | 1u << METRIC_BACKWARD_MAX;

/* One k and one seed, all methods. */
static enum bitcut_status run_residual(const struct study *study, struct study_point *p,
                                       struct fault *f)
{
    const struct residual_figure *figure = study->about;
    const int round = (int)p->at % seeds_of[p->scale];
    const size_t k = residual_k(p->at, p->scale);
    const struct comparison_problem of = { "urand(-1,1)", "urand(-1,1)", SIDE, SIDE, k };
    struct method_comparison c;
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT, p, f);
    for (const struct entrant *e = figure->methods; status == BITCUT_OK && e->name; e++) {
        double values[METRICS];
        status = method_comparison_run(&c, e, f);
        if (status != BITCUT_OK) break;
        method_comparison_measure(values, &c, REFERENCE_EXACT, residual_told);
        study_row(p, json_pack("{s:s, s:s?, s:I, s:i, s:f, s:f, s:f}", "recipe", e->name,
                               "parts", parts_of(e), "k", (json_int_t)k, "round", round,
                               "relres", values[METRIC_RELRES], "max_error",
                               values[METRIC_MAX_ERROR], "backward_max",
                               values[METRIC_BACKWARD_MAX]));
    }
    method_comparison_clear(&c);
    return status;
}

/* The paper averages the errors of 8 seeds. */
#define RESIDUAL(TOP, BOTTOM, LEAST, MOST)                                               \
    {                                                                                    \
        .key = "relres", .top = "recipe=" TOP, .bottom = "recipe=" BOTTOM, .cases = "k", \
        .averages = true, .least = LEAST, .most = MOST                                   \
    }

#define AT(K, TOP, BOTTOM, LEAST, MOST) RESIDUAL(TOP " k=" K, BOTTOM " k=" K, LEAST, MOST)

#define AS_FP32(METHOD) RESIDUAL(METHOD, "fp32", 0, SAME_ACCURACY)

/* More accurate than without correction where sums are short, and no more accurate where
   they are long. */
#define BETTER(METHOD)                                                                   \
    {                                                                                    \
        AT("16", METHOD, "plain", 0, 1 / SAME_ACCURACY), { 0 }                           \
    }
#define CATCHES_UP(METHOD)                                                               \
    {                                                                                    \
        AT("16", METHOD, "plain", 0, 1 / SAME_ACCURACY),                                 \
            AT("65536", METHOD, "plain", 1 / SAME_ACCURACY, 0),                          \
        {                                                                                \
            0                                                                            \
        }                                                                                \
    }
#define AS_MARKIDIS(METHOD) RESIDUAL(METHOD, "markidis", 1 / SAME_ACCURACY, SAME_ACCURACY)

static const struct claim_ratios markidis_better[] = BETTER("markidis"),
                                 tf32_better[] = BETTER("tf32"),
                                 markidis_up[] = CATCHES_UP("markidis"),
                                 ootomo_up[] = CATCHES_UP("ootomo"),
                                 ootomo_as_fp32 = AS_FP32("ootomo"),
                                 plain_as_fp32 = AS_FP32("plain"),
                                 legemm_as_fp32 = AS_FP32("legemm"),
                                 feng_as_markidis = AS_MARKIDIS("feng"),
                                 ootomo_as_markidis = AS_MARKIDIS("ootomo");

static const struct claim figure1_claims[] = {
    /* clang-format off */
    { .name = "figure1-ootomo", .printed = "the same accuracy",
      .criterion = CRITERION_SAME, .unit = OOTOMO_UNIT,
      .what = "the method of Ootomo and Yokota has the residual of FP32 at every k",
      .paper = "Ootomo and Yokota, section 3.2",
      .judge = claim_judge_ratios, .about = &ootomo_as_fp32,
      .other = &plain_as_fp32, .otherwise = "one f16 part",
      .beside = "residual over the residual of one FP32 sum; cuBLAS SGEMM uses several "
                "sums" },
    { .name = "figure1-markidis-small", .printed = "more accurate",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "for small k the correction of Markidis is more accurate than no correction",
      .paper = "Ootomo and Yokota, section 2.3",
      .judge = claim_judge_all_ratios, .about = markidis_better,
      .other = tf32_better, .otherwise = "one tf32 part" },
    { .name = "figure1-markidis-large", .printed = "catches up to the Tensor Core",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "as k grows, the residual of Markidis catches up to the residual of the "
              "Tensor Core without correction: it is less than half of it at k = 16, and "
              "not at 65536",
      .paper = "Ootomo and Yokota, section 2.3",
      .judge = claim_judge_all_ratios, .about = markidis_up,
      .other = ootomo_up, .otherwise = "the method of Ootomo and Yokota" },
    { .name = "figure1-feng", .printed = "could not show any advantage",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "Feng's rounding has no advantage over Markidis",
      .paper = "Ootomo and Yokota, section 2.3",
      .judge = claim_judge_ratios, .about = &feng_as_markidis,
      .other = &ootomo_as_markidis, .otherwise = "the method of Ootomo and Yokota" },
    { .name = "figure1-legemm", .printed = "without compromising the accuracy requirements",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "LE-GEMM's sums, which are not promoted, have the residual of FP32",
      .paper = "LE-GEMM, abstract",
      .judge = claim_judge_ratios, .about = &legemm_as_fp32,
      .other = &plain_as_fp32, .otherwise = "one f16 part",
      .beside = "the accumulator truncates, as for Markidis" },
    { 0 }
    /* clang-format on */
};

static const struct claim_ratios short_is_fp32 = RESIDUAL("fp32-cut", "markidis", 0, 1),
                                 markidis_is_short =
                                     RESIDUAL("markidis", "fp32-cut", 0, 1);

static const struct claim figure4_claims[] = {
    /* clang-format off */
    { .name = "figure4", .printed = "worse than this method",
      .criterion = CRITERION_ORDER, .unit = "a100",
      .what = "FP32 without the last bit of A and B is more accurate than Markidis, "
              "whose parts retain more bits: length is not what Markidis lacks",
      .paper = "Ootomo and Yokota, section 3.1",
      .judge = claim_judge_ratios, .about = &short_is_fp32,
      .other = &markidis_is_short, .otherwise = "Markidis over FP32 without the last bit" },
    { 0 }
    /* clang-format on */
};

static const struct claim_ratios rn_as_fp32 = AS_FP32("mma_rn"),
                                 rz_as_fp32 = AS_FP32("mma_rz"),
                                 rz_as_unit = AS_MARKIDIS("mma_rz"),
                                 rn_as_unit = AS_MARKIDIS("mma_rn");

static const struct claim figure5_claims[] = {
    /* clang-format off */
    { .name = "figure5-rn", .printed = "the same as FP32 SIMT Core",
      .criterion = CRITERION_SAME,
      .what = "Markidis on a unit that rounds its sums to nearest is as accurate as FP32",
      .paper = "Ootomo and Yokota, section 3.2",
      .judge = claim_judge_ratios, .about = &rn_as_fp32,
      .other = &rz_as_fp32, .otherwise = "the truncating unit" },
    { .name = "figure5-rz", .printed = "the same as Markidis' method",
      .criterion = CRITERION_SAME, .unit = "a100",
      .what = "Markidis on a unit that truncates its sums is as accurate as on Tensor "
              "Cores",
      .paper = "Ootomo and Yokota, section 3.2",
      .judge = claim_judge_ratios, .about = &rz_as_unit,
      .other = &rn_as_unit, .otherwise = "the unit that rounds to nearest" },
    { 0 }
    /* clang-format on */
};

#define RESIDUAL_PLOT(PANELS, SEES)                                                      \
    .points = residual_points, .work = residual_work, .run = run_residual,               \
    .plot = { .x = "k",                                                                  \
              .y = "relres",                                                             \
              .series = "recipe",                                                        \
              .x_label = "k",                                                            \
              .y_label = "relative residual",                                            \
              .x_log = true,                                                             \
              .y_log = true,                                                             \
              .panels = PANELS,                                                          \
              .spread = "round",                                                         \
              .sees = SEES }

const struct study study_figure1 = {
    /* clang-format off */
    .name = "figure1",
    .chapter = CHAPTER_UNIT,
    .what = "relative residual of methods against k (Ootomo and Yokota, Figure 1)",
    .title = "Relative residual against k",
    .text = "C = A B with A 16 x k and B k x 16, elements uniform in (-1, 1), emulated "
            "on the unit a100 (ampere/mma.m16n8k16.f32.f16; tf32, and the f16 parts of "
            "Ootomo and Yokota's method as in their kernels, on m16n8k8; fp32 on "
            "fma/f32). The residual is ||D - C||_F / ||C||_F against the exact product "
            "(Ootomo Eq. 7). As k grows, Markidis and Feng lose to the truncating "
            "accumulator what their parts retain. Ootomo's promotion to FP32 registers "
            "after every instruction avoids this; LE-GEMM does not promote. fp32 adds "
            "the products one after the other; SGEMM of libraries uses several sums.",
    .claims = figure1_claims, .about = &figure1,
    RESIDUAL_PLOT("parts",
                  "Of the methods with two parts, only Ootomo and Yokota's stays as low "
                  "as FP32 when k grows."),
    /* clang-format on */
};

const struct study study_figure4 = {
    /* clang-format off */
    .name = "figure4",
    .chapter = CHAPTER_KEEPS,
    .what = "Markidis compared with FP32 that lacks a bit (Ootomo and Yokota, Figure 4)",
    .title = "The cost of a lost bit",
    .text = "As Figure 1; fp32-cut is FP32 with the last fraction bit of A and B "
            "cleared, which leaves 23.5 of 24 bits on average, fewer than the 23.75 of "
            "Markidis' parts.",
    .claims = figure4_claims, .about = &figure4,
    RESIDUAL_PLOT(NULL,
                  "From k = 32 on, FP32 without its last bit lies below Markidis, which "
                  "retains more bits."),
    /* clang-format on */
};

const struct study study_figure5 = {
    /* clang-format off */
    .name = "figure5",
    .chapter = CHAPTER_UNIT,
    .what = "Markidis with sums to nearest and truncated (Ootomo and Yokota, Figure 5)",
    .title = "Rounding of the sums",
    .text = "As Figure 1: Markidis' recipe on the two units with which Ootomo and Yokota "
            "model Tensor Cores, mma_rn and mma_rz. They differ in one rounding.",
    .claims = figure5_claims, .about = &figure5,
    RESIDUAL_PLOT(NULL,
                  "mma_rz coincides with Markidis on Tensor Cores; mma_rn coincides with "
                  "FP32 or lies below: the rounding of sums makes the difference."),
    /* clang-format on */
};
