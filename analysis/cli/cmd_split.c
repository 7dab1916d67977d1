/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut split: the bits that a split retains, by exponent. */
#include "analysis/cli/setup.h"
#include "analysis/split/split_retention.h"
#include "lib/io/json_record.h"

struct split_options {
    const char *split, *format, *high, *low, *unit, *path;
    int scale, from, to;
    size_t samples;
    bool exhaustive;
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
    { "scale", "multiply low parts by 2^S", OPTION(split, scale, INT, "S") },
    { "format", "format of the parts (bitcut list formats)",
      OPTION(split, format, TEXT, "F") },
    { "unit",
      "unit that reads the parts, and may flush some to zero (bitcut list units, chips)",
      OPTION(split, unit, TEXT, "U") },
    { "a", "use the values of this file, .npy or .mtx",
      OPTION(split, path, TEXT, "FILE") },
    { "exhaustive", "use all 2^23 values of each exponent",
      OPTION(split, exhaustive, FLAG, NULL) },
    { "samples", "number of values of each exponent otherwise (default 4096)",
      OPTION(split, samples, COUNT, "N") },
    { "from", "lowest exponent (default -26; -127: below 2^-126)",
      OPTION(split, from, INT, "E") },
    { "to", "highest exponent (default 15)", OPTION(split, to, INT, "E") },
    { 0 }
};

/* The values to split. */
enum { ANY = 1, OF_FILE = 2 };

static const struct option_use uses[] = {
    { "exhaustive", ANY,
      "cannot be combined with -a, which counts all values of the file" },
    { "samples", ANY, "cannot be combined with -a, which counts all values of the file" },
    { 0 }
};

/* Columns of the text output for a file; --json has all keys. */
static const struct emit_column columns[] = {
    /* clang-format off */
    { "exponent",    "exponent",   0, NULL },
    { "count",       "values",     0, NULL },
    { "bits",        "bits kept",  4, NULL },
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

/* --- the input -------------------------------------------------------------------- */

static int choose_format(struct bitcut_split *split, const char *name)
{
    const struct bitcut_format *format = bitcut_format_find(name);
    if (name && !format) return fail_unknown("--format", name, TABLE(formats));
    if (format && (!format->has_sign || format->fraction_bits > 23))
        return complain("--format",
                        "names a format that cannot hold parts of an FP32 value");
    for (int i = 0; format && i < split->words; i++) split->word[i].format = format;
    return EXIT_GOOD;
}

/* Whether the unit reads subnormal parts as zeros. */
static int choose_unit(bool *flush, const struct bitcut_split *split, const char *name)
{
    const struct bitcut_unit *unit = NULL;
    const int status =
        name ? setup_unit(&unit, name, split->word[0].format, split->name) : EXIT_GOOD;
    *flush = unit && unit->flush_inputs;
    return status;
}

/* The split, and in *o the exponents on which it is measured. */
static int choose(struct bitcut_split *split, bool *flush, struct split_options *o,
                  const struct context *x)
{
    int status = setup_split(split, o->split, o->high, o->low, o->scale);
    if (status == EXIT_GOOD) status = choose_format(split, o->format);
    if (status == EXIT_GOOD) status = choose_unit(flush, split, o->unit);
    if (status == EXIT_GOOD) status = check_use(x, uses, o->path ? OF_FILE : ANY);
    if (status != EXIT_GOOD) return status;
    if (o->from == SETUP_UNSET) o->from = o->path ? EXPONENT_MIN : -26;
    if (o->to == SETUP_UNSET) o->to = o->path ? EXPONENT_MAX : 15;
    if (o->from < EXPONENT_MIN || o->to > EXPONENT_MAX || o->from > o->to)
        return complain("--from, --to", "must satisfy -127 <= from <= to <= 127");
    if (!o->exhaustive && !o->samples) return complain("--samples", "must be at least 1");
    return EXIT_GOOD;
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
    for (int e = o->to; e >= o->from; e--) {
        progress_report(&x->progress, (size_t)(o->to - e), (size_t)(o->to - o->from + 1));
        if (split_retention_measure(&one, q, e, x->threads, &x->progress, &f) !=
            BITCUT_OK)
            return fail("split", &f);
        if (!one.r.count) continue;
        print_row(x, &one);
        split_retention_add(&all, &one);
    }
    if (q->of) print_row(x, &all);
    return EXIT_GOOD;
}

static int measure_file(struct context *x, struct split_problem *q,
                        const struct split_options *o)
{
    struct matrix values = { .at = NULL };
    struct exponents of;
    struct fault f;
    int status = setup_read(&values, "-a", o->path);
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

static int run(struct context *x)
{
    struct split_options o = *(const struct split_options *)x->own;
    struct bitcut_split split;
    struct split_problem q = { .split = &split,
                               .samples = o.exhaustive ? 0 : o.samples,
                               .seed = x->seed };
    const int status = choose(&split, &q.flush, &o, x);
    if (status != EXIT_GOOD) return status;
    return o.path ? measure_file(x, &q, &o) : measure(x, &q, &o);
}

const struct command command_split = {
    .name = "split",
    .what = "Measure how many bits of FP32 values a split retains, by exponent",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_ROUNDING,
    .examples = {
        { "Count the bits that two f16 parts keep of FP32 values",
          "bitcut split --split halfhalf --from -20 --to 4" },
        { "The same of the values in a file, in two TF32 parts",
          "bitcut split --split tf32tf32 -a a.npy" },
    },
};
