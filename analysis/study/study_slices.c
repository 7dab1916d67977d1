/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of an Ozaki scheme on units with operands of at most eight bits: the number of
   products that add up exactly. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"
#include "lib/number/bits.h"

#include <stdio.h>

enum { SLICE_BITS_MAX = 4, K_MIN = 32, K_MAX = 1 << 12, SUM_BITS_MAX = 17 };

/* Whether slices are possible on the unit: it has narrow operands, and a GEMM with one
   part. */
static bool takes_slices(const struct bitcut_unit *u)
{
    struct gemm_plan plan;
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
    return u->a == u->b && u->a->bits <= 8 &&
           gemm_plan_on_unit(&plan, &g, NULL) == BITCUT_OK;
}

static const struct bitcut_unit *narrow_at(size_t at)
{
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (takes_slices(u) && !at--) return u;
    return NULL;
}

static size_t slices_points(const struct study *study, enum study_scale scale)
{
    size_t count = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) count += takes_slices(u);
    (void)study, (void)scale;
    return count;
}

/* Whether an integer is a number in the format of the unit's operands. */
static bool is_operand(const struct bitcut_unit *u, int x)
{
    const struct bitcut_format *f = u->a;
    const uint64_t part = bitcut_format_convert(
        f, &roundings[ROUND_RN], &formats[FORMAT_F32], bits_of_float((float)x));
    return format_to_double(f, part) == x;
}

/* Whether all outputs of a GEMM with one part are exact. */
static enum bitcut_status is_exact(bool *exact, const struct bitcut_unit *u,
                                   const char *input, size_t n, size_t k,
                                   const struct study_point *p, struct fault *f)
{
    const struct comparison_problem of = { input, input, n, n, k };
    const struct entrant e = { .recipe = RECIPE_PLAIN, .unit = u->name };
    struct method_comparison c;
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT, p, f);
    if (status == BITCUT_OK) status = method_comparison_run(&c, &e, f);
    *exact = status == BITCUT_OK;
    for (size_t i = 0; i < n * n && *exact; i++)
        *exact = c.d.at[i] == c.judge[REFERENCE_EXACT].comparison.reference32[i];
    method_comparison_clear(&c);
    return status;
}

/* The largest power of two of products for which all sums are exact: K_MAX if all are
   exact, 0 if none is. */
static enum bitcut_status largest_k(size_t *k, const struct bitcut_unit *u,
                                    const char *input, size_t n,
                                    const struct study_point *p, struct fault *f)
{
    bool exact = true;
    *k = 0;
    for (size_t at = K_MIN; at <= K_MAX && exact; at *= 2) {
        const enum bitcut_status status = is_exact(&exact, u, input, n, at, p, f);
        if (status != BITCUT_OK) return status;
        if (exact) *k = at;
    }
    return BITCUT_OK;
}

/* The largest b for which all 2^j + 1, j below b, are exact as sums of ones. */
static enum bitcut_status exact_bits(int *bits, const struct bitcut_unit *u,
                                     const struct study_point *p, struct fault *f)
{
    bool exact = true;
    for (*bits = 0; *bits < SUM_BITS_MAX; ++*bits) {
        const enum bitcut_status status =
            is_exact(&exact, u, "const(1)", 1, ((size_t)1 << *bits) + 1, p, f);
        if (status != BITCUT_OK) return status;
        if (!exact) break;
    }
    return BITCUT_OK;
}

/* One unit, slices of every length. */
static enum bitcut_status run_slices(const struct study *study, struct study_point *p,
                                     struct fault *f)
{
    (void)study;
    const struct bitcut_unit *u = narrow_at(p->at);
    int bits;
    enum bitcut_status status = exact_bits(&bits, u, p, f);
    for (int b = 1; b <= SLICE_BITS_MAX && status == BITCUT_OK; b++) {
        const int most = (1 << b) - 1;
        char worst[32], random[32];
        size_t of_worst, of_random;
        if (!is_operand(u, most)) continue;
        snprintf(worst, sizeof worst, "const(%d)", most);
        snprintf(random, sizeof random, "integers(%d,%d)", -most, most);
        status = largest_k(&of_worst, u, worst, 1, p, f);
        if (status == BITCUT_OK) status = largest_k(&of_random, u, random, 4, p, f);
        if (status != BITCUT_OK) break;
        study_row(p, json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:i, s:s}", "unit",
                               u->name, "operands", u->a->name, "sums", u->c->name,
                               "fraction", u->fraction, "slice_bits", b, "k_worst",
                               (json_int_t)of_worst, "k_random", (json_int_t)of_random,
                               "exact_bits", bits, "evidence", unit_evidence(u)));
    }
    return status;
}

static const struct claim slices_claims[] = {
    /* clang-format off */
    { .name = "slices-hopper", .number = 14, .unit = "hopper/wgmma.m64n8k32.f32.e4m3",
      .what = "accumulation of FP8 products on Hopper retains about this many bits",
      .paper = "DeepSeek-V3 technical report, section 3.3.2",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){
          .key = "exact_bits", .where = "unit=hopper/wgmma.m64n8k32.f32.e4m3 "
                                        "slice_bits=1" },
      .beside = "integers up to 2^14 are exact; the paper is about an H800, and by its "
                "section 3.5.2 the highest 14 bits of 32 aligned products and of the sum "
                "are retained, truncated" },
    { .name = "slices-ozaki", .printed = "exact", OWN_QUESTION,
      .criterion = CRITERION_STATED,
      .what = "slices of 4 bits can be added exactly over k = 1024 on every fp8 unit "
              "with FP32 sums",
      .judge = claim_judge_values,
      .about = &(const struct claim_values){
          .key = "k_worst", .cases = "unit", .least = 1024,
          .where = "operands=e4m3|e4m3fnuz sums=f32 slice_bits=4" },
      .otherwise = "sums are counted up to the first inexact one",
      .beside = "products of the largest slices; units that retain 13 bits below the "
                "largest term are exact for fewer products, units with 25 bits for all "
                "of them" },
    { 0 }
    /* clang-format on */
};

const struct study study_slices = {
    /* clang-format off */
    .name = "slices",
    .chapter = CHAPTER_UNIT,
    .what = "slices of an Ozaki scheme on narrow units: which sums are exact",
    .title = "Exact sums of slices",
    .text = "Slices of a number are integers of a few bits. On every unit with operands "
            "of at most eight bits: the largest k up to which the sum of their products "
            "is exact, for products of the largest slices (k_worst) and of random slices "
            "of both signs (k_random, all of 4 x 4 outputs). Powers of two from 32 to "
            "4096 are tried; 0 means that k = 32 is already inexact. exact_bits: sums of "
            "ones are exact up to 2^exact_bits, tried up to 2^17.",
    .plot = { .sees = "A unit is exact for as many products as its accumulator can hold "
                      "without rounding." },
    .claims = slices_claims, .points = slices_points, .run = run_slices,
    /* clang-format on */
};
