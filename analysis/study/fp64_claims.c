/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/fp64_claims.h"

#include "analysis/study/compare.h"

/* --- sources ---------------------------------------------------------------------- */

#define OOTOMO64    "Ootomo, Ozaki and Yokota 2024 (arXiv 2306.11975), abstract"
#define ABDELFATTAH "Abdelfattah et al. 2025 (arXiv 2506.11277), abstract"
#define UCHINO                                                                           \
    "README.md of accelerator_for_ozIMMU bf9a235, the code of Uchino, Ozaki and "        \
    "Imamura 2025 (arXiv 2409.13313)"
#define OZIMMU_BITS "ozIMMU 80bb87a, get_bits_per_int8() in src/split.cu"
#define RESULTS                                                                          \
    "GEMMul8 013fb34, GEMMul8/testing/results_02, DGEMM on GH200, k = 1024: results of " \
    "Uchino, "                                                                           \
    "Ozaki and Imamura 2025 (arXiv 2508.03984)"
#define GUIDELINES "README.md of GEMMul8 08e83eb, Accuracy Guidelines"
#define MODES      "README.md of GEMMul8 08e83eb, Scaling Modes"
#define ANALYSIS   "Uchino, Ozaki and Imamura 2026 (arXiv 2602.02549), abstract"
#define SCHWARZ    "Schwarz et al. 2025 (arXiv 2511.13778), abstract"
#define GRADING                                                                          \
    "NVIDIA/CUDALibrarySamples b25987e, cuBLAS/Emulation/gemm_grading/README.md"
#define SAMPLE                                                                           \
    "NVIDIA/CUDALibrarySamples 2b188a5, cuBLAS/Emulation/dgemm_dynamic/README.md"

/* --- comparisons ------------------------------------------------------------------ */

/* The error of rows over that of other rows, for each input and k. */
#define RATIO(TOP, BOTTOM, LEAST, MOST)                                                  \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "error", .top = TOP, .bottom = BOTTOM, .cases = "input k",                \
        .least = LEAST, .most = MOST                                                     \
    }
#define AS_FP64(TOP)       RATIO(TOP, "scheme=fp64", 0, SAME_ACCURACY)
#define LOSES_TO_FP64(TOP) RATIO(TOP, "scheme=fp64", SAME_ACCURACY, 0)

/* Inputs whose exponents differ little. */
#define NARROW "input=urand(-1,1)|urand(0,1)|phi(0.5)|phi(1)"

/* The error for each input and number of parts: `judged` ones, and medians of others. */
#define MORE_ACCURATE(TOP, BOTTOM, JUDGED, CHOICES)                                      \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "error", .top = TOP, .bottom = BOTTOM, .cases = "input parts",            \
        .judged = JUDGED, .choices = CHOICES, .most = 1                                  \
    }

static const struct claim_choice by_slices[] = {
    { "7 slices", "parts=7", NULL },   { "8 slices", "parts=8", NULL },
    { "9 slices", "parts=9", NULL },   { "10 slices", "parts=10", NULL },
    { "11 slices", "parts=11", NULL }, { 0 }
};

static const struct claim_choice by_inputs[] = {
    { "phi = 2", "input=phi(2)", NULL },     { "phi = 4", "input=phi(4)", NULL },
    { "graded", "input=graded(20)", NULL },  { "opposite", "input=opposite(20)", NULL },
    { "phi = 0.5", "input=phi(0.5)", NULL }, { 0 }
};

static const struct claim_choice by_moduli[] = {
    { "14 moduli", "parts=14 " NARROW, NULL },
    { "15 moduli", "parts=15 " NARROW, NULL },
    { "15 moduli and phi = 2", "parts=15 input=phi(2)", NULL },
    { "15 moduli and phi = 4", "parts=15 input=phi(4)", NULL },
    { 0 }
};

/* The error for the fewest parts over the error for the most, or the inverse. */
#define OVER_PARTS(WHERE, FALLS)                                                         \
    &(const struct claim_growth)                                                         \
    {                                                                                    \
        .key = "error", .where = WHERE, .x = "parts", .cases = "input k", .least = 1,    \
        .falls = FALLS                                                                   \
    }

/* The fewest parts with a max_error of at most that of DGEMM. */
#define FEWEST(NAME, SCHEME, INPUT, NUMBER, WHAT, BESIDE)                                \
    {                                                                                    \
        .name = "fp64-" NAME, .number = NUMBER, .described = true, .paper = RESULTS,     \
        .what = WHAT, .judge = claim_judge_values, .beside = BESIDE,                     \
        .about = &(const struct claim_values)                                            \
        {                                                                                \
            .key = "needed", .where = "scheme=" SCHEME " input=" INPUT                   \
        }                                                                                \
    }
#define THERE                                                                            \
    "the largest relative error of 1024 x 1024 outputs, A and B from one seed, and the " \
    "DGEMM of cuBLAS there; FP64 multiply-adds with k ascending here"
#define FAST_THERE THERE "; the fast mode of an earlier version there"

#define SLICES_S8 "scheme=ozimmu|ozimmu-ef|ozimmu-rn|ozimmu-h|cublasdx|cublas-fixed"
#define CHECKED   "exact=true|false" /* sums of these rows were computed exactly */
#define WIDE      "input=phi(2)|phi(4)"
#define CUBLAS55  "scheme=cublas-fixed parts=7"

const struct claim fp64_claims[] = {
    /* clang-format off */
    { .name = "fp64-ozimmu", .printed = "maintaining the FP64 accuracy",
      .criterion = CRITERION_SAME, .paper = OOTOMO64,
      .what = "9 slices of ozIMMU are as accurate as FP64 on uniform matrices",
      .judge = claim_judge_ratios,
      .about = AS_FP64("scheme=ozimmu parts=9 input=urand(-1,1)|urand(0,1)"),
      .other = AS_FP64("scheme=ozimmu parts=7 input=urand(-1,1)|urand(0,1)"),
      .otherwise = "7 slices",
      .assumes = "9 slices, the mode in the example of the library's README.md",
      .beside = "the abstract is about matrices of a quantum circuit simulation" },
    { .name = "fp64-exact",
      .printed = "the product of these slices is computed exactly",
      .paper = ABDELFATTAH,
      .what = "s32 sums of products of INT8 slices are exact",
      .judge = claim_judge_flags,
      .about = &(const struct claim_flags){ .key = "exact",
                                            .where = SLICES_S8 " " CHECKED },
      .other =
          &(const struct claim_flags){ .key = "exact",
                                       .where = "scheme=slices-e4m3 " CHECKED },
      .otherwise = "slices in e4m3, whose sums a unit of Hopper cuts" },
    { .name = "fp64-slices", .printed = "more slices yield better accuracy",
      .criterion = CRITERION_ORDER, .paper = ABDELFATTAH,
      .what = "the error of ozIMMU falls with the number of slices",
      .judge = claim_judge_growth, .about = OVER_PARTS("scheme=ozimmu", true),
      .other = OVER_PARTS("scheme=ozimmu", false), .otherwise = "the error grows" },
    { .name = "fp64-badly-scaled",
      .printed = "may become inaccurate (or inefficient) if rows of A or columns of B "
                 "are badly scaled",
      .criterion = CRITERION_SAME, .paper = ABDELFATTAH,
      .what = "9 slices lose accuracy where small elements of a row of A meet large "
              "elements of B",
      .judge = claim_judge_ratios,
      .about = LOSES_TO_FP64("scheme=ozimmu parts=9 input=opposite(20)"),
      .other = LOSES_TO_FP64("scheme=ozimmu parts=9 input=graded(20)"),
      .otherwise = "small elements of A that meet small elements of B" },
    { .name = "fp64-width", .number = 6, .described = true, .paper = OZIMMU_BITS,
      .what = "slices for k = 2^18 have this many bits: floor((31 - log2 k) / 2)",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){ .key = "digit_bits",
                                             .where = "scheme=ozimmu k=262144" } },
    { .name = "fp64-slice", .number = 121, .tolerance = 1.5, .described = true,
      .paper = RESULTS,
      .what = "a seventh slice of ozIMMU_EF divides the largest relative error by this, "
              "for phi = 0.5: 2.18e-4 over 1.80e-6",
      .judge = claim_judge_ratios, .beside = "largest error in u |A||B| here",
      .about = RATIO("scheme=ozimmu-ef parts=6 input=phi(0.5)",
                     "scheme=ozimmu-ef parts=7 input=phi(0.5)", 0, 0) },
    { .name = "fp64-rn",
      .printed = "more accurate result than ozIMMU when the numbers of slices are the "
                 "same",
      .criterion = CRITERION_ORDER, .paper = UCHINO,
      .what = "slices rounded to nearest are more accurate than as many truncated slices",
      .judge = claim_judge_ratios,
      .about = MORE_ACCURATE("scheme=ozimmu-rn", "scheme=ozimmu", "parts=7", by_slices),
      .other = MORE_ACCURATE("scheme=ozimmu", "scheme=ozimmu-rn", "parts=7", NULL),
      .otherwise = "the inverse ratio" },
    { .name = "fp64-h", .printed = "more accurate result faster than ozIMMU",
      .criterion = CRITERION_ORDER, .paper = UCHINO,
      .what = "slices rounded to nearest, with groups of exact sums, are more accurate "
              "than as many truncated slices",
      .judge = claim_judge_ratios,
      .about = MORE_ACCURATE("scheme=ozimmu-h", "scheme=ozimmu", "parts=7", by_slices),
      .other = MORE_ACCURATE("scheme=ozimmu", "scheme=ozimmu-h", "parts=7", NULL),
      .otherwise = "the inverse ratio", .beside = "accuracy alone" },
    { .name = "fp64-ef", .printed = "reduce the accumuration in FP64 in ozIMMU",
      .criterion = CRITERION_ORDER, .paper = UCHINO,
      .what = "groups of exact sums reduce the number of FP64 additions",
      .judge = claim_judge_ratios,
      .about = &(const struct claim_ratios){
          .key = "additions", .top = "scheme=ozimmu-ef", .bottom = "scheme=ozimmu",
          .cases = "k parts", .most = 1 },
      .other = &(const struct claim_ratios){
          .key = "additions", .top = "scheme=ozimmu", .bottom = "scheme=ozimmu-ef",
          .cases = "k parts", .most = 1 },
      .otherwise = "the inverse ratio" },
    FEWEST("ef-0.5", "ozimmu-ef", "phi(0.5)", 9,
           "ozIMMU_EF needs this many slices to be as accurate as DGEMM for phi = 0.5",
           THERE),
    FEWEST("ef-4", "ozimmu-ef", "phi(4)", 11,
           "ozIMMU_EF needs this many slices to be as accurate as DGEMM for phi = 4",
           THERE),
    FEWEST("accurate-0.5", "gemmul8", "phi(0.5)", 15,
           "GEMMul8 in accurate mode needs this many moduli for phi = 0.5", THERE),
    FEWEST("accurate-4", "gemmul8", "phi(4)", 17,
           "GEMMul8 in accurate mode needs this many moduli for phi = 4", THERE),
    FEWEST("fast-0.5", "gemmul8-fast", "phi(0.5)", 15,
           "GEMMul8 in fast mode needs this many moduli for phi = 0.5", FAST_THERE),
    FEWEST("fast-2", "gemmul8-fast", "phi(2)", 18,
           "GEMMul8 in fast mode needs this many moduli for phi = 2", FAST_THERE),
    { .name = "fp64-modulus", .number = 14.2, .tolerance = 1.5, .described = true,
      .paper = GUIDELINES,
      .what = "a fourteenth modulus divides the error by this: the effective bits in the "
              "table grow from 47 for 12 moduli to 70 for 18, by 3.83 for each",
      .judge = claim_judge_ratios,
      .beside = "matrices whose error is far above that of FP64 additions",
      .about = RATIO("scheme=gemmul8 parts=13 input=phi(2)|phi(4)|opposite(20)",
                     "scheme=gemmul8 parts=14", 0, 0) },
    { .name = "fp64-guideline",
      .printed = "accuracy comparable to cuBLAS fixed-point emulation with "
                 "`mantissaBitCount = 55`",
      .criterion = CRITERION_SAME, .paper = GUIDELINES,
      .what = "14 or 15 moduli of GEMMul8 in fast mode have at most twice the error of "
              "55 bits of cuBLAS",
      .judge = claim_judge_ratios,
      .about = &(const struct claim_ratios){
          .key = "error", .top = "scheme=gemmul8-fast parts=14|15", .bottom = CUBLAS55,
          .cases = "input k", .each = "parts", .most = SAME_ACCURACY, .judged = NARROW,
          .choices = by_moduli },
      .other = &(const struct claim_ratios){
          .key = "error", .top = "scheme=gemmul8-fast parts=13", .bottom = CUBLAS55,
          .cases = "input k", .each = "parts", .most = SAME_ACCURACY, .judged = NARROW },
      .otherwise = "13 moduli",
      .beside = "a later fast mode there, whose scales differ; the README calls the "
                "numbers practical starting points" },
    { .name = "fp64-modes",
      .printed = "accurate mode is more likely to provide higher accuracy than fast mode",
      .criterion = CRITERION_ORDER, .paper = MODES,
      .what = "the accurate mode of GEMMul8 is more accurate than the fast mode on "
              "matrices of a wide range",
      .judge = claim_judge_ratios,
      .about = MORE_ACCURATE("scheme=gemmul8 parts=14|15", "scheme=gemmul8-fast",
                             WIDE, by_inputs),
      .other = MORE_ACCURATE("scheme=gemmul8-fast parts=14|15", "scheme=gemmul8",
                             WIDE, NULL),
      .otherwise = "the inverse ratio", .beside = "a later fast mode there" },
    { .name = "fp64-wide",
      .printed = "can degrade when the exponent distribution of the input matrices is "
                 "wide",
      .criterion = CRITERION_SAME, .paper = ANALYSIS,
      .what = "15 moduli of GEMMul8 lose accuracy for phi = 4",
      .judge = claim_judge_ratios,
      .about = LOSES_TO_FP64("scheme=gemmul8 parts=15 input=phi(4)"),
      .other = LOSES_TO_FP64("scheme=gemmul8 parts=15 input=phi(0.5)"),
      .otherwise = "phi = 0.5" },
    { .name = "fp64-unsigned", .printed = "increases representational efficiency",
      .criterion = CRITERION_ORDER, .paper = SCHWARZ,
      .what = "7 slices of 8 bits without signs are more accurate than 8 slices with "
              "signs",
      .judge = claim_judge_ratios,
      .about = RATIO(CUBLAS55, "scheme=ozimmu parts=8", 0, 1),
      .other = RATIO("scheme=ozimmu parts=7", "scheme=ozimmu parts=8", 0, 1),
      .otherwise = "7 slices with signs" },
    { .name = "fp64-grade-a",
      .printed = "the maximum error does not grow more than linearly",
      .criterion = CRITERION_ORDER, .paper = GRADING,
      .what = "the error of 55 bits of cuBLAS, in u |A||B|, grows at most as k does",
      .judge = claim_judge_growth,
      .about = &(const struct claim_growth){
          .key = "error_per_k", .where = CUBLAS55 " input=urand(0,1)", .x = "k",
          .cases = "input", .least = 1, .falls = true },
      .otherwise = "the limit is linear growth",
      .beside = "bits that cuBLAS chooses at run time there" },
    { .name = "fp64-grade-256", .number = 17.24, .described = true, .paper = GRADING,
      .what = "the largest error of the emulated DGEMM at n = 256 in u |A||B|: 8.62172 "
              "in units of 2 u",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){
          .key = "error", .cases = "round",
          .where = CUBLAS55 " k=256 input=urand(0,1)" },
      .beside = "the reference of that program is a loop of FP64, whose own error is "
                "part of the printed one" },
    { .name = "fp64-grade-reference", .number = 17.24, .described = true, OWN_QUESTION,
      .tolerance = 1.5,
      .what = "the error printed for the emulated DGEMM at n = 256 is that of the FP64 "
              "loop with which the program compares it",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){
          .key = "error", .where = "scheme=fp64 k=256 input=urand(0,1)" } },
    { .name = "fp64-detected",
      .printed = "Distinguishes between fixed-point and conventional floating-point GEMM",
      .criterion = CRITERION_STATED, .paper = GRADING,
      .what = "errors of 55 bits of cuBLAS exceed 10 k u |A||B|, the limit of the test, "
              "where small elements of A meet large elements of B, for k up to 1024",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){
          .key = "error_per_k", .cases = "k round", .least = 10,
          .where = CUBLAS55 " k=64|256|1024 input=opposite(20)" },
      .other = &(const struct claim_values){
          .key = "error_per_k", .least = 10,
          .where = "scheme=fp64 k=64|256|1024 input=opposite(20)" },
      .otherwise = "FP64 multiply-adds",
      .beside = "all exponents of FP64 there, 20 binades here; n up to 1024 by default" },
    { .name = "fp64-dynamic", .printed = "the same or better accuracy than native FP64",
      .criterion = CRITERION_SAME, .paper = SAMPLE,
      .what = "cuBLAS chooses so many bits that its error is at most that of FP64",
      .judge = claim_judge_ratios, .about = AS_FP64(CUBLAS55),
      .needs = "the rule by which cuBLAS chooses the number of bits, which is not "
               "published; these rows have 55 bits" },
    { .name = "fp64-speed", .number = 1.4, .device = "GH200",
      .paper = "Uchino, Ozaki and Imamura 2025 (arXiv 2508.03984), abstract",
      .what = "the DGEMM of GEMMul8 is this many times as fast as native DGEMM",
      .needs = "times of the kernels of GEMMul8" },
    { .name = "fp64-bound", .printed = "at most 1", OWN_QUESTION,
      .criterion = CRITERION_STATED,
      .what = "no error exceeds the bound of its scheme",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){ .key = "share", .most = 1 },
      .otherwise = "the largest error over its bound" },
    { 0 }
    /* clang-format on */
};
