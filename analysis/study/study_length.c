/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables 1 and 2 of Ootomo and Yokota: the bits that two parts retain. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"

#include "analysis/split/retention.h"
#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

/* A printed row: values whose fraction bits have this pattern retain `length` bits with
   probability `eighths` / 8.  Bit 22 is the highest; the pattern gives bits 12, 11, 1 and
   0 as 0, 1 or *.  The paper leaves the implicit bit out; the
   counts include it. */
struct printed {
    const char *pattern;
    int length, eighths;
};

enum { PRINTED_ROWS = 6, IMPLICIT = 1, LENGTHS = SIGNIFICAND_BITS + 1 };

/* A printed table, the expected length over all values, and the rounding of both parts.
 */
struct length_table {
    struct printed row[PRINTED_ROWS];
    double expected;
    int rounding;
};

static const struct length_table nearest = { { { "00**", 23, 2 },
                                               { "01*0", 23, 1 },
                                               { "01*1", 22, 1 },
                                               { "10*1", 22, 1 },
                                               { "10*0", 23, 1 },
                                               { "11**", 23, 2 } },
                                             22.75,
                                             ROUND_RN };

static const struct length_table truncated = { { { "00**", 23, 2 },
                                                 { "01*0", 23, 1 },
                                                 { "01*1", 22, 1 },
                                                 { "1*1*", 21, 2 },
                                                 { "1*01", 22, 1 },
                                                 { "1*00", 23, 1 } },
                                               22.25,
                                               ROUND_RZ };

static bool matches(const char *pattern, uint32_t fraction)
{
    static const int bit[] = { 12, 11, 1, 0 };
    for (int i = 0; i < 4; i++)
        if (pattern[i] != '*' && (int)(fraction >> bit[i] & 1) != pattern[i] - '0')
            return false;
    return true;
}

/* The number of values of [1, 2) with a pattern that retain each number of bits. */
static void count_lengths(size_t counts[LENGTHS], const char *pattern,
                          const struct bitcut_split *split, int threads)
{
    size_t total[LENGTHS] = { 0 };
    (void)threads;
#pragma omp parallel num_threads(threads_for(threads, SIZE_MAX)) reduction(+ : total[ : LENGTHS])
    {
        struct hostfp mode;
        hostfp_enter(&mode);
#pragma omp for schedule(static)
        for (uint32_t fraction = 0; fraction < SIGNIFICANDS; fraction++) {
            const uint32_t x = 0x3f800000u | fraction;
            int bits;
            double ulps;
            if (matches(pattern, fraction) && retention_entered(&bits, &ulps, split, x))
                total[bits]++;
        }
        hostfp_leave(&mode);
    }
    for (int i = 0; i < LENGTHS; i++) counts[i] = total[i];
}

/* The bits that the values of one pattern, or all values, retain. */
struct retained {
    size_t count, sum; /* values, and their bits */
    int least, most;
};

static struct retained kept_of(const size_t counts[LENGTHS])
{
    struct retained kept = { .least = SIGNIFICAND_BITS };
    for (int i = 0; i < LENGTHS; i++) {
        if (!counts[i]) continue;
        kept.count += counts[i];
        kept.sum += counts[i] * (size_t)i;
        if (i < kept.least) kept.least = i;
        if (i > kept.most) kept.most = i;
    }
    return kept;
}

/* One row: bits 12, 11, 1 and 0, the printed and the counted length. */
static void kept_row(struct study_point *p, const char *pattern, double printed_length,
                     double printed_probability, struct retained kept, bool agrees)
{
    study_row(
        p, json_pack("{s:s#, s:s#, s:s#, s:s#, s:f, s:f, s:i, s:i, s:f, s:I, s:f, s:b, s:i}",
                     "m12", pattern, 1, "m11", pattern + 1, 1, "m1", pattern + 2, 1, "m0",
                     pattern + 3, 1, "len_printed", printed_length, "prob_printed",
                     printed_probability, "len_least", kept.least, "len_most", kept.most,
                     "prob", (double)kept.count / SIGNIFICANDS, "count",
                     (json_int_t)kept.count, "bits", (double)kept.sum / SIGNIFICANDS,
                     "agrees", agrees, "bits_of", SIGNIFICAND_BITS));
}

static size_t length_points(const struct study *study, enum study_scale scale)
{
    (void)study, (void)scale;
    return 1;
}

/* The rows of the printed table, then a row for all values: the expected length. */
static enum bitcut_status run_length(const struct study *study, struct study_point *p,
                                     struct fault *f)
{
    const struct length_table *table = study->about;
    struct bitcut_split split = splits[SPLIT_MARKIDIS];
    struct retained all = { .least = SIGNIFICAND_BITS };
    split.part[0].rounding = split.part[1].rounding = &roundings[table->rounding];
    for (const struct printed *row = table->row; row < table->row + PRINTED_ROWS; row++) {
        size_t counts[LENGTHS];
        if (progress_stopped(p->progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        count_lengths(counts, row->pattern, &split, p->threads);
        const struct retained kept = kept_of(counts);
        const int length = row->length + IMPLICIT;
        kept_row(p, row->pattern, length, row->eighths / 8.0, kept,
                 kept.least == length && kept.most == length &&
                     kept.count * 8 == (size_t)row->eighths * SIGNIFICANDS);
        all.count += kept.count;
        all.sum += kept.sum;
        if (kept.least < all.least) all.least = kept.least;
        if (kept.most > all.most) all.most = kept.most;
    }
    const double expected_length = table->expected + IMPLICIT;
    kept_row(p, "****", expected_length, 1, all,
             (double)all.sum == expected_length * SIGNIFICANDS &&
                 all.count == SIGNIFICANDS);
    return BITCUT_OK;
}

static const struct claim_flags all_agree = { "agrees", "", NULL };

static const struct claim_values expected = { .key = "bits", .where = "m12=* m0=*" };

#define ALL_ROWS                                                                         \
    .printed = "all lengths and probabilities", .described = true,                       \
    .judge = claim_judge_flags, .about = &all_agree,                                     \
    .otherwise = "the numbers counted for other parts are not as printed"

static const struct claim table1_claims[] = {
    /* clang-format off */
    { .name = "table1-rows", ALL_ROWS, .paper = "Ootomo and Yokota, Table 1",
      .what = "two f16 parts rounded to nearest retain the lengths of Table 1, with its "
              "probabilities" },
    { .name = "table1-expected", .number = 22.75 + IMPLICIT, .described = true,
      .what = "two f16 parts rounded to nearest retain this many of 24 bits on average",
      .beside = "the paper prints 22.75, without the implicit bit",
      .paper = "Ootomo and Yokota, section 3.1",
      .judge = claim_judge_values, .about = &expected },
    { 0 }
    /* clang-format on */
};

static const struct claim table2_claims[] = {
    /* clang-format off */
    { .name = "table2-rows", ALL_ROWS, .paper = "Ootomo and Yokota, Table 2",
      .what = "two truncated f16 parts retain the lengths of Table 2, with its "
              "probabilities" },
    { .name = "table2-expected", .number = 22.25 + IMPLICIT, .described = true,
      .what = "two truncated f16 parts retain this many of 24 bits on average",
      .beside = "the paper prints 22.25, without the implicit bit",
      .paper = "Ootomo and Yokota, section 3.1",
      .judge = claim_judge_values, .about = &expected },
    { 0 }
    /* clang-format on */
};

const struct study study_table1 = {
    /* clang-format off */
    .name = "table1",
    .chapter = CHAPTER_KEEPS,
    .what = "bits retained by RN + RN parts (Ootomo and Yokota, Table 1)",
    .title = "Mantissa length with round to nearest",
    .text = "All 2^23 FP32 values of one binade are split as x = h + l, both parts f16 "
            "and rounded to nearest even. A row is a pattern of the fraction bits m12, "
            "m11, m1 and m0 of x (* is either); len_printed and prob_printed are from "
            "Ootomo and Yokota's Table 1; len_least to len_most and prob are counted. A "
            "value retains 24 bits if h + l = x, else 23 - floor(log2 of the error in "
            "ulps). The paper leaves the implicit bit out: its lengths, 22.75 on "
            "average, are one less. The last row is the expected length.",
    .plot = { .sees = "Every printed row of the paper is equal to the counts." },
    .claims = table1_claims, .about = &nearest,
    .threaded = true, .points = length_points, .run = run_length,
    .renew = study_renew_bits,
    /* clang-format on */
};

const struct study study_table2 = {
    /* clang-format off */
    .name = "table2",
    .chapter = CHAPTER_KEEPS,
    .what = "bits retained by RZ + RZ parts (Ootomo and Yokota, Table 2)",
    .title = "Mantissa length with truncation",
    .text = "The same with both parts truncated, as in Ootomo and Yokota's Table 2 and "
            "in LE-GEMM's bit-cut.",
    .plot = { .sees = "Every printed row of the paper is equal to the counts." },
    .claims = table2_claims, .about = &truncated,
    .threaded = true, .points = length_points, .run = run_length,
    .renew = study_renew_bits,
    /* clang-format on */
};
