/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut convert: the numbers of a file in another format, rounded once. */
#include "analysis/cli/command.h"
#include "lib/input/source.h"
#include "lib/io/npy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct convert_options {
    const char *from, *to, *rounding;
};

static const struct convert_options defaults = { .to = "f32", .rounding = "rn" };

static const struct option_row options[] = {
    { "from",
      "format of the elements (bitcut list formats; default: the floating-point type)",
      OPTION(convert, from, TEXT, "F") },
    { "to", "format to convert to (default f32)", OPTION(convert, to, TEXT, "F") },
    { "rounding", "rounding rule (bitcut list roundings; default rn)",
      OPTION(convert, rounding, TEXT, "R") },
    { 0 }
};

/* The input and the output of a conversion. */
struct conversion {
    const struct bitcut_format *from, *to;
    const struct bitcut_rounding *rounding;
    struct array in, out;
};

/* The number of elements that are NaN or infinite; and of the others, the number that
   changed, that are above the largest number of the format, and that changed and are
   below its normal numbers. */
struct outcome {
    size_t nan, infinite, inexact, overflow, underflow;
};

static bool is_matrix_market(const char *path)
{
    const size_t n = strlen(path);
    return n >= 4 && !strcmp(path + n - 4, ".mtx");
}

/* --- formats ---------------------------------------------------------------------- */

static int choose(struct conversion *c, const struct convert_options *o)
{
    c->to = bitcut_format_find(o->to);
    c->rounding = bitcut_rounding_find(o->rounding);
    c->from = o->from ? bitcut_format_find(o->from) : NULL;
    if (!c->to) return fail_unknown("--to", o->to, TABLE(formats));
    if (!c->rounding) return fail_unknown("--rounding", o->rounding, TABLE(roundings));
    if (o->from && !c->from) return fail_unknown("--from", o->from, TABLE(formats));
    return EXIT_GOOD;
}

/* The format of numbers with that many bytes. */
static const struct bitcut_format *format_of_numbers(int bytes)
{
    return &formats[bytes == 2 ? FORMAT_F16 : bytes == 4 ? FORMAT_F32 : FORMAT_F64];
}

/* Whether every encoding is an FP32 encoding, as for tf32: arrays of f4 hold them. */
static bool is_within_f32(const struct bitcut_format *f)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    return f->bits == f32->bits && f->exponent_bits == f32->exponent_bits;
}

/* Whether elements of this type hold the format's encodings. */
static bool holds(const struct array *a, const struct bitcut_format *f)
{
    if (a->bytes != format_bytes(f)) return false;
    return !a->floating || f == format_of_numbers(a->bytes) || is_within_f32(f);
}

static enum bitcut_status find_from(struct conversion *c, struct fault *f)
{
    const struct array *const in = &c->in;
    if (!c->from && !in->floating)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "elements of %d bytes are encodings; --from must name their format",
            in->bytes);
    if (!c->from) c->from = format_of_numbers(in->bytes);
    if (holds(in, c->from)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "elements of type %c%d cannot hold %s",
                     in->floating ? 'f' : 'u', in->bytes, c->from->name);
}

/* --- files ------------------------------------------------------------------------ */

/* The FP32 numbers of a text file as an array, which takes over their memory. */
static enum bitcut_status read_text(struct array *a, const char *path, struct fault *f)
{
    struct matrix m;
    const enum bitcut_status status = source_read(&m, path, f);
    if (status != BITCUT_OK) return status;
    *a = (struct array){ .dims = 2,
                         .dim = { m.rows, m.cols },
                         .count = m.rows * m.cols,
                         .bytes = 4,
                         .floating = true,
                         .data = m.at };
    return BITCUT_OK;
}

/* The numbers of `a`, in a format that FP32 contains, as text. */
static enum bitcut_status write_text(const char *path, const struct array *a,
                                     const struct bitcut_format *format, struct fault *f)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    struct matrix m;
    if (a->dims != 2)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "found a %d-D array, but .mtx requires a 2-D array", a->dims);
    if (!format_holds(f32, format))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         ".mtx stores FP32 values, which cannot hold %s", format->name);
    enum bitcut_status status = matrix_init(&m, a->dim[0], a->dim[1], f);
    if (status != BITCUT_OK) return status;
    status = bitcut_format_convert_array(NULL, m.at, f32, &roundings[ROUND_RN], a->data,
                                         format, a->count);
    assert(status == BITCUT_OK); /* fails for NULL only */
    status = source_write(path, &m, f);
    matrix_clear(&m);
    return status;
}

static enum bitcut_status write_output(const char *path, const struct conversion *c,
                                       struct fault *f)
{
    return is_matrix_market(path) ? write_text(path, &c->out, c->to, f)
                                  : npy_write(path, &c->out, f);
}

/* --- work ------------------------------------------------------------------------- */

/* Count the conversion of x to y. */
static void outcome_add(struct outcome *o, const struct conversion *c, uint64_t x,
                        uint64_t y)
{
    const struct number a = format_decode(c->from, x), b = format_decode(c->to, y);
    const double value = format_to_double(c->from, x), size = fabs(value),
                 largest = format_to_double(c->to, format_largest(c->to, false)),
                 normal = format_is_integer(c->to) ? 0.5 : ldexp(1, format_emin(c->to));
    o->nan += a.kind == NUMBER_NAN;
    o->infinite += a.kind == NUMBER_INF;
    if (a.kind >= NUMBER_INF) return;
    const bool inexact = b.kind >= NUMBER_INF || value != format_to_double(c->to, y);
    o->inexact += inexact;
    o->overflow += size > largest;
    o->underflow += inexact && size < normal;
}

static json_t *describe(const struct conversion *c, const char *input, const char *output)
{
    struct outcome o = { 0 };
    for (size_t i = 0; i < c->in.count; i++)
        outcome_add(&o, c, array_get(&c->in, i), array_get(&c->out, i));
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "input",
                     json_text(input), "from", c->from->name, "to", c->to->name, "rounding",
                     c->rounding->name, "elements", json_count(c->in.count), "inexact",
                     json_count(o.inexact), "overflow", json_count(o.overflow), "underflow",
                     json_count(o.underflow), "infinite", json_count(o.infinite), "nan",
                     json_count(o.nan), "written", json_text(output));
}

/* Convert what was read, and write it. */
static enum bitcut_status convert(struct conversion *c, const char *output,
                                  struct fault *f)
{
    const bool floating =
        c->to == format_of_numbers(format_bytes(c->to)) || is_within_f32(c->to);
    enum bitcut_status status = find_from(c, f);
    if (status == BITCUT_OK)
        status = array_init(&c->out, c->in.dims, c->in.dim, format_bytes(c->to), floating, f);
    if (status != BITCUT_OK) return status;
    status = bitcut_format_convert_array(NULL, c->out.data, c->to, c->rounding, c->in.data,
                                         c->from, c->in.count);
    assert(status == BITCUT_OK); /* fails for NULL only */
    return write_output(output, c, f);
}

static int run(struct context *x)
{
    struct conversion c = { 0 };
    struct fault f;
    const char *const input = x->operand_count ? x->operands[0] : NULL;
    if (!input) return complain("convert", "requires a file, .npy or .mtx");
    if (!x->output) return complain("-o", "is required, a .npy or .mtx file");
    const struct used_file files[] = { { "the input", input, false },
                                       { "-o", x->output, true },
                                       { 0 } };
    int status = choose(&c, x->own);
    if (status == EXIT_GOOD) status = check_files(files);
    if (status == EXIT_GOOD && source_check(x->output, &f) != BITCUT_OK)
        status = fail("-o", &f);
    if (status != EXIT_GOOD) return status;
    if ((is_matrix_market(input) ? read_text(&c.in, input, &f)
                                 : npy_read(&c.in, input, &f)) != BITCUT_OK)
        return fail(input, &f);
    if (convert(&c, x->output, &f) == BITCUT_OK)
        emit_row(&x->emitter, describe(&c, input, x->output));
    else status = fail(f.status == BITCUT_BAD_ARGUMENT ? input : x->output, &f);
    array_clear(&c.in);
    array_clear(&c.out);
    return status;
}

const struct command command_convert = {
    .name = "convert",
    .what = "Convert a file's numbers from one format to another",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "FILE",
    .operands_most = 1,
    .output = "the file to write, .npy or .mtx",
    .task = TASK_ROUNDING,
    .examples = {
        { "Round a matrix to f16",
          "bitcut convert a.npy --to f16 -o a16.npy" },
        { "Truncate it to bf16, in a Matrix Market file",
          "bitcut convert a.npy --to bf16 --rounding rz -o a.mtx" },
    },
};
