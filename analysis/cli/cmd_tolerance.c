/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut tolerance: the limits of a test of a kernel, and the faults that the test
   rejects. */
#include "analysis/cli/fp64_tolerance.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/row_value.h"
#include "analysis/cli/tolerance_rows.h"
#include "lib/base/text.h"
#include "lib/input/source.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"

#include <string.h>

struct tolerance_options {
    struct setup_options setup;
    struct operand_options operands;
    struct fp64_options fp64;
    const char *d, *original_a, *original_b, *input, *reference;
    size_t seeds, power;
    uint32_t false_alarm;
    bool verbose;
};

enum { POWER_USUAL = 20 };

#define POWER_UNSET SIZE_MAX

static const struct tolerance_options defaults = { .setup = SETUP_BATCH_DEFAULTS,
                                                   .operands = OPERAND_DEFAULTS,
                                                   .fp64 = FP64_DEFAULTS,
                                                   .reference = "exact",
                                                   .seeds = 100,
                                                   .power = POWER_UNSET,
                                                   .false_alarm = 0x358637bd /* 1e-6 */ };

static const struct option_row options[] = {
    SETUP_OPTIONS(tolerance),
    FP64_OPTIONS(tolerance),
    OPERAND_OPTIONS(tolerance),
    EPILOGUE_OPTIONS(tolerance),
    ZERO_OPTIONS(tolerance),
    { "d", "check this result of -a and -b against the limits",
      OPTION(tolerance, d, TEXT, "FILE") },
    MATRIX_OPTIONS_D(tolerance, setup.files),
    { "original-a", "A before it was quantized, to report the error of quantization",
      OPTION(tolerance, original_a, TEXT, "FILE") },
    { "original-b", "the same for B", OPTION(tolerance, original_b, TEXT, "FILE") },
    MATRIX_OPTIONS_OFFSETS(tolerance, setup.files),
    MATRIX_OPTION_INDEX(tolerance, setup.files),
    MATRIX_OPTIONS_SPARSE(tolerance, setup.files),
    { "input", "generate A and B by this family", OPTION(tolerance, input, TEXT, "I") },
    { "seeds", "number of runs from which the limits are taken (default 100)",
      OPTION(tolerance, seeds, COUNT, "N") },
    { "false-alarm", "fraction of correct results that may be rejected (default 1e-6)",
      OPTION(tolerance, false_alarm, F32, "P") },
    { "reference", "reference: exact, or kernel (another correct result) (default exact)",
      OPTION(tolerance, reference, TEXT, "R") },
    { "power",
      "number of runs of each fault to measure the power of the tests (default 20)",
      OPTION(tolerance, power, COUNT, "N") },
    VERBOSE_OPTION(tolerance),
    { 0 }
};

/* --- runs of families ------------------------------------------------------------- */

struct families {
    struct input a, b;
    size_t k;
    uint64_t seed; /* of run 0; each run adds 1 */
    const struct gemm_data *extra; /* bias and factors of all lines */
};

static enum bitcut_status families_make(struct gemm_data *to, const void *context,
                                        size_t rows, size_t cols, uint64_t run,
                                        struct fault *f)
{
    const struct families *const x = context;
    const uint64_t seed = x->seed + run;
    struct gemm_data p = { 0 };
    enum bitcut_status status =
        source_generate(&p.a, &x->a, INPUT_A, rows, x->k, seed, 1, f);
    if (status == BITCUT_OK)
        status = source_generate(&p.b, &x->b, INPUT_B, x->k, cols, seed, 1, f);
    if (status == BITCUT_OK)
        status = gemm_data_draw_extra(&p, x->extra, rows, cols, x->seed, run, f);
    if (status == BITCUT_OK) *to = p;
    else gemm_data_clear(&p);
    return status;
}

/* --- the command ------------------------------------------------------------------ */

/* A problem, and the source of its runs. */
struct work {
    struct tolerance_options o; /* with --input expanded, and without "any" in --order */
    struct setup s;
    struct families families;
    struct gemm_data data;
    struct matrix d; /* d.at is NULL without -d */
    struct matrix original_a, original_b; /* the same of their options */
    struct bitcut_gemm all; /* of a batch */
    struct shuffled_source shuffled;
    struct tolerance_problem q;
};

/* Read "any", which is no order of a GEMM. */
static bool take_any_order(struct setup_options *o)
{
    const bool any = o->order && !strcmp(o->order, "any");
    if (any) o->order = NULL;
    return any;
}

static int check_options(const struct tolerance_options *o)
{
    static const struct table_row names[] = { { "exact", "" }, { "kernel", "" }, { 0 } };
    const double alarm = value_of_float(o->false_alarm);
    if (!table_find(TABLE(names), o->reference))
        return fail_unknown("--reference", o->reference, TABLE(names));
    if (!o->seeds) return complain("--seeds", "must be at least 1");
    if (!(alarm > 0 && alarm < 1))
        return complain("--false-alarm", "must be between 0 and 1");
    if (o->setup.files.shape_of[MATRIX_D] && !o->d)
        return complain("--shape-d", "requires -d, a file");
    if (o->d && !(o->setup.a && o->setup.b))
        return complain("-d", "requires -a and -b, the factors of D");
    if (o->d && !strcmp(o->reference, "kernel"))
        return complain("-d", "requires --reference exact");
    if ((o->original_a || o->original_b) &&
        (o->setup.epilogue.quantize_a || o->setup.epilogue.quantize_b))
        return complain("--original-a, --original-b",
                        "cannot be combined with --quantize-a or --quantize-b; bitcut gemm "
                        "prints this error");
    if ((o->original_a && !o->setup.a) || (o->original_b && !o->setup.b))
        return complain(o->original_a && !o->setup.a ? "--original-a" : "--original-b",
                        "requires the quantized matrix, -a or -b");
    if (o->input && (o->operands.input_a || o->operands.input_b))
        return complain("--input", "cannot be combined with --input-a and --input-b");
    return EXIT_GOOD;
}

/* Matrices from files are shuffled; families get other seeds. */
static int make_source(struct work *w, const struct context *x)
{
    const struct operand_options *const o = &w->o.operands;
    struct setup *const s = &w->s;
    if (!s->options->a && !s->options->b && !s->options->c) {
        w->families.seed = x->seed;
        w->families.k = o->k;
        w->families.extra = &w->data;
        w->data.a.rows = o->m, w->data.a.cols = o->k, w->data.b.cols = o->n;
        w->q.source = (struct run_source){ .make = families_make, .context = &w->families };
        w->q.m = o->m;
        w->q.n = o->n;
        w->q.k = o->k;
        if (matrix_has_groups(&s->options->files) || s->options->files.index != SIZE_MAX)
            return complain("--offsets, --offsets-k, --index", "require -a and -b");
        if (matrix_is_sparse(&s->options->files))
            return complain(s->options->files.positions ? "--positions-a" : "--sparse-a",
                            "requires -a, a file");
        if (s->quantized[0].quantizer || s->quantized[1].quantizer)
            return complain("--quantize-a, --quantize-b", "require -a and -b");
        const int status = operands_parse(&w->families.a, &w->families.b, s, o);
        return status == EXIT_GOOD ? setup_extend(s, o->m, o->n, o->k) : status;
    }
    const int status = operands_make(s, o, x);
    w->data = (struct gemm_data){ .a = s->a, .b = s->b, .c = s->c };
    w->all = setup_gemms(s, w->d.at);
    if (s->is_batch) w->q.batch = &w->all;
    w->shuffled = (struct shuffled_source){ &w->data, x->seed, w->q.batch };
    w->q.source = shuffled_runs(&w->shuffled);
    w->q.m = gemm_groups_rows(&w->all) ? gemm_fewest_rows(&w->all) : s->a.rows;
    w->q.n = s->b.cols;
    w->q.k = gemm_groups_k(&w->all) ? gemm_largest_k(&w->all) : s->a.cols;
    return status;
}

static int read_d(struct work *w, const char *path)
{
    return path ? setup_read_result(&w->s, &w->d, path) : EXIT_GOOD;
}

/* Read a matrix before it was quantized. */
static int read_original(struct matrix *to, const char *path, const char *option,
                         const struct matrix *quantized)
{
    struct encoded_matrix m;
    struct matrix_request r = { .format_option = option, .shape_option = option };
    struct fault f;
    if (!path) return EXIT_GOOD;
    if (matrix_file_read(&m, path, &r, &f) != BITCUT_OK ||
        encoded_f32(to, &m, &f) != BITCUT_OK)
        return fail(path, &f);
    return setup_check_shape(option, to, quantized->rows, quantized->cols);
}

/* On a unit of integers. */
static int take_integers(const struct tolerance_options *o)
{
    if (!o->setup.a || !o->setup.b)
        return complain("--unit", "a unit of integers requires -a and -b");
    return EXIT_GOOD;
}

static int make(struct work *w, const struct context *x)
{
    struct tolerance_options *const o = &w->o;
    struct fault f;
    *o = *(const struct tolerance_options *)x->own;
    w->s.options = &o->setup;
    if (o->input) o->operands.input_a = o->operands.input_b = o->input;
    w->q.any_order = take_any_order(&o->setup);
    w->s.takes_integers = true;
    int status = setup_gemm(&w->s);
    if (status == EXIT_GOOD && w->s.plan.integer) status = take_integers(o);
    w->q.quantized = w->s.quantized[0].quantizer || w->s.quantized[1].quantizer;
    if (o->power == POWER_UNSET) o->power = POWER_USUAL;
    if (status == EXIT_GOOD) status = read_d(w, o->d);
    if (status == EXIT_GOOD) status = make_source(w, x);
    if (status == EXIT_GOOD) status = setup_values(&w->s);
    if (status == EXIT_GOOD)
        status = read_original(&w->original_a, o->original_a, "--original-a", &w->s.a);
    if (status == EXIT_GOOD)
        status = read_original(&w->original_b, o->original_b, "--original-b", &w->s.b);
    if (status != EXIT_GOOD) return status;
    if ((w->original_a.at || w->original_b.at) && w->s.is_batch)
        return complain("--original-a, --original-b", "require --index, one GEMM");
    if (w->s.is_batch && (!w->s.count || !w->q.m))
        return complain("-a, -b", "have no GEMMs");
    if (!w->q.m || !w->q.n || !w->q.k)
        return complain("-m, -n, -k", "must be at least 1");
    w->s.gemm.a.format = w->data.a.format;
    w->s.gemm.b.format = w->data.b.format;
    if (gemm_data_take_extra(&w->data, &w->s.gemm, 0, x->threads, &f) != BITCUT_OK)
        return fail("tolerance", &f);
    w->q.gemm = &w->s.gemm;
    w->q.two = !strcmp(o->reference, "kernel");
    w->q.runs = o->seeds;
    w->q.alarm = value_of_float(o->false_alarm);
    return EXIT_GOOD;
}

static json_t *describe(const struct work *w, const struct context *x)
{
    const struct tolerance_problem *const q = &w->q;
    json_t *row = json_object();
    setup_describe(row, &w->s.gemm, &w->s.plan);
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "m", json_count(q->m), "n",
                  json_count(q->n), "k", json_count(q->k), "input_a",
                  json_text(w->s.input_a), "input_b", json_text(w->s.input_b), "seed",
                  json_seed(x->seed), "shuffled", (int)runs_are_shuffled(&q->source)));
    return row;
}

static json_t *answer_json(const struct work *w, const struct tolerance_answer *a,
                           const struct context *x)
{
    const struct tolerance_options *const o = &w->o;
    json_t *row = describe(w, x);
    tolerance_rows(row, a, w->s.is_batch);
    if (w->s.is_batch) json_object_set_new(row, "count", json_count(w->s.count));
    if (a->quantization) {
        json_t *const error = json_object();
        record_json(error, quantization_fields, a->quantization);
        json_object_set_new(row, "quantization", error);
    }
    if (!a->power) return row;
    json_t *const list = json_array();
    for (size_t i = 0; i < a->power->rows; i++) {
        json_array_append_new(list, json_object());
        record_json(json_array_get(list, i), power_fields, &a->power->row[i]);
    }
    json_object_set_new(row, "power_runs", json_count(o->power));
    json_object_set_new(row, "power", list);
    return row;
}

/* The limits, the verdict on D, and the power.  Prints messages and returns an exit
   status: EXIT_FOUND if D is rejected. */
static int find(const struct work *w, struct context *x)
{
    const struct tolerance_options *const o = &w->o;
    const struct tolerance_problem *const q = &w->q;
    struct tolerance t;
    struct tolerance_given given;
    struct power p = { .row = NULL };
    struct quantization_error quantization;
    const struct gemm_options how = context_options(x);
    const bool originals = w->original_a.at || w->original_b.at;
    struct fault f;
    enum bitcut_status status = tolerance_find(&t, q, x->threads, &x->progress, &f);
    if (status == BITCUT_OK && o->d)
        status = q->batch ? tolerance_judge_batch(&given, &t.limits, q, x->threads,
                                                  &x->progress, &f)
                          : tolerance_judge(&given, &t.limits, q, &w->data, w->d.at,
                                            x->threads, &x->progress, &f);
    if (status == BITCUT_OK && originals)
        status = quantization_find(&quantization, q->gemm, &w->data, &w->original_a,
                                   &w->original_b, w->d.at, &how, &f);
    if (status == BITCUT_OK && o->power)
        status =
            power_measure(&p, q, &t, o->power, x->seed, x->threads, &x->progress, &f);
    if (status != BITCUT_OK) return fail("tolerance", &f);
    struct gemm_description told = setup_description(&w->s, x, false);
    told.m = q->m, told.n = q->n, told.k = q->k;
    const struct tolerance_answer a = { .gemm = told,
                                        .found = &t,
                                        .problem = q,
                                        .shuffled = runs_are_shuffled(&q->source),
                                        .given = o->d ? &given : NULL,
                                        .quantization = originals ? &quantization : NULL,
                                        .power = o->power ? &p : NULL };
    emit_answer(&x->emitter, answer_json(w, &a, x), tolerance_lines, &a);
    power_clear(&p);
    return o->d && !given.verdict.accepted ? EXIT_FOUND : EXIT_GOOD;
}

/* Of an FP64 GEMM by a scheme. */
static int run_scheme(struct context *x, const struct tolerance_options *o)
{
    static const char *const taken[] = {
        "scheme",  "parts",   "unit",    "a",        "b",        "c",           "d",
        "alpha",   "beta",    "format",  "format-a", "format-b", "format-c",    "shape-a",
        "shape-b", "shape-c", "shape-d", "m",        "n",        "k",           "input",
        "input-a", "input-b", "pair",    "index",    "seeds",    "false-alarm", "order",
        "verbose", "json",    "threads", "seed",     "o",        "split-k",     NULL
    };
    struct setup_options setup = o->setup;
    struct operand_options operands = o->operands;
    const bool any = take_any_order(&setup);
    if (o->setup.order && !any)
        return complain("--order", "must be any with --scheme; --split-k cuts k");
    if (o->input) operands.input_a = operands.input_b = o->input;
    const struct fp64_tolerance request = { .request = { .fp64 = &o->fp64,
                                                         .setup = &setup,
                                                         .operands = &operands,
                                                         .d = o->d,
                                                         .taken = taken },
                                            .runs = o->seeds,
                                            .false_alarm = value_of_float(o->false_alarm),
                                            .any_order = any };
    return fp64_tolerance(x, &request);
}

static int run(struct context *x)
{
    const struct tolerance_options *const o = x->own;
    struct work w = { 0 };
    x->emitter.verbose = o->verbose;
    int status = check_options(o);
    if (status == EXIT_GOOD) status = fp64_check(&o->fp64);
    if (status == EXIT_GOOD && o->fp64.scheme) return run_scheme(x, o);
    if (status == EXIT_GOOD) status = make(&w, x);
    if (status == EXIT_GOOD) status = find(&w, x);
    matrix_clear(&w.d);
    matrix_clear(&w.original_a);
    matrix_clear(&w.original_b);
    gemm_data_clear_extra(&w.data);
    setup_clear(&w.s);
    return status;
}

const struct command command_tolerance = {
    .name = "tolerance",
    .what = "Compute tolerances for testing a kernel, and the faults that they detect",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_VALIDATE,
    .first = true,
    .notes = "--order any computes limits for a kernel whose order of k is unknown.",
    .examples = {
        { "Find the limits that a test of a kernel should have",
          "bitcut tolerance --recipe ootomo --unit h100 -m 64 -n 64 -k 256" },
        { "Find the limits of a DGEMM that cuBLAS emulates with 55 bits",
          "bitcut tolerance --scheme cublas-fixed --parts 7 --unit h100 -m 64 -n 64 -k 512" },
        { "Check a result against these limits",
          "bitcut tolerance --recipe ootomo --unit h100 -a a.npy -b b.npy -d d.npy" },
    },
};
