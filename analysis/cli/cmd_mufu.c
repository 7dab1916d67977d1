/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut mufu: an approximate function of GPUs, of the numbers of a file. */
#include "analysis/cli/command.h"
#include "emu/mufu.h"
#include "lib/io/npy.h"

#include <assert.h>

struct mufu_options {
    const char *function;
};

static const struct option_row options[] = {
    { "function", "approximate function (bitcut list functions)",
      OPTION(mufu, function, TEXT, "F") },
    { 0 }
};

/* Whether the elements are numbers or encodings of the function's format. */
static bool holds(const struct array *x, const struct bitcut_format *f)
{
    const bool numbers = f != &formats[FORMAT_BF16];
    return x->bytes == format_bytes(f) && (numbers || !x->floating);
}

/* Compute the results of `x` in the same array, and write them. */
static int write_results(struct context *c, const struct bitcut_function *function,
                         struct array *x, const char *input)
{
    struct fault f;
    if (!holds(x, function->format)) {
        fault_set(&f, BITCUT_BAD_ARGUMENT, "elements of type %c%d cannot hold %s",
                  x->floating ? 'f' : 'u', x->bytes, function->format->name);
        return fail(input, &f);
    }
    enum bitcut_status status =
        bitcut_function_apply(x->data, function, x->data, x->count);
    assert(status == BITCUT_OK); /* fails for NULL only */
    status = npy_write(c->output, x, &f);
    if (status != BITCUT_OK) return fail(c->output, &f);
    emit_row(&c->emitter,
             json_pack("{s:o, s:s, s:s, s:o, s:o}", "input", json_text(input), "function",
                       function->name, "evidence", function->evidence, "elements",
                       json_count(x->count), "written", json_text(c->output)));
    return EXIT_GOOD;
}

static int run(struct context *c)
{
    const struct mufu_options *const o = c->own;
    const char *const input = c->operand_count ? c->operands[0] : NULL;
    if (!input) return complain("mufu", "requires a file .npy");
    if (!o->function) return complain("--function", "is required; see bitcut list functions");
    if (!c->output) return complain("-o", "is required, a .npy file");
    const struct bitcut_function *const function = bitcut_function_find(o->function);
    if (!function) return fail_unknown("--function", o->function, TABLE(functions));
    const struct used_file files[] = { { "the input", input, false },
                                       { "-o", c->output, true },
                                       { 0 } };
    int status = check_files(files);
    if (status != EXIT_GOOD) return status;
    struct array x;
    struct fault f;
    if (npy_read(&x, input, &f) != BITCUT_OK) return fail(input, &f);
    status = write_results(c, function, &x, input);
    array_clear(&x);
    return status;
}

const struct command command_mufu = {
    .name = "mufu",
    .what = "Compute an approximate function of GPUs, such as ex2.approx, to the bit",
    .run = run,
    .own = options,
    .own_size = sizeof(struct mufu_options),
    .operands = "FILE",
    .operands_most = 1,
    .output = "the results, a file .npy",
    .task = TASK_COMPUTE,
    .examples = {
        { "Compute 2^x as the GPU's exp2f() with -use_fast_math does",
          "bitcut mufu a.npy --function ex2.approx.ftz.f32 -o y.npy" },
        { "Compute tanh as tanh.approx does",
          "bitcut mufu a.npy --function tanh.approx.f32 -o y.npy" },
    },
};
