/* Tables 1 and 2 of Ootomo and Yokota: the mantissa bits that two words keep. */
#include "analysis/study/study.h"

#include "analysis/error/retention.h"
#include "lib/threads.h"

/* A printed row: fraction bits of x with a given pattern keep `length` bits with
   probability `eighths` / 8.  Bit 22 is the highest; the pattern says bits 12 11 1 0 as
   0, 1 or *. */
struct printed {
    const char *pattern;
    int length, eighths;
};

enum { PRINTED_ROWS = 6 };

/* Table 1: both words to nearest.  Table 2: both truncated. */
static const struct printed table1[PRINTED_ROWS] = {
    { "00**", 23, 2 }, { "01*0", 23, 1 }, { "01*1", 22, 1 },
    { "10*1", 22, 1 }, { "10*0", 23, 1 }, { "11**", 23, 2 }
};

static const struct printed table2[PRINTED_ROWS] = {
    { "00**", 23, 2 }, { "01*0", 23, 1 }, { "01*1", 22, 1 },
    { "1*1*", 21, 2 }, { "1*01", 22, 1 }, { "1*00", 23, 1 }
};

static bool matches(const char *pattern, uint32_t fraction)
{
    static const int bit[] = { 12, 11, 1, 0 };
    for (int i = 0; i < 4; i++)
        if (pattern[i] != '*' && (int)(fraction >> bit[i] & 1) != pattern[i] - '0')
            return false;
    return true;
}

/* How many values of [1, 2) with a pattern keep each number of bits. */
static void count_lengths(size_t counts[24], const char *pattern,
                          const struct bitcut_split *split, int threads)
{
    size_t total[24] = { 0 };
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, SIZE_MAX)) \
    reduction(+ : total[:24])
    for (uint32_t fraction = 0; fraction < SIGNIFICANDS; fraction++) {
        int bits;
        double ulps;
        if (!matches(pattern, fraction)) continue;
        if (retention_of(&bits, &ulps, split, 0x3f800000u | fraction)) total[bits]++;
    }
    for (int i = 0; i < 24; i++) counts[i] = total[i];
}

/* What the values of one pattern, or of all, keep. */
struct kept {
    size_t count, sum; /* values, and their bits */
    int least, most;
};

static struct kept kept_of(const size_t counts[24])
{
    struct kept kept = { .least = 23 };
    for (int i = 0; i < 24; i++) {
        if (!counts[i]) continue;
        kept.count += counts[i];
        kept.sum += counts[i] * (size_t)i;
        if (i < kept.least) kept.least = i;
        if (i > kept.most) kept.most = i;
    }
    return kept;
}

/* One row: bits 12 11 1 0, what is printed and what was counted. */
static void emit_kept(struct study_run *run, const char *pattern, double printed_length,
                      double printed_probability, struct kept kept, bool agrees)
{
    run->row(run->context,
             json_pack("{s:s#, s:s#, s:s#, s:s#, s:f, s:f, s:i, s:i, s:f, s:I, s:f, s:b}",
                       "m12", pattern, 1, "m11", pattern + 1, 1, "m1", pattern + 2, 1,
                       "m0", pattern + 3, 1, "len_printed", printed_length,
                       "prob_printed", printed_probability, "len_least", kept.least,
                       "len_most", kept.most, "prob", (double)kept.count / SIGNIFICANDS,
                       "count", (json_int_t)kept.count, "bits",
                       (double)kept.sum / SIGNIFICANDS, "agrees", agrees));
}

/* The rows of a printed table, then one for all values: the expected length. */
static enum bitcut_status run_printed(struct study_run *run, const struct printed *table,
                                      double expected, const struct bitcut_split *split,
                                      struct fault *f)
{
    struct kept all = { .least = 23 };
    for (int i = 0; i < PRINTED_ROWS; i++) {
        size_t counts[24];
        if (progress_stopped(run->progress))
            return fault_set(f, BITCUT_CANNOT, "stopped");
        progress_report(run->progress, (size_t)i, PRINTED_ROWS);
        count_lengths(counts, table[i].pattern, split, run->threads);
        const struct kept kept = kept_of(counts);
        const int length = table[i].length, eighths = table[i].eighths;
        emit_kept(run, table[i].pattern, length, eighths / 8.0, kept,
                  kept.least == length && kept.most == length &&
                      kept.count * 8 == (size_t)eighths * SIGNIFICANDS);
        all.count += kept.count;
        all.sum += kept.sum;
        if (kept.least < all.least) all.least = kept.least;
        if (kept.most > all.most) all.most = kept.most;
    }
    emit_kept(run, "****", expected, 1, all,
              (double)all.sum == expected * SIGNIFICANDS && all.count == SIGNIFICANDS);
    return BITCUT_OK;
}

static enum bitcut_status run_table1(struct study_run *run, struct fault *f)
{
    return run_printed(run, table1, 22.75, &splits[SPLIT_MARKIDIS], f);
}

static enum bitcut_status run_table2(struct study_run *run, struct fault *f)
{
    struct bitcut_split split = splits[SPLIT_MARKIDIS];
    split.word[0].rounding = split.word[1].rounding = &roundings[ROUND_RZ];
    return run_printed(run, table2, 22.25, &split, f);
}

const struct study study_table1 = {
    /* clang-format off */
    .name = "table1",
    .what = "mantissa bits kept by RN + RN words (Ootomo and Yokota, Table 1)",
    .title = "Mantissa length with round to nearest",
    .text = "All 2^23 FP32 values of one binade are split as x = h + l, both words f16 and "
            "rounded to nearest even. A row is a pattern of the fraction bits m12, m11, m1 "
            "and m0 of x (* is either); len_printed and prob_printed are Ootomo and "
            "Yokota's Table 1, len_least to len_most and prob what was counted. A value "
            "keeps 23 bits if h + l = x, else 22 - floor(log2 of the error in ulps). The "
            "last row is the expected length.",
    .run = run_table1,
    /* clang-format on */
};

const struct study study_table2 = {
    /* clang-format off */
    .name = "table2",
    .what = "mantissa bits kept by RZ + RZ words (Ootomo and Yokota, Table 2)",
    .title = "Mantissa length with truncation",
    .text = "The same with both words truncated, as in Ootomo and Yokota's Table 2 and in "
            "LE-GEMM's bit-cut.",
    .run = run_table2,
    /* clang-format on */
};
