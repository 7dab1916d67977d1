/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut gemm: a whole GEMM, emulated or by a kernel on a device, and its error. */
#include "analysis/cli/budget_command.h"
#include "analysis/cli/device_gemm.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/fp64_command.h"
#include "analysis/cli/integer_command.h"
#include "analysis/cli/library_option.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/row_value.h"
#include "analysis/sampling/judged.h"
#include "lib/base/clock.h"
#include "lib/input/source.h"
#include "lib/io/json_record.h"
#include "lib/number/fma.h"

#include <string.h>

struct gemm_command_options {
    struct setup_options setup;
    struct operand_options operands;
    struct budget_options budget;
    struct library_options library;
    struct fp64_options fp64;
    const char *device, *kernel, *save_a, *save_b, *reference;
    bool verbose;
};

static const struct gemm_command_options defaults = { .setup = SETUP_BATCH_DEFAULTS,
                                                      .operands = OPERAND_DEFAULTS,
                                                      .fp64 = FP64_DEFAULTS,
                                                      .reference = "exact" };

static const struct option_row options[] = {
    SETUP_OPTIONS(gemm_command),
    LIBRARY_OPTIONS(gemm_command),
    FP64_OPTIONS(gemm_command),
    WORST_OPTIONS(gemm_command),
    DEVICE_OPTION(gemm_command, "emulator"),
    { "kernel", "kernel (bitcut list kernels; default: chosen for the device)",
      OPTION(gemm_command, kernel, TEXT, "K") },
    OPERAND_OPTIONS(gemm_command),
    EPILOGUE_OPTIONS(gemm_command),
    ZERO_OPTIONS(gemm_command),
    { "format-d", "format to which D is rounded at the end (default f32)",
      OPTION(gemm_command, setup.files.format_of[MATRIX_D], TEXT, "F") },
    MATRIX_OPTIONS_OFFSETS(gemm_command, setup.files),
    MATRIX_OPTIONS_SPARSE(gemm_command, setup.files),
    MATRIX_OPTION_INDEX(gemm_command, setup.files),
    { "save-a", "write A to this file, .npy or .mtx",
      OPTION(gemm_command, save_a, TEXT, "FILE") },
    { "save-b", "write B to this file", OPTION(gemm_command, save_b, TEXT, "FILE") },
    { "reference", "reference result: exact, mpfr, fp32 or none (default exact)",
      OPTION(gemm_command, reference, TEXT, "R") },
    BUDGET_OPTIONS(gemm_command),
    VERBOSE_OPTION(gemm_command),
    { 0 }
};

/* --- the answer ------------------------------------------------------------------- */

/* What computed: the device, and the kernel or method. */
static void describe_place(json_t *row, const struct device_gemm *g)
{
    const struct gpu_kernel *kernel = g->work.kernel;
    const bool emulates = kernel && gpu_work_emulates(&g->work);
    json_object_set_new(row, "device",
                        g->on_device ? json_text(g->recorder.device.name)
                                     : json_string("emulator"));
    json_object_set_new(row, "kernel",
                        kernel && !emulates ? json_string(kernel->name) : json_null());
    if (emulates) json_object_set_new(row, "method", device_gemm_methods(&g->work));
}

/* The keys of a prediction that the GEMM does not have. */
static const char *const predict_keys[] = { "library", "chip", "types", "library_threads",
                                            "computations", NULL };

static json_t *describe(const struct setup *s, const struct context *x)
{
    json_t *row = json_object();
    setup_describe(row, &s->gemm, &s->plan);
    quantized_json(row, s->quantized);
    if (s->predicted) record_json_keys(row, predict_fields, s->predicted, predict_keys);
    json_object_update_new(
        row, json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "m", (json_int_t)s->a.rows, "n",
                       (json_int_t)s->b.cols, "k", (json_int_t)s->a.cols, "input_a",
                       json_text(s->input_a), "input_b", json_text(s->input_b), "seed",
                       json_seed(x->seed)));
    if (s->is_batch) json_object_set_new(row, "count", json_count(s->count));
    return row;
}

/* The same for sentences; the method once if all terms have the same. */
static void write_place_field(struct gemm_description *to, const struct device_gemm *g)
{
    const struct gpu_kernel *kernel = g->work.kernel;
    const char *name;
    bool same = true;
    if (g->on_device) to->device = g->recorder.device.name;
    if (!kernel) return;
    if (!gpu_work_emulates(&g->work)) {
        to->kernel = kernel->name;
        return;
    }
    for (size_t i = 0; i < RECIPE_TERMS_MAX && (name = gpu_work_method(&g->work, i));
         i++) {
        to->method[i] = name;
        same &= !strcmp(name, to->method[0]);
    }
    if (same) to->method[1] = NULL;
}

/* D as FP32 values, and as encodings of its format if that is not f32. */
struct result {
    struct matrix d;
    struct encoded_matrix encoded;
};

static void result_clear(struct result *r)
{
    matrix_clear(&r->d);
    encoded_clear(&r->encoded);
}

/* D on the emulator. */
static int emulate(struct result *r, const struct setup *s, const struct context *x)
{
    struct fault f;
    if (s->predicted && s->predicted->computations > 1) return library_compute(&r->d, s, x);
    if (matrix_format(&s->gemm.d) == &formats[FORMAT_F32]) return setup_run(&r->d, s, x);
    struct encoded_matrix copy;
    const int status = setup_run_encoded(&r->encoded, s, x);
    if (status != EXIT_GOOD) return status;
    if (encoded_copy(&copy, &r->encoded, &f) == BITCUT_OK &&
        encoded_f32(&r->d, &copy, &f) == BITCUT_OK)
        return EXIT_GOOD;
    return fail("D", &f);
}

static int compute(struct result *r, json_t *row, const struct setup *s,
                   const struct device_gemm *g, const struct context *x)
{
    const struct matrix *const d = &r->d;
    const double start = seconds_now();
    const int status = g->on_device ? device_gemm_run(&r->d, g, s) : emulate(r, s, x);
    if (status != EXIT_GOOD) return status;
    const double seconds = seconds_now() - start;
    const double products = (double)matrix_count(d) * (double)d->rows * (double)d->cols *
                            (double)(s->a.kept ? s->a.cols / 2 : s->a.cols);
    json_object_set_new(row, "seconds", json_number(seconds));
    json_object_set_new(row, "products_per_second",
                        json_number(products * s->plan.terms / seconds));
    return EXIT_GOOD;
}

/* Outputs that cannot be written are refused before the work. */
static int check_outputs(const struct context *x)
{
    const struct gemm_command_options *const o = x->own;
    const struct setup_options *const s = &o->setup;
    const struct used_file files[] = { { "-a", s->a, false },
                                       { "-b", s->b, false },
                                       { "-c", s->c, false },
                                       { "--save-a", o->save_a, true },
                                       { "--save-b", o->save_b, true },
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

static int save_result(const struct result *r, const char *path)
{
    struct fault f;
    if (!path || !r->encoded.at) return save(&r->d, path);
    return encoded_write(path, &r->encoded, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

static const struct fault *no_memory(struct fault *f)
{
    fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    return f;
}

/* Compare D; of a batch, the D with the largest componentwise error, GEMM *gemm. */
static int judge_largest(struct judged *to, size_t *gemm, const struct setup *s,
                         const struct matrix *d, const struct reference *reference,
                         const struct gemm_options *how, const struct context *x)
{
    const struct bitcut_gemm all = setup_gemms(s, d->at);
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        struct gemm_data data;
        struct judged one;
        struct matrix of, own;
        struct fault f;
        if (!gemm_data_of(&data, &of, &own, &all, i))
            return fail("reference", no_memory(&f));
        if (s->offsets && !of.rows) continue; /* a group of rows, which has no copies */
        const struct bitcut_gemm nth = gemm_nth(&all, i);
        enum bitcut_status status = gemm_data_take_extra(&data, &nth, 0, x->threads, &f);
        if (status == BITCUT_OK)
            status = judged_find(&one, &s->gemm, &data, &of, reference, x->seed, how, &f);
        gemm_data_clear_extra(&data);
        matrix_clear(&own);
        if (status != BITCUT_OK) return fail("reference", &f);
        const double error = one.value[METRIC_BACKWARD_MAX];
        if (any && !(error > to->value[METRIC_BACKWARD_MAX])) continue;
        any = true;
        *to = one;
        *gemm = i;
    }
    return EXIT_GOOD;
}

/* Compare D, write files, and print everything requested.  Takes over the row. */
static int answer(struct context *x, const struct setup *s, const struct device_gemm *g,
                  const struct result *r, json_t *row)
{
    const struct matrix *const d = &r->d;
    const struct gemm_command_options *const o = x->own;
    const struct reference *const reference =
        !s->count || (s->offsets && !s->a.rows)
            ? NULL
            : table_find(TABLE(references), o->reference);
    const struct gemm_data data = { .a = s->a, .b = s->b, .c = s->c };
    struct gemm_options how = context_options(x);
    struct judged judged;
    struct budget_answer budget = { .worst = NULL };
    struct budget_problem problem;
    char library[LIBRARY_TEXT_MAX];
    size_t largest = 0;
    int status = EXIT_GOOD;
    if (g->on_device) how.offload = &g->offload.offload;
    if (reference) status = judge_largest(&judged, &largest, s, d, reference, &how, x);
    if (reference && status == EXIT_GOOD) {
        record_json(row, judged_fields, &judged);
        if (s->is_batch) json_object_set_new(row, "largest", json_count(largest));
    }
    if (status == EXIT_GOOD)
        status = budget_ask(&budget, &problem, &o->budget, s, &data, d, x);
    if (status == EXIT_GOOD) status = save(&s->a, o->save_a);
    if (status == EXIT_GOOD) status = save(&s->b, o->save_b);
    if (status == EXIT_GOOD) status = save_result(r, x->output);
    if (status == EXIT_GOOD) {
        struct gemm_answer a = { .gemm = setup_description(s, x, true),
                                 .judged = reference ? &judged : NULL,
                                 .largest = largest,
                                 .budget = &budget,
                                 .library = library_text(library, s) };
        write_place_field(&a.gemm, g);
        budget_json(row, &budget);
        emit_answer(&x->emitter, row, judged_lines, &a);
    } else {
        json_decref(row);
    }
    budget_answer_clear(&budget);
    return status;
}

/* Takes over the row. */
static int run_on(struct context *x, const struct setup *s, const struct device_gemm *g,
                  json_t *row)
{
    struct result r = { .d = { 0 } };
    int status = compute(&r, row, s, g, x);
    if (status == EXIT_GOOD) status = answer(x, s, g, &r, row);
    else json_decref(row);
    result_clear(&r);
    return status;
}

/* On a unit of integers.  Takes over the row. */
static int run_integers(struct context *x, const struct setup *s, json_t *row)
{
    const struct gemm_command_options *const o = x->own;
    int status = EXIT_GOOD;
    if (budget_is_asked(&o->budget) && !integer_gemm_is_measured(&s->gemm))
        status = complain("--budget", "does not apply to integers, which have no errors");
    if (strcmp(o->reference, "exact") && strcmp(o->reference, "none"))
        status = complain("--reference", "must be exact or none for integers");
    if (status == EXIT_GOOD) status = save(&s->a, o->save_a);
    if (status == EXIT_GOOD) status = save(&s->b, o->save_b);
    if (status == EXIT_GOOD)
        return integer_gemm(x, s, x->output, strcmp(o->reference, "none"), &o->budget,
                            row);
    json_decref(row);
    return status;
}

/* Compute the GEMM on a device, or on the emulator as a kernel does. */
static int make_by_kernel(struct setup *s, struct device_gemm *g, const struct context *x)
{
    const struct gemm_command_options *const o = x->own;
    if (matrix_is_sparse(&o->setup.files))
        return complain("--sparse-a, --positions-a",
                        "cannot be combined with --kernel or a device");
    int status = device_gemm_open(g, o->device, o->kernel, o->setup.unit);
    if (status != EXIT_GOOD) return status;
    const char *recipe = o->setup.recipe;
    if (o->setup.files.format_of[MATRIX_D] && g->on_device)
        return complain("--format-d", "requires the emulator; devices give D in f32");
    if (!recipe && !g->kernel)
        return complain("--recipe",
                        "is required without --kernel, for example --recipe ootomo");
    status = setup_open_gemm(s, recipe ? recipe : g->kernel->recipe);
    if (status == EXIT_GOOD) status = operands_make(s, &o->operands, x);
    if (status == EXIT_GOOD && s->is_batch)
        return complain(o->kernel ? "--kernel" : "--device",
                        "takes one GEMM of a batch; give --index");
    return status == EXIT_GOOD ? device_gemm_choose(g, s) : status;
}

static int make(struct setup *s, struct device_gemm *g, const struct context *x)
{
    const struct gemm_command_options *const o = x->own;
    if (o->kernel || !device_is_emulator(o->device)) return make_by_kernel(s, g, x);
    const int status = setup_gemm(s);
    return status == EXIT_GOOD ? operands_make(s, &o->operands, x) : status;
}

/* Compute the GEMM as a library will. */
static int make_by_library(struct prediction *p, struct setup *s, const struct context *x)
{
    const struct gemm_command_options *const o = x->own;
    int status = library_open(s, &o->library);
    if (status == EXIT_GOOD) status = operands_make(s, &o->operands, x);
    if (status == EXIT_GOOD) status = library_predict(p, s, &o->library);
    return status == EXIT_GOOD ? library_check_budget(s, &o->budget) : status;
}

static int run(struct context *x)
{
    static const struct table_row none[] = { { "none", "" }, { 0 } };
    const struct gemm_command_options *const o = x->own;
    struct setup s = { .options = &o->setup, .takes_integers = true };
    struct device_gemm g = { 0 };
    struct prediction p = { .parts = 0 };
    x->emitter.verbose = o->verbose;
    if (!table_find(TABLE(none), o->reference) &&
        !table_find(TABLE(references), o->reference))
        return fail_unknown("--reference", o->reference, TABLE(references));
    int status = check_outputs(x);
    if (status == EXIT_GOOD && o->fp64.scheme)
        return fp64_gemm(x, &(struct fp64_request){ .fp64 = &o->fp64,
                                                    .setup = &o->setup,
                                                    .operands = &o->operands,
                                                    .save_a = o->save_a,
                                                    .save_b = o->save_b,
                                                    .reference = o->reference,
                                                    .budget = &o->budget,
                                                    .device = device_named(o->device),
                                                    .kernel = o->kernel });
    if (status == EXIT_GOOD) status = fp64_check(&o->fp64);
    if (status == EXIT_GOOD) status = library_check(&o->library, x);
    if (status == EXIT_GOOD)
        status = o->library.name ? make_by_library(&p, &s, x) : make(&s, &g, x);
    if (status == EXIT_GOOD && gemm_is_extended(&s.gemm) && !strcmp(o->reference, "fp32"))
        status =
            complain("--reference", "fp32 takes D = alpha A B + beta C alone; use exact");
    if (status == EXIT_GOOD) status = budget_check(&o->budget, &s);
    if (status == EXIT_GOOD) {
        json_t *row = describe(&s, x);
        describe_place(row, &g);
        status = s.plan.integer ? run_integers(x, &s, row) : run_on(x, &s, &g, row);
    }
    device_gemm_close(&g);
    setup_clear(&s);
    prediction_clear(&p);
    return status;
}

const struct command command_gemm = {
    .name = "gemm",
    .what = "Compute a GEMM by a recipe on a unit or a device and measure its error",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .output = "D, a file .npy or .mtx (--format-d f16: f2; other formats: encodings; of a "
              "batch 3-D)",
    .task = TASK_COMPUTE,
    .first = true,
    .examples = {
        { "Multiply 64 x 256 by 256 x 64 numbers as an H100 does, and keep the matrices",
          "bitcut gemm --recipe ootomo --unit h100 -m 64 -n 64 -k 256 --save-a a.npy "
          "--save-b b.npy -o d.npy" },
        { "Measure what plain f16 on an MI300 loses, and where",
          "bitcut gemm --recipe plain --unit mi300 -a a.npy -b b.npy --budget" },
    },
};
