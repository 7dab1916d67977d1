/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures 10 to 13 of LE-GEMM: Max_error and MRED of square GEMMs, and the distribution
   of errors. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"

#include "lib/base/stats.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <stdlib.h>

/* The sizes, and the number of seeds of each.  The paper averages 10 runs, and its sizes
   are only in its figures.  The errors have such heavy tails that averages of 10 are not
   stable; seeds beyond `whole` have only the rows that claims about averages need. */
struct size {
    size_t n; /* 0: the end */
    size_t seeds, whole;
};

static const struct size sizes[][7] = {
    [STUDY_SMALL] = { { 128, 10, 10 }, { 256, 10, 10 }, { 512, 64, 10 }, { 0 } },
    [STUDY_PAPER] = { { 512, 8, 8 },
                      { 1024, 8, 8 },
                      { 2048, 8, 8 },
                      { 4096, 8, 8 },
                      { 8192, 8, 8 },
                      { 16384, 4, 4 },
                      { 0 } }
};

/* On each unit: the methods, and the choices that the paper leaves open. */
#define METHODS(UNIT)                                                                    \
    { .name = "plain", .recipe = RECIPE_PLAIN, .unit = UNIT },                           \
        { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = UNIT },                 \
        { .name = "ootomo", .recipe = RECIPE_OOTOMO, .unit = UNIT },                     \
        { .name = "ootomo-unpromoted",                                                   \
          .recipe = RECIPE_OOTOMO,                                                       \
          .unit = UNIT,                                                                  \
          .promote = PROMOTE_NEVER },                                                    \
        { .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = UNIT },                     \
    {                                                                                    \
        .name = "legemm-gradual", .recipe = RECIPE_LEGEMM, .unit = UNIT,                 \
        .split = &splits[SPLIT_BITCUT_GRADUAL]                                           \
    }

/* -shifted: A and B times 2^12, where no part is subnormal and nothing else changes. */
static const struct entrant methods[] = {
    METHODS("mi210"),
    { .name = "markidis-shifted",
      .recipe = RECIPE_MARKIDIS,
      .unit = "mi210",
      .shift = 12 },
    { .name = "ootomo-shifted", .recipe = RECIPE_OOTOMO, .unit = "mi210", .shift = 12 },
    { .name = "legemm-shifted", .recipe = RECIPE_LEGEMM, .unit = "mi210", .shift = 12 },
    METHODS("a800"),
    { 0 }
};

static size_t square_points(const struct study *study, enum study_scale scale)
{
    size_t points = 0;
    (void)study;
    for (const struct size *s = sizes[scale]; s->n; s++) points += s->seeds;
    return points;
}

/* The size of a point, and the number of its seed. */
static const struct size *size_of(size_t *round, enum study_scale scale, size_t at)
{
    const struct size *s = sizes[scale];
    while (at >= s->seeds) at -= s++->seeds;
    *round = at;
    return s;
}

static uint64_t square_work(const struct study *study, enum study_scale scale, size_t at)
{
    size_t round;
    const uint64_t n = size_of(&round, scale, at)->n;
    (void)study;
    return n * n * n;
}

/* The median of |D - C| / |C|, over at least 2^16 elements if there are as many. */
static double median_error(const struct comparison *x)
{
    enum { MOST = 1 << 17 };
    const size_t count = x->m * x->n, step = (count + MOST - 1) / MOST;
    double *error = memory_allocate(count / step + 1, sizeof *error);
    size_t used = 0;
    if (!error) return (double)NAN;
    for (size_t i = 0; i < count; i += step) {
        const double c = format_to_double(&formats[FORMAT_F64], x->reference64[i]);
        if (c != 0) error[used++] = fabs(metric_error(x, i) / c);
    }
    const double median = doubles_median(error, used);
    free(error);
    return median;
}

/* The keys of its rows. */
static const unsigned square_told =
    1u << METRIC_MAX_ERROR | 1u << METRIC_MRED | 1u << METRIC_RELRES;

/* Max_error, MRED and the median against each reference. */
static void square_rows(struct study_point *p, struct method_comparison *c,
                        const struct entrant *e, size_t n, int round)
{
    for (int r = 0; r < REFERENCES_TOLD; r++) {
        double values[METRICS];
        if (!c->judged[r]) continue;
        method_comparison_measure(values, c, r, square_told);
        study_row(p,
                  json_pack("{s:o, s:s, s:s, s:i, s:s, s:I, s:i, s:o, s:o, s:o, s:o}",
                            "series", json_sprintf("%s, %s", e->unit, e->name), "unit",
                            e->unit, "recipe", e->name, "shift", e->shift, "reference",
                            method_comparison_references[r], "n", (json_int_t)n, "round",
                            round, "max_error", json_number(values[METRIC_MAX_ERROR]),
                            "mred", json_number(values[METRIC_MRED]), "relres",
                            json_number(values[METRIC_RELRES]), "median",
                            json_number(median_error(&c->judge[r].comparison))));
    }
}

/* One n and one seed, on both units. */
static enum bitcut_status run_square(const struct study *study, struct study_point *p,
                                     struct fault *f)
{
    size_t round;
    const struct size *const s = size_of(&round, p->scale, p->at);
    const size_t n = s->n;
    (void)study;
    const bool whole = round < s->whole;
    const struct comparison_problem of = { "urand(-1,1)", "urand(-1,1)", n, n, n };
    struct method_comparison c;
    enum bitcut_status status =
        method_comparison_init(&c, &of, whole ? BY_EXACT | BY_FP32 : BY_FP32, p, f);
    for (const struct entrant *e = methods; status == BITCUT_OK && e->name; e++) {
        if (e->shift && !whole) continue;
        status = method_comparison_run(&c, e, f);
        if (status == BITCUT_OK) square_rows(p, &c, e, n, (int)round);
    }
    method_comparison_clear(&c);
    return status;
}

/* --- claims ----------------------------------------------------------------------- */

#define OF(UNIT, NAME) "unit=" UNIT " recipe=" NAME

/* Choices that the paper leaves open: the cut of small values, the reference, whether its
   version of Ootomo's method promotes, and the sizes, which are in figures. */
#define CHOICES(UNIT)                                                                    \
    { "literal cut", NULL, OF(UNIT, "legemm") },                                         \
        { "gradual cut", NULL, OF(UNIT, "legemm-gradual") },                             \
        { "exact reference", "reference=exact", NULL },                                  \
        { "FP32 reference", "reference=fp32", NULL },                                    \
        { "promoted", OF(UNIT, "ootomo"), NULL },                                        \
        { "unpromoted", OF(UNIT, "ootomo-unpromoted"), NULL },                           \
        { "n=128", "n=128", NULL }, { "n=256", "n=256", NULL },                          \
        { "n=512", "n=512", NULL }, { "n=1024", "n=1024", NULL },                        \
        { "n=2048", "n=2048", NULL }, { "n=4096", "n=4096", NULL },                      \
        { "n=8192", "n=8192", NULL }, { "n=16384", "n=16384", NULL },                    \
    {                                                                                    \
        NULL, NULL, NULL                                                                 \
    }

static const struct claim_choice mi210_choices[] = { CHOICES("mi210") },
                                 a800_choices[] = { CHOICES("a800") };

/* The factor by which LE-GEMM's error is smaller, as printed: the ratio of averages over
   runs, for each reading of the open choices.  The reference is FP32, as in the paper;
   the exact reference is given for comparison.  The sizes are in figures. */
#define SMALLER(NAME, UNIT, KEY, DOUBT, WHO, NUMBER, CHOICES, WHY)                       \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .paper = "LE-GEMM, section 5.3", .unit = UNIT,   \
        .what = "on " UNIT " the " KEY " of " WHO " is this many times the value of "    \
                "LE-GEMM",                                                               \
        .judge = claim_judge_ratios, .doubt = DOUBT, .assumes = SIZES, .beside = WHY,    \
        .about = &(const struct claim_ratios)                                            \
        {                                                                                \
            .key = KEY, .top = OF(UNIT, WHO),                                            \
            .bottom = OF(UNIT, "legemm|legemm-gradual"), .cases = "unit reference n",    \
            .averages = true, .each = "recipe", .choices = CHOICES,                      \
            .judged = "reference=fp32 n=512|1024|2048|4096|8192|16384"                   \
        }                                                                                \
    }

/* In 95 of 100 cases, ratios of averages of 10 runs, as in the paper, are within factors
   of 1.9 to 3.4 of the ratios of 492 runs at n = 512; for MRED the factors are 1.3 to
   3.1, mostly 1.7.  The bootstrap cannot include events that no run has, so these
   factors, rounded, widen its intervals. */
#define MAX_ERROR "max_error", 3
#define MRED      "mred", 2

#define SIZES                                                                            \
    "n of 512 and more, since the sizes are only in figures, and section 5.2, on "       \
    "speed, "                                                                            \
    "has them from below 2048 to above 7168"

/* This macro expands its arguments before they are separated. */
#define SMALLER_BY(...) SMALLER(__VA_ARGS__)
#define FROM_MI210(NAME, KEY, WHO, NUMBER, WHY)                                          \
    SMALLER_BY("mi210-" NAME, "mi210", KEY, WHO, NUMBER, mi210_choices, WHY)
#define FROM_A800(NAME, KEY, WHO, NUMBER, WHY)                                           \
    SMALLER_BY("a800-" NAME, "a800", KEY, WHO, NUMBER, a800_choices, WHY)

#define AT_MOST_1                                                                        \
    "Max_error is at most 1 and the Max_error of LE-GEMM grows with n, so large ratios " \
    "are from small n"
#define FLUSHED "Markidis' low parts are flushed (mi210-markidis-cause)"
#define TRUNCATED                                                                        \
    "LE-GEMM's own error grows with n, since the unit truncates and nothing is promoted"
#define RN_IS_BETTER                                                                     \
    "rounded parts are more accurate where nothing is flushed, and promotion adds to it"

#define ANY_OOTOMO "ootomo|ootomo-unpromoted"

/* One method relative to another on a unit. */
#define BESIDE(UNIT, KEY, TOP, BOTTOM, MOST)                                             \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = KEY, .top = OF(UNIT, TOP), .bottom = OF(UNIT, BOTTOM),                    \
        .cases = "reference n", .most = MOST                                             \
    }

#define GROWS(UNIT, FALLS)                                                               \
    &(const struct claim_growth)                                                         \
    {                                                                                    \
        .key = "max_error", .where = "reference=fp32 " OF(UNIT, "legemm"), .x = "n",     \
        .cases = "unit", .least = 1, .falls = FALLS                                      \
    }

#define CONCENTRATED(UNIT)                                                               \
    {                                                                                    \
        .name = UNIT "-concentrated", .printed = "more concentrated around 0",           \
        .criterion = CRITERION_ORDER, .unit = UNIT,                                      \
        .what = "on " UNIT " the errors of LE-GEMM lie closer to 0 than those of "       \
                "Ootomo's method",                                                       \
        .paper = "LE-GEMM, section 5.3", .judge = claim_judge_ratios,                    \
        .about = BESIDE(UNIT, "median", "legemm", "ootomo", 1),                          \
        .other = BESIDE(UNIT, "median", "ootomo", "legemm", 1),                          \
        .otherwise = "Ootomo's method over LE-GEMM",                                     \
        .beside = "medians of |D - C| / |C|, LE-GEMM with the literal cut over Ootomo's" \
    }

#define INCREASES(UNIT, QUOTE)                                                           \
    {                                                                                    \
        .name = UNIT "-grows", .printed = QUOTE, .criterion = CRITERION_ORDER,           \
        .unit = UNIT, .what = "on " UNIT " the Max_error of LE-GEMM grows with n",       \
        .paper = "LE-GEMM, section 5.3", .judge = claim_judge_growth,                    \
        .about = GROWS(UNIT, false), .other = GROWS(UNIT, true),                         \
        .otherwise = "falling n"                                                         \
    }

static const struct claim legemm_claims[] = {
    /* clang-format off */
    FROM_MI210("max-plain",     MAX_ERROR, "plain",    377.33, AT_MOST_1),
    FROM_MI210("max-markidis",  MAX_ERROR, "markidis", 74.82, AT_MOST_1),
    FROM_MI210("max-ootomo",    MAX_ERROR, ANY_OOTOMO, 2.69, NULL),
    FROM_MI210("mred-plain",    MRED,      "plain",    636.92, NULL),
    FROM_MI210("mred-markidis", MRED,      "markidis", 178.93, FLUSHED),
    FROM_MI210("mred-ootomo",   MRED,      ANY_OOTOMO, 1.12, NULL),
    FROM_A800("max-plain",      MAX_ERROR, "plain",    571.75, AT_MOST_1),
    FROM_A800("max-markidis",   MAX_ERROR, "markidis", 2.78, NULL),
    FROM_A800("max-ootomo",     MAX_ERROR, ANY_OOTOMO, 1.41, RN_IS_BETTER),
    FROM_A800("mred-plain",     MRED,      "plain",    814.87, TRUNCATED),
    FROM_A800("mred-markidis",  MRED,      "markidis", 1.75, NULL),
    FROM_A800("mred-ootomo",    MRED,      ANY_OOTOMO, 1.28, RN_IS_BETTER),
    { .name = "mi210-markidis-cause",
      .printed = "the effect of the rounding method on FP16 was not considered",
      .criterion = CRITERION_SAME, .unit = "mi210",
      .what = "Markidis is far worse on MI210 because of its rounding and the rounding "
              "functions of the platform",
      .paper = "LE-GEMM, section 5.3", .judge = claim_judge_ratios,
      .about = BESIDE("mi210", "mred", "markidis", "markidis-shifted", SAME_ACCURACY),
      .otherwise = "no other method has rows with a shift and a loss by it",
      .beside = "MRED over the MRED with the same parts, roundings and sums and with A "
                "and B times 2^12, where no part is subnormal: the cause is low parts "
                "that CDNA2 flushes" },
    { .name = "mi210-ootomo-cause",
      .printed = "avoid the value fluctuation caused by rounding",
      .criterion = CRITERION_ORDER, .unit = "mi210",
      .what = "LE-GEMM is more accurate than Ootomo's method on MI210 because bit-cut "
              "avoids rounding",
      .paper = "LE-GEMM, section 5.3", .judge = claim_judge_ratios,
      .about = BESIDE("mi210", "mred", "legemm-shifted", "ootomo-shifted", 1),
      .other = BESIDE("mi210", "mred", "ootomo-shifted", "legemm-shifted", 1),
      .otherwise = "Ootomo's method over LE-GEMM",
      .beside = "MRED of LE-GEMM over Ootomo's with A and B times 2^12, where no part is "
                "subnormal: the gain is that below 2^-14 the literal cut moves all of x "
                "to a scaled part, which is not flushed" },
    CONCENTRATED("mi210"),
    CONCENTRATED("a800"),
    INCREASES("mi210", "increases with the matrix dimension"),
    INCREASES("a800", "more significant when the cumulative dimension increases"),
    { 0 }
    /* clang-format on */
};

const struct study study_legemm = {
    /* clang-format off */
    .name = "legemm",
    .chapter = CHAPTER_CHOICE,
    .what = "Max_error and MRED of square GEMMs on MI210 and A800 (LE-GEMM, Fig. 10-13)",
    .title = "LE-GEMM's errors compared with other methods",
    .text = "n x n x n, elements uniform in [-1, 1], on the models of both GPUs: without "
            "correction, Markidis, Ootomo and Yokota with their promotion and without "
            "it, and LE-GEMM with both readings of bit-cut for values below 2^-14. The "
            "literal reading leaves the high part 0; the gradual reading makes it "
            "subnormal. Errors are against the exact product and against an FP32 loop, "
            "as in the paper. Max_error is at most 1, and reaches 1 where a sign "
            "differs. MRED is the mean of quotients by elements that may be near 0. Both "
            "have heavy tails, so look at the spread over seeds; at the scale small "
            "there are 54 more seeds for n = 512, against the FP32 loop alone. The rows "
            "-shifted have A and B times 2^12, an exact change after which no part is "
            "subnormal, and D divided again.",
    .claims = legemm_claims, .threaded = true,
    .points = square_points, .work = square_work, .run = run_square,
    .plot = { .x = "n", .y = "mred", .series = "recipe", .x_label = "n",
              .y_label = "MRED", .x_log = true, .y_log = true,
              .where = "reference=exact", .panels = "unit shift", .spread = "round",
              .below = "max_error", .below_label = "Max_error", .below_log = true,
              .sees = "On MI210, LE-GEMM with the literal cut is as accurate as Ootomo "
                      "and Yokota's method, except where no part is subnormal (shift "
                      "12); on A800 it is less accurate. Errors are against the exact "
                      "product." },
    /* clang-format on */
};
