/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut gemm: a whole GEMM, emulated or by a kernel on a device, and judged. */
#include "analysis/cli/budget_command.h"
#include "analysis/cli/device_gemm.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/say.h"
#include "analysis/error/bound_run.h"
#include "analysis/error/judge.h"
#include "analysis/error/usual.h"
#include "lib/clock.h"
#include "lib/file/source.h"
#include "lib/fma.h"
#include "lib/text.h"

#include <math.h>

static const char *reference_name = "exact";
static const char *save_a, *save_b, *kernel_name;

static const struct option_row options[] = {
    SETUP_OPTIONS,
    DEVICE_OPTION("emulator"),
    { "kernel", "by this kernel (bitcut list kernels; default: what suits the device)",
      OPTION_TEXT, &kernel_name, "K" },
    OPERAND_OPTIONS,
    { "save-a", "write A to this file, .npy or .mtx", OPTION_TEXT, &save_a, "FILE" },
    { "save-b", "write B to this file", OPTION_TEXT, &save_b, "FILE" },
    { "reference", "exact, mpfr, fp32 or none (default exact)", OPTION_TEXT,
      &reference_name, "R" },
    BUDGET_OPTIONS,
    VERBOSE_OPTION,
    { 0 }
};

/* --- what people look at; --json has all ------------------------------------------ */

static bool say_componentwise(char *text, size_t size, const struct emit_line *line,
                              const json_t *row)
{
    char error[SAY_NUMBER_MOST], limit[SAY_NUMBER_MOST];
    say_more(text, size, "%s u |A||B| at most, u = 2^-24 (an FP32 GEMM may have %s)",
             say_number(error, row, line->key, 3),
             say_number(limit, row, "backward_limit", 3));
    return true;
}

static bool say_relative(char *text, size_t size, const struct emit_line *line,
                         const json_t *row)
{
    char error[SAY_NUMBER_MOST], bits[SAY_NUMBER_MOST];
    const bool any = real_at(row, "effective_bits") > 0;
    say_more(text, size, "%s of ||C||, C the exact result: %s bits kept (FP32 has 24)",
             say_number(error, row, line->key, 3),
             any ? say_number(bits, row, "effective_bits", 3) : "0");
    return true;
}

static bool say_ulps(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    char mean[SAY_NUMBER_MOST], most[SAY_NUMBER_MOST], condition[SAY_NUMBER_MOST];
    say_more(text, size,
             "%s on average, %s at most (sums cancel: |A||B| is up to %s |C|)",
             say_number(mean, row, line->key, 3), say_number(most, row, "ulp_max", 4),
             say_number(condition, row, "condition_max", 3));
    return true;
}

static long long whole_of(const json_t *row, const char *key, size_t i)
{
    const json_t *value = json_object_get(row, key);
    return json_integer_value(json_is_array(value) ? json_array_get(value, i) : value);
}

static bool say_lost(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    const long long depth = whole_of(row, "k", 0);
    if (json_object_get(row, "budget")) return false;
    say_more(text, size,
             "underflow in %lld of %lld elements of A and %lld of %lld of B; overflow in "
             "%lld and %lld",
             whole_of(row, line->key, 0), whole_of(row, "m", 0) * depth,
             whole_of(row, line->key, 1), depth * whole_of(row, "n", 0),
             whole_of(row, "words_overflow", 0), whole_of(row, "words_overflow", 1));
    return true;
}

/* Where the verdict has no bound of each output. */
static bool say_limit(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    char limit[SAY_NUMBER_MOST];
    const json_t *worst = json_object_get(row, "recipe_worst");
    if (!json_is_number(json_object_get(row, line->key)) || json_object_get(row, "at") ||
        text_at(row, "bound_grade"))
        return false;
    say_more(text, size, "%s u ||row of A|| ||column of B||, for certain",
             say_number(limit, row, line->key, 3));
    if (json_is_number(worst))
        say_more(text, size, ", of which the worst output takes %.3g %%",
                 100 * json_number_value(worst));
    say_more(text, size, "%s",
             json_is_true(json_object_get(row, "explained"))
                 ? ""
                 : ": more than this recipe on this unit explains");
    return true;
}

static bool say_histogram(char *text, size_t size, const struct emit_line *line,
                          const json_t *row)
{
    const json_t *bins = json_object_get(row, line->key);
    for (size_t i = 0; i < json_array_size(bins); i++) {
        const long long count = json_integer_value(json_array_get(bins, i));
        if (count && i + 1 < json_array_size(bins)) say_bin(text, size, (int)i, count);
        else if (count) say_more(text, size, "%smore: %lld", *text ? ", " : "", count);
    }
    say_more(text, size, " (FP32 steps from the exact result: outputs)");
    return true;
}

static const struct emit_line lines[] = {
    /* clang-format off */
    SAY_GEMM,
    { "m",               "matrices",            NULL, say_matrices,      LINE_ALWAYS },
    { "backward_max",    "componentwise error", NULL, say_componentwise, LINE_ALWAYS },
    { "relres",          "relative error",      NULL, say_relative,      LINE_ALWAYS },
    { "ulp_mean",        "error in ulps",       NULL, say_ulps,          LINE_ALWAYS },
    { "words_underflow", "range of words",      NULL, say_lost,          LINE_ALWAYS },
    { "recipe_limit",    "limit of the recipe", NULL, say_limit,         LINE_ALWAYS },
    SAY_BUDGET,
    { "verdict",         "verdict",             NULL, say_value,         LINE_ALWAYS },
    { "ulp_histogram",   "distances",           NULL, say_histogram,     LINE_VERBOSE },
    { 0 }
    /* clang-format on */
};

/* --- the answer ------------------------------------------------------------------- */

/* The grade in words: what it says, and of which element. */
static json_t *grade_words(const struct comparison *x, const double values[METRICS])
{
    static const char *const says[] = {
        "worse than an FP32 GEMM", "as good as an FP32 GEMM in norm, not by elements",
        "as good as an FP32 GEMM beside the norms of row and column, not by elements",
        "as good as an FP32 GEMM in every element"
    };
    const size_t count = x->m * x->n;
    size_t worst = 0;
    if (values[METRIC_WRONG] > 0)
        return json_sprintf("not an FP32 result: %.0f elements are NaN or infinite that "
                            "should not be, or the reverse",
                            values[METRIC_WRONG]);
    if (!(x->words <= METRIC_WORDS_MOST))
        return json_sprintf(
            "not an FP32 result: the words hold A and B to %.3g u of their "
            "norms, where FP32 holds them exactly and %d u would do",
            x->words, METRIC_WORDS_MOST);
    for (size_t i = 1; i < count; i++)
        if (grade_ratio(x, i) > grade_ratio(x, worst)) worst = i;
    return json_sprintf("%s: the worst, (%zu, %zu), errs by %.3g of what FP32 may",
                        says[(int)values[METRIC_GRADE]], count ? worst / x->n : 0,
                        count ? worst % x->n : 0, values[METRIC_GRADE_WORST]);
}

/* What D is beside. */
struct beside {
    struct bound_result bound; /* what recipe and unit allow                       */
    struct usual usual;        /* what error they usually have; no outputs: unknown */
};

/* How D, whose largest error is `most` u |A||B|, stands to bound and usual range, in
   words beside the grade that compares with FP32. */
static json_t *verdict_words(const struct comparison *x, double most, const char *grade,
                             const struct beside *beside, const char *standing)
{
    const struct bound_result *const b = &beside->bound;
    char usual[80] = "";
    if (beside->usual.outputs && isfinite(beside->usual.high))
        say_more(usual, sizeof usual, ", usual %.3g to %.3g", beside->usual.low,
                 beside->usual.high);
    if (!b->applies) return json_string(grade);
    if (!b->outputs) return json_sprintf("no output has a bound; %s", grade);
    if (!b->violations)
        return json_sprintf(
            "%s: %.3g u at most%s; the nearest to its bound, (%zu, %zu), has "
            "%.3g of %.3g u (for certain, as if every rounding did its "
            "worst; a test takes the limits of bitcut tolerance); %s",
            standing, most, usual, b->worst / x->n, b->worst % x->n, b->worst_error,
            b->worst_limit, grade);
    return json_sprintf("%s of recipe and unit in %zu outputs, so not theirs: (%zu, %zu) "
                        "has %.3g u of %.3g u%s; %s",
                        standing, b->violations, b->worst / x->n, b->worst % x->n,
                        b->worst_error, b->worst_limit, usual, grade);
}

/* Both grades as keys and in words: that beside FP32, and that from the bound. */
static void add_grades(json_t *row, const struct comparison *x,
                       const double values[METRICS], const struct beside *beside)
{
    const struct bound_result *const b = &beside->bound;
    const struct standing *const standing = &standings[standing_of(
        &beside->usual, values[METRIC_BACKWARD_MAX], b->violations)];
    json_t *grade = grade_words(x, values);
    json_object_set_new(row, "grade_words", grade);
    json_object_set_new(row, "bound_grade",
                        b->applies && b->outputs ? json_string(standing->name)
                                                 : json_null());
    json_object_set_new(row, "verdict",
                        verdict_words(x, values[METRIC_BACKWARD_MAX],
                                      json_string_value(grade), beside, standing->what));
}

/* What the recipe may commit on the unit, and whether that explains the errors. */
static void add_commitment(json_t *row, const struct comparison *x,
                           const struct commit_error *e, const struct bound_result *b)
{
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:[o,o], s:[o,o]}", "words_error",
                  json_number(e->words), "recipe_limit", json_number(e->all),
                  "recipe_worst", json_number(commit_share(x, e)), "bound_max",
                  json_number(b->limit_most), "bound_worst", json_number(b->ratio),
                  "explained", b->applies ? b->violations == 0 : commit_share(x, e) <= 1,
                  "words_underflow", json_count(e->underflow[0]),
                  json_count(e->underflow[1]), "words_overflow",
                  json_count(e->overflow[0]), json_count(e->overflow[1])));
}

static void add_metrics(json_t *row, struct judge *j, const struct commit_error *e,
                        const struct beside *beside, int threads)
{
    size_t bins[HISTOGRAM_BINS];
    double values[METRICS];
    metrics_find(values, &j->comparison, ~0u, threads);
    for (int i = 0; i < METRICS; i++)
        json_object_set_new(row, metrics[i].name, json_number(values[i]));
    add_grades(row, &j->comparison, values, beside);
    add_commitment(row, &j->comparison, e, &beside->bound);
    json_object_set_new(row, "usual",
                        beside->usual.outputs
                            ? json_pack("[o, o]", json_number(beside->usual.low),
                                        json_number(beside->usual.high))
                            : json_null());
    json_t *histogram = json_array();
    ulp_histogram(bins, &j->comparison);
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        json_array_append_new(histogram, json_count(bins[i]));
    json_object_set_new(row, "ulp_histogram", histogram);
}

/* Whether recipe and unit allow the errors, and what is usual; beside an exact
   reference. */
static enum bitcut_status find_beside(struct beside *to, const struct setup *s,
                                      const struct judge *j,
                                      const struct reference *reference,
                                      const struct gemm_options *how,
                                      const struct context *x, struct fault *f)
{
    const struct gemm_data data = { s->a, s->b, s->c };
    struct bound_problem problem;
    struct gemm_plan plan; /* which a device chose */
    *to = (struct beside){ .bound = { .limit_most = (double)NAN, .ratio = (double)NAN } };
    if (!reference->exact) return BITCUT_OK;
    enum bitcut_status status = gemm_plan_on_unit(&plan, &s->gemm, f);
    if (status == BITCUT_OK)
        status = bound_problem_make(&problem, &s->gemm, &plan, &j->comparison, true, f);
    problem.sums = offload_sums(how->offload);
    if (status == BITCUT_OK)
        status = bound_run_row(&to->bound, &bounds[BOUND_ALIGNED], &problem, x->threads,
                               &x->progress, f);
    return status != BITCUT_OK ? status
                               : usual_range(&to->usual, &s->gemm, &data, x->seed,
                                             x->threads, &x->progress, f);
}

static json_t *settled(const uint64_t counts[LAYERS])
{
    json_t *row = json_object();
    for (int i = 0; i < LAYERS; i++)
        json_object_set_new(row, exact_layers[i].name, json_count((size_t)counts[i]));
    return row;
}

/* Where it ran, and by which kernel or method. */
static void describe_place(json_t *row, const struct device_gemm *g)
{
    const struct gpu_kernel *kernel = g->work.kernel;
    const bool emulates = kernel && gpu_work_emulates(&g->work);
    json_object_set_new(row, "device",
                        device_is_emulator() ? json_string("emulator")
                                             : json_text(g->recorder.device.name));
    json_object_set_new(row, "kernel",
                        kernel && !emulates ? json_string(kernel->name) : json_null());
    if (emulates) json_object_set_new(row, "method", device_gemm_methods(&g->work));
}

static json_t *describe(const struct setup *s, const struct context *x)
{
    json_t *row = json_object();
    setup_describe(row, &s->gemm, &s->plan);
    json_object_update_new(
        row, json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "m", (json_int_t)s->a.rows, "n",
                       (json_int_t)s->b.cols, "k", (json_int_t)s->a.cols, "input_a",
                       json_text(s->input_a), "input_b", json_text(s->input_b), "seed",
                       json_seed(x->seed)));
    return row;
}

static int judge_result(json_t *row, const struct setup *s, const struct matrix *d,
                        const struct device_gemm *g, const struct context *x)
{
    struct fault f;
    struct gemm_options how = context_options(x);
    if (!device_is_emulator()) how.offload = &g->offload.offload;
    struct judge j;
    const struct exact_update update = { s->gemm.alpha, s->gemm.beta, s->c.at };
    const struct reference *reference = table_find(TABLE(references), reference_name);
    if (judge_init(&j, reference, &s->a, &s->b, &update, &how, &f) != BITCUT_OK)
        return fail("reference", &f);
    struct commit_error e;
    struct beside beside;
    j.comparison.d = d->at;
    if (judge_grade(&j, &e, &s->gemm, &how, &f) != BITCUT_OK ||
        find_beside(&beside, s, &j, reference, &how, x, &f) != BITCUT_OK) {
        judge_clear(&j);
        return fail("reference", &f);
    }
    json_object_set_new(row, "reference", json_string(reference->name));
    add_metrics(row, &j, &e, &beside, x->threads);
    json_object_set_new(row, "settled_f32", settled(j.counts.settled[EXACT_F32]));
    json_object_set_new(row, "settled_f64", settled(j.counts.settled[EXACT_F64]));
    json_object_set_new(row, "reference_seconds", json_number(j.seconds));
    judge_clear(&j);
    return EXIT_GOOD;
}

static int compute(struct matrix *d, json_t *row, const struct setup *s,
                   const struct device_gemm *g, const struct context *x)
{
    const double start = seconds_now();
    const int status =
        device_is_emulator() ? setup_run(d, s, x) : device_gemm_run(d, g, s);
    if (status != EXIT_GOOD) return status;
    const double seconds = seconds_now() - start;
    const double products = (double)d->rows * (double)d->cols * (double)s->a.cols;
    json_object_set_new(row, "seconds", json_number(seconds));
    json_object_set_new(row, "products_per_second",
                        json_number(products * s->plan.terms / seconds));
    return EXIT_GOOD;
}

/* Outputs with a name that cannot be written are refused before the work. */
static int check_outputs(const struct context *x)
{
    const struct setup_options *o = &setup_options;
    const struct used_file files[] = { { "-a", o->a, false },
                                       { "-b", o->b, false },
                                       { "-c", o->c, false },
                                       { "--save-a", save_a, true },
                                       { "--save-b", save_b, true },
                                       { "-o", x->output, true },
                                       { 0 } };
    for (const struct used_file *file = files; file->option; file++) {
        struct fault f;
        if (file->written && file->path && source_check(file->path, &f) != BITCUT_OK)
            return fail(file->path, &f);
    }
    return check_files(files);
}

static int save(const struct matrix *matrix, const char *path)
{
    struct fault f;
    if (!path || source_write(path, matrix, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail(path, &f);
}

static int run_on(struct context *x, const struct setup *s, const struct device_gemm *g,
                  json_t *row)
{
    struct matrix d = { 0 };
    int status = compute(&d, row, s, g, x);
    if (status == EXIT_GOOD && reference_name) status = judge_result(row, s, &d, g, x);
    if (status == EXIT_GOOD) status = budget_describe(row, s, &d, x);
    if (status == EXIT_GOOD) status = save(&s->a, save_a);
    if (status == EXIT_GOOD) status = save(&s->b, save_b);
    if (status == EXIT_GOOD) status = save(&d, x->output);
    matrix_clear(&d);
    return status;
}

/* The GEMM as a device, or the emulator for a kernel, computes it. */
static int make_by_kernel(struct setup *s, struct device_gemm *g, const struct context *x)
{
    int status = device_gemm_open(g, kernel_name);
    if (status != EXIT_GOOD) return status;
    const char *recipe = setup_options.recipe;
    if (!recipe && !g->kernel)
        return complain("--recipe",
                        "is needed, such as ootomo, unless --kernel is given");
    status = setup_open_gemm(s, recipe ? recipe : g->kernel->recipe);
    if (status == EXIT_GOOD) status = operands_make(s, x);
    return status == EXIT_GOOD ? device_gemm_choose(g, s) : status;
}

static int make(struct setup *s, struct device_gemm *g, const struct context *x)
{
    if (kernel_name || !device_is_emulator()) return make_by_kernel(s, g, x);
    const int status = setup_gemm(s);
    return status == EXIT_GOOD ? operands_make(s, x) : status;
}

static int run(struct context *x)
{
    static const struct table_row none[] = { { "none", "" }, { 0 } };
    struct setup s = { 0 };
    struct device_gemm g = { 0 };
    x->emitter.lines = lines;
    x->emitter.verbose = say_verbose;
    if (table_find(TABLE(none), reference_name)) reference_name = NULL;
    else if (!table_find(TABLE(references), reference_name))
        return fail_unknown("--reference", reference_name, TABLE(references));
    int status = check_outputs(x);
    if (status == EXIT_GOOD) status = make(&s, &g, x);
    if (status == EXIT_GOOD) status = budget_check(&s);
    if (status == EXIT_GOOD) {
        json_t *row = describe(&s, x);
        describe_place(row, &g);
        status = run_on(x, &s, &g, row);
        if (status == EXIT_GOOD) emit_row(&x->emitter, row);
        else json_decref(row);
    }
    device_gemm_close(&g);
    setup_clear(&s);
    return status;
}

const struct command command_gemm = {
    .name = "gemm",
    .what = "Compute a GEMM by a recipe on a unit or a device and measure its error",
    .run = run,
    .own = options,
    .operands = "",
    .output = "D, a file .npy or .mtx",
};
