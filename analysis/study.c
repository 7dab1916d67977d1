#include "analysis/study.h"

#include "analysis/judge.h"
#include "analysis/retention.h"
#include "analysis/source.h"
#include "emu/gemm.h"
#include "lib/threads.h"

/* --- tables 1 and 2 of Ootomo and Yokota ------------------------------------------ */

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
    split.high = split.low = &roundings[ROUND_RZ];
    return run_printed(run, table2, 22.25, &split, f);
}

/* --- underflow of the low word ---------------------------------------------------- */

enum { UNDERFLOW_FROM = -20, UNDERFLOW_TO = 14 };

/* `bits` is taken over. */
static void underflow_row(struct study_run *run, const char *split, const char *by, int e,
                          double p_subnormal, double p_zero, json_t *bits)
{
    run->row(run->context,
             json_pack("{s:o, s:s, s:i, s:f, s:f, s:o}", "series",
                       json_sprintf("%s, %s", split, by), "split", split, "exponent", e,
                       "p_subnormal", p_subnormal, "p_zero", p_zero, "bits", bits));
}

static enum bitcut_status underflow_binade(struct study_run *run,
                                           const struct bitcut_split *s, int e,
                                           struct fault *f)
{
    struct retention r;
    const enum bitcut_status status =
        retention_count(&r, s, e, 0, run->seed, run->threads, run->progress, f);
    if (status != BITCUT_OK) return status;
    underflow_row(run, s->name, "counted", e, r.p_subnormal, r.p_zero, json_real(r.bits));
    if (e >= format_emin(s->format)) /* else high words are subnormal */
        underflow_row(run, s->name, "theory", e, retention_p_subnormal(s, e),
                      retention_p_zero(s, e), json_null());
    return BITCUT_OK;
}

static enum bitcut_status run_underflow(struct study_run *run, struct fault *f)
{
    static const int rows[] = { SPLIT_MARKIDIS, SPLIT_HALFHALF, SPLIT_BITCUT };
    enum {
        ROWS = sizeof rows / sizeof rows[0],
        BINADES = UNDERFLOW_TO - UNDERFLOW_FROM + 1
    };
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < ROWS * BINADES && status == BITCUT_OK; i++) {
        progress_report(run->progress, (size_t)i, (size_t)ROWS * BINADES);
        status = underflow_binade(run, &splits[rows[i / BINADES]],
                                  UNDERFLOW_FROM + i % BINADES, f);
    }
    return status;
}

/* --- figure 1 of Ootomo and Yokota ------------------------------------------------ */

enum { FIGURE1_SIDE = 16, FIGURE1_FROM = 4, FIGURE1_TO = 18 };

static const int figure1_recipes[] = { RECIPE_PLAIN,  RECIPE_MARKIDIS, RECIPE_FENG,
                                       RECIPE_OOTOMO, RECIPE_LEGEMM,   RECIPE_FP32 };

enum { FIGURE1_RECIPES = sizeof figure1_recipes / sizeof figure1_recipes[0] };

/* One recipe on one pair of matrices: its relative residual as a row. */
static enum bitcut_status figure1_point(struct study_run *run,
                                        const struct bitcut_recipe *recipe,
                                        const struct matrix *a, const struct matrix *b,
                                        struct judge *j, struct fault *f)
{
    const struct bitcut_format *input =
        recipe->split ? recipe->split->format : &formats[FORMAT_F16];
    uint32_t d[FIGURE1_SIDE * FIGURE1_SIDE];
    double values[METRICS];
    struct bitcut_gemm g = gemm_of(recipe, unit_find("a100", input));
    const struct progress quiet = { .stop = run->progress->stop };
    const struct gemm_options options = { .threads = run->threads, .progress = &quiet };
    gemm_set_dense(&g, d, a->rows, b->cols, a->cols, a->at, b->at, NULL);
    const enum bitcut_status status = gemm_run(&g, &options, f);
    if (status == BITCUT_OK) {
        j->comparison.d = d;
        metrics_run(values, &j->comparison);
        run->row(run->context,
                 json_pack("{s:s, s:I, s:f, s:f, s:f}", "recipe", recipe->name, "k",
                           (json_int_t)a->cols, "relres", values[METRIC_RELRES],
                           "max_error", values[METRIC_MAX_ERROR], "backward_max",
                           values[METRIC_BACKWARD_MAX]));
    }
    return status;
}

/* All recipes at one k. */
static enum bitcut_status figure1_column(struct study_run *run, size_t k, struct fault *f)
{
    const struct progress quiet = { .stop = run->progress->stop };
    struct input urand;
    struct matrix a = { 0 }, b = { 0 };
    struct judge j = { 0 };
    enum bitcut_status status = input_parse(&urand, "urand(-1,1)", f);
    if (status == BITCUT_OK)
        status = source_generate(&a, &urand, INPUT_A, FIGURE1_SIDE, k, run->seed,
                                 run->threads, f);
    if (status == BITCUT_OK)
        status = source_generate(&b, &urand, INPUT_B, k, FIGURE1_SIDE, run->seed,
                                 run->threads, f);
    if (status == BITCUT_OK)
        status = judge_init(&j, &references[0], &a, &b, NULL, run->threads, &quiet, f);
    for (int i = 0; status == BITCUT_OK && i < FIGURE1_RECIPES; i++) {
        if (progress_stopped(run->progress))
            status = fault_set(f, BITCUT_CANNOT, "stopped");
        else status = figure1_point(run, &recipes[figure1_recipes[i]], &a, &b, &j, f);
    }
    judge_clear(&j);
    matrix_clear(&a);
    matrix_clear(&b);
    return status;
}

static enum bitcut_status run_figure1(struct study_run *run, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = FIGURE1_FROM; i <= FIGURE1_TO && status == BITCUT_OK; i++) {
        /* the work doubles from one k to the next */
        progress_report(run->progress, (size_t)1 << i, (size_t)2 << FIGURE1_TO);
        status = figure1_column(run, (size_t)1 << i, f);
    }
    return status;
}

/* --- the table -------------------------------------------------------------------- */

const struct study studies[] = {
    /* clang-format off */
    { .name = "table1",
      .what = "mantissa bits kept by RN + RN words (Ootomo and Yokota, Table 1)",
      .title = "Mantissa length with round to nearest",
      .text = "All 2^23 FP32 values of one binade are split as x = h + l, both words f16 and "
              "rounded to nearest even. A row is a pattern of the fraction bits m12, m11, m1 "
              "and m0 of x (* is either); len_printed and prob_printed are Ootomo and "
              "Yokota's Table 1, len_least to len_most and prob what was counted. A value "
              "keeps 23 bits if h + l = x, else 22 - floor(log2 of the error in ulps). The "
              "last row is the expected length.",
      .run = run_table1 },
    { .name = "table2",
      .what = "mantissa bits kept by RZ + RZ words (Ootomo and Yokota, Table 2)",
      .title = "Mantissa length with truncation",
      .text = "The same with both words truncated, as in Ootomo and Yokota's Table 2 and in "
              "LE-GEMM's bit-cut.",
      .run = run_table2 },
    { .name = "underflow",
      .what = "probability that the low word underflows (Ootomo and Yokota, Figure 8)",
      .title = "Underflow of the low word",
      .text = "All 2^23 values of each binade are split. p_subnormal is the share whose low "
              "word leaves the normal range though the residual is not zero, p_zero that of "
              "those where it is zero, bits the mean mantissa length that the words keep. "
              "Theory is the closed form, for binades whose high words are normal numbers: "
              "Ootomo and Yokota's Eq. 13-17 where those are truncated, and twice their Eq. 15 "
              "where they are rounded to nearest, which halves the residual. It takes residuals "
              "for continuous; counts fall below it by up to 3 2^-12, because residuals are "
              "whole last places of x and often zero. Scaling by 2^11 (halfhalf) or 2^10 (bitcut) moves underflow down by as "
              "many binades. No underflow is not yet precision: below 2^-14 the literal bitcut "
              "has a high word of zero, and all of x in the low word. That word is a normal "
              "number, so nothing underflows, but it keeps only 11 bits: read the lower "
              "picture with the upper one.",
      .run = run_underflow,
      .plot = { .x = "exponent", .y = "p_subnormal", .series = "series",
                .x_label = "exponent of x", .y_label = "P(low word subnormal or lost)",
                .y_log = true, .below = "bits", .below_label = "mantissa bits kept, mean" } },
    { .name = "figure1",
      .what = "relative residual of six methods against k (Ootomo and Yokota, Figure 1)",
      .title = "Relative residual against k",
      .text = "C = A B with A 16 x k and B k x 16, elements uniform in (-1, 1), emulated on "
              "the unit a100 (ampere/mma.m16n8k16.f32.f16; fp32 on fma/f32). The residual is "
              "||D - C||_F / ||C||_F against the exact product (Ootomo Eq. 7). As k grows, "
              "Markidis and Feng lose to the truncating accumulator what their words keep; "
              "Ootomo's promotion to FP32 registers after every instruction avoids it; "
              "LE-GEMM does not promote. fp32 adds one product after the other; cuBLAS adds "
              "in another order.",
      .run = run_figure1,
      .plot = { .x = "k", .y = "relres", .series = "recipe",
                .x_label = "k", .y_label = "relative residual",
                .x_log = true, .y_log = true } },
    { 0 }
    /* clang-format on */
};
