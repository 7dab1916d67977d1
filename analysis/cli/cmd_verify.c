/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut verify: a dumped GEMM result, or a kernel on a device, against the emulator, bit
   for bit. */
#include "analysis/cli/budget_command.h"
#include "analysis/error/judged.h"
#include "analysis/cli/code_command.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/explain_say.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/say.h"
#include "analysis/cli/setup.h"
#include "analysis/cli/verify_kernels.h"
#include "analysis/cli/verify_say.h"
#include "lib/fma.h"
#include "lib/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* What a file holds beside what it should; some lines of it if `part` is not NULL. */
struct pair {
    const struct setup *s;
    const struct matrix *want, *got;
    const struct block *part;
    size_t m, n; /* of the file */
    const struct code_result *code; /* that has made it, not a file; or NULL */
};

static json_t *first_difference(const struct pair *p, size_t at)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const size_t i = at / p->want->cols, j = at % p->want->cols;
    json_t *first = json_pack(
        "{s:[I,I], s:o, s:o}", "at", (json_int_t)(p->part ? p->part->row[i] : i),
        (json_int_t)(p->part ? p->part->col[j] : j), "emulator",
        json_decoded(f32, p->want->at[at]), p->code ? "device" : "file",
        json_decoded(f32, p->got->at[at]));
    json_set_distance(first, f32, p->want->at[at], p->got->at[at]);
    return first;
}

/* What computed the file, if it is not what was asked for. */
static int explain_pair(json_t **sentence, const struct pair *p, const struct context *x)
{
    const struct bitcut_gemm *g = &p->s->gemm;
    struct question q = { .a = p->s->a,
                          .b = p->s->b,
                          .c = p->s->c,
                          .d = *p->got,
                          .alpha = g->alpha,
                          .beta = g->beta };
    q.format = question_format(&q.d);
    return explain_sentence(sentence, &q, p->part, seconds_explain(), x);
}

/* The first outputs that differ. */
static json_t *differing_list(const struct pair *p)
{
    struct differing first[DIFFERING_MOST];
    const struct pair_of of = {
        .m = p->want->rows, .n = p->want->cols, .d = p->got->at, .h = p->want->at
    };
    const size_t count = difference_first(first, &of);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct differing *o = &first[i];
        const size_t row = p->part ? p->part->row[o->row] : o->row,
                     col = p->part ? p->part->col[o->col] : o->col;
        json_array_append_new(list, differing_json(row, col, o->given, o->expected));
    }
    return list;
}

static int report(struct context *x, const struct pair *p)
{
    const size_t count = p->want->rows * p->want->cols;
    size_t mismatches = 0, first = 0;
    int status = EXIT_GOOD;
    json_t *row = json_object(), *sentence = json_null();
    for (size_t i = 0; i < count; i++)
        if (p->want->at[i] != p->got->at[i] && !mismatches++) first = i;
    if (mismatches) status = explain_pair(&sentence, p, x);
    if (p->code) code_command_describe(row, p->code);
    setup_describe(row, &p->s->gemm, &p->s->plan);
    emulating_device_describe(row, &device);
    json_object_update_new(
        row,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "differing",
                  differing_list(p), "m", json_count(p->m), "n", json_count(p->n), "k",
                  json_count(p->s->a.cols), "compared", json_count(count), "total",
                  json_count(p->m * p->n), "mismatches", json_count(mismatches), "first",
                  mismatches ? first_difference(p, first) : json_null(), "hypothesis",
                  sentence));
    static const struct record_line lines[] = { BUDGET_LINES, { 0 } };
    const struct gemm_data data = { p->s->a, p->s->b, p->s->c };
    struct budget_answer budget = { .worst = NULL };
    struct budget_question question;
    if (status == EXIT_GOOD) status = budget_ask(&budget, &question, p->s, &data, p->got, x);
    if (status == EXIT_GOOD) budget_json(row, &budget);
    const struct gemm_answer a = { .gemm = setup_told(p->s, x, false), .budget = &budget };
    emit_answer(&x->emitter, row, lines, &a);
    budget_answer_clear(&budget);
    return status != EXIT_GOOD ? status : mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* Emulate what the pair is to be compared with. */
static int compare(struct context *x, struct pair p)
{
    struct matrix want = { 0 };
    p.want = &want;
    int status = setup_run(&want, p.s, x);
    if (status == EXIT_GOOD && p.code) code_command_round(&want, p.code);
    if (status == EXIT_GOOD) status = report(x, &p);
    matrix_clear(&want);
    return status;
}

/* A matrix of a block's elements, which stay the block's. */
static struct matrix matrix_of(uint32_t *at, size_t rows, size_t cols)
{
    return (struct matrix){ .rows = rows, .cols = cols, .at = at };
}

/* At most so many outputs, of rows and columns at random, about as many of each. */
static enum bitcut_status take_sample(struct block *part, const struct setup *s,
                                      const struct matrix *got, const struct context *x,
                                      struct fault *f)
{
    enum { STREAM_ROWS = 40, STREAM_COLUMNS };
    const struct question q = { .a = s->a, .b = s->b, .c = s->c, .d = *got };
    const size_t side = (size_t)sqrt((double)samples),
                 few = smaller(s->b.cols, samples / smaller(s->a.rows, side)),
                 rows = smaller(s->a.rows, samples / few),
                 cols = smaller(s->b.cols, samples / rows);
    size_t *const row = memory_allocate(rows, sizeof *row), *const col = memory_allocate(
                                                                cols, sizeof *col);
    enum bitcut_status status =
        row && col ? BITCUT_OK
                   : fault_set(f, BITCUT_NO_MEMORY, "out of memory for a sample");
    if (status == BITCUT_OK) {
        lines_draw(row, rows, s->a.rows, x->seed, STREAM_ROWS);
        lines_draw(col, cols, s->b.cols, x->seed, STREAM_COLUMNS);
        status = block_take(part, &q, row, rows, col, cols, f);
    }
    free(row);
    free(col);
    return status;
}

static int compare_sample(struct context *x, const struct setup *s,
                          const struct matrix *got)
{
    struct block part;
    struct fault f;
    if (take_sample(&part, s, got, x, &f) != BITCUT_OK) return fail("sample", &f);
    struct setup some = *s;
    some.a = matrix_of(part.a, part.rows, part.k);
    some.b = matrix_of(part.b, part.k, part.cols);
    some.c = matrix_of(part.c, part.rows, part.cols);
    const struct matrix d = matrix_of(part.d, part.rows, part.cols);
    const int status = compare(
        x, (struct pair){
               .s = &some, .got = &d, .part = &part, .m = got->rows, .n = got->cols });
    block_clear(&part);
    return status;
}

static int compare_file(struct context *x, const struct setup *s,
                        const struct matrix *got)
{
    const size_t total = got->rows * got->cols;
    const int status = setup_check_shape("D", got, s->a.rows, s->b.cols);
    if (status != EXIT_GOOD) return status;
    return samples && samples < total
               ? compare_sample(x, s, got)
               : compare(x, (struct pair){
                                .s = s, .got = got, .m = got->rows, .n = got->cols });
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
        status = compare(
            x, (struct pair){
                   .s = &s, .got = &r.d, .m = r.d.rows, .n = r.d.cols, .code = &r });
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
    x->emitter.lines = verify_lines;
    x->emitter.columns = use == OF_SPLIT ? verify_split_columns : verify_kernel_columns;
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
