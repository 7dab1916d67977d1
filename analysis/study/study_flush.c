/* SPDX-License-Identifier: BSD-3-Clause */
/* The effect of flushed subnormals on parts: CDNA2, which reads f16 below 2^-14 as zero,
   compared with chips that do not, over the exponents of the elements; with and without
   scaled rows and columns. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"

#include "lib/io/json_value.h"

enum { FROM = -30, TO = 0, STEP = 2, EXPONENTS = (TO - FROM) / STEP + 1, BINADES = 2 };

/* Sides n and seeds. */
static const struct {
    size_t n;
    int seeds;
} runs[] = { [STUDY_SMALL] = { 64, 6 }, [STUDY_PAPER] = { 512, 4 } };

static const char *const on[] = { "mi100", "mi210", "mi300" };
enum { CHIPS = sizeof on / sizeof *on };

static const struct entrant methods[] = {
    { .name = "f16", .recipe = RECIPE_PLAIN },
    { .name = "markidis", .recipe = RECIPE_MARKIDIS },
    { .name = "ootomo", .recipe = RECIPE_OOTOMO },
    { .name = "legemm", .recipe = RECIPE_LEGEMM },
    { .name = "ootomo-scaled", .recipe = RECIPE_OOTOMO, .equilibrate = true },
    { .name = "legemm-scaled", .recipe = RECIPE_LEGEMM, .equilibrate = true },
    { 0 }
};

static size_t flush_points(const struct study *study, enum study_scale scale)
{
    (void)study;
    return (size_t)(EXPONENTS * runs[scale].seeds);
}

static void flush_row(struct study_point *p, struct method_comparison *c,
                      const struct entrant *e, int exponent, int round)
{
    double values[METRICS];
    const struct bitcut_split *split = recipes[e->recipe].split;
    method_comparison_measure(values, c, REFERENCE_EXACT, 1u << METRIC_RELRES);
    study_row(p, json_pack("{s:s, s:s, s:s, s:b, s:i, s:i, s:o}", "recipe", e->name,
                           "unit", e->unit, "split", split ? split->name : "f16",
                           "equilibrate", (int)e->equilibrate, "exponent", exponent,
                           "round", round, "relres", json_number(values[METRIC_RELRES])));
}

/* Elements of a few binades and one seed: every method on every chip. */
static enum bitcut_status run_flush(const struct study *study, struct study_point *p,
                                    struct fault *f)
{
    (void)study;
    char input[32];
    const int seeds = runs[p->scale].seeds, round = (int)p->at % seeds;
    const int exponent = FROM + (int)p->at / seeds * STEP;
    const size_t n = runs[p->scale].n;
    const struct comparison_problem of = { input, "urand(-1,1)", n, n, n };
    struct method_comparison c;
    snprintf(input, sizeof input, "exp_rand(%d,%d)", exponent - BINADES, exponent);
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT, p, f);
    for (int i = 0; i < CHIPS; i++)
        for (const struct entrant *m = methods; status == BITCUT_OK && m->name; m++) {
            struct entrant e = *m;
            e.unit = on[i];
            status = method_comparison_run(&c, &e, f);
            if (status == BITCUT_OK) flush_row(p, &c, &e, exponent, round);
        }
    method_comparison_clear(&c);
    return status;
}

/* A method on MI210 compared with the same on MI100, over exponents. */
#define BESIDE_MI100(METHOD, EXPONENTS, LEAST, MOST)                                     \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "relres", .top = "unit=mi210 recipe=" METHOD " exponent=" EXPONENTS,      \
        .bottom = "unit=mi100 recipe=" METHOD, .cases = "exponent", .least = LEAST,      \
        .most = MOST                                                                     \
    }

#define HIGH "-10|-8|-6|-4|-2|0"
#define ALL  "-30|-28|-26|-24|-22|-20|-18|-16|-14|-12|-10|-8|-6|-4|-2|0"

#define LOW "-22|-20|-18|-16"

static const struct claim flush_claims[] = {
    /* clang-format off */
    { .name = "flush-unscaled", .printed = "underflow", OWN_QUESTION,
      .criterion = CRITERION_SAME, .unit = "mi210",
      .what = "without a scale of the low part, MI210 has twice the error of MI100 for "
              "elements of 2^-10 to 1",
      .judge = claim_judge_ratios,
      .about = BESIDE_MI100("markidis", HIGH, SAME_ACCURACY, 0),
      .other = BESIDE_MI100("ootomo-scaled", HIGH, SAME_ACCURACY, 0),
      .otherwise = "rows and columns scaled first",
      .beside = "residual over the residual on MI100, which keeps subnormals" },
    { .name = "flush-scale", .printed = "prevents underflow", OWN_QUESTION,
      .criterion = CRITERION_STATED, .unit = "mi210",
      .what = "with a scale of 2^11 its error is less than a tenth larger there",
      .judge = claim_judge_ratios, .about = BESIDE_MI100("ootomo", HIGH, 0, 1.1),
      .other = BESIDE_MI100("markidis", HIGH, 0, 1.1), .otherwise = "no scale" },
    { .name = "flush-small", .printed = "prevents underflow", OWN_QUESTION,
      .criterion = CRITERION_STATED, .unit = "mi210",
      .what = "for elements of 2^-22 to 2^-16, whose high parts are flushed themselves, "
              "its error is less than a tenth larger as well",
      .judge = claim_judge_ratios, .about = BESIDE_MI100("ootomo", LOW, 0, 1.1),
      .other = BESIDE_MI100("f16", LOW, 0, 1.1), .otherwise = "one part" },
    { .name = "flush-cut", .printed = "prevents underflow", OWN_QUESTION,
      .criterion = CRITERION_STATED, .unit = "mi210",
      .what = "a literal cut with 2^10, whose low part has all of a value below 2^-14, "
              "has an error there less than a tenth larger than on MI100",
      .judge = claim_judge_ratios, .about = BESIDE_MI100("legemm", LOW, 0, 1.1),
      .other = BESIDE_MI100("ootomo", LOW, 0, 1.1), .otherwise = "rounded parts" },
    { .name = "flush-rows", .printed = "prevents underflow", OWN_QUESTION,
      .criterion = CRITERION_STATED, .unit = "mi210",
      .what = "rows and columns scaled by powers of two are sufficient: from 2^-30 to 1 "
              "the error is less than a tenth larger than on MI100",
      .judge = claim_judge_ratios, .about = BESIDE_MI100("ootomo-scaled", ALL, 0, 1.1),
      .other = BESIDE_MI100("ootomo", ALL, 0, 1.1), .otherwise = "without scaling of rows and "
                                                                 "columns" },
    { 0 }
    /* clang-format on */
};

const struct study study_flush = {
    /* clang-format off */
    .name = "flush",
    .chapter = CHAPTER_UNDERFLOW,
    .what = "effect of flushed subnormals on parts on MI210, and of scaling rows and "
            "columns first",
    .title = "Flushed subnormals",
    .text = "A with three binades up to 2^e, B of (-1, 1): one f16 part, two parts "
            "without a scale (markidis), with 2^11 (ootomo) and cut with 2^10 (legemm), "
            "and both of these with rows and columns scaled first, on MI210, which reads "
            "subnormal f16 as zero, and on MI100 and MI300, which do not.",
    .claims = flush_claims, .points = flush_points, .run = run_flush, .threaded = true,
    .plot = { .x = "exponent", .y = "relres", .series = "recipe", .panels = "unit",
              .spread = "round", .y_log = true,
              .x_label = "largest exponent of A",
              .y_label = "relative residual",
              .sees = "On MI100 and MI300, two rounded parts lose accuracy with their "
                      "subnormals: without a scale from 2^-2 down, with 2^11 from 2^-12 "
                      "down. On MI210, parts with 2^11 lose accuracy from 2^-6 down, and "
                      "all except the cut parts end at 2^-14. With scaled rows and "
                      "columns all three chips are flat." },
    /* clang-format on */
};
