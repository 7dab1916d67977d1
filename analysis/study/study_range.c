/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure 9 of Ootomo and Yokota: the bits of a value that are retained, over all
   exponents. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"

#include "analysis/split/retention.h"

#include <math.h>

enum { FROM = -126, TO = 127 };

/* The step in binades, and the number of values of each (0: all). */
static const struct {
    int step;
    size_t samples;
} runs[] = { [STUDY_SMALL] = { 1, 1 << 10 }, [STUDY_PAPER] = { 1, 0 } };

static const int kept[] = { SPLIT_F32,      SPLIT_HALF,     SPLIT_TF32,   SPLIT_MARKIDIS,
                            SPLIT_HALFHALF, SPLIT_TF32TF32, SPLIT_BITCUT, SPLIT_BF16X3 };

static size_t range_points(const struct study *study, enum study_scale scale)
{
    (void)study;
    return (size_t)((TO - FROM) / runs[scale].step + 1);
}

/* One exponent, all splits.  Values that overflow retain 0 bits. */
static enum bitcut_status run_range(const struct study *study, struct study_point *p,
                                    struct fault *f)
{
    (void)study;
    const int e = FROM + (int)p->at * runs[p->scale].step;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct retention r;
        const struct bitcut_split *s = &splits[kept[i]];
        const enum bitcut_status status = retention_count(
            &r, s, e, runs[p->scale].samples, p->seed, p->threads, p->progress, f);
        if (status != BITCUT_OK) return status;
        const double error = ldexp(r.mean_ulp, -23);
        study_row(
            p, json_pack("{s:s, s:s, s:i, s:f, s:o, s:f, s:f, s:i}", "split", s->name, "parts",
                         s->parts > 1 ? "several parts" : "one part", "exponent", e,
                         "bits", r.bits, "error",
                         r.p_overflow > 0 || error == 0 ? json_null() : json_real(error),
                         "exact", r.exact, "p_overflow", r.p_overflow, "bits_of",
                         SIGNIFICAND_BITS));
    }
    return BITCUT_OK;
}

/* The bits of a split over some exponents; each is a row. */
#define BITS(SPLIT, EXPONENTS, LEAST, MOST)                                              \
    &(const struct claim_values)                                                         \
    {                                                                                    \
        .key = "bits", .where = "split=" SPLIT " exponent=" EXPONENTS,                   \
        .cases = "exponent", .least = LEAST, .most = MOST                                \
    }

#define HIGH "-15|-14|-13|-12|-11|-10|-8|-6|-4|-2|0|2|4|6|8|10|12|14"
#define LOW  "-35|-33|-30|-27|-25|-22|-20|-18|-16"
#define OUT  "-100|-90|-80|-70|-60|-50|-40|-39|-38|-37|-36"
#define WIDE "-110|-100|-90|-80|-60|-40|-20|0|20|40|60|80|100|120|126"

#define SECTION411 "Ootomo and Yokota, section 4.1.1"

static const struct claim range_claims[] = {
    /* clang-format off */
    { .name = "figure9-halfhalf", .printed = "high precision",
      .criterion = CRITERION_STATED,
      .what = "halfhalf represents exponents from -15 to 14 with high precision, defined "
              "as 22 of 24 bits",
      .paper = SECTION411,
      .judge = claim_judge_values, .about = BITS("halfhalf", HIGH, 22, 0),
      .other = BITS("half", HIGH, 22, 0), .otherwise = "one f16 part" },
    { .name = "figure9-halfhalf-low", .printed = "lower precision",
      .criterion = CRITERION_STATED,
      .what = "halfhalf represents exponents from -35 to -16 with lower precision, "
              "defined as 1.2 to 23 of 24 bits",
      .paper = SECTION411,
      .judge = claim_judge_values, .about = BITS("halfhalf", LOW, 1.2, 23),
      .other = BITS("tf32tf32", LOW, 1.2, 23), .otherwise = "tf32tf32" },
    { .name = "figure9-halfhalf-out", .printed = "can't represent this range of numbers",
      .criterion = CRITERION_STATED,
      .what = "halfhalf cannot represent exponents from -100 to -36: it retains less "
              "than 0.01 bits",
      .paper = SECTION411,
      .judge = claim_judge_values, .about = BITS("halfhalf", OUT, 0, 0.01),
      .other = BITS("tf32tf32", OUT, 0, 0.01), .otherwise = "tf32tf32" },
    { .name = "figure9-tf32tf32", .printed = "nearly the entire FP32 exponent range",
      .criterion = CRITERION_STATED,
      .what = "tf32tf32 retains 23 of 24 bits over nearly all exponents of FP32, -110 to 126",
      .paper = "Ootomo and Yokota, section 1",
      .judge = claim_judge_values, .about = BITS("tf32tf32", WIDE, 23, 0),
      .other = BITS("halfhalf", WIDE, 23, 0), .otherwise = "halfhalf" },
    { 0 }
    /* clang-format on */
};

const struct study study_figure9 = {
    /* clang-format off */
    .name = "figure9",
    .chapter = CHAPTER_KEEPS,
    .what = "bits retained over all exponents (Ootomo and Yokota, Figure 9)",
    .title = "Range and precision of parts",
    .text = "Values of each binade of FP32, 2^10 of them or all at the scale paper, and "
            "the bits that parts retain of them, of 24; error is the mean "
            "relative error, empty where a part is infinite or all values are exact. One "
            "part of f16 and of tf32, f32 itself, two parts without a scale (markidis), "
            "the parts of Ootomo and Yokota (halfhalf, tf32tf32), of LE-GEMM (bitcut) "
            "and three bf16 parts.",
    .claims = range_claims, .points = range_points, .run = run_range,
    .renew = study_renew_bits,
    .plot = { .x = "exponent", .y = "bits", .series = "split",
              .x_label = "exponent of x", .y_label = "bits retained, of 24",
              .panels = "parts", .below = "error", .below_label = "mean relative error",
              .below_log = true,
              .sees = "One f16 part ends at 2^-24 and 2^16; halfhalf and bitcut reach "
                      "ten or eleven binades further down; parts of tf32 and bf16 retain "
                      "their bits over nearly the whole range." },
    /* clang-format on */
};
