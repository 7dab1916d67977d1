/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut verify: a GEMM result in a file, or a kernel on a device, compared with the
   emulator bit for bit. */
#include "analysis/cli/budget_command.h"
#include "analysis/cli/code_command.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/explain_text.h"
#include "analysis/cli/fp64_command.h"
#include "analysis/cli/integer_command.h"
#include "analysis/cli/library_option.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/row_value.h"
#include "analysis/cli/setup.h"
#include "analysis/cli/shard_option.h"
#include "analysis/cli/verify_kernels.h"
#include "analysis/verify/verified.h"
#include "lib/io/json_record.h"

#include <stdio.h>
#include <string.h>

struct verify_options {
    struct setup_options setup;
    struct code_options code;
    struct operand_options operands;
    struct budget_options budget;
    struct library_options library;
    struct fp64_options fp64;
    const char *d, *kernel, *device, *shard;
    size_t samples, seconds;
    bool verbose;
};

static const struct verify_options defaults = {
    .setup = SETUP_BATCH_DEFAULTS,
    .operands = { .m = SIZE_MAX, .n = SIZE_MAX, .k = SIZE_MAX },
    .fp64 = FP64_DEFAULTS,
    .seconds = SIZE_MAX
};

static struct emulating_device device;

/* Default of --seconds for running a kernel of --hsaco. */
enum { SECONDS_RUN = 600 };

static size_t seconds_run(const struct verify_options *o)
{
    return o->seconds == SIZE_MAX || !o->seconds ? SECONDS_RUN : o->seconds;
}

static const struct option_row options[] = {
    SETUP_OPTIONS(verify),
    LIBRARY_OPTIONS(verify),
    FP64_OPTIONS(verify),
    EPILOGUE_OPTIONS(verify),
    ZERO_OPTIONS(verify),
    { "d", "the result to check", OPTION(verify, d, TEXT, "FILE") },
    MATRIX_OPTIONS_D(verify, setup.files),
    MATRIX_OPTIONS_OFFSETS(verify, setup.files),
    MATRIX_OPTIONS_SPARSE(verify, setup.files),
    MATRIX_OPTION_INDEX(verify, setup.files),
    { "kernel",
      "kernel to run on the device: a name or its beginning, DEVICE/NAME (cpu/amx), "
      "DEVICE/RECIPE (hip/legemm: the best of a recipe), all, or split",
      OPTION(verify, kernel, TEXT, "K") },
    DEVICE_OPTION(verify, "emulator; with --kernel: cuda"),
    SHARD_OPTION(verify, "GEMMs of --kernel"),
    { "hsaco", "compute D by executing a kernel of this AMD GPU code object",
      OPTION(verify, code.file, TEXT, "FILE") },
    { "symbol", "name of the kernel in the code object",
      OPTION(verify, code.symbol, TEXT, "S") },
    { "args",
      "arguments of the kernel: a, b, c, d (bt: column-major; a:f16), m, n, k, lda, ..., "
      "alpha, beta, numbers",
      OPTION(verify, code.arguments, TEXT, "LIST") },
    { "grid", "number of work-groups, for example n/128,m/128",
      OPTION(verify, code.grid, TEXT, "LIST") },
    { "block", "number of work-items in a work-group",
      OPTION(verify, code.block, TEXT, "LIST") },
    { "shared", "bytes of dynamic LDS", OPTION(verify, code.shared, COUNT, "N") },
    { "m",
      "rows of D (--kernel: requires -n and -k; default: a grid of shapes; --hsaco: 256)",
      OPTION(verify, operands.m, COUNT, "M") },
    { "n", "columns of D", OPTION(verify, operands.n, COUNT, "N") },
    { "k", "columns of A", OPTION(verify, operands.k, COUNT, "K") },
    INPUT_OPTIONS(verify),
    { "samples",
      "maximum number of outputs of -d, or of values of --kernel split (default: all)",
      OPTION(verify, samples, COUNT, "N") },
    { "seconds",
      "time limit for explaining a result that differs (default: none, 0: do not "
      "explain) "
      "and for the kernel of --hsaco (default 600)",
      OPTION(verify, seconds, COUNT, "S") },
    BUDGET_OPTIONS(verify),
    VERBOSE_OPTION(verify),
    { 0 }
};

/* Tables of several kernels, and of several splits. */
static const struct emit_column kernel_columns[] = {
    /* clang-format off */
    { "kernel",         "kernel",   0, NULL    },
    { "recipe",         "recipe",   0, NULL    },
    { "unit",           "unit",     0, NULL    },
    { "split",          "parts",    0, NULL    },
    { "equilibrate",    "scaled",   0, "false" },
    { "split_k",        "slices",   0, "1"     },
    { "configurations", "GEMMs",    0, NULL    },
    { "compared",       "compared", 0, NULL    },
    { "mismatches",     "differ",   0, NULL    },
    { 0 }
    /* clang-format on */
};

static const struct emit_column split_columns[] = {
    /* clang-format off */
    { "split",       "split",    0, NULL    },
    { "format",      "format",   0, NULL    },
    { "low_format",  "others",   0, NULL    },
    { "high",        "high",     0, NULL    },
    { "low",         "low",      0, NULL    },
    { "scale",       "scale",    0, NULL    },
    { "equilibrate", "scaled",   0, "false" },
    { "compared",    "compared", 0, NULL    },
    { "mismatches",  "differ",   0, NULL    },
    { 0 }
    /* clang-format on */
};

/* The GEMM of the result. */
enum { OF_FILE = 1, OF_KERNELS = 2, OF_SPLIT = 4, OF_CODE = 8 };

#define KERNEL_HAS_ONE    "cannot be combined with --kernel, which sets it"
#define KERNEL_TAKES_NONE "cannot be combined with --kernel, which generates its inputs"
#define OF_ONE_SHAPE                                                                     \
    "requires --hsaco or --kernel (except split); files set their own sizes"
#define CODE_ALONE "requires --hsaco"

static const struct option_use uses[] = {
    /* clang-format off */
    { "recipe",  OF_FILE | OF_CODE,    KERNEL_HAS_ONE           },
    { "unit",    OF_FILE | OF_CODE,    KERNEL_HAS_ONE           },
    { "terms",   OF_FILE | OF_CODE,    KERNEL_HAS_ONE           },
    { "promote", OF_FILE | OF_CODE,    KERNEL_HAS_ONE           },
    { "tile-k",  OF_FILE | OF_CODE,    KERNEL_HAS_ONE           },
    { "a",       OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "b",       OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "c",       OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "d",       OF_FILE,              "cannot be combined with --kernel or --hsaco, which compute D" },
    { "format",   OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "format-a", OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "format-b", OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "format-c", OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "format-d", OF_FILE,             "requires -d, a file"    },
    { "shape-a",  OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "shape-b",  OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "shape-c",  OF_FILE | OF_CODE,   KERNEL_TAKES_NONE        },
    { "shape-d",  OF_FILE,             "requires -d, a file"    },
    { "offsets", OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "offsets-k", OF_FILE | OF_CODE,  KERNEL_TAKES_NONE        },
    { "index",   OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "sparse-a",    OF_FILE,          "requires -d, a file"    },
    { "positions-a", OF_FILE,          "requires -d, a file"    },
    EPILOGUE_USES(OF_FILE | OF_CODE,   KERNEL_TAKES_NONE),
    { "zero-a",  OF_FILE,              "requires -d, a file"    },
    { "zero-b",  OF_FILE,              "requires -d, a file"    },
    { "zero-d",  OF_FILE,              "requires -d, a file"    },
    { "alpha",   OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "beta",    OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "m",       OF_KERNELS | OF_CODE, OF_ONE_SHAPE             },
    { "n",       OF_KERNELS | OF_CODE, OF_ONE_SHAPE             },
    { "k",       OF_KERNELS | OF_CODE, OF_ONE_SHAPE             },
    { "budget",  OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "at",      OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "worst",   OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "split-k", ~(unsigned)OF_SPLIT,  "cannot be combined with --kernel split"   },
    { "seconds", ~(unsigned)OF_SPLIT,  "cannot be combined with --kernel split"   },
    { "samples", OF_FILE | OF_SPLIT,   "requires -d or --kernel split" },
    { "shard",   OF_KERNELS,           "requires --kernel, other than split" },
    { "kernel",  OF_KERNELS | OF_SPLIT, "cannot be combined with --hsaco; use --symbol" },
    { "input-a", OF_CODE,              CODE_ALONE               },
    { "input-b", OF_CODE,              CODE_ALONE               },
    { "pair",    OF_CODE,              CODE_ALONE               },
    { "symbol",  OF_CODE,              CODE_ALONE               },
    { "args",    OF_CODE,              CODE_ALONE               },
    { "grid",    OF_CODE,              CODE_ALONE               },
    { "block",   OF_CODE,              CODE_ALONE               },
    { "shared",  OF_CODE,              CODE_ALONE               },
    { 0 }
    /* clang-format on */
};

/* --- a result from a file --------------------------------------------------------- */

/* What computed D, if it differs from the requested GEMM; in a batch, the first D that
   differs.  It has the bias and the factors of the GEMM.  Code that was executed has no
   other units than those of its instructions. */
static int explain_d(struct verified *v, const struct setup *s, const struct matrix *d,
                     const struct code_result *code, const struct context *x)
{
    const struct block *const part = v->part.row ? &v->part : NULL;
    const struct bitcut_gemm all = setup_gemms(s, d->at);
    struct gemm_data data;
    struct matrix one, own_a;
    struct fault f;
    if (!gemm_data_of(&data, &one, &own_a, &all, v->found.gemm)) {
        fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
        return fail("explain", &f);
    }
    one.format = d->format;
    struct problem q = { .a = data.a,
                         .b = data.b,
                         .c = data.c,
                         .d = one,
                         .alpha = s->gemm.alpha,
                         .beta = s->gemm.beta,
                         .executed = code ? code->unit : NULL,
                         .executed_count = code ? code->units : 0,
                         .said = &s->gemm };
    if (part) {
        q.a = (struct matrix){ .rows = part->rows, .cols = part->k, .at = part->a };
        q.b = (struct matrix){ .rows = part->k, .cols = part->cols, .at = part->b };
        q.c = (struct matrix){ .rows = part->rows, .cols = part->cols, .at = part->c };
        q.d = (struct matrix){
            .rows = part->rows, .cols = part->cols, .at = part->d, .format = d->format
        };
    }
    q.format = problem_format(&q.d);
    const struct bitcut_gemm own = gemm_nth(&all, v->found.gemm);
    int status =
        problem_tell(&q, &own, &f) == BITCUT_OK ? EXIT_GOOD : fail("explain", &f);
    q.steps_told = q.scaling_told = false; /* D may have others */
    if (status == EXIT_GOOD)
        status = explain_briefly(&v->explained, &q, part,
                                 ((const struct verify_options *)x->own)->seconds, x);
    matrix_clear(&own_a);
    return status;
}

static json_t *describe(const struct verified *v, const struct code_result *code)
{
    json_t *const row = json_object();
    if (code) {
        record_json(row, verified_code_fields, v);
        code_command_describe(row, code);
    }
    setup_describe(row, v->gemm.gemm.gemm, v->gemm.gemm.plan);
    if (v->gemm.gemm.quantized) quantized_json(row, v->gemm.gemm.quantized);
    emulating_device_describe(row, &device);
    record_json(row, verified_fields, v);
    return row;
}

/* Explain a difference, compute the budget, and print everything. */
static int report(struct context *x, struct verified *v, const struct setup *s,
                  const struct gemm_data *data, const struct matrix *d,
                  const struct code_result *code)
{
    const struct verify_options *const o = x->own;
    struct budget_answer budget = { .worst = NULL };
    struct budget_problem problem;
    int status = v->found.differ ? explain_d(v, s, d, code, x) : EXIT_GOOD;
    json_t *const row = describe(v, code);
    if (status == EXIT_GOOD)
        status = budget_ask(&budget, &problem, &o->budget, s, data, d, x);
    if (status == EXIT_GOOD) budget_json(row, &budget);
    v->gemm.budget = status == EXIT_GOOD ? &budget : NULL;
    emit_answer(&x->emitter, row, verified_lines, v);
    budget_answer_clear(&budget);
    return status != EXIT_GOOD ? status : v->found.differ ? EXIT_FOUND : EXIT_GOOD;
}

/* Compare D, from a file or from code, with the emulator's D. */
static int compare(struct context *x, const struct setup *s, const struct matrix *d,
                   const struct code_result *code, const struct matrix *expected)
{
    const struct verify_options *const o = x->own;
    const struct gemm_data data = { .a = s->a, .b = s->b, .c = s->c };
    const struct gemm_options how = context_options(x);
    const struct bitcut_gemm all = setup_gemms(s, NULL);
    const struct verify_problem q = { .gemm = &s->gemm,
                                      .plan = &s->plan,
                                      .data = &data,
                                      .d = d,
                                      .batch = s->is_batch ? &all : NULL,
                                      .code = code,
                                      .expected = expected,
                                      .samples = o->samples,
                                      .seed = x->seed };
    static struct verified v;
    char executed[80], library[LIBRARY_TEXT_MAX];
    const char *what;
    struct fault f;
    if (verified_find(&v, &what, &q, &how, &f) != BITCUT_OK) return fail(what, &f);
    v.gemm.gemm.quantized = s->quantized;
    v.gemm.library = library_text(library, s);
    if (code) {
        snprintf(executed, sizeof executed, "%s, executed", code->target->name);
        v.gemm.gemm.kernel = o->code.symbol;
        v.gemm.gemm.device = executed;
        v.code = o->code.file;
    } else if (gpu_offload_group_runs(&device.group)) v.gemm.gemm.device = device.name;
    const int status = report(x, &v, s, &data, d, code);
    verified_clear(&v);
    return status;
}

/* On a unit of integers, whose A and B were read. */
static int verify_integers(struct context *x, struct setup *s)
{
    const struct verify_options *const o = x->own;
    int status = setup_finish(s);
    if (status == EXIT_GOOD) status = budget_check(&o->budget, s);
    if (status != EXIT_GOOD) return status;
    if (o->samples) return complain("--samples", "does not apply to units of integers");
    if (!device_is_emulator(o->device))
        return complain("--device", "units of integers require the emulator");
    return integer_verify(x, s, o->d, &o->budget);
}

/* Compare D with what a library computes in several orders of k. */
static int compare_library(struct context *x, const struct setup *s, const struct matrix *d)
{
    struct matrix expected;
    int status = library_compute(&expected, s, x);
    if (status != EXIT_GOOD) return status;
    status = compare(x, s, d, NULL, &expected);
    matrix_clear(&expected);
    return status;
}

static int run_file(struct context *x)
{
    const struct verify_options *const o = x->own;
    struct setup s = { .options = &o->setup, .takes_integers = true };
    struct matrix got = { 0 };
    struct prediction p = { .parts = 0 };
    if (o->samples && o->budget.at)
        return complain("--at", "cannot be combined with --samples");
    if (o->samples && o->budget.worst)
        return complain("--worst", "cannot be combined with --samples");
    int status = o->library.name ? library_open(&s, &o->library) : setup_gemm(&s);
    if (status == EXIT_GOOD) status = setup_read(&s.a, "-a", o->setup.a, &o->setup.files);
    if (status == EXIT_GOOD) status = setup_read(&s.b, "-b", o->setup.b, &o->setup.files);
    if (status == EXIT_GOOD && s.plan.integer) {
        status = verify_integers(x, &s);
        setup_clear(&s);
        return status;
    }
    if (status == EXIT_GOOD) status = setup_read_result(&s, &got, o->d);
    if (status == EXIT_GOOD) status = setup_finish(&s);
    if (status == EXIT_GOOD && o->library.name && o->samples)
        status = complain("--samples", "cannot be combined with --library");
    if (status == EXIT_GOOD && o->library.name) status = library_predict(&p, &s, &o->library);
    if (status == EXIT_GOOD) status = library_check_budget(&s, &o->budget);
    if (status == EXIT_GOOD && gemm_is_extended(&s.gemm) && o->samples)
        status = complain("--samples", "cannot be combined with a bias, factors or steps "
                                       "of an epilogue");
    if (status == EXIT_GOOD && s.gemm.sparsity && o->samples)
        status = complain("--samples", "cannot be combined with --sparse-a");
    if (status == EXIT_GOOD && s.is_batch && o->samples)
        status = complain("--samples", "requires --index, one GEMM of the batch");
    if (status == EXIT_GOOD) status = budget_check(&o->budget, &s);
    if (status == EXIT_GOOD)
        status = emulating_device_open(&device, x, o->device, "verify");
    if (status == EXIT_GOOD)
        status = s.predicted && s.predicted->computations > 1
                     ? compare_library(x, &s, &got)
                     : compare(x, &s, &got, NULL, NULL);
    emulating_device_close(&device, x);
    matrix_clear(&got);
    setup_clear(&s);
    prediction_clear(&p);
    return status;
}

/* --- a kernel of the user's own --------------------------------------------------- */

static int run_code(struct context *x)
{
    static const struct operand_options usual = OPERAND_DEFAULTS;
    const struct verify_options *const o = x->own;
    struct operand_options operands = o->operands;
    struct setup s = { .options = &o->setup };
    struct code_result r = { 0 };
    if (operands.m == SIZE_MAX) operands.m = usual.m;
    if (operands.n == SIZE_MAX) operands.n = usual.n;
    if (operands.k == SIZE_MAX) operands.k = usual.k;
    int status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = operands_make(&s, &operands, x);
    if (status == EXIT_GOOD && s.is_batch)
        status = complain("--hsaco", "takes one GEMM of a batch; give --index");
    if (status == EXIT_GOOD) status = budget_check(&o->budget, &s);
    if (status == EXIT_GOOD)
        status = code_command_run(&r, &s, &o->code, o->device, seconds_run(o), x);
    s.gemm.d.format = r.d.format;
    if (status == EXIT_GOOD) status = compare(x, &s, &r.d, &r, NULL);
    matrix_clear(&r.d);
    setup_clear(&s);
    return status;
}

/* --- the command ------------------------------------------------------------------ */

static int run_kernels(struct context *x)
{
    const struct verify_options *const o = x->own;
    const struct operand_options *const of = &o->operands;
    struct verify_kernels what = { .setup = &o->setup,
                                   .device = o->device,
                                   .name = o->kernel,
                                   .shape = { of->m, of->n, of->k },
                                   .samples = o->samples,
                                   .seconds = o->seconds };
    const int status = shard_read(&what.shard, o->shard);
    return status == EXIT_GOOD ? verify_kernels(x, &what) : status;
}

static int run(struct context *x)
{
    const struct verify_options *const o = x->own;
    const unsigned use = o->code.file                 ? OF_CODE
                         : !o->kernel                 ? OF_FILE
                         : strcmp(o->kernel, "split") ? OF_KERNELS
                                                      : OF_SPLIT;
    int status = check_use(x, uses, use);
    if (status == EXIT_GOOD) status = fp64_check(&o->fp64);
    if (status == EXIT_GOOD && o->fp64.scheme) {
        x->emitter.verbose = o->verbose;
        return fp64_verify(x,
                           &(struct fp64_request){ .fp64 = &o->fp64,
                                                   .setup = &o->setup,
                                                   .budget = &o->budget,
                                                   .d = o->d,
                                                   .device = device_named(o->device) });
    }
    if (status == EXIT_GOOD) status = library_check(&o->library, x);
    if (status != EXIT_GOOD) return status;
    x->emitter.columns = use == OF_SPLIT ? split_columns : kernel_columns;
    x->emitter.verbose = o->verbose;
    return use == OF_CODE ? run_code(x) : o->kernel ? run_kernels(x) : run_file(x);
}

const struct command command_verify = {
    .name = "verify",
    .what = "Compare a GEMM, from a file or a kernel, with the emulator, bit for bit",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_VALIDATE,
    .first = true,
    .examples = {
        { "Compare a result with the recipe that it should be of, bit for bit",
          "bitcut verify --recipe ootomo --unit h100 -a a.npy -b b.npy -d d.npy" },
        { "Compare a kernel on a GPU with its model",
          "bitcut verify --kernel gemm.ootomo.f16 --device cuda" },
    },
};
