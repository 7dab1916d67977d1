/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure 8 of Ootomo and Yokota: underflow of the low part, by binades. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"

#include "analysis/split/retention.h"

#include <math.h>

enum { FROM = -20, TO = 14, BINADES = TO - FROM + 1 };

/* Values of a binade that are tried at small scale; at the other scale all are tried. */
enum { SAMPLES = 1 << 19 };

/* The splits of the study; the first one is the assumption of Eq. 13-17. */
static const struct bitcut_split *const rows[] = {
    &(const struct bitcut_split){
        .name = "truncated",
        .parts = 2,
        .part = { { &formats[FORMAT_F16], &roundings[ROUND_RZ], 0, false },
                  { &formats[FORMAT_F16], &roundings[ROUND_RZ], 1, false } } },
    &splits[SPLIT_MARKIDIS], &splits[SPLIT_HALFHALF], &splits[SPLIT_BITCUT]
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The results for a split in a binade. */
struct underflow {
    double p_subnormal, p_zero, bits; /* NAN: undefined */
    double below;                     /* distance from the closed form */
};

static json_t *number_or_null(double x) { return isnan(x) ? json_null() : json_real(x); }

/* Eq. 15 of Ootomo and Yokota for truncated parts, with the exponent moved by the scale;
   and the ratio of the count to it, where it is neither 1 nor too rare for a sample. */
static double over_eq15(const struct bitcut_split *s, int e, double counted)
{
    const int bits = e + s->scale + 4;
    return bits > 0 && bits <= 6 ? ldexp(counted, bits) : NAN;
}

static void underflow_row(struct study_point *p, const struct bitcut_split *s,
                          const char *by, int e, const struct underflow *u)
{
    study_row(
        p, json_pack(
               "{s:o, s:s, s:s, s:i, s:f, s:f, s:o, s:o, s:o, s:i}", "series",
               json_sprintf("%s, %s", s->name, by), "split", s->name, "by", by,
               "exponent", e, "p_subnormal", u->p_subnormal, "p_zero", u->p_zero, "bits",
               number_or_null(u->bits), "distance", number_or_null(u->below), "over_eq15",
               number_or_null(isnan(u->bits) ? NAN : over_eq15(s, e, u->p_subnormal)),
               "bits_of", SIGNIFICAND_BITS));
}

/* The distance of a count from the closed form: the larger one of both probabilities. */
static double distance(const struct retention *r, double p_subnormal, double p_zero)
{
    const double x = fabs(r->p_subnormal - p_subnormal), y = fabs(r->p_zero - p_zero);
    return x > y ? x : y;
}

static size_t underflow_points(const struct study *study, enum study_scale scale)
{
    (void)study, (void)scale;
    return (size_t)ROWS * BINADES;
}

static enum bitcut_status run_underflow(const struct study *study, struct study_point *p,
                                        struct fault *f)
{
    (void)study;
    const struct bitcut_split *s = rows[p->at / BINADES];
    const int e = FROM + (int)(p->at % BINADES);
    struct retention r;
    const enum bitcut_status status =
        retention_count(&r, s, e, p->scale == STUDY_PAPER ? 0 : SAMPLES, p->seed,
                        p->threads, p->progress, f);
    if (status != BITCUT_OK) return status;
    const bool normal =
        e >= format_emin(s->part[0].format); /* all high parts are normal */
    const struct underflow theory = { retention_p_subnormal(s, e), retention_p_zero(s, e),
                                      NAN, NAN };
    const struct underflow counted = {
        r.p_subnormal, r.p_zero, r.bits,
        normal ? distance(&r, theory.p_subnormal, theory.p_zero) : NAN
    };
    underflow_row(p, s, "counted", e, &counted);
    if (normal) underflow_row(p, s, "theory", e, &theory);
    return BITCUT_OK;
}

#define AT_ONE(SPLIT)                                                                    \
    {                                                                                    \
        .key = "p_subnormal", .where = "split=" SPLIT " exponent=0 by=counted",          \
        .least = 0.01                                                                    \
    }

/* Counts are below by up to 3 2^-12.  A sample has an error of at most 4 sqrt(1/4 /
   SAMPLES) in all but one of 10^4 cases. */
static const struct claim_values as_theory = { .key = "distance",
                                               .where = "split=truncated",
                                               .most = 3.0 / 4096 + 2.8e-3 },
                                 at_one = AT_ONE("markidis"),
                                 scaled_at_one = AT_ONE("halfhalf"),
                                 as_eq15 = { .key = "over_eq15",
                                             .where = "split=markidis",
                                             .least = 0.9,
                                             .most = 1.1 };

#define OVER(KEY, TOP, BOTTOM, LEAST, MOST)                                              \
    {                                                                                    \
        .key = KEY, .top = "split=" TOP " by=counted",                                   \
        .bottom = "split=" BOTTOM " by=counted", .cases = "exponent", .least = LEAST,    \
        .most = MOST                                                                     \
    }

static const struct claim_ratios scaled =
                                     OVER("p_subnormal", "halfhalf", "markidis", 0, 1),
                                 unscaled =
                                     OVER("p_subnormal", "markidis", "halfhalf", 0, 1),
                                 cut = OVER("bits", "bitcut", "halfhalf", 1, 0),
                                 unscaled_bits =
                                     OVER("bits", "markidis", "halfhalf", 1, 0);

static const struct claim underflow_claims[] = {
    /* clang-format off */
    { .name = "underflow-theory", .printed = "theory and count are one curve",
      .described = true, .criterion = CRITERION_STATED,
      .what = "Eq. 15 and 17 give the frequency of underflow of truncated low parts, to "
              "within 0.0036",
      .paper = "Ootomo and Yokota, Fig. 8",
      .judge = claim_judge_values, .about = &as_theory,
      .otherwise = "the numbers counted for other parts are not as computed" },
    { .name = "underflow-nearest", .printed = "Eq. 15: 2^-(e+4)", .described = true,
      .criterion = CRITERION_STATED,
      .what = "Eq. 15 also gives it for the parts of the method, which are rounded to "
              "nearest, to within a tenth",
      .paper = "Ootomo and Yokota, Eq. 15",
      .judge = claim_judge_values, .about = &as_eq15,
      .otherwise = "the ratio of two numbers that are computed independently",
      .beside = "over Eq. 15: rounding the high part to nearest halves the residual, "
                "which Eq. 13 neglects" },
    { .name = "underflow-at-one", .printed = "gradual underflow occurs",
      .criterion = CRITERION_STATED,
      .what = "low parts without a scale underflow gradually even for values around 1: "
              "at least one in a hundred",
      .paper = "Ootomo and Yokota, section 3.3",
      .judge = claim_judge_values, .about = &at_one,
      .other = &scaled_at_one, .otherwise = "parts with the scale 2^11" },
    { .name = "underflow-scaled", .printed = "reduce these probabilities",
      .criterion = CRITERION_ORDER,
      .what = "multiplying the residual by 2^11 makes underflow rarer",
      .paper = "Ootomo and Yokota, section 3.3",
      .judge = claim_judge_ratios, .about = &scaled,
      .other = &unscaled, .otherwise = "no scale" },
    { .name = "bitcut-bits", .printed = "effectively preserve the original data mantissa",
      .criterion = CRITERION_ORDER,
      .what = "a copied high part, and the remainder cut, retain at least as much as "
              "rounded parts",
      .paper = "LE-GEMM, section 4.1",
      .judge = claim_judge_ratios, .about = &cut,
      .other = &unscaled_bits, .otherwise = "rounded parts without a scale",
      .beside = "bits retained over the bits of RN + RN: truncation needs one "
                "bit more, and below 2^-14 the literal cut has no high part" },
    { 0 }
    /* clang-format on */
};

const struct study study_underflow = {
    /* clang-format off */
    .name = "underflow",
    .chapter = CHAPTER_UNDERFLOW,
    .what = "probability that the low part underflows (Ootomo and Yokota, Figure 8)",
    .title = "Underflow of the low part",
    .text = "Values of each binade are split: 2^19 of them, or all 2^23 at the scale "
            "paper. p_subnormal is the share of values whose low part leaves the normal "
            "range though the residual is not zero; p_zero is the share where the low "
            "part is zero; bits is the mean of the bits that the parts retain, of 24. "
            "Theory is the closed form, for binades with normal high parts: Ootomo and "
            "Yokota's Eq. 13-17 for truncated high parts, and twice their Eq. 15 for "
            "high parts rounded to nearest, since rounding halves the residual. The "
            "theory treats residuals as continuous. Counts are below it by up to 3 "
            "2^-12, because residuals are whole last places of x and often zero. Scaling "
            "by 2^11 (halfhalf) or 2^10 (bitcut) moves underflow down by as many "
            "binades. No underflow does not imply precision: below 2^-14 the literal "
            "bitcut has a high part of zero, and all of x in the low part. That part is "
            "a normal number, so nothing underflows, but it retains only 12 of 24 bits: read "
            "the lower picture together with the upper one.",
    .claims = underflow_claims, .points = underflow_points,
    .run = run_underflow, .renew = study_renew_bits,
    .plot = { .x = "exponent", .y = "p_subnormal", .series = "by", .panels = "split",
              .x_label = "exponent of x", .y_label = "P(low part subnormal or lost)",
              .y_log = true, .below = "bits", .below_label = "bits retained, of 24",
              .sees = "Counts coincide with the theory. The scales of halfhalf and bitcut "
                      "move the rise of 1 by eleven and ten binades. Below 2^-14, bitcut "
                      "retains half the bits though nothing underflows." },
    /* clang-format on */
};
