/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures 12 and 13 of LE-GEMM: the distribution of errors. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"

#include <math.h>
#include <string.h>

/* n x n x n; the paper uses 1024. */
static const size_t sizes[] = { [STUDY_SMALL] = 256, [STUDY_PAPER] = 1024 };

#define METHODS(UNIT)                                                                    \
    { .name = "plain", .recipe = RECIPE_PLAIN, .unit = UNIT },                           \
        { .name = "markidis", .recipe = RECIPE_MARKIDIS, .unit = UNIT },                 \
        { .name = "ootomo", .recipe = RECIPE_OOTOMO, .unit = UNIT },                     \
    {                                                                                    \
        .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = UNIT                          \
    }

static const struct entrant methods[] = {
    METHODS("mi210"),
    METHODS("a800"),
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a800" },
    { 0 }
};

/* Binades of a relative error.  The first has all smaller errors, and 0; the last has all
   larger ones. */
enum { FIRST = -36, LAST = 1, BINADES = LAST - FIRST + 1 };

static size_t one_point(const struct study *study, enum study_scale scale)
{
    (void)study, (void)scale;
    return 1;
}

/* The number of elements with |D - C| / |C| in each binade.  Elements with C = 0 are not
   counted. */
static size_t count_errors(size_t counts[BINADES], const struct comparison *x)
{
    size_t all = 0;
    memset(counts, 0, BINADES * sizeof *counts);
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double c = format_to_double(&formats[FORMAT_F64], x->reference64[i]);
        const double error = fabs(metric_error(x, i) / c);
        if (c == 0) continue;
        int binade = FIRST;
        if (!(error <= 0)) binade = isfinite(error) ? ilogb(error) : LAST;
        binade = binade < FIRST ? FIRST : binade > LAST ? LAST : binade;
        counts[binade - FIRST]++;
        all++;
    }
    return all;
}

static void error_rows(struct study_point *p, struct method_comparison *c,
                       const struct entrant *e)
{
    size_t counts[BINADES], above = 0;
    const size_t all =
        count_errors(counts, method_comparison_comparison(c, REFERENCE_EXACT));
    for (int i = 0; i < BINADES; i++) above += counts[i];
    for (int i = 0; i < BINADES; above -= counts[i++])
        study_row(p, json_pack("{s:s?, s:s, s:I, s:i, s:I, s:f, s:f}", "unit",
                               e->recipe == RECIPE_FP32 ? NULL : e->unit, "recipe",
                               e->name, "n", (json_int_t)c->a.rows, "binade", FIRST + i,
                               "count", (json_int_t)counts[i], "share",
                               (double)counts[i] / (double)all, "above",
                               (double)above / (double)all));
}

static enum bitcut_status run_histogram(const struct study *study, struct study_point *p,
                                        struct fault *f)
{
    (void)study;
    const size_t n = sizes[p->scale];
    const struct comparison_problem of = { "urand(-1,1)", "urand(-1,1)", n, n, n };
    struct method_comparison c;
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT, p, f);
    for (const struct entrant *e = methods; status == BITCUT_OK && e->name; e++) {
        status = method_comparison_run(&c, e, f);
        if (status == BITCUT_OK) error_rows(p, &c, e);
    }
    method_comparison_clear(&c);
    return status;
}

/* At every size at least as many errors are larger. */
#define ABOVE(TOP, BOTTOM, UNIT)                                                         \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = "above", .top = "recipe=" TOP " unit=" UNIT,                              \
        .bottom = "recipe=" BOTTOM " unit=" UNIT, .cases = "binade", .least = 1          \
    }

#define WIDEST(NAME, UNIT)                                                               \
    {                                                                                    \
        .name = NAME, .printed = "the widest", .unit = UNIT,                             \
        .criterion = CRITERION_ORDER,                                                    \
        .what = "on " UNIT " errors without correction are spread the widest",           \
        .paper = "LE-GEMM, section 5.3", .judge = claim_judge_ratios,                    \
        .about = ABOVE("plain", "markidis|ootomo|legemm", UNIT),                         \
        .other = ABOVE("legemm", "plain|markidis|ootomo", UNIT), .otherwise = "LE-GEMM", \
        .beside = "the share of errors from a binade on, over the same share for the "   \
                  "other methods"                                                        \
    }

static const struct claim histogram_claims[] = { WIDEST("mi210-widest", "mi210"),
                                                 WIDEST("a800-widest", "a800"),
                                                 { 0 } };

const struct study study_histogram = {
    /* clang-format off */
    .name = "histogram",
    .chapter = CHAPTER_CHOICE,
    .what = "distribution of errors on MI210 and A800 (LE-GEMM, Fig. 12-13)",
    .title = "Histograms of errors",
    .text = "n x n x n, elements uniform in [-1, 1], on the models of both GPUs: the "
            "share of all elements of D whose relative error |D - C| / |C| against the "
            "exact product lies in each binade, [2^e, 2^(e+1)). The lowest binade "
            "includes all smaller errors. above is the share from that binade on. The "
            "paper draws 1024 x 1024 x 1024; an FP32 sum is added here for comparison.",
    .claims = histogram_claims, .threaded = true,
    .points = one_point, .run = run_histogram,
    .plot = { .x = "binade", .y = "share", .series = "recipe",
              .x_label = "binade of the relative error", .y_label = "share of elements",
              .steps = true, .panels = "unit",
              .sees = "Without correction, errors lie about ten binades to the right of "
                      "FP32. On MI210 the errors of Markidis lie nearly as far right. "
                      "LE-GEMM lies to the right of Ootomo and Yokota on both GPUs." },
    /* clang-format on */
};
