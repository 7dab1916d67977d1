/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut split: what a split keeps, by exponent. */
#include "analysis/cli/setup.h"
#include "analysis/error/split_kept.h"
#include "analysis/evidence/record_json.h"

static const char *name = "halfhalf", *format_name, *high, *low, *unit_name, *path;
static int scale = SETUP_UNSET, from = SETUP_UNSET, to = SETUP_UNSET;
static size_t samples = 1 << 12;
static bool exhaustive;

static const struct option_row options[] = {
    { "split", "start from this row (bitcut list splits; default halfhalf)", OPTION_TEXT,
      &name, "S" },
    { "high", "rounding of the high word (bitcut list roundings)", OPTION_TEXT, &high,
      "RULE" },
    { "low", "rounding of the low words", OPTION_TEXT, &low, "RULE" },
    { "scale", "low words times 2^S", OPTION_INT, &scale, "S" },
    { "format", "of the words (bitcut list formats)", OPTION_TEXT, &format_name, "F" },
    { "unit", "what reads the words, some as zeros (bitcut list units, chips)",
      OPTION_TEXT, &unit_name, "U" },
    { "a", "the values of this file, .npy or .mtx", OPTION_TEXT, &path, "FILE" },
    { "exhaustive", "all 2^23 values of each exponent", OPTION_FLAG, &exhaustive, NULL },
    { "samples", "values of each exponent otherwise (default 4096)", OPTION_COUNT,
      &samples, "N" },
    { "from", "lowest exponent (default -26; -127: below 2^-126)", OPTION_INT, &from,
      "E" },
    { "to", "highest exponent (default 15)", OPTION_INT, &to, "E" },
    { 0 }
};

/* What values are split. */
enum { ANY = 1, OF_FILE = 2 };

static const struct option_use uses[] = {
    { "exhaustive", ANY, "with -a all values of the file are counted" },
    { "samples", ANY, "with -a all values of the file are counted" },
    { 0 }
};

/* What people look at of a file; --json has all. */
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

/* --- what is asked for ------------------------------------------------------------ */

static int choose_format(struct bitcut_split *split)
{
    const struct bitcut_format *format = bitcut_format_find(format_name);
    if (format_name && !format)
        return fail_unknown("--format", format_name, TABLE(formats));
    if (format && (!format->has_sign || format->fraction_bits > 23))
        return complain("--format", "not a format for words of an FP32 value");
    for (int i = 0; format && i < split->words; i++) split->word[i].format = format;
    return EXIT_GOOD;
}

/* Whether the unit reads subnormal words as zeros. */
static int choose_unit(bool *flush, const struct bitcut_split *split)
{
    const struct bitcut_unit *unit = NULL;
    const int status =
        unit_name ? setup_unit(&unit, unit_name, split->word[0].format, split->name)
                  : EXIT_GOOD;
    *flush = unit && unit->flush_inputs;
    return status;
}

static int choose(struct bitcut_split *split, bool *flush, const struct context *x)
{
    int status = setup_split(split, name, high, low, scale);
    if (status == EXIT_GOOD) status = choose_format(split);
    if (status == EXIT_GOOD) status = choose_unit(flush, split);
    if (status == EXIT_GOOD) status = check_use(x, uses, path ? OF_FILE : ANY);
    if (status != EXIT_GOOD) return status;
    if (from == SETUP_UNSET) from = path ? EXPONENT_LEAST : -26;
    if (to == SETUP_UNSET) to = path ? EXPONENT_MOST : 15;
    if (from < EXPONENT_LEAST || to > EXPONENT_MOST || from > to)
        return complain("--from, --to", "need -127 <= from <= to <= 127");
    if (!exhaustive && !samples) return complain("--samples", "must be 1 or more");
    return EXIT_GOOD;
}

/* --- work ------------------------------------------------------------------------- */

static void print_row(struct context *x, const struct split_kept *kept)
{
    json_t *const row = json_object();
    record_json(row, split_fields, kept);
    emit_row(&x->emitter, row);
}

/* A row for each exponent that has values, and for all of an array together. */
static int measure(struct context *x, const struct split_question *q)
{
    struct split_kept all = split_kept_none(q), one;
    struct fault f;
    for (int e = to; e >= from; e--) {
        progress_report(&x->progress, (size_t)(to - e), (size_t)(to - from + 1));
        if (split_kept_measure(&one, q, e, x->threads, &x->progress, &f) != BITCUT_OK)
            return fail("split", &f);
        if (!one.r.count) continue;
        print_row(x, &one);
        split_kept_add(&all, &one);
    }
    if (q->of) print_row(x, &all);
    return EXIT_GOOD;
}

static int measure_file(struct context *x, struct split_question *q)
{
    struct matrix values = { .at = NULL };
    struct exponents of;
    struct fault f;
    int status = setup_read(&values, "-a", path);
    if (status != EXIT_GOOD) return status;
    x->emitter.columns = columns;
    if (exponents_sort(&of, &values, &f) != BITCUT_OK) status = fail(path, &f);
    matrix_clear(&values);
    if (status != EXIT_GOOD) return status;
    q->of = &of;
    q->input = path;
    status = measure(x, q);
    exponents_clear(&of);
    return status;
}

static int run(struct context *x)
{
    struct bitcut_split split;
    struct split_question q = { .split = &split,
                                .seed = x->seed };
    const int status = choose(&split, &q.flush, x);
    if (status != EXIT_GOOD) return status;
    q.samples = exhaustive ? 0 : samples;
    return path ? measure_file(x, &q) : measure(x, &q);
}

const struct command command_split = {
    .name = "split",
    .what = "Count what a split keeps of FP32 values, exponent by exponent",
    .run = run,
    .own = options,
    .operands = "",
};
