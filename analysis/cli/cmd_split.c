/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut split: the bits that a split retains, by exponent, and those of a quantizer. */
#include "analysis/cli/quantize_option.h"
#include "analysis/cli/setup.h"
#include "analysis/report/plot.h"
#include "analysis/split/split_retention.h"
#include "lib/base/text.h"
#include "lib/io/json_record.h"

#include <math.h>
#include <stdlib.h>

struct split_options {
    const char *split, *format, *high, *low, *unit, *path, *plot, *quantizer;
    int round_seed, scale, from, to;
    size_t samples;
    bool exhaustive, as_b;
    struct matrix_options files; /* without `format`, that of the parts */
};

static const struct split_options defaults = { .split = "halfhalf",
                                               .scale = SETUP_UNSET,
                                               .from = SETUP_UNSET,
                                               .to = SETUP_UNSET,
                                               .samples = 1 << 12 };

static const struct option_row options[] = {
    { "split", "split (bitcut list splits; default halfhalf)",
      OPTION(split, split, TEXT, "S") },
    { "high", "rounding of the high part (bitcut list roundings)",
      OPTION(split, high, TEXT, "RULE") },
    { "low", "rounding of the low parts", OPTION(split, low, TEXT, "RULE") },
    { "round-seed", "seed of the rounding rule sr (default 0)",
      OPTION(split, round_seed, INT, "N") },
    { "scale", "multiply low parts by 2^S", OPTION(split, scale, INT, "S") },
    { "format", "format of the parts (bitcut list formats)",
      OPTION(split, format, TEXT, "F") },
    { "unit",
      "unit that reads the parts, and may flush some to zero (bitcut list units, chips)",
      OPTION(split, unit, TEXT, "U") },
    { "a",
      "use the values of this file (.npy, .npz, .mtx, .safetensors, .pt; FILE:NAME for a "
      "member)",
      OPTION(split, path, TEXT, "FILE") },
    { "format-a", "format of the values in the file (bitcut list formats)",
      OPTION(split, files.format_of[MATRIX_A], TEXT, "F") },
    { "shape-a", "rows and columns of a file that has only elements, as 64x256",
      OPTION(split, files.shape_of[MATRIX_A], TEXT, "MxK") },
    { "quantize",
      "say what this quantizer keeps of the values of the file, a matrix A, instead "
      "(bitcut "
      "list quantizers)",
      OPTION(split, quantizer, TEXT, "Q") },
    { "as-b", "with --quantize: the matrix is B, whose blocks of k extend along columns",
      OPTION(split, as_b, FLAG, NULL) },
    { "exhaustive", "use all 2^23 values of each exponent",
      OPTION(split, exhaustive, FLAG, NULL) },
    { "samples", "number of values of each exponent otherwise (default 4096)",
      OPTION(split, samples, COUNT, "N") },
    { "from", "lowest exponent (default -26; -127: below 2^-126)",
      OPTION(split, from, INT, "E") },
    { "to", "highest exponent (default 15)", OPTION(split, to, INT, "E") },
    { "plot", "draw the retained bits by exponent, and their theory: .svg or .pdf",
      OPTION(split, plot, TEXT, "FILE") },
    { 0 }
};

/* The values to split, or to quantize. */
enum { ANY = 1, OF_FILE = 2, QUANTIZED = 4 };

#define NOT_QUANTIZED "cannot be combined with --quantize, which has no split"

static const struct option_use uses[] = {
    { "split", ANY | OF_FILE, NOT_QUANTIZED },
    { "high", ANY | OF_FILE, NOT_QUANTIZED },
    { "low", ANY | OF_FILE, NOT_QUANTIZED },
    { "round-seed", ANY | OF_FILE, NOT_QUANTIZED },
    { "scale", ANY | OF_FILE, NOT_QUANTIZED },
    { "format", ANY | OF_FILE, NOT_QUANTIZED },
    { "unit", ANY | OF_FILE, NOT_QUANTIZED },
    { "from", ANY | OF_FILE, NOT_QUANTIZED },
    { "to", ANY | OF_FILE, NOT_QUANTIZED },
    { "plot", ANY | OF_FILE, NOT_QUANTIZED },
    { "exhaustive", ANY,
      "cannot be combined with -a, which counts all values of the file" },
    { "samples", ANY, "cannot be combined with -a, which counts all values of the file" },
    { "format-a", OF_FILE | QUANTIZED, "requires -a" },
    { "shape-a", OF_FILE | QUANTIZED, "requires -a" },
    { "as-b", QUANTIZED, "requires --quantize" },
    { 0 }
};

/* Columns of the text output for a file; --json has all keys. */
static const struct emit_column columns[] = {
    /* clang-format off */
    { "exponent",    "exponent",   0, NULL },
    { "count",       "values",     0, NULL },
    { "bits",        "bits of 24", 4, NULL },
    { "exact",       "exact",      3, NULL },
    { "max_ulp",     "max_ulp",    3, NULL },
    { "p_subnormal", "subnormal",  3, "0"  },
    { "p_zero",      "low zero",   3, "0"  },
    { "p_flushed",   "flushed",    3, "0"  },
    { "p_overflow",  "overflow",   3, "0"  },
    { "zeros",       "zeros",      0, "-"  },
    { "infinite",    "infinite",   0, "-"  },
    { "nan",         "NaN",        0, "-"  },
    { 0 }
    /* clang-format on */
};

/* --- the picture ------------------------------------------------------------------ */

static const struct picture_kind {
    const char *ending;
    enum plot_kind kind;
} pictures[] = { { ".svg", PLOT_SVG }, { ".pdf", PLOT_PDF }, { 0 } };

/* The format of a picture file by the ending of its name, or NULL. */
static const struct picture_kind *picture_of(const char *path)
{
    for (const struct picture_kind *p = pictures; p->ending; p++)
        if (text_stem(path, p->ending)) return p;
    return NULL;
}

static const struct study_plot plot = { .x = "exponent",
                                        .y = "bits",
                                        .series = "by",
                                        .x_label = "exponent of the value",
                                        .y_label = "bits retained, of 24" };

/* Add the values of one exponent to the rows of the picture. */
static void plot_row(json_t *rows, const struct split_retention *kept)
{
    const double theory = retention_bits(&kept->split, kept->flush, kept->e);
    json_array_append_new(rows, json_pack("{s:s, s:i, s:f}", "by", "counted", "exponent",
                                          kept->e, "bits", kept->r.bits));
    if (!kept->of_array && !isnan(theory))
        json_array_append_new(rows, json_pack("{s:s, s:i, s:f}", "by", "theory",
                                              "exponent", kept->e, "bits", theory));
}

static int draw(const struct context *x, const char *path,
                const struct split_retention *all, json_t *rows)
{
    struct picture p = { .bytes = NULL };
    char title[200];
    struct fault f;
    split_label(title, sizeof title, &all->split);
    enum bitcut_status status =
        plot_draw(&p, picture_of(path)->kind, &plot, title, rows, &x->progress, &f);
    if (status == BITCUT_OK && !p.bytes)
        status = fault_set(&f, BITCUT_UNSUPPORTED,
                           progress_stopped(&x->progress)
                               ? "stopped"
                               : "gnuplot is missing or failed; install gnuplot to draw");
    if (status == BITCUT_OK) status = picture_write(path, &p, &f);
    free(p.bytes);
    return status == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

/* --- the input ------------------------------------------------------------ */

static int choose_format(struct bitcut_split *split, const char *name)
{
    const struct bitcut_format *format = bitcut_format_find(name);
    if (name && !format) return fail_unknown("--format", name, TABLE(formats));
    if (format && (!format->has_sign || format->fraction_bits > 23))
        return complain("--format",
                        "names a format that cannot hold parts of an FP32 value");
    for (int i = 0; format && i < split->parts; i++) split->part[i].format = format;
    return EXIT_GOOD;
}

/* Whether the unit reads subnormal parts as zeros. */
static int choose_unit(bool *flush, const struct bitcut_split *split, const char *name)
{
    const struct bitcut_unit *unit = NULL;
    const int status =
        name ? setup_unit(&unit, name, split->part[0].format, split->name) : EXIT_GOOD;
    *flush = unit && unit_flushes_operands(unit);
    return status;
}

/* The split, and in *o the exponents on which it is measured. */
static int choose(struct bitcut_split *split, bool *flush, struct split_options *o,
                  const struct context *x)
{
    int status = setup_split(split, o->split, o->high, o->low, o->scale);
    if (o->round_seed < 0) return complain("--round-seed", "must not be negative");
    split->seed = 2 * (uint64_t)o->round_seed;
    if (status == EXIT_GOOD) status = choose_format(split, o->format);
    if (status == EXIT_GOOD) status = choose_unit(flush, split, o->unit);
    if (status == EXIT_GOOD) status = check_use(x, uses, o->path ? OF_FILE : ANY);
    if (status != EXIT_GOOD) return status;
    if (o->from == SETUP_UNSET) o->from = o->path ? EXPONENT_MIN : -26;
    if (o->to == SETUP_UNSET) o->to = o->path ? EXPONENT_MAX : 15;
    if (o->from < EXPONENT_MIN || o->to > EXPONENT_MAX || o->from > o->to)
        return complain("--from, --to", "must satisfy -127 <= from <= to <= 127");
    if (!o->exhaustive && !o->samples) return complain("--samples", "must be at least 1");
    if (o->plot && !picture_of(o->plot))
        return complain("--plot", "must name a file that ends in .svg or .pdf");
    return check_files((struct used_file[]){
        { "-a", o->path, false }, { "--plot", o->plot, true }, { 0 } });
}

/* --- work ------------------------------------------------------------------------- */

static void print_row(struct context *x, const struct split_retention *kept)
{
    json_t *const row = json_object();
    record_json(row, split_fields, kept);
    emit_row(&x->emitter, row);
}

/* A row for each exponent that has values, and a row for all values of an array. */
static int measure(struct context *x, const struct split_problem *q,
                   const struct split_options *o)
{
    struct split_retention all = split_retention_none(q), one;
    struct fault f;
    json_t *const drawn = json_array();
    int status = EXIT_GOOD;
    for (int e = o->to; e >= o->from && status == EXIT_GOOD; e--) {
        progress_report(&x->progress, (size_t)(o->to - e), (size_t)(o->to - o->from + 1));
        if (split_retention_measure(&one, q, e, x->threads, &x->progress, &f) !=
            BITCUT_OK)
            status = fail("split", &f);
        if (status != EXIT_GOOD || !one.r.count) continue;
        print_row(x, &one);
        plot_row(drawn, &one);
        split_retention_add(&all, &one);
    }
    if (q->of && status == EXIT_GOOD) print_row(x, &all);
    if (o->plot && status == EXIT_GOOD) status = draw(x, o->plot, &all, drawn);
    json_decref(drawn);
    return status;
}

static int measure_file(struct context *x, struct split_problem *q,
                        const struct split_options *o)
{
    struct matrix values = { .at = NULL };
    struct exponents of;
    struct fault f;
    int status = setup_read(&values, "-a", o->path, &o->files);
    if (status != EXIT_GOOD) return status;
    x->emitter.columns = columns;
    if (exponents_sort(&of, &values, &f) != BITCUT_OK) status = fail(o->path, &f);
    matrix_clear(&values);
    if (status != EXIT_GOOD) return status;
    q->of = &of;
    q->input = o->path;
    status = measure(x, q, o);
    exponents_clear(&of);
    return status;
}

/* One row: what a quantizer keeps of the values of a file. */
static int measure_quantizer(struct context *x, const struct split_options *o)
{
    struct matrix values = { .at = NULL };
    struct quantized kept;
    if (!o->path) return complain("--quantize", "requires -a");
    int status = check_use(x, uses, QUANTIZED);
    if (status == EXIT_GOOD) status = setup_read(&values, "-a", o->path, &o->files);
    if (status != EXIT_GOOD) return status;
    if (values.is_batch)
        status = complain("--quantize", "takes arrays of two dimensions");
    if (status == EXIT_GOOD)
        status = quantize_values(&kept, "--quantize", o->quantizer, &values, o->as_b);
    matrix_clear(&values);
    if (status != EXIT_GOOD) return status;
    json_t *const row = json_object();
    kept.input = o->path;
    record_json(row, quantizer_input_fields, &kept);
    quantized_set_json(row, &kept);
    emit_row(&x->emitter, row);
    return EXIT_GOOD;
}

static const char notes[] =
    "bits: mean of the retained bits, of 24.  rho: the largest relative error, "
    "max |x - (w0 + 2^-s w1 + ...)| / |x|.  theta: the largest relative size of the low "
    "part, max 2^-s |w1| / |x|.  A theory's column has - where the theory does not hold.";

static int run(struct context *x)
{
    struct split_options o = *(const struct split_options *)x->own;
    struct bitcut_split split;
    struct split_problem q = { .split = &split,
                               .samples = o.exhaustive ? 0 : o.samples,
                               .seed = x->seed };
    if (o.quantizer) return measure_quantizer(x, &o);
    const int status = choose(&split, &q.flush, &o, x);
    if (status != EXIT_GOOD) return status;
    if (!o.path) x->emitter.note = notes;
    return o.path ? measure_file(x, &q, &o) : measure(x, &q, &o);
}

const struct command command_split = {
    .name = "split",
    .what = "Measure how many bits of FP32 values a split retains, by exponent, or a quantizer",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_ROUNDING,
    .first = true,
    .notes = notes,
    .examples = {
        { "Count the bits that two f16 parts keep of FP32 values",
          "bitcut split --split halfhalf --from -20 --to 4" },
        { "The same of the values in a file, in two TF32 parts",
          "bitcut split --split tf32tf32 -a a.npy" },
    },
};
