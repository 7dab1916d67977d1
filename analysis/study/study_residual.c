/* Figures 1, 4 and 5 of Ootomo and Yokota: the relative residual of 16 x k times k x 16
   against k. */
#include "analysis/study/compare.h"
#include "analysis/study/contest.h"

enum { SIDE = 16, FROM = 4, METHODS_MOST = 8 };

/* The largest k, 2^TO, and how many seeds each k has: the paper takes 8. */
static const struct {
    int to, seeds;
} sizes[] = { [STUDY_SMALL] = { 13, 3 }, [STUDY_PAPER] = { 18, 8 } };

/* The methods of one figure, ended by one without a name. */
static const struct entrant figure1[] = {
    { .name = "plain", .recipe = RECIPE_PLAIN, .unit = "a100" },
    { .name = "tf32", .recipe = RECIPE_CUBLAS_TF32, .unit = "a100" },
    { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = "a100" },
    { .name = "feng", .recipe = RECIPE_FENG, .unit = "a100" },
    { .name = "ootomo", .recipe = RECIPE_OOTOMO, .unit = "a100" },
    { .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = "a100" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static const struct entrant figure4[] = {
    { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = "a100" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { .name = "fp32-cut", .recipe = RECIPE_FP32, .unit = "a100", .cut = 1 },
    { 0 }
};

static const struct entrant figure5[] = {
    { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = "a100" },
    { .name = "mma_rn", .recipe = RECIPE_MARKIDIS, .unit = "ootomo/mma_rn" },
    { .name = "mma_rz", .recipe = RECIPE_MARKIDIS, .unit = "ootomo/mma_rz" },
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a100" },
    { 0 }
};

static size_t residual_points(const struct study *study, enum study_scale scale)
{
    (void)study;
    return (size_t)((sizes[scale].to - FROM + 1) * sizes[scale].seeds);
}

/* How many words a value becomes; NULL: it stays FP32. */
static const char *words_of(const struct entrant *e)
{
    const struct bitcut_split *split = recipes[e->recipe].split;
    if (e->recipe == RECIPE_FP32) return NULL;
    return split && split->words > 1 ? "two words" : "one word";
}

/* What its rows tell. */
static const unsigned residual_told =
    1u << METRIC_RELRES | 1u << METRIC_MAX_ERROR | 1u << METRIC_BACKWARD_MAX;

/* One k and one seed, all methods. */
static enum bitcut_status run_residual(const struct study *study, struct study_point *p,
                                       struct fault *f)
{
    const int seeds = sizes[p->scale].seeds, round = (int)p->at % seeds;
    const size_t k = (size_t)1 << (FROM + (int)p->at / seeds);
    const struct contest_of of = { "urand(-1,1)", "urand(-1,1)", SIDE, SIDE, k };
    struct contest c;
    enum bitcut_status status = contest_init(&c, &of, false, p, f);
    for (const struct entrant *e = study->about; status == BITCUT_OK && e->name; e++) {
        double values[METRICS];
        status = contest_run(&c, e, f);
        if (status != BITCUT_OK) break;
        contest_measure(values, &c, REFERENCE_EXACT, residual_told);
        study_row(p, json_pack("{s:s, s:s?, s:I, s:i, s:f, s:f, s:f}", "recipe", e->name,
                               "words", words_of(e), "k", (json_int_t)k, "round", round,
                               "relres", values[METRIC_RELRES], "max_error",
                               values[METRIC_MAX_ERROR], "backward_max",
                               values[METRIC_BACKWARD_MAX]));
    }
    contest_clear(&c);
    return status;
}

#define RESIDUAL(TOP, BOTTOM, LEAST, MOST)                                               \
    {                                                                                    \
        .key = "relres", .top = "recipe=" TOP, .bottom = "recipe=" BOTTOM, .cases = "k", \
        .least = LEAST, .most = MOST                                                     \
    }

#define AT(TOP, BOTTOM, K, LEAST, MOST)                                                  \
    {                                                                                    \
        .key = "relres", .top = "recipe=" TOP " k=" K,                                   \
        .bottom = "recipe=" BOTTOM " k=" K, .cases = "k", .least = LEAST, .most = MOST   \
    }

/* "The same accuracy": a geometric mean over seeds of at most twice that of FP32. */
static const struct claim_ratios better[] = { AT("markidis", "plain", "16", 0, 0.01),
                                              { 0 } },
                                 catches_up[] = { AT("markidis", "fp32", "16", 0, 2),
                                                  AT("markidis", "fp32", "8192", 10, 0),
                                                  { 0 } },
                                 same_as_fp32 = RESIDUAL("ootomo", "fp32", 0, 2),
                                 no_advantage = RESIDUAL("feng", "markidis", 0.5, 2),
                                 no_loss = RESIDUAL("legemm", "fp32", 0, 2);

static const struct claim figure1_claims[] = {
    /* clang-format off */
    { .name = "figure1-ootomo", .printed = "the same accuracy", .unit = "a100",
      .what = "the method of Ootomo and Yokota has the residual of FP32 at every k",
      .paper = "Ootomo and Yokota, Fig. 1",
      .judge = claim_judge_ratios, .about = &same_as_fp32,
      .beside = "residual over that of one FP32 sum; cuBLAS SGEMM takes several sums" },
    { .name = "figure1-markidis-small", .printed = "more accurate", .unit = "a100",
      .what = "for small k the correction of Markidis is far better than none",
      .paper = "Ootomo and Yokota, Fig. 1",
      .judge = claim_judge_all_ratios, .about = better },
    { .name = "figure1-markidis-large", .printed = "catches up", .unit = "a100",
      .what = "as k grows Markidis loses what the correction gave, and FP32 does not",
      .paper = "Ootomo and Yokota, section 2.3",
      .judge = claim_judge_all_ratios, .about = catches_up,
      .beside = "residual over that of FP32 at k = 8192" },
    { .name = "figure1-feng", .printed = "no advantage", .unit = "a100",
      .what = "Feng's rounding has no advantage over Markidis",
      .paper = "Ootomo and Yokota, section 2.3",
      .judge = claim_judge_ratios, .about = &no_advantage },
    { .name = "figure1-legemm", .printed = "without loss of accuracy", .unit = "a100",
      .what = "LE-GEMM's sums, which are not promoted, have the residual of FP32",
      .paper = "LE-GEMM, abstract",
      .judge = claim_judge_ratios, .about = &no_loss,
      .beside = "the accumulator truncates, as that of Markidis does" },
    { 0 }
    /* clang-format on */
};

static const struct claim_ratios short_is_fp32[] = {
    RESIDUAL("fp32-cut", "markidis", 0, 1), { 0 }
};

static const struct claim figure4_claims[] = {
    /* clang-format off */
    { .name = "figure4", .printed = "Markidis is worse", .unit = "a100",
      .what = "FP32 without the last bit of A and B is more accurate than Markidis, "
              "whose words keep more bits: length is not what Markidis lacks",
      .paper = "Ootomo and Yokota, Fig. 4",
      .judge = claim_judge_all_ratios, .about = short_is_fp32 },
    { 0 }
    /* clang-format on */
};

static const struct claim_ratios rn_as_fp32 = RESIDUAL("mma_rn", "fp32", 0, 2),
                                 rz_as_unit = RESIDUAL("mma_rz", "markidis", 0.5, 2);

static const struct claim figure5_claims[] = {
    /* clang-format off */
    { .name = "figure5-rn", .printed = "the same as FP32 SIMT",
      .what = "Markidis on a unit that rounds its sums to nearest is as accurate as FP32",
      .paper = "Ootomo and Yokota, Fig. 5",
      .judge = claim_judge_ratios, .about = &rn_as_fp32 },
    { .name = "figure5-rz", .printed = "the same as on Tensor Cores", .unit = "a100",
      .what = "Markidis on a unit that truncates its sums is as accurate as on Tensor "
              "Cores",
      .paper = "Ootomo and Yokota, Fig. 5",
      .judge = claim_judge_ratios, .about = &rz_as_unit },
    { 0 }
    /* clang-format on */
};

#define RESIDUAL_PLOT(PANELS, SEES)                                                      \
    .points = residual_points, .run = run_residual,                                      \
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
            "on the unit a100 (ampere/mma.m16n8k16.f32.f16; tf32 on m16n8k8; fp32 on "
            "fma/f32). The residual is ||D - C||_F / ||C||_F against the exact product "
            "(Ootomo Eq. 7). As k grows, Markidis and Feng lose to the truncating "
            "accumulator what their words keep; Ootomo's promotion to FP32 registers "
            "after every instruction avoids it; LE-GEMM does not promote. fp32 adds one "
            "product after the other; SGEMM of libraries does so in several sums.",
    .claims = figure1_claims, .about = figure1,
    RESIDUAL_PLOT("words",
                  "Of methods with two words, Ootomo and Yokota's alone stays as "
                  "low as FP32 when k grows."),
    /* clang-format on */
};

const struct study study_figure4 = {
    /* clang-format off */
    .name = "figure4",
    .chapter = CHAPTER_KEEPS,
    .what = "Markidis beside FP32 that lacks a bit (Ootomo and Yokota, Figure 4)",
    .title = "What a lost bit costs",
    .text = "As Figure 1; fp32-cut is FP32 on A and B whose last fraction bit is "
            "cleared, which leaves 22.5 bits on average, fewer than the 22.75 of "
            "Markidis' words.",
    .claims = figure4_claims, .about = figure4,
    RESIDUAL_PLOT(NULL,
                  "From k = 32 on FP32 without its last bit lies below Markidis, who "
                  "keeps more bits."),
    /* clang-format on */
};

const struct study study_figure5 = {
    /* clang-format off */
    .name = "figure5",
    .chapter = CHAPTER_UNIT,
    .what = "Markidis with sums to nearest and truncated (Ootomo and Yokota, Figure 5)",
    .title = "Rounding of the sums",
    .text = "As Figure 1: Markidis' recipe on the two units by which Ootomo and Yokota "
            "stand in for Tensor Cores, mma_rn and mma_rz. They differ in one rounding.",
    .claims = figure5_claims, .about = figure5,
    RESIDUAL_PLOT(NULL,
                  "mma_rz lies on Markidis as Tensor Cores run it, mma_rn on FP32 or below: "
                  "the rounding of sums makes the difference."),
    /* clang-format on */
};
