/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut bound: every error bound of a GEMM, and its actual error. */
#include "analysis/accuracy/bound_run.h"
#include "analysis/cli/bound_scheme.h"
#include "analysis/cli/operands.h"
#include "lib/io/json_record.h"

struct bound_options {
    struct setup_options setup;
    struct operand_options operands;
    struct fp64_options fp64;
    const char *d;
    size_t samples;
};

static const struct bound_options defaults = { .setup = SETUP_BATCH_DEFAULTS,
                                               .operands = OPERAND_DEFAULTS,
                                               .fp64 = FP64_DEFAULTS };

static const struct option_row options[] = {
    SETUP_OPTIONS(bound),
    FP64_OPTIONS(bound),
    OPERAND_OPTIONS(bound),
    EPILOGUE_OPTIONS(bound),
    ZERO_OPTIONS(bound),
    { "d", "check this D instead of the emulated D", OPTION(bound, d, TEXT, "FILE") },
    MATRIX_OPTIONS_D(bound, setup.files),
    MATRIX_OPTIONS_OFFSETS(bound, setup.files),
    MATRIX_OPTION_INDEX(bound, setup.files),
    MATRIX_OPTIONS_SPARSE(bound, setup.files),
    { "samples",
      "number of outputs simulated step by step (default: as many as need 2^20 products)",
      OPTION(bound, samples, COUNT, "N") },
    { 0 }
};

/* Columns of the text output: error and limit of the output nearest to its limit; --json
   has all keys. */
static const struct emit_column columns[] = { { "bound", "bound", 0, NULL },
                                              { "kind", "kind", 0, NULL },
                                              { "worst_error", "error", 3, NULL },
                                              { "worst_limit", "limit", 3, NULL },
                                              { "ratio", "ratio", 3, NULL },
                                              { "tightness", "limit/error", 3, NULL },
                                              { "verdict", "u |A||B|, u = 2^-24", 0,
                                                NULL },
                                              { 0 } };

/* --- work ------------------------------------------------------------------------- */

/* The row of a bound, with the GEMM that it belongs to. */
static void print_result(struct context *x, const struct setup *s,
                         const struct bound_result *r)
{
    const struct bound_options *const o = x->own;
    json_t *row = json_object();
    record_json(row, bound_fields, r);
    setup_describe(row, &s->gemm, &s->plan);
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "m", json_count(s->a.rows), "n",
                  json_count(s->b.cols), "k", json_count(s->a.cols), "input_a",
                  json_text(s->input_a), "input_b", json_text(s->input_b), "seed",
                  json_seed(x->seed), "d", o->d ? json_text(o->d) : json_null()));
    emit_row(&x->emitter, row);
}

static int judge_d(struct context *x, const struct setup *s, const struct matrix *d)
{
    const struct bound_options *const o = x->own;
    const struct gemm_options how = context_options(x);
    struct gemm_data data = { .a = s->a, .b = s->b, .c = s->c };
    const struct bound_request q = { .gemm = &s->gemm,
                                     .plan = &s->plan,
                                     .data = &data,
                                     .d = d->at,
                                     .given = o->d,
                                     .samples = o->samples };
    struct bound_result results[BOUNDS];
    struct fault f;
    if (gemm_data_take_extra(&data, &s->gemm, 0, x->threads, &f) != BITCUT_OK)
        return fail("bound", &f);
    const enum bitcut_status status = bound_find(results, &q, &how, &f);
    gemm_data_clear_extra(&data);
    if (status != BITCUT_OK) return fail("bound", &f);
    for (int i = 0; i < BOUNDS; i++) print_result(x, s, &results[i]);
    emit_summary(&x->emitter, bound_lines, results);
    return bound_broken(results) ? EXIT_FOUND : EXIT_GOOD;
}

/* Read the D of a file, before A and B are checked with it. */
static int read_d(struct matrix *d, struct setup *s, const struct context *x)
{
    const char *const path = ((const struct bound_options *)x->own)->d;
    if (!path && s->options->files.shape_of[MATRIX_D])
        return complain("--shape-d", "requires -d, a file");
    return path ? setup_read_result(s, d, path) : EXIT_GOOD;
}

/* A batch and groups require one GEMM of them. */
static int check_single(const struct setup *s)
{
    const struct matrix_options *const o = &s->options->files;
    if (!s->is_batch) return EXIT_GOOD;
    return complain(o->offsets_k ? "--offsets-k"
                    : o->offsets ? "--offsets"
                                 : "a batch",
                    "requires --index, one GEMM");
}

/* Of an FP64 GEMM by a scheme. */
static int run_scheme(struct context *x, const struct bound_options *o)
{
    static const char *const taken[] = {
        "scheme",   "parts",   "unit",    "a",       "b",        "c",
        "d",        "alpha",   "beta",    "format",  "format-a", "format-b",
        "format-c", "shape-a", "shape-b", "shape-c", "shape-d",  "m",
        "n",        "k",       "input-a", "input-b", "pair",     "index",
        "json",     "threads", "seed",    "o",       "split-k",  NULL
    };
    return fp64_bound(x, &(struct fp64_request){ .fp64 = &o->fp64,
                                                 .setup = &o->setup,
                                                 .operands = &o->operands,
                                                 .taken = taken,
                                                 .d = o->d });
}

static int run(struct context *x)
{
    const struct bound_options *const o = x->own;
    if (fp64_check(&o->fp64) != EXIT_GOOD) return EXIT_USAGE;
    if (o->fp64.scheme) return run_scheme(x, o);
    struct setup s = { .options = &o->setup, .takes_integers = true };
    struct matrix d = { 0 };
    x->emitter.columns = columns;
    int status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = read_d(&d, &s, x);
    if (status == EXIT_GOOD) status = operands_make(&s, &o->operands, x);
    if (status == EXIT_GOOD) status = check_single(&s);
    if (status == EXIT_GOOD) status = setup_values(&s);
    if (status == EXIT_GOOD && !o->d) status = setup_run(&d, &s, x);
    if (status == EXIT_GOOD) status = judge_d(x, &s, &d);
    matrix_clear(&d);
    setup_clear(&s);
    return status;
}

const struct command command_bound = {
    .name = "bound",
    .what = "Compute error bounds of a GEMM and compare them with its actual error",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_VALIDATE,
    .first = true,
    .examples = {
        { "Compare the error of a GEMM with every bound",
          "bitcut bound --recipe ootomo --unit h100 -m 64 -n 64 -k 256" },
        { "Compare the bound of an emulated DGEMM with its errors on families of inputs",
          "bitcut bound --scheme ozimmu --unit h100 -m 16 -n 16 -k 256" },
        { "Compare the error of a GEMM in a file with every bound",
          "bitcut bound --recipe ootomo --unit h100 -a a.npy -b b.npy -d d.npy" },
    },
};
