/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report.h"

#include "analysis/cli/emit.h"
#include "analysis/cli/gemm_report_fp64.h"
#include "analysis/cli/gemm_report_inputs.h"
#include "analysis/cli/gemm_report_integers.h"
#include "analysis/cli/gemm_report_line.h"
#include "analysis/cli/gemm_report_rows.h"
#include "analysis/cli/gemm_report_verdict.h"
#include "lib/base/text.h"
#include "lib/gemm/recipe.h"

#include <string.h>

struct gemm_report_work {
    struct result_report base; /* must be first */
    struct gemm_answers a;
    bool of_batch; /* D is a batch, and --index does not select one of its GEMMs */
};

/* --- sections --------------------------------------------------------------------- */

enum { ABOUT_VALUES, ABOUT_RECIPES, ABOUT_RESULT, ABOUT_TEST, ABOUTS };

static const struct table_row chapters[ABOUTS] = {
    { "values", "What is in the matrices?" },
    { "recipes", "How accurate are recipes on them?" },
    { "result", "What is the result?" },
    { "test", "What should a test accept?" }
};

/* A section as a row: the problem that it answers, and its rows from the answer. */
struct part {
    struct section section;
    enum gemm_problem asks;
    enum { ANY_RESULT, RESULT_GIVEN, RESULT_EMULATED, BATCH_GIVEN } needs;
    gemm_report_rows *rows;
    const struct record_line *lines; /* its sentences about the answer; NULL: none */
};

/* Lines of answers that a section shows in part. */
static const struct record_line values_lines[] = {
    { .label = "A", .describe = advise_describe_a },
    { .label = "B", .describe = advise_describe_b },
    { 0 }
};
static const struct record_line recipes_lines[] = {
    { .label = "wanted", .describe = advise_describe_want },
    { .label = LABEL_VERDICT, .describe = advise_describe_none },
    VERDICT_LINES(advise_describe_best, advise_describe_typical,
                  advise_describe_worst_case),
    { .label = "fastest", .describe = advise_describe_fastest },
    { .label = "check", .describe = advise_describe_command },
    { 0 }
};
static const struct record_line scales_lines[] = {
    { .label = "scale", .describe = advise_describe_scales }, { 0 }
};
static const struct record_line explanation_lines[] = {
    /* the other lines depend on time */
    { .label = "explanation", .describe = explain_describe_text },
    { .label = "error of D", .describe = explain_describe_error },
    { .label = "recipes", .describe = explain_describe_distances },
    { .label = "sum over k", .describe = explain_describe_sum },
    { .label = "distance of D", .describe = explain_describe_spread },
    { .label = "differs in", .describe = explain_describe_boxes },
    { .label = "period", .describe = explain_describe_period },
    { .label = "same bits", .describe = explain_describe_equal },
    { 0 }
};
static const struct record_line worst_lines[] = {
    { .label = "worst outputs", .describe = budget_describe_worst }, { 0 }
};
static const struct record_line bounds_lines[] = {
    { .label = "bounds", .describe = bound_describe_broken }, { 0 }
};

#define BY_EXPONENT .x = "exponent", .x_label = "exponent of the value"

static const struct study_plot table = { .y = NULL };
static const struct study_plot count_plot = {
    BY_EXPONENT,
    .y = "count",
    .series = "operand",
    .y_label = "values",
    .y_log = true,
    .sees = "Whether values lie below 2^-14, where f16 parts are subnormal, or above "
            "2^15, where f16 parts overflow."
};
static const struct study_plot bits_plot = {
    BY_EXPONENT,
    .y = "bits",
    .series = "recipe",
    .panels = "operand",
    .y_label = "bits retained, of 24",
    .sees = "Where a curve falls, the low parts of that recipe underflow. This matters "
            "at exponents that many values have."
};
static const struct study_plot error_plot = {
    .x = "ulps",
    .y = "share",
    .series = "result",
    .x_label = "distance from the exact result (FP32 steps, at most)",
    .y_label = "share of outputs",
    .x_log = true,
    .sees = "A result as accurate as FP32 has its outputs where the FP32 loop has them; "
            "a less accurate result lies farther to the right."
};

static const struct part parts[] = {
    { .section = { .name = "values",
                   .chapter = ABOUT_VALUES,
                   .plot = &count_plot,
                   .what = "values of A and B by exponent",
                   .title = "Values by exponent",
                   .text = "How many values of A and B have each exponent. Zeros, "
                           "infinities and NaN, if there are any, are counted in the "
                           "answers above. Values below 2^-14 have subnormal f16 parts; "
                           "values above 2^15 have no f16 part." },
      .lines = values_lines,
      .asks = ASK_ADVISE,
      .rows = gemm_report_values },
    { .section = { .name = "bits",
                   .chapter = ABOUT_VALUES,
                   .plot = &bits_plot,
                   .what = "bits of A and B that splits retain, by exponent",
                   .title = "What splits retain",
                   .text = "Bits of a value that its parts hold, on average over the "
                           "values of A or of B with that exponent; FP32 has 24." },
      .asks = ASK_ADVISE,
      .rows = gemm_report_recorded },
    { .section = { .name = "retained",
                   .chapter = ABOUT_VALUES,
                   .plot = &table,
                   .what = "all splits and scales, for all values together",
                   .title = "Every split and scale",
                   .text =
                       "For all values of an operand together: what each split retains "
                       "at scales from scale_from to scale_to (all give the same), how "
                       "often the low part is subnormal or zero, how often a part "
                       "overflows, and how often a unit that flushes subnormals reads a "
                       "part as zero." },
      .asks = ASK_ADVISE,
      .rows = gemm_report_recorded_in_all },
    { .section = { .name = "recipes",
                   .chapter = ABOUT_RECIPES,
                   .plot = &table,
                   .what = "predicted and bounded error by recipe and chip",
                   .title = "Predicted error by recipe and chip",
                   .text =
                       "Error of each recipe on a sample of these outputs, on the model "
                       "of each chip; the smallest worst-case bound for all outputs; and "
                       "the cost in FP32 products at the chip's rate for f16. The "
                       "cheapest recipe is first. AMD units are models from "
                       "publications, not run on AMD hardware by us." },
      .lines = recipes_lines,
      .asks = ASK_ADVISE,
      .rows = gemm_report_tried },
    { .section = { .name = "scales",
                   .chapter = ABOUT_RECIPES,
                   .plot = &table,
                   .what = "2^10, 2^11 or equilibration for these values",
                   .title = "2^10, 2^11 or equilibration",
                   .text =
                       "Error of the recipes with two parts: low parts times 2^10, low "
                       "parts times 2^11, and rows of A and columns of B scaled by "
                       "powers of two first." },
      .lines = scales_lines,
      .asks = ASK_ADVISE,
      .rows = gemm_report_scales },
    { .section = { .name = "batch",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "the errors of the GEMMs of the batch",
                   .title = "The GEMMs of the batch",
                   .text =
                       "The GEMMs with the largest errors, counted from 0: the largest "
                       "|D - C| / |A||B| in u, u the unit roundoff of the format of D, "
                       "||D - C|| / ||C||, and the outputs that are NaN or infinite "
                       "where the exact C is not, or the other way. The other sections "
                       "are about the first of them, except limits for a test and the "
                       "verdict, which hold for all." },
      .asks = ASK_TOLERANCE,
      .needs = BATCH_GIVEN,
      .rows = gemm_report_batch_rows },
    { .section = { .name = "explanation",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "which recipe and unit computed D, and which fault",
                   .title = "What computed D",
                   .text = "Every recipe on every unit, in many orders of k and with "
                           "typical faults of kernels, until one gives D to the bit; and "
                           "how far each unchanged recipe is from D." },
      .lines = explanation_lines,
      .asks = ASK_EXPLAIN,
      .needs = RESULT_GIVEN,
      .rows = gemm_report_distances },
    { .section = { .name = "emulated",
                   .chapter = ABOUT_RESULT,
                   .plot = &error_plot,
                   .what = "distance of results from the exact result",
                   .title = "Errors compared with FP32",
                   .text =
                       "Share of outputs by distance from the exact result: 0, then "
                       "intervals between powers of two. An FP32 loop is the result that "
                       "most people accept as correct." },
      .asks = ASK_GEMM,
      .lines = judged_lines,
      .rows = gemm_report_errors },
    { .section = { .name = "worst-emulated",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "where the worst errors come from",
                   .title = "Budget of the worst outputs",
                   .text = "The outputs with the largest error in u |A||B|, u the unit "
                           "roundoff of the format of D (2^-24 for FP32), and "
                           "the parts of each error, which add up to it exactly." },
      .lines = worst_lines,
      .asks = ASK_GEMM,
      .needs = RESULT_EMULATED,
      .rows = gemm_report_worst_emulated },
    { .section = { .name = "worst",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "where the worst errors of D come from",
                   .title = "Budget of the worst outputs of D",
                   .text =
                       "The outputs of D with the largest error in u |A||B|, u the unit "
                       "roundoff of the format of D (2^-24 for FP32). "
                       "The parts are the errors of the recipe on this unit, and add up "
                       "to its error exactly. \"unexplained\" is the remaining error of "
                       "D; it is 0 where D is the recipe's result." },
      .asks = ASK_VERIFY,
      .needs = RESULT_GIVEN,
      .lines = verified_lines,
      .rows = gemm_report_worst },
    { .section = { .name = "bounds",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "every bound and the actual error",
                   .title = "Bounds and the actual error",
                   .text =
                       "For the output nearest to its limit: its error, its limit and "
                       "their ratio, in u |A||B|, u = 2^-24, before D is rounded to a "
                       "format shorter than FP32. If a rigorous bound is "
                       "violated, the result was not computed by this recipe on this "
                       "unit. Bounds are for proofs, not for tests: they are wide, since "
                       "rounding errors rarely all have the same sign." },
      .asks = ASK_BOUND,
      .lines = bounds_lines,
      .rows = gemm_report_bounds },
    { .section = { .name = "tolerance",
                   .chapter = ABOUT_TEST,
                   .plot = &table,
                   .what = "limits for a test, and which faults they find",
                   .title = "Limits and the faults that they detect",
                   .text = "Limits that a correct result exceeds with the stated "
                           "probability only. Each limit is tried on kernels with "
                           "faults: the table shows in how many runs each test rejects "
                           "the result." },
      .asks = ASK_TOLERANCE,
      .lines = tolerance_lines,
      .rows = gemm_report_power },
    { .section = { .name = NULL } }
};

/* --- making ----------------------------------------------------------------------- */

/* On a unit of integers. */
static void describe_exact_sums(char *text, size_t size, const void *answer)
{
    const struct gemm_answer *const a = answer;
    if (a->gemm.plan->integer)
        text_add(text, size,
                 "sums of integers are exact within the range of s32; the conversion of "
                 "a sum to FP32 rounds, and the steps after it");
}

/* Questions of readers, the most important first, with the sentence that answers each. */
static const struct {
    enum gemm_problem of;
    record_describe *describe;
    const char *problem;
} asked[] = {
    { ASK_EXPLAIN, explain_describe_text, "What computed D?" },
    { ASK_BOUND, bound_describe_broken, "Is D within the rigorous bounds?" },
    { ASK_EXPLAIN, explain_describe_error, "How accurate is D?" },
    { ASK_EXPLAIN, explain_describe_boxes, "Where does D differ?" },
    { ASK_VERIFY, budget_describe_worst, "What are its worst outputs?" },
    { ASK_ADVISE, advise_describe_best, "Which recipe is enough?" },
    { ASK_ADVISE, advise_describe_none, "Which recipe is enough?" },
    { ASK_ADVISE, advise_describe_typical, "How accurate is that?" },
    { ASK_ADVISE, advise_describe_fastest, "On which chip is that fastest?" },
    { ASK_ADVISE, advise_describe_scales, "2^10, 2^11 or equilibration?" },
    { ASK_GEMM, gemm_describe_what_ran, "Which model was run?" },
    { ASK_GEMM, describe_exact_sums, "Where are results rounded?" },
    { ASK_VERIFY, verified_describe_verdict, "Is D equal to the model, bit for bit?" },
    { ASK_VERIFY, verified_describe_first, "Where is the first difference?" },
    { ASK_GEMM, judged_describe_grade, "Is the model as accurate as FP32?" },
    { ASK_GEMM, budget_describe_all, "Where does the model's error come from?" },
    { ASK_TOLERANCE, tolerance_describe_component, "What should a test accept?" },
    { ASK_ADVISE, advise_describe_a, "What is A?" },
    { ASK_ADVISE, advise_describe_b, "What is B?" },
};

/* The report as far as it is computed. */
static void answer(struct gemm_report_work *w)
{
    json_array_clear(w->base.page.answers);
    for (size_t n = 0; n < sizeof asked / sizeof asked[0]; n++)
        result_report_answer(&w->base, asked[n].problem, asked[n].describe,
                             gemm_answer_to(&w->a, asked[n].of));
}

/* The results in the rows of errors: D, the recipe's D, and an FP32 loop if it differs
   from the recipe. */
static int ask_errors(struct gemm_answers *a)
{
    const int status = a->o->d ? gemm_ask(a, ASK_TOLERANCE) : EXIT_GOOD;
    if (status > EXIT_FOUND || !strcmp(a->s.gemm.recipe->name, "fp32")) return status;
    return gemm_ask(a, ASK_FP32);
}

/* Whether earlier sections have the same sentence as a line, or a line about the matrices
   if it is one. */
static bool says_before(const struct report *r, size_t section, size_t line)
{
    const json_t *const own = json_array_get(r->section[section].says, line),
                       *const what = json_object_get(own, "what");
    const bool matrices = !strcmp(json_string_value(what), "matrices");
    for (size_t s = 0; s < section; s++)
        for (size_t i = 0; i < json_array_size(r->section[s].says); i++) {
            const json_t *const one = json_array_get(r->section[s].says, i);
            if (json_equal(json_object_get(one, "says"), json_object_get(own, "says")) ||
                (matrices && json_equal(json_object_get(one, "what"), what)))
                return true;
        }
    return false;
}

/* Whether an answer has the same sentence as a line of a section, the verdict, or the
   assertion. */
static bool is_answered(const struct gemm_report_work *w, const json_t *line)
{
    const char *const what = json_string_value(json_object_get(line, "what"));
    const void *const limits = gemm_answer_to(&w->a, ASK_TOLERANCE);
    json_t *const verdict =
        limits ? emit_sentence(tolerance_describe_given, limits) : NULL;
    const bool same = !strcmp(what, "NumPy") || !strcmp(what, "PyTorch") ||
                      json_equal(json_object_get(line, "says"), verdict);
    json_decref(verdict);
    return same || result_report_is_answered(&w->base, line);
}

/* No sentence is repeated on the page. */
static void drop_repeated(struct gemm_report_work *w)
{
    struct report *const r = &w->base.report;
    for (size_t s = 0; s < r->count; s++)
        for (size_t i = json_array_size(r->section[s].says); i-- > 0;)
            if (is_answered(w, json_array_get(r->section[s].says, i)) ||
                says_before(r, s, i))
                json_array_remove(r->section[s].says, i);
}

/* The page as far as it is computed: the verdict, the assertion, and the answers. */
static void conclude(struct gemm_report_work *w)
{
    answer(w);
    gemm_report_judge(&w->base, &w->a);
    if (!json_array_size(w->base.page.code) && gemm_answer_to(&w->a, ASK_TOLERANCE))
        gemm_report_code(&w->base, &w->a);
    drop_repeated(w);
}

/* The command for the errors of the FP32 loop. */
static void add_fp32(json_t *says, const struct gemm_answers *a)
{
    if (!gemm_answer_to(a, ASK_FP32)) return;
    json_t *const line = gemm_question_line(a, ASK_FP32);
    json_array_append_new(
        says, json_pack("{s:s, s:o}", "what", "numbers of fp32", "says", line));
}

static int make_rows(struct section *s, const struct part *p, struct gemm_report_work *w)
{
    int status = gemm_ask(&w->a, p->asks);
    if (p->rows == gemm_report_errors && status <= EXIT_FOUND) status = ask_errors(&w->a);
    if (status > EXIT_FOUND) return status;
    s->source = gemm_question_line(&w->a, p->asks);
    s->inputs = json_incref(w->base.inputs);
    s->rows = json_array();
    p->rows(s->rows, &w->a);
    s->says = emit_lines(p->lines, gemm_answer_to(&w->a, p->asks));
    if (p->rows == gemm_report_errors) add_fp32(s->says, &w->a);
    return EXIT_GOOD;
}

static int make(struct section *s, const void *about, struct report *r)
{
    struct gemm_report_work *const w = (struct gemm_report_work *)r;
    const struct part *const p = about;
    const int status = make_rows(s, p, w);
    conclude(w);
    return status;
}

/* The sections of one chapter in this report. */
static void add_chapter(struct gemm_report_work *w, int chapter, int at)
{
    const bool given = w->a.o->d != NULL, has[] = { [ANY_RESULT] = true,
                                                    [RESULT_GIVEN] = given,
                                                    [RESULT_EMULATED] = !given,
                                                    [BATCH_GIVEN] = w->of_batch };
    for (const struct part *p = parts; p->section.name; p++) {
        struct section s = p->section;
        if (s.chapter != chapter || !has[p->needs]) continue;
        s.chapter = at;
        report_add(&w->base.report, &s, make, p);
    }
}

/* A report on a result begins with the questions about it. */
static void add_parts(struct gemm_report_work *w, struct table_row order[ABOUTS + 1])
{
    const int first = w->a.o->d ? ABOUT_RESULT : ABOUT_VALUES;
    for (int at = 0; at < ABOUTS; at++) {
        const int chapter = (first + at) % ABOUTS;
        order[at] = chapters[chapter];
        add_chapter(w, chapter, at);
    }
}

/* The whole report, once its page is set. */
static int run(struct gemm_report_work *w)
{
    int status = gemm_report_inputs(&w->base, w->a.o);
    if (status == EXIT_GOOD) status = gemm_answers_read(&w->a);
    if (status == EXIT_GOOD) {
        conclude(w);
        status = result_report_run(&w->base, &w->a.of[ASK_TOLERANCE].status);
    }
    gemm_answers_clear(&w->a);
    result_report_close(&w->base);
    return status;
}

int gemm_report(struct context *x, const struct gemm_report_options *o,
                const char *folder)
{
    struct table_row order[ABOUTS + 1] = { { 0 } };
    bool integers, of_batch;
    if (gemm_report_is_fp64(o)) return gemm_report_fp64(x, o, folder);
    if (o->setup.slices != 1) return complain("--split-k", "requires --scheme");
    const int status = gemm_report_look(&integers, &of_batch, o);
    if (status != EXIT_GOOD) return status;
    if (integers) return gemm_report_integers(x, o, folder);
    const struct page words = {
        .title = o->d ? "bitcut report on a result" : "bitcut report on a product",
        .about = "Errors are against the exact product. Predictions and emulated results "
                 "are computed by bit-exact models of the matrix units.",
        .chapters = order,
    };
    static struct gemm_report_work w;
    w = (struct gemm_report_work){
        .a = { .context = x, .o = o },
        .of_batch = of_batch,
    };
    result_report_open(&w.base, x, folder, &words);
    add_parts(&w, order);
    return run(&w);
}
