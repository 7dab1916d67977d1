/* bitcut gemm: emulate a whole GEMM and judge the result. */
#include "analysis/error/judge.h"
#include "analysis/cli/setup.h"
#include "lib/file/source.h"
#include "lib/fma.h"

static size_t m = 256, n = 256, k = 256;
static const char *input_a, *input_b, *pair_name, *reference_name = "exact";
static const char *save_a, *save_b;

static const struct option_row options[] = {
    SETUP_OPTIONS,
    { "m", "rows of A and D (default 256)", OPTION_COUNT, &m, "M" },
    { "n", "columns of B and D (default 256)", OPTION_COUNT, &n, "N" },
    { "k", "columns of A, rows of B (default 256)", OPTION_COUNT, &k, "K" },
    { "input-a", "family of A (bitcut list inputs; default urand(-1,1))", OPTION_TEXT,
      &input_a, "I" },
    { "input-b", "family of B", OPTION_TEXT, &input_b, "I" },
    { "pair", "families of A and B together (bitcut list pairs)", OPTION_TEXT, &pair_name,
      "P" },
    { "save-a", "write A to this file, .npy or .mtx", OPTION_TEXT, &save_a, "FILE" },
    { "save-b", "write B to this file", OPTION_TEXT, &save_b, "FILE" },
    { "reference", "exact, mpfr, fp32 or none (default exact)", OPTION_TEXT,
      &reference_name, "R" },
    { 0 }
};

/* --- matrices --------------------------------------------------------------------- */

static int parse_inputs(struct input *a, struct input *b, struct setup *s)
{
    struct fault f;
    s->input_a = input_a ? input_a : "urand(-1,1)";
    s->input_b = input_b ? input_b : "urand(-1,1)";
    if (pair_name) {
        s->input_a = s->input_b = pair_name;
        if (input_pair_parse(a, b, pair_name, &f) == BITCUT_OK) return EXIT_GOOD;
        return fail_input("--pair", "pairs", &f);
    }
    if (input_parse(a, s->input_a, &f) != BITCUT_OK)
        return fail_input("--input-a", "inputs", &f);
    if (input_parse(b, s->input_b, &f) != BITCUT_OK)
        return fail_input("--input-b", "inputs", &f);
    return EXIT_GOOD;
}

/* A or B: from its file if there is one, else rows x cols of the family. */
static int make_operand(struct matrix *to, const char **from, const char *path,
                        const char *option, const struct input *input,
                        enum input_role role, size_t rows, size_t cols,
                        const struct context *x)
{
    struct fault f;
    if (path) {
        *from = path;
        return setup_read(to, option, path);
    }
    if (source_generate(to, input, role, rows, cols, x->seed, x->threads, &f) ==
        BITCUT_OK)
        return EXIT_GOOD;
    return fail(option, &f);
}

static int make_operands(struct setup *s, const struct context *x)
{
    struct input a, b;
    const struct setup_options *o = &setup_options;
    int status = parse_inputs(&a, &b, s);
    if (status == EXIT_GOOD)
        status = make_operand(&s->a, &s->input_a, o->a, "-a", &a, INPUT_A, m, k, x);
    if (status == EXIT_GOOD && o->a && !o->b) k = s->a.cols;
    if (status == EXIT_GOOD)
        status = make_operand(&s->b, &s->input_b, o->b, "-b", &b, INPUT_B, k, n, x);
    return status == EXIT_GOOD ? setup_finish(s) : status;
}

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

/* What the recipe may commit on the unit, and whether that explains the errors. */
static void add_commitment(json_t *row, const struct comparison *x,
                           const struct commit_error *e)
{
    const double share = commit_share(x, e);
    json_object_update_new(row, json_pack("{s:o, s:o, s:o, s:b}", "words_error",
                                          json_number(e->words), "recipe_limit",
                                          json_number(e->all), "recipe_worst",
                                          json_number(share), "explained", share <= 1));
}

static void add_metrics(json_t *row, struct judge *j, const struct matrix *d,
                        const struct commit_error *e)
{
    size_t bins[HISTOGRAM_BINS];
    double values[METRICS];
    j->comparison.d = d->at;
    metrics_run(values, &j->comparison);
    for (int i = 0; i < METRICS; i++)
        json_object_set_new(row, metrics[i].name, json_number(values[i]));
    json_object_set_new(row, "grade_words", grade_words(&j->comparison, values));
    add_commitment(row, &j->comparison, e);
    json_t *histogram = json_array();
    ulp_histogram(bins, &j->comparison);
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        json_array_append_new(histogram, json_count(bins[i]));
    json_object_set_new(row, "ulp_histogram", histogram);
}

static json_t *settled(const uint64_t counts[LAYERS])
{
    json_t *row = json_object();
    for (int i = 0; i < LAYERS; i++)
        json_object_set_new(row, exact_layers[i].name, json_count((size_t)counts[i]));
    return row;
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
                        const struct context *x)
{
    struct fault f;
    struct judge j;
    const struct exact_update update = { s->gemm.alpha, s->gemm.beta, s->c.at };
    const struct reference *reference = table_find(TABLE(references), reference_name);
    if (judge_init(&j, reference, &s->a, &s->b, &update, x->threads, &x->progress, &f) !=
        BITCUT_OK)
        return fail("reference", &f);
    struct commit_error e;
    if (judge_grade(&j, &e, &s->gemm, x->threads, &x->progress, &f) != BITCUT_OK) {
        judge_clear(&j);
        return fail("reference", &f);
    }
    json_object_set_new(row, "reference", json_string(reference->name));
    add_metrics(row, &j, d, &e);
    json_object_set_new(row, "settled_f32", settled(j.counts.settled[EXACT_F32]));
    json_object_set_new(row, "settled_f64", settled(j.counts.settled[EXACT_F64]));
    json_object_set_new(row, "reference_seconds", json_number(j.seconds));
    judge_clear(&j);
    return EXIT_GOOD;
}

static int emulate(struct matrix *d, json_t *row, const struct setup *s,
                   const struct context *x)
{
    const double start = seconds_now();
    const int status = setup_run(d, s, x);
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

static int run_on(struct context *x, const struct setup *s, json_t *row)
{
    struct matrix d = { 0 };
    int status = emulate(&d, row, s, x);
    if (status == EXIT_GOOD && reference_name) status = judge_result(row, s, &d, x);
    if (status == EXIT_GOOD) status = save(&s->a, save_a);
    if (status == EXIT_GOOD) status = save(&s->b, save_b);
    if (status == EXIT_GOOD) status = save(&d, x->output);
    matrix_clear(&d);
    return status;
}

static int run(struct context *x)
{
    static const struct table_row none[] = { { "none", "" }, { 0 } };
    struct setup s = { 0 };
    if (table_find(TABLE(none), reference_name)) reference_name = NULL;
    else if (!table_find(TABLE(references), reference_name))
        return fail_unknown("--reference", reference_name, TABLE(references));
    int status = check_outputs(x);
    if (status == EXIT_GOOD) status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = make_operands(&s, x);
    if (status == EXIT_GOOD) {
        json_t *row = describe(&s, x);
        status = run_on(x, &s, row);
        if (status == EXIT_GOOD) emit_row(&x->emitter, row);
        else json_decref(row);
    }
    setup_clear(&s);
    return status;
}

const struct command command_gemm = {
    .name = "gemm",
    .what = "Emulate a GEMM by a recipe on a unit and measure its error",
    .run = run,
    .own = options,
    .operands = "",
    .output = "D, a file .npy or .mtx",
};
