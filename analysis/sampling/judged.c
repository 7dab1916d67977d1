/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/judged.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>

/* --- fields ----------------------------------------------------------------------- */

/* NULL: there is no bound. */
static const char *bound_grade(const void *judged)
{
    const struct judged *const j = judged;
    return j->bound.applies && j->bound.outputs ? j->standing->name : NULL;
}

static bool is_explained(const void *judged)
{
    const struct judged *const j = judged;
    return j->bound.applies ? j->bound.violations == 0 : j->share <= 1;
}

static bool is_graded(const void *judged)
{
    return ((const struct judged *)judged)->graded;
}

static bool has_explained(const void *judged)
{
    const struct judged *const j = judged;
    return j->graded || j->bound.applies;
}

static bool typical_range_is_known(const void *judged)
{
    return ((const struct judged *)judged)->usual.outputs;
}

#define JUDGED(member, key, unit, what) RECORD_INNER(struct judged, member, key, unit, what)

#define JUDGED_IF(member, key, unit, what, condition)                                    \
    RECORD_INNER_IF(struct judged, member, key, unit, what, condition)

const struct record_field judged_fields[] = {
    /* clang-format off */
    JUDGED(reference, "reference", "", "the reference of D"),
    RECORD_NAMED(struct judged, value, "", metrics, "", "every metric (bitcut list metrics)"),
    JUDGED_IF(grade, "grade_text", "",
       "whether D is as accurate as an FP32 GEMM, as a sentence; null: the GEMM has other "
       "steps", is_graded),
    RECORD_TEXT_OF(bound_grade, "bound_grade",
                   "grade of D relative to the bound of recipe and unit, and to the "
                   "typical range"),
    JUDGED(verdict, "verdict", "", "the grade relative to the typical range and the bound, in words"),
    JUDGED_IF(error_bound.parts, "parts_error", "u",
       "error of the parts, dropped products included; null as grade_text", is_graded),
    JUDGED_IF(error_bound.all, "recipe_limit", "u",
       "bound of recipe and unit in norms of rows and columns", is_graded),
    JUDGED_IF(share, "recipe_worst", "", "largest part of that limit that an output takes",
       is_graded),
    JUDGED(bound.limit_most, "bound_max", "u |A||B|", "the largest bound of an output"),
    JUDGED(bound.ratio, "bound_worst", "",
       "the largest part of its bound that an output takes"),
    { .name = "explained", .what = "whether recipe and unit explain the errors; null: unknown",
      .unit = "", .kind = RECORD_DERIVED, .flag = is_explained, .when = has_explained },
    JUDGED_IF(error_bound.underflow, "parts_underflow", "",
       "elements of A and B with a part that underflows", is_graded),
    JUDGED_IF(error_bound.overflow, "parts_overflow", "",
       "elements of A and B with a part that overflows", is_graded),
    RECORD_INNER_IF(struct judged, typical_range_find, "typical", "u |A||B|",
                    "range of backward_max of most results", typical_range_is_known),
    JUDGED(bins, "ulp_histogram", "", "outputs by distance from the exact result, in steps of the format of D"),
    RECORD_NAMED(struct judged, counts.settled[EXACT_F32], "settled_f32", exact_layers, "",
                 "number of exact outputs settled by each method, rounded to FP32"),
    RECORD_NAMED(struct judged, counts.settled[EXACT_F64], "settled_f64", exact_layers, "",
                 "the same, rounded to binary64"),
    JUDGED(seconds, "reference_seconds", "s", "time for the reference"),
    { 0 }
    /* clang-format on */
};

/* --- computing -------------------------------------------------------------------- */

/* Whether D is as accurate as the result of an FP32 GEMM, with the worst element. */
static void write_grade(struct judged *to, const struct comparison *x)
{
    static const char *const fp32_grades[] = { "no", "in norm only",
                                          "relative to norms of rows and columns only",
                                          "yes" };
    const double *const value = to->value;
    char *const text = to->grade;
    const size_t size = sizeof to->grade, count = x->m * x->n;
    size_t worst = 0;
    if (value[METRIC_WRONG] > 0) {
        text_add(
            text, size,
            "no; %.0f of %zu outputs are NaN or infinite where the exact result is not, "
            "or the other way",
            value[METRIC_WRONG], count);
        return;
    }
    if (!(x->parts <= METRIC_PARTS_MAX)) {
        text_add(text, size,
                 "no; parts of A and B have an error of %.3g u of their norms (limit %d)",
                 x->parts, METRIC_PARTS_MAX);
        return;
    }
    for (size_t i = 1; i < count; i++)
        if (grade_ratio(x, i) > grade_ratio(x, worst)) worst = i;
    text_add(text, size, "%s", fp32_grades[(int)value[METRIC_GRADE]]);
    if (count)
        text_add(text, size, "; output (%zu, %zu) is the worst, %.3g of the FP32 limit",
                 worst / x->n, worst % x->n, value[METRIC_GRADE_WORST]);
}

/* The grade of D relative to bound and typical range. */
static void write_verdict(struct judged *to)
{
    const struct bound_result *const b = &to->bound;
    char *const text = to->verdict;
    const size_t size = sizeof to->verdict;
    if (!to->reference->exact)
        text_add(text, size, "not judged: the reference is %s", to->reference->name);
    else if (!b->applies) text_add(text, size, "not judged: %s", b->why);
    else if (!b->outputs)
        text_add(text, size, "not judged: no output has a worst-case bound");
    else text_add(text, size, "%s", to->standing->what);
}

/* Whether recipe and unit allow the errors, and the typical range; for an exact
   reference. */
static enum bitcut_status find_beside(struct judged *to, const struct bitcut_gemm *g,
                                      const struct gemm_data *data,
                                      const struct comparison *x, uint64_t seed,
                                      const struct gemm_options *options, struct fault *f)
{
    struct bound_problem problem;
    struct gemm_plan plan; /* chosen by a device */
    to->bound = (struct bound_result){ .limit_most = (double)NAN, .ratio = (double)NAN };
    if (!to->reference->exact) return BITCUT_OK;
    enum bitcut_status status = gemm_plan_on_values(&plan, g, f);
    if (status == BITCUT_OK) status = bound_problem_make(&problem, g, &plan, x, true, f);
    problem.sums = offload_sums(options->offload);
    if (status == BITCUT_OK)
        status = bound_run_row(&to->bound, &bounds[BOUND_ALIGNED], &problem,
                               options->threads, options->progress, f);
    return status != BITCUT_OK
               ? status
               : typical_range_find(&to->usual, g, data, seed, options->threads,
                                    options->progress, f);
}

static void conclude(struct judged *to, const struct judge *j, int threads)
{
    const struct comparison *const x = &j->comparison;
    metrics_find(to->value, x, ~0u, threads);
    ulp_histogram(to->bins, x);
    to->m = x->m, to->n = x->n, to->k = x->k;
    to->share = to->graded ? error_bound_share(x, &to->error_bound) : (double)NAN;
    to->counts = j->counts;
    to->seconds = j->seconds;
    to->typical_range_find[0] = to->usual.low, to->typical_range_find[1] = to->usual.high;
    to->standing = &grades[grade_of(&to->usual, to->value[METRIC_BACKWARD_MAX],
                                    to->bound.violations)];
    if (to->graded) write_grade(to, x);
    write_verdict(to);
}

enum bitcut_status judged_find(struct judged *to, const struct bitcut_gemm *g,
                               const struct gemm_data *data, const struct matrix *d,
                               const struct reference *reference, uint64_t seed,
                               const struct gemm_options *options, struct fault *f)
{
    struct judge j;
    enum bitcut_status status = gemm_data_judge_by(&j, reference, data, g, options, f);
    if (status != BITCUT_OK) return status;
    *to = (struct judged){ .reference = reference,
                           .graded =
                               !gemm_is_extended(g) && !format_is_integer(g->unit->c) };
    j.comparison.d = d->at;
    to->error_bound = (struct error_bound){ .parts = NAN, .all = NAN };
    if (to->graded) status = judge_grade(&j, &to->error_bound, g, options, f);
    if (status == BITCUT_OK)
        status = find_beside(to, g, data, &j.comparison, seed, options, f);
    if (status == BITCUT_OK) conclude(to, &j, options->threads);
    judge_clear(&j);
    return status;
}

/* --- sentences -------------------------------------------------------------------- */

static const struct judged *judged_of(const void *answer)
{
    return ((const struct gemm_answer *)answer)->judged;
}

static const struct bitcut_format *format_of(const void *answer)
{
    return ((const struct gemm_answer *)answer)->gemm.gemm->d.format;
}

static const struct budget_answer *budget_of(const void *answer)
{
    return ((const struct gemm_answer *)answer)->budget;
}

static void describe_componentwise(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    char error[NUMBER_SAID_MAX], limit[NUMBER_SAID_MAX];
    if (!j) return;
    const struct bitcut_format *const format = format_of(answer);
    text_add(text, size, "%s u |A||B| at most, u = 2^%d",
             number_said(error, j->value[METRIC_BACKWARD_MAX], 3),
             result_unit_exponent(format));
    if (!j->graded) return;
    text_add(text, size, " (an FP32 GEMM%s%s may have %s)",
             result_is_short(format) ? " rounded to " : "",
             result_is_short(format) ? result_name(format) : "",
             number_said(limit, j->value[METRIC_BACKWARD_LIMIT], 3));
}

static void describe_relative(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    char error[NUMBER_SAID_MAX], bits[NUMBER_SAID_MAX];
    if (!j) return;
    const double kept = j->value[METRIC_EFFECTIVE_BITS];
    const struct bitcut_format *const format = format_of(answer);
    text_add(text, size, "%s of ||C||, C the exact result: %s bits retained (%s has %d)",
             number_said(error, j->value[METRIC_RELRES], 3),
             kept > 0 || !isfinite(kept) ? number_said(bits, kept, 3) : "0",
             result_is_short(format) ? result_name(format) : "FP32",
             -result_unit_exponent(format));
}

static void describe_ulps(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    char mean[NUMBER_SAID_MAX], most[NUMBER_SAID_MAX], condition[NUMBER_SAID_MAX];
    if (!j) return;
    text_add(text, size,
             "%s on average, %s at most (sums cancel: |A||B| is up to %s |C|)",
             number_said(mean, j->value[METRIC_ULP_MEAN], 3),
             number_said(most, j->value[METRIC_ULP_MAX], 4),
             number_said(condition, j->value[METRIC_CONDITION_MAX], 3));
}

static void describe_lost(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    if (!j || !j->graded || (budget_of(answer) && budget_of(answer)->problem->all))
        return;
    const size_t *const under = j->error_bound.underflow, *const over =
                                                              j->error_bound.overflow;
    text_add(text, size,
             "underflow in %zu of %zu elements of A and %zu of %zu of B; overflow in "
             "%zu and %zu",
             under[0], j->m * j->k, under[1], j->k * j->n, over[0], over[1]);
}

static void describe_limit(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    if (!j || !isfinite(j->error_bound.all) || bound_grade(j) ||
        (budget_of(answer) && budget_of(answer)->problem->one))
        return;
    text_add(text, size, "%.3g u ||row of A|| ||column of B||", j->error_bound.all);
    if (isfinite(j->share))
        text_add(text, size, "; the worst output has %.3g %% of it", 100 * j->share);
}

static void describe_histogram(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    for (int i = 0; j && i < HISTOGRAM_BINS; i++) {
        const size_t count = j->bins[i];
        if (count && i + 1 < HISTOGRAM_BINS) text_add_bin(text, size, i, count);
        else if (count) text_add(text, size, "%smore: %zu", *text ? ", " : "", count);
    }
    const struct bitcut_format *const format = format_of(answer);
    if (j)
        text_add(text, size, " (%s steps from the exact result: outputs)",
                 result_is_short(format) ? result_name(format) : "FP32");
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    if (j) text_add(text, size, "%s", j->verdict);
}

static void describe_typical_range(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    if (j) describe_typical(text, size, &j->usual, j->value[METRIC_BACKWARD_MAX]);
}

static void describe_worst_case(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    if (j) describe_bound(text, size, &j->bound);
}

void judged_describe_grade(char *text, size_t size, const void *answer)
{
    const struct judged *const j = judged_of(answer);
    if (j) text_add(text, size, "%s", j->grade);
}

static void describe_largest(char *text, size_t size, const void *answer)
{
    const struct gemm_answer *const a = answer;
    if (a->judged && a->gemm.is_batch)
        text_add(text, size, "GEMM %zu of %zu; its componentwise error is the largest",
                 a->largest, a->gemm.count);
}

const struct record_line judged_lines[] = {
    /* clang-format off */
    GEMM_LINES,
    { "library",             gemm_describe_library,  RECORD_ALWAYS,  NULL },
    { "matrices",            gemm_describe_matrices, RECORD_ALWAYS,  NULL },
    { "errors of",           describe_largest,       RECORD_ALWAYS,  NULL },
    { "componentwise error", describe_componentwise, RECORD_ALWAYS,  NULL },
    { "relative error",      describe_relative,      RECORD_ALWAYS,  NULL },
    { "error in ulps",       describe_ulps,          RECORD_ALWAYS,  NULL },
    { "range of parts",      describe_lost,          RECORD_ALWAYS,  NULL },
    { "limit of the recipe", describe_limit,         RECORD_ALWAYS,  NULL },
    BUDGET_LINES,
    VERDICT_LINES(describe_verdict, describe_typical_range, describe_worst_case),
    { "FP32-grade",          judged_describe_grade,  RECORD_ALWAYS,  NULL },
    { "distances",           describe_histogram,     RECORD_VERBOSE, "ulp_histogram" },
    { 0 }
    /* clang-format on */
};
