/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut explain: find what computed a matrix. */
#include "analysis/cli/explain_probe.h"
#include "analysis/cli/explain_statistic.h"
#include "analysis/cli/fp64_command.h"
#include "analysis/cli/row_value.h"
#include "analysis/cli/setup.h"
#include "analysis/identify/integers.h"
#include "analysis/identify/result_pair.h"
#include "lib/base/clock.h"
#include "lib/gemm/sparsity.h"
#include "lib/io/json_record.h"
#include "lib/io/json_value.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>

struct explain_command_options {
    struct setup_options setup; /* without the variations of a recipe */
    const char *device;
    struct option_texts d;
    size_t samples, seconds;
    uint32_t effort;
    bool verbose;
    struct explain_probe_options probe;
    struct explain_statistic_options statistics;
};

static const struct explain_command_options defaults = {
    .setup = SETUP_BATCH_DEFAULTS,
    .samples = 4096,
    .effort = F32_ONE,
    .probe = { .m = 64, .n = 64, .k = 256, .slices = 1 }
};

static struct emulating_device device;

enum { RESULTS = 2 }; /* results that one command can explain */

static const struct option_row options[] = {
    { "a", "A, a file (.npy, .npz, .mtx, .safetensors, .pt; FILE:NAME for a member)",
      OPTION(explain_command, setup.a, TEXT, "FILE") },
    { "b", "B", OPTION(explain_command, setup.b, TEXT, "FILE") },
    { "c", "C; one row or column stands for all (default: no C)",
      OPTION(explain_command, setup.c, TEXT, "FILE") },
    { "d", "D, the result to explain; give it twice to compare two results",
      OPTION(explain_command, d, TEXTS, "FILE") },
    { "format",
      "format of A and B in files (bitcut list formats); --probe: format to which the "
      "command rounds A and B: f16, bf16, tf32, f32 (default)",
      OPTION(explain_command, setup.files.format, TEXT, "F") },
    MATRIX_OPTIONS_AB(explain_command, setup.files),
    MATRIX_OPTIONS_C(explain_command, setup.files),
    MATRIX_OPTIONS_D(explain_command, setup.files),
    MATRIX_OPTIONS_OFFSETS(explain_command, setup.files),
    MATRIX_OPTION_INDEX(explain_command, setup.files),
    MATRIX_OPTIONS_SPARSE(explain_command, setup.files),
    { "alpha", "intended factor of A B (default 1)",
      OPTION(explain_command, setup.alpha, NUMBER, "X") },
    { "beta", "intended factor of C (default 0, or 1 with -c)",
      OPTION(explain_command, setup.beta, NUMBER, "X") },
    EPILOGUE_OPTIONS(explain_command),
    ZERO_OPTIONS_AB(explain_command),
    { "recipe", "consider this recipe only (bitcut list recipes; default: all)",
      OPTION(explain_command, setup.recipe, TEXT, "R") },
    { "unit",
      "consider this unit only, or the units of this chip (bitcut list units, chips)",
      OPTION(explain_command, setup.unit, TEXT, "U") },
    { "samples", "number of outputs that confirm a hypothesis (default 4096)",
      OPTION(explain_command, samples, COUNT, "N") },
    { "effort",
      "factor of the work of the search, and of the comparison of all of D, as 0.1 or 10 "
      "(default 1)",
      OPTION(explain_command, effort, F32, "X") },
    { "seconds",
      "time limit of the search, and again of the comparison (default 0: none; results "
      "then do not depend on the machine)",
      OPTION(explain_command, seconds, COUNT, "S") },
    { "probe", "find the summation order of this shell command by running it",
      OPTION(explain_command, probe.command, TEXT, "COMMAND") },
    { "kernel", "find the summation order of this kernel (bitcut list kernels)",
      OPTION(explain_command, probe.kernel, TEXT, "K") },
    DEVICE_OPTION(explain_command, "emulator; with --kernel: cuda"),
    { "m", "--probe, --kernel: rows of D (default 64)",
      OPTION(explain_command, probe.m, COUNT, "M") },
    { "n", "columns of D (default 64)", OPTION(explain_command, probe.n, COUNT, "N") },
    { "k", "columns of A (default 256)", OPTION(explain_command, probe.k, COUNT, "K") },
    { "split-k", "--kernel: number of slices of k (default 1)",
      OPTION(explain_command, probe.slices, INT, "N") },
    { "rms", "find what gives this published root mean square of D - (A B in binary64)",
      OPTION(explain_command, statistics.statistic[STATISTIC_RMS], TEXT, "X") },
    { "max", "the same for the largest |D - A B|",
      OPTION(explain_command, statistics.statistic[STATISTIC_MAX], TEXT, "X") },
    { "mean", "the same for the mean of D - A B",
      OPTION(explain_command, statistics.statistic[STATISTIC_MEAN], TEXT, "X") },
    { "largest", "the same for the largest |D|",
      OPTION(explain_command, statistics.statistic[STATISTIC_LARGEST], TEXT, "X") },
    { "torch-seed", "--torch-shape: seed of torch.manual_seed() (default 0)",
      OPTION(explain_command, statistics.seed, SEED, "S") },
    { "torch-shape",
      "statistics: tensors that PyTorch draws on a CPU, in their order, such as \"A "
      "10x8, B "
      "rand 8x25\" (randn if it has no name; others unmarked; T: transposed)",
      OPTION(explain_command, statistics.draws, TEXT, "DRAWS") },
    VERBOSE_OPTION(explain_command),
    { 0 }
};

/* --- rows ------------------------------------------------------------------------- */

static json_t *explanation_json(const struct explanation *e)
{
    json_t *const row = json_object();
    if (e->best.sampled) setup_describe(row, &e->best.x.gemm, &e->best.x.plan);
    record_json(row, explain_fields, e);
    emulating_device_describe(row, &device);
    return row;
}

static json_t *result_pair_json(const struct result_pair *t)
{
    json_t *const row = json_object();
    record_json(row, result_pair_fields, t);
    return row;
}

/* For several files the text output is a table of sentences. */
static json_t *sentence_json(const char *of, const char *sentence)
{
    return json_pack("{s:o, s:s}", "d", json_text(of), LABEL_VERDICT, sentence);
}

static void print(struct context *x, const struct explanation *e)
{
    const struct explain_command_options *const o = x->own;
    if (x->emitter.json || o->d.count == 1)
        emit_answer(&x->emitter, explanation_json(e), explain_lines, e);
    else emit_row(&x->emitter, sentence_json(e->q.name, e->answer.text));
}

/* --- the command ------------------------------------------------------------------ */

static int fail_interrupted(const struct explanation *e)
{
    struct fault f;
    fault_set(&f, BITCUT_UNSUPPORTED,
              "stopped; %zu hypotheses were tried, and %zu of %zu "
              "outputs compared",
              e->answer.tried, e->answer.compared, e->answer.total);
    return fail("explain", &f);
}

/* Explain one D and print the explanation.  It has to be cleared if the status is
   EXIT_GOOD or EXIT_FOUND. */
static int explain(struct explanation *e, struct context *x, const struct problem *q,
                   const struct explain_options *o)
{
    struct fault f;
    if (explain_batch(e, q, o, &f) != BITCUT_OK) return fail("explain", &f);
    e->device = emulating_device_name(&device);
    print(x, e);
    if (!e->interrupted) return e->answer.found ? EXIT_GOOD : EXIT_FOUND;
    const int status = fail_interrupted(e);
    explain_clear(e);
    return status;
}

/* Explain two results, which share a time limit: the second gets the time that the first
   leaves. */
static int explain_two(struct context *x, const struct problem q[2],
                       const struct explain_options *all)
{
    struct explain_options o = *all;
    static struct explanation e[2];
    struct result_pair t;
    struct fault f;
    const double start = seconds_now();
    o.seconds = all->seconds / 2;
    const int first = explain(&e[0], x, &q[0], &o);
    if (first > EXIT_FOUND) return first;
    if (all->seconds > 0)
        o.seconds = fmax(o.seconds, all->seconds - (seconds_now() - start));
    o.like = &e[0];
    int status = explain(&e[1], x, &q[1], &o);
    if (status <= EXIT_FOUND) {
        if (first > status) status = first;
        if (result_pair_compare(&t, e, &o, &f) != BITCUT_OK) status = fail("explain", &f);
        else
            emit_row(&x->emitter, x->emitter.json ? result_pair_json(&t)
                                                  : sentence_json("both", t.answer.text));
        explain_clear(&e[1]);
    }
    explain_clear(&e[0]);
    return status;
}

static int check_effort(uint32_t effort)
{
    struct fault f;
    const double value = value_of_float(effort);
    if (value > 0 && value <= EFFORT_MAX) return EXIT_GOOD;
    fault_set(&f, BITCUT_BAD_ARGUMENT, "expected a number above 0, at most %d",
              EFFORT_MAX);
    return fail("--effort", &f);
}

static int explain_all(struct context *x, const struct problem *q)
{
    const struct explain_command_options *const asked = x->own;
    const struct explain_options o = { .samples = asked->samples,
                                       .effort = value_of_float(asked->effort),
                                       .seconds = (double)asked->seconds,
                                       .seed = x->seed,
                                       .threads = x->threads,
                                       .progress = &x->progress,
                                       .offload = x->offload };
    static struct explanation e;
    x->emitter.verbose = asked->verbose;
    if (check_effort(asked->effort) != EXIT_GOOD) return EXIT_USAGE;
    if (asked->d.count == 2) return explain_two(x, q, &o);
    const int status = explain(&e, x, q, &o);
    if (status <= EXIT_FOUND) explain_clear(&e);
    return status;
}

/* The only recipe and unit that may have computed D, if they were given. */
static int narrow(struct problem *q, const struct explain_command_options *o)
{
    q->recipe = o->setup.recipe ? bitcut_recipe_find(o->setup.recipe) : NULL;
    q->unit = o->setup.unit ? table_find(TABLE(units), o->setup.unit) : NULL;
    q->chip = o->setup.unit ? table_find(TABLE(chips), o->setup.unit) : NULL;
    if (o->setup.recipe && !q->recipe)
        return fail_unknown("--recipe", o->setup.recipe, TABLE(recipes));
    return o->setup.unit && !q->unit && !q->chip ? fail_unit(o->setup.unit, true)
                                                 : EXIT_GOOD;
}

/* What was given in addition to the matrices, which stay those of the problem. */
static struct setup told;

static int tell(struct problem *q, const struct explain_command_options *o)
{
    static struct setup_options own; /* all but the unit, which is that of the search */
    struct fault f;
    own = o->setup; /* zero points: take_zeros() */
    own.epilogue.zero_a = own.epilogue.zero_b = NULL;
    if (!epilogue_options_given(&own.epilogue)) return EXIT_GOOD;
    own.unit = NULL;
    told.options = &own;
    told.a = q->a;
    told.b = q->b;
    int status = setup_tell(&told);
    if (status == EXIT_GOOD && q->d.at)
        status = setup_check_shape("D", &q->d, told.a.rows, told.b.cols);
    if (status != EXIT_GOOD) return status;
    struct bitcut_gemm g = told.gemm;
    gemm_set_dense(&g, NULL, told.a.rows, told.b.cols, told.a.cols, told.a.at, told.b.at,
                   q->c.at);
    sparsity_set(&g, &told.a);
    g.count = q->offsets ? q->gemms : 1;
    g.offsets = q->offsets;
    g.offsets_of_k = q->offsets_of_k;
    q->alpha = g.alpha;
    return problem_tell(q, &g, &f) == BITCUT_OK ? EXIT_GOOD : fail("--epilogue", &f);
}

/* The ends of groups of rows of the problem. */
static int32_t *offsets;

static int take_offsets(struct problem *q, const struct explain_command_options *o)
{
    const char *const option = o->setup.files.offsets_k ? "--offsets-k" : "--offsets";
    if (!matrix_has_groups(&o->setup.files)) return EXIT_GOOD;
    if (o->d.count > 1) return complain(option, "cannot be combined with two results");
    if (!q->d.at) return complain(option, "does not apply to products of integers");
    int status = setup_check_shape("D", &q->d, q->a.rows, q->b.cols);
    if (status == EXIT_GOOD)
        status = matrix_offsets(&offsets, &q->gemms, &q->a, &o->setup.files);
    q->offsets = offsets;
    q->offsets_of_k = o->setup.files.offsets_k;
    return status;
}

/* Put the columns of A of each group of k together. */
static int pack_groups(struct problem *q)
{
    struct fault f;
    return problem_pack(q, &f) == BITCUT_OK ? EXIT_GOOD : fail("-a", &f);
}

/* The groups, or the group of --index alone. */
static int take_groups(struct problem *q, struct matrix *const all[MATRICES],
                       const struct matrix_options *files)
{
    const int status = matrix_groups(all, q->offsets, q->gemms, files);
    q->is_batch = files->index == SIZE_MAX;
    if (status == EXIT_GOOD && q->is_batch && q->offsets_of_k) return pack_groups(q);
    if (status != EXIT_GOOD || q->is_batch) return status;
    if (problem_is_told(q)) q->told = gemm_nth(&q->told, files->index);
    q->offsets = NULL;
    q->gemms = 1;
    q->of_k = q->offsets_of_k;
    q->of_groups = !q->offsets_of_k;
    return status;
}

/* The GEMMs of the problem, or the GEMM of --index alone; of two results it must be one.
 */
static int take_batch(struct problem *q, struct matrix *other,
                      const struct explain_command_options *o)
{
    struct matrix *const all[MATRICES] = { &q->a, &q->b, &q->c, &q->d };
    const bool same =
        q->d.is_batch == other->is_batch && matrix_count(&q->d) == matrix_count(other);
    if (o->d.count > 1 && !same)
        return complain("-d", "requires two results of the same shape");
    if (q->offsets) return take_groups(q, all, &o->setup.files);
    const int status = matrix_batch(&q->is_batch, &q->gemms, all, &o->setup.files);
    if (status == EXIT_GOOD && q->is_batch && o->d.count > 1)
        return complain("-d", "compares two results of one GEMM; give --index");
    if (status == EXIT_GOOD && o->d.count > 1) matrix_select(other, o->setup.files.index);
    return status;
}

/* Matrices of integers, next to those of their FP32 values. */
static struct integer_problem integers;

/* Read a matrix, and its integers if it has some.  D of a product of integers is not
   converted to FP32, which does not hold every s32. */
static int read_one(struct matrix *m, struct integer_matrix *to, const char *option,
                    const char *path, const struct explain_command_options *o)
{
    struct encoded_matrix x;
    struct fault f;
    const bool products = integers.a.at && integers.b.at && to != &integers.b;
    const int status = matrix_read(&x, option, path, &o->setup.files);
    if (status != EXIT_GOOD) return status;
    const struct bitcut_matrix view = encoded_view(&x);
    const bool integer = format_is_integer(x.format) && !to->at;
    if (integer && integer_matrix_take(to, &view, x.rows, x.cols, &f) != BITCUT_OK) {
        encoded_clear(&x);
        return fail(path, &f);
    }
    if (!integer || !products)
        return encoded_f32(m, &x, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
    const bool is_batch = x.is_batch;
    encoded_clear(&x);
    return is_batch ? complain(option, "must have two dimensions if A and B have integers")
                    : EXIT_GOOD;
}

/* The zero points of A and B. */
static int take_zeros(struct problem *q, const struct explain_command_options *o)
{
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    const struct epilogue_options *const e = &o->setup.epilogue;
    struct fault f;
    const int status = epilogue_zeros_apply(&g, e);
    if (status != EXIT_GOOD) return status;
    integers.zero_a = g.zero_a, integers.zero_b = g.zero_b;
    if (integers.d.at) return EXIT_GOOD;
    return problem_set_zeros(q, g.zero_a, g.zero_b, &f) == BITCUT_OK
               ? EXIT_GOOD
               : fail(e->zero_a ? "--zero-a" : "--zero-b", &f);
}

/* Use the integers if A, B and D have them. */
static int choose_integers(struct problem *q, const struct explain_command_options *o)
{
    if (!integers.a.at || !integers.b.at || (!integers.d.at && !integers.c.at))
        return EXIT_GOOD;
    integers.as_given = true;
    if (!integers.d.at || (o->setup.c && !integers.c.at))
        return complain(integers.d.at ? "-c" : "-d",
                        "must have integers if A, B and the other one have them");
    if (o->d.count > 1)
        return complain("-d", "can be given once for products of integers");
    if (o->setup.files.index != SIZE_MAX)
        return complain("--index", "does not apply to products of integers");
    q->integers = &integers;
    return EXIT_GOOD;
}

/* The kept elements of a sparse A, which becomes an A with zeros. */
static int take_sparsity(struct problem *q, const struct matrix_options *files)
{
    struct fault f;
    if (!matrix_is_sparse(files)) return EXIT_GOOD;
    if (files->offsets_k)
        return complain("--offsets-k",
                        "cannot be combined with --sparse-a or --positions-a");
    const int status = matrix_sparse(&q->a, q->b.rows, files);
    if (status == EXIT_GOOD && q->a.cols != q->b.rows)
        return setup_check_pair(&q->a, &q->b);
    if (status != EXIT_GOOD || !integers.a.at) return status;
    free(integers.a.at);
    integers.a.at = NULL;
    return integer_matrix_of(&integers.a, &q->a, &f) == BITCUT_OK ? EXIT_GOOD
                                                                  : fail("-a", &f);
}

/* The matrices of one problem, and its D or two. */
static int read_all(struct problem q[RESULTS], const struct explain_command_options *o)
{
    int status = read_one(&q[0].a, &integers.a, "-a", o->setup.a, o);
    if (status == EXIT_GOOD) status = read_one(&q[0].b, &integers.b, "-b", o->setup.b, o);
    if (status == EXIT_GOOD) status = take_sparsity(&q[0], &o->setup.files);
    if (status == EXIT_GOOD && !o->setup.c) status = matrix_unread("-c", &o->setup.files);
    if (status == EXIT_GOOD && o->setup.c)
        status = read_one(&q[0].c, &integers.c, "-c", o->setup.c, o);
    for (int i = 0; (!i || i < o->d.count) && status == EXIT_GOOD; i++)
        status = read_one(&q[i].d, &integers.d, "-d", o->d.text[i], o);
    for (int i = 0; q[0].c.at && (!i || i < o->d.count) && status == EXIT_GOOD; i++)
        if (q[i].d.at) status = setup_expand_c(&q[0].c, q[i].d.rows, q[i].d.cols);
    if (status == EXIT_GOOD && !q[0].d.at && (q[0].a.is_batch || q[0].b.is_batch))
        status = complain("-a, -b", "of integers must have two dimensions");
    if (status == EXIT_GOOD) status = take_offsets(&q[0], o);
    if (status == EXIT_GOOD) status = tell(&q[0], o);
    if (status == EXIT_GOOD && q[0].d.at) status = take_batch(&q[0], &q[1].d, o);
    if (status == EXIT_GOOD) status = take_zeros(&q[0], o);
    for (int i = 0; (!i || i < o->d.count) && status == EXIT_GOOD; i++) {
        const struct matrix d = q[i].d;
        q[i] = q[0];
        q[i].d = d;
        q[i].name = o->d.text[i];
        if (d.at) q[i].format = problem_format(&d);
    }
    return status == EXIT_GOOD ? choose_integers(&q[0], o) : status;
}

static int check_options(const struct explain_command_options *o)
{
    if (!o->samples) return complain("--samples", "must be at least 1");
    if (o->d.count > RESULTS) return complain("-d", "can be given at most twice");
    if (o->setup.beta.f32 != SETUP_BETA_UNSET && !f32_is_zero(o->setup.beta.f32) &&
        !o->setup.c)
        return complain("--beta", "must be 0 without -c");
    return EXIT_GOOD;
}

/* The search by published statistics, within the recipe and the unit of the problem. */
static int explain_statistics(struct context *x, const struct problem *q)
{
    const struct explain_command_options *const o = x->own;
    const struct statistic_problem limits = { .recipe = q->recipe,
                                              .unit = q->unit,
                                              .chip = q->chip,
                                              .effort = value_of_float(o->effort) };
    const int status = check_effort(o->effort);
    return status == EXIT_GOOD ? explain_statistic(x, &o->statistics, &limits) : status;
}

static int run(struct context *x)
{
    const struct explain_command_options *const o = x->own;
    struct problem q[RESULTS] = { { .alpha = o->setup.alpha.f32,
                                    .beta = o->setup.beta.f32 } };
    if (o->setup.beta.f32 == SETUP_BETA_UNSET) q[0].beta = o->setup.c ? F32_ONE : 0;
    const bool published = explain_statistic_asked(&o->statistics);
    if (explain_probe_misused(x, &o->probe, published)) return EXIT_USAGE;
    if (explain_probe_asked(&o->probe))
        return explain_probe(x, &o->probe, o->setup.files.format, o->device);
    int status = check_options(o);
    if (status == EXIT_GOOD) status = narrow(&q[0], o);
    if (status == EXIT_GOOD && published) return explain_statistics(x, &q[0]);
    if (status == EXIT_GOOD && o->d.count == 1 &&
        fp64_is_result(o->d.text[0], &o->setup.files))
        return fp64_explain(
            x, &(struct fp64_request){ .setup = &o->setup, .d = o->d.text[0] });
    if (status == EXIT_GOOD)
        status = emulating_device_open(&device, x, o->device, "explain");
    if (status == EXIT_GOOD) status = read_all(q, o);
    if (status == EXIT_GOOD) status = explain_all(x, q);
    emulating_device_close(&device, x);
    matrix_clear(&q[0].a);
    matrix_clear(&q[0].b);
    matrix_clear(&q[0].c);
    for (int i = 0; i < RESULTS; i++) matrix_clear(&q[i].d);
    integer_problem_clear(&integers);
    epilogue_files_clear(&told.extra);
    free(offsets);
    return status;
}

const struct command command_explain = {
    .name = "explain",
    .what = "Identify how a matrix was computed: recipe, unit, order of k, epilogue, fault",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_VALIDATE,
    .first = true,
    .examples = {
        { "Find what computed a result",
          "bitcut explain -a a.npy -b b.npy -d d.npy" },
        { "The same for a program, with a limit of time",
          "bitcut explain -a a.npy -b b.npy -d d.npy --seconds 10 --json" },
    },
};
