/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut verify: a dumped GEMM result, or a kernel on a device, against the emulator, bit
   for bit. */
#include "analysis/cli/budget_command.h"
#include "analysis/cli/code_command.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/explain_say.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/say.h"
#include "analysis/cli/setup.h"
#include "analysis/cli/verify_kernels.h"
#include "analysis/device/verified.h"
#include "analysis/evidence/record_json.h"

#include <stdio.h>
#include <string.h>

static const char *dump, *kernel_name;
static struct emulating_device device;
static size_t samples, seconds = SIZE_MAX, m = SIZE_MAX, n = SIZE_MAX, k = SIZE_MAX;

/* Without --seconds: for explaining, and for a kernel of --hsaco to run. */
enum { SECONDS_EXPLAIN = 20, SECONDS_RUN = 600 };

static size_t seconds_explain(void)
{
    return seconds == SIZE_MAX ? SECONDS_EXPLAIN : seconds;
}

static size_t seconds_run(void)
{
    return seconds == SIZE_MAX || !seconds ? SECONDS_RUN : seconds;
}

static const struct option_row options[] = {
    SETUP_OPTIONS,
    { "d", "the result to check, .npy or .mtx", OPTION_TEXT, &dump, "FILE" },
    { "kernel",
      "run this one on the device: its name or how that begins, host/amx: likewise of that "
      "device, hip/legemm: the best of a recipe, all, or split",
      OPTION_TEXT, &kernel_name, "K" },
    DEVICE_OPTION("emulator, of --kernel: cuda"),
    CODE_OPTIONS,
    { "m", "--kernel: rows of D, with -n and -k (default: a grid of shapes; --hsaco: 256)",
      OPTION_COUNT, &m, "M" },
    { "n", "columns of D", OPTION_COUNT, &n, "N" },
    { "k", "columns of A", OPTION_COUNT, &k, "K" },
    INPUT_OPTIONS,
    { "samples", "outputs of -d at most, or values of --kernel split (default: all)",
      OPTION_COUNT, &samples, "N" },
    { "seconds",
      "to explain a result that differs, 0: do not (default 20); and for the kernel of "
      "--hsaco to run (default, and with 0, 600)",
      OPTION_COUNT, &seconds, "S" },
    BUDGET_OPTIONS,
    VERBOSE_OPTION,
    { 0 }
};

/* Tables of several kernels, and of several splits. */
static const struct emit_column kernel_columns[] = {
    /* clang-format off */
    { "kernel",         "kernel",   0, NULL    },
    { "recipe",         "recipe",   0, NULL    },
    { "unit",           "unit",     0, NULL    },
    { "split",          "words",    0, NULL    },
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

/* What the result is of. */
enum { OF_FILE = 1, OF_KERNELS = 2, OF_SPLIT = 4, OF_CODE = 8 };

#define KERNEL_HAS_ONE    "is not for --kernel: a kernel has its own"
#define KERNEL_TAKES_NONE "is not for --kernel, which makes its own inputs"
#define OF_ONE_SHAPE      "is for --kernel (not split) and --hsaco; else files have sizes"
#define CODE_ALONE        "is for --hsaco"

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
    { "d",       OF_FILE,              "is not for --kernel and --hsaco, which make D" },
    { "alpha",   OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "beta",    OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "m",       OF_KERNELS | OF_CODE, OF_ONE_SHAPE             },
    { "n",       OF_KERNELS | OF_CODE, OF_ONE_SHAPE             },
    { "k",       OF_KERNELS | OF_CODE, OF_ONE_SHAPE             },
    { "budget",  OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "at",      OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "worst",   OF_FILE | OF_CODE,    KERNEL_TAKES_NONE        },
    { "split-k", ~(unsigned)OF_SPLIT,  "is not for the split"   },
    { "seconds", ~(unsigned)OF_SPLIT,  "is not for the split"   },
    { "samples", OF_FILE | OF_SPLIT,   "is for -d and --kernel split" },
    { "kernel",  OF_KERNELS | OF_SPLIT, "is not for --hsaco, where --symbol is" },
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

/* What computed D, if it is not what was asked for. */
static int explain_d(struct verified *v, const struct setup *s, const struct matrix *d,
                     const struct context *x)
{
    const struct block *const part = v->part.row ? &v->part : NULL;
    struct question q = { .a = s->a,
                          .b = s->b,
                          .c = s->c,
                          .d = *d,
                          .alpha = s->gemm.alpha,
                          .beta = s->gemm.beta };
    if (part) {
        q.a = (struct matrix){ .rows = part->rows, .cols = part->k, .at = part->a };
        q.b = (struct matrix){ .rows = part->k, .cols = part->cols, .at = part->b };
        q.c = (struct matrix){ .rows = part->rows, .cols = part->cols, .at = part->c };
        q.d = (struct matrix){ .rows = part->rows, .cols = part->cols, .at = part->d };
    }
    q.format = question_format(&q.d);
    return explain_sentence(v->hypothesis, &q, part, seconds_explain(), x);
}

static json_t *describe(const struct verified *v, const struct code_result *code)
{
    json_t *const row = json_object();
    if (code) {
        record_json(row, verified_code_fields, v);
        code_command_describe(row, code);
    }
    setup_describe(row, v->gemm.gemm.gemm, v->gemm.gemm.plan);
    emulating_device_describe(row, &device);
    record_json(row, verified_fields, v);
    return row;
}

/* Explain what was found, ask for the budget, and print all of it. */
static int report(struct context *x, struct verified *v, const struct setup *s,
                  const struct gemm_data *data, const struct matrix *d,
                  const struct code_result *code)
{
    struct budget_answer budget = { .worst = NULL };
    struct budget_question question;
    int status = v->found.differ ? explain_d(v, s, d, x) : EXIT_GOOD;
    json_t *const row = describe(v, code);
    if (status == EXIT_GOOD) status = budget_ask(&budget, &question, s, data, d, x);
    if (status == EXIT_GOOD) budget_json(row, &budget);
    v->gemm.budget = &budget;
    emit_answer(&x->emitter, row, verified_lines, v);
    budget_answer_clear(&budget);
    return status != EXIT_GOOD ? status : v->found.differ ? EXIT_FOUND : EXIT_GOOD;
}

/* Compare D, of a file or what code has made, with the emulator's. */
static int compare(struct context *x, const struct setup *s, const struct matrix *d,
                   const struct code_result *code)
{
    const struct gemm_data data = { s->a, s->b, s->c };
    const struct gemm_options how = context_options(x);
    const struct verify_question q = { .gemm = &s->gemm,
                                       .plan = &s->plan,
                                       .data = &data,
                                       .d = d,
                                       .code = code,
                                       .samples = samples,
                                       .seed = x->seed };
    static struct verified v;
    char executed[80];
    const char *what;
    struct fault f;
    if (verified_find(&v, &what, &q, &how, &f) != BITCUT_OK) return fail(what, &f);
    if (code) {
        snprintf(executed, sizeof executed, "%s, executed", code->target->name);
        v.gemm.gemm.kernel = code_options.symbol;
        v.gemm.gemm.device = executed;
        v.code = code_options.file;
    } else if (device.offload.runs) v.gemm.gemm.device = device.recorder.device.name;
    const int status = report(x, &v, s, &data, d, code);
    verified_clear(&v);
    return status;
}

static int compare_file(struct context *x, const struct setup *s, const struct matrix *d)
{
    const int status = setup_check_shape("D", d, s->a.rows, s->b.cols);
    return status == EXIT_GOOD ? compare(x, s, d, NULL) : status;
}

static int run_file(struct context *x)
{
    struct setup s = { 0 };
    struct matrix got = { 0 };
    if (samples && budget_options.at)
        return complain("--at", "is of all outputs, not with --samples");
    if (samples && budget_options.worst)
        return complain("--worst", "is of all outputs, not with --samples");
    int status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = setup_read(&s.a, "-a", setup_options.a);
    if (status == EXIT_GOOD) status = setup_read(&s.b, "-b", setup_options.b);
    if (status == EXIT_GOOD) status = setup_read(&got, "-d", dump);
    if (status == EXIT_GOOD) status = setup_finish(&s);
    if (status == EXIT_GOOD) status = budget_check(&s);
    if (status == EXIT_GOOD) status = emulating_device_open(&device, x, "verify");
    if (status == EXIT_GOOD) status = compare_file(x, &s, &got);
    emulating_device_close(&device, x);
    matrix_clear(&got);
    setup_clear(&s);
    return status;
}

/* --- a kernel of the user's own --------------------------------------------------- */

static int run_code(struct context *x)
{
    struct setup s = { 0 };
    struct code_result r = { 0 };
    struct operand_options *const o = &operand_options;
    if (m != SIZE_MAX) o->m = m;
    if (n != SIZE_MAX) o->n = n;
    if (k != SIZE_MAX) o->k = k;
    int status = setup_gemm(&s);
    if (status == EXIT_GOOD) status = operands_make(&s, x);
    if (status == EXIT_GOOD) status = budget_check(&s);
    if (status == EXIT_GOOD) status = code_command_run(&r, &s, seconds_run(), x);
    if (status == EXIT_GOOD)
        status = compare(x, &s, &r.d, &r);
    matrix_clear(&r.d);
    setup_clear(&s);
    return status;
}

/* --- the command ------------------------------------------------------------------ */

static int run_kernels(struct context *x)
{
    const struct verify_kernels what = { .name = kernel_name,
                                         .shape = { m, n, k },
                                         .samples = samples,
                                         .seconds = seconds_explain() };
    return verify_kernels(x, &what);
}

static int run(struct context *x)
{
    const unsigned use = code_options.file              ? OF_CODE
                         : !kernel_name                 ? OF_FILE
                         : strcmp(kernel_name, "split") ? OF_KERNELS
                                                        : OF_SPLIT;
    const int status = check_use(x, uses, use);
    if (status != EXIT_GOOD) return status;
    x->emitter.columns = use == OF_SPLIT ? split_columns : kernel_columns;
    x->emitter.verbose = say_verbose;
    return use == OF_CODE ? run_code(x) : kernel_name ? run_kernels(x) : run_file(x);
}

const struct command command_verify = {
    .name = "verify",
    .what = "Compare a GEMM, from a file or by a kernel, with the emulator, bit for bit",
    .run = run,
    .own = options,
    .operands = "",
};
