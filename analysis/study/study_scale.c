/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit-cut with 2^10 against rounding with 2^11: which one is more accurate, by unit,
   measure and input. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"

#include "lib/io/json_value.h"

/* n x n x k, and seeds.  Among values uniform in [-1, 1] one in 2^14 is below 2^-14, so
   it takes thousands of products until every sum has such values. */
static const struct {
    size_t n, k;
    int seeds;
} runs[] = { [STUDY_SMALL] = { 32, 4096, 6 }, [STUDY_PAPER] = { 512, 4096, 8 } };

static const char *const chip_names[] = { "v100",  "a100",  "h100", "b200",
                                          "mi100", "mi210", "mi300" };

enum { CHIPS = sizeof chip_names / sizeof chip_names[0] };

/* Inputs of A and of B alike. */
static const struct {
    const char *name, *input;
} ranges[] = { { "mixed", "urand(-1,1)" },
               { "positive", "positive" },
               { "llm", "llm" },
               { "small", "exp_rand(-15,0)" } };

enum { RANGES = sizeof ranges / sizeof ranges[0] };

/* Both kinds of parts with both ways of adding: as in LE-GEMM, and promoted as in Ootomo
   and Yokota. */
static const struct {
    const char *parts, *sums;
    int split, recipe;
} ways[] = { { "bitcut", "unpromoted", SPLIT_BITCUT, RECIPE_LEGEMM },
             { "bitcut-gradual", "unpromoted", SPLIT_BITCUT_GRADUAL, RECIPE_LEGEMM },
             { "halfhalf", "unpromoted", SPLIT_HALFHALF, RECIPE_LEGEMM },
             { "bitcut", "promoted", SPLIT_BITCUT, RECIPE_OOTOMO },
             { "bitcut-gradual", "promoted", SPLIT_BITCUT_GRADUAL, RECIPE_OOTOMO },
             { "halfhalf", "promoted", SPLIT_HALFHALF, RECIPE_OOTOMO } };

enum { WAYS = sizeof ways / sizeof ways[0] };

static size_t scale_points(const struct study *study, enum study_scale scale)
{
    (void)study;
    return (size_t)(RANGES * runs[scale].seeds);
}

/* The keys of its rows. */
static const unsigned way_told = 1u << METRIC_MAX_ERROR | 1u << METRIC_MRED |
                                 1u << METRIC_RELRES | 1u << METRIC_BACKWARD_MAX;

static void way_rows(struct study_point *p, struct method_comparison *c,
                     const char *range, const char *chip, int way, int round)
{
    for (int r = 0; r < REFERENCES_TOLD; r++) {
        double values[METRICS];
        method_comparison_measure(values, c, r, way_told);
        study_row(p, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o}",
                               "unit", chip, "input", range, "parts", ways[way].parts,
                               "sums", ways[way].sums, "reference",
                               method_comparison_references[r], "round", round,
                               "max_error", json_number(values[METRIC_MAX_ERROR]), "mred",
                               json_number(values[METRIC_MRED]), "relres",
                               json_number(values[METRIC_RELRES]), "backward_max",
                               json_number(values[METRIC_BACKWARD_MAX])));
    }
}

/* One input and seed, on all chips. */
static enum bitcut_status run_scale(const struct study *study, struct study_point *p,
                                    struct fault *f)
{
    (void)study;
    const int seeds = runs[p->scale].seeds, round = (int)p->at % seeds;
    const size_t range = p->at / (size_t)seeds, n = runs[p->scale].n;
    const struct comparison_problem of = { ranges[range].input, ranges[range].input, n, n,
                                           runs[p->scale].k };
    struct method_comparison c;
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT | BY_FP32, p, f);
    for (int i = 0; i < CHIPS * WAYS && status == BITCUT_OK; i++) {
        const struct entrant e = { .recipe = ways[i % WAYS].recipe,
                                   .unit = chip_names[i / WAYS],
                                   .split = &splits[ways[i % WAYS].split] };
        status = method_comparison_run(&c, &e, f);
        if (status == BITCUT_OK)
            way_rows(p, &c, ranges[range].name, e.unit, i % WAYS, round);
    }
    method_comparison_clear(&c);
    return status;
}

/* The residual with some parts over the residual with others on a chip, everything else
   equal; below 1 is better. */
#define BETTER(CHIP, PARTS, THAN, INPUTS)                                                \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "relres",                                                                 \
        .top = "reference=exact unit=" CHIP " parts=" PARTS " input=" INPUTS,            \
        .bottom = "reference=exact unit=" CHIP " parts=" THAN " input=" INPUTS,          \
        .cases = "input sums", .most = 1                                                 \
    }

/* LE-GEMM measures no residuals, and only two of these GPUs and one of these ranges. */
#define CUT(NAME, CHIP, PARTS, INPUTS, WHAT, WHY)                                        \
    {                                                                                    \
        .name = NAME, .printed = "the error is smaller", OWN_QUESTION, .unit = CHIP,     \
        .criterion = CRITERION_ORDER, .what = WHAT, .judge = claim_judge_ratios,         \
        .about = BETTER(CHIP, PARTS, "halfhalf", INPUTS),                                \
        .other = BETTER(CHIP, "halfhalf", PARTS, INPUTS),                                \
        .otherwise = "rounding over bit-cut", .beside = WHY                              \
    }

#define ON_CHIP(CHIP)                                                                    \
    CUT("cut-beats-rn-" CHIP, CHIP, "bitcut", "mixed",                                   \
        "on " CHIP " bit-cut with 2^10 is more accurate than rounding with 2^11, for "   \
        "elements of [-1, 1]",                                                           \
        "residual of the literal cut over the residual of RN + RN, everything else "     \
        "equal")

static const struct claim scale_claims[] = {
    /* clang-format off */
    ON_CHIP("v100"), ON_CHIP("a100"), ON_CHIP("h100"), ON_CHIP("b200"), ON_CHIP("mi100"),
    ON_CHIP("mi210"), ON_CHIP("mi300"),
    CUT("mi210-small", "mi210", "bitcut", "small",
        "on mi210 this is also true for elements with exponents from -15 to 0",
        "with RN + RN, CDNA2 flushes the high part of values below 2^-14; the literal "
        "cut has such a value in a scaled low part"),
    CUT("mi210-positive", "mi210", "bitcut", "positive|llm",
        "on mi210 this is also true for positive elements",
        "no part that matters is flushed, and RN + RN retains half a bit more"),
    CUT("mi210-gradual", "mi210", "bitcut-gradual", "mixed|small",
        "on mi210 this is also true if values below 2^-14 are cut to a subnormal high part",
        "that part is flushed, like the rounded part"),
    { 0 }
    /* clang-format on */
};

const struct study study_scale = {
    /* clang-format off */
    .name = "scale",
    .chapter = CHAPTER_CHOICE,
    .what = "bit-cut with 2^10 against rounding with 2^11, by chip, input and measure",
    .title = "Bit-cut or rounding",
    .text = "The same sums of the same three products, once with LE-GEMM's parts "
            "(literal and gradual below 2^-14, low part times 2^10), once with Ootomo "
            "and Yokota's parts (low part times 2^11), both added as in LE-GEMM "
            "(unpromoted) and as in Ootomo and Yokota (promoted after every "
            "instruction). Only the parts differ.",
    .plot = { .sees = "Rows with the same unit, input and reference differ only in their "
                      "parts: the smaller error wins." },
    .claims = scale_claims, .points = scale_points, .run = run_scale,
    /* clang-format on */
};
