/* bitcut split: what a split keeps, by exponent. */
#include "analysis/error/judge.h"
#include "analysis/error/retention.h"
#include "analysis/cli/setup.h"

#include <stdio.h>

static const char *name = "halfhalf", *format_name, *high, *low;
static int scale = SETUP_UNSET, from = -26, to = 15;
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
    { "exhaustive", "all 2^23 values of each exponent", OPTION_FLAG, &exhaustive, NULL },
    { "samples", "values of each exponent otherwise (default 4096)", OPTION_COUNT,
      &samples, "N" },
    { "from", "lowest exponent (default -26)", OPTION_INT, &from, "E" },
    { "to", "highest exponent (default 15)", OPTION_INT, &to, "E" },
    { 0 }
};

static int choose(struct bitcut_split *split)
{
    const int status = setup_split(split, name, high, low, scale);
    if (status != EXIT_GOOD) return status;
    const struct bitcut_format *format = bitcut_format_find(format_name);
    if (format_name && !format)
        return fail_unknown("--format", format_name, TABLE(formats));
    if (format && (!format->has_sign || format->fraction_bits > 23))
        return complain("--format", "not a format for words of an FP32 value");
    for (int i = 0; format && i < split->words; i++) split->word[i].format = format;
    if (from < -127 || to > 127 || from > to)
        return complain("--from, --to", "need -127 <= from <= to <= 127");
    if (!exhaustive && !samples) return complain("--samples", "must be 1 or more");
    return EXIT_GOOD;
}

static json_t *describe(const struct bitcut_split *s, int e, const struct retention *r)
{
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o}",
        "split", s->name, "format", s->word[0].format->name, "high",
        s->word[0].rounding->name, "low", split_low(s)->name, "scale", s->scale,
        "exponent", e, "count", (json_int_t)r->count, "exact", json_number(r->exact),
        "bits", json_number(r->bits), "max_ulp", json_number(r->max_ulp), "mean_ulp",
        json_number(r->mean_ulp), "rho", json_number(r->max_relative), "theta",
        json_number(r->max_low), "p_subnormal", json_number(r->p_subnormal),
        "p_subnormal_theory", json_number(retention_p_subnormal(s, e)), "p_zero",
        json_number(r->p_zero), "p_zero_theory", json_number(retention_p_zero(s, e)),
        "p_overflow", json_number(r->p_overflow));
}

static int run(struct context *x)
{
    struct bitcut_split split;
    const int status = choose(&split);
    if (status != EXIT_GOOD) return status;
    for (int e = to; e >= from; e--) {
        struct retention r;
        progress_report(&x->progress, (size_t)(to - e), (size_t)(to - from + 1));
        struct fault f;
        if (retention_count(&r, &split, e, exhaustive ? 0 : samples, x->seed, x->threads,
                            &x->progress, &f) != BITCUT_OK)
            return fail("split", &f);
        emit_row(&x->emitter, describe(&split, e, &r));
    }
    return EXIT_GOOD;
}

const struct command command_split = {
    .name = "split",
    .what = "Count what a split keeps of FP32 values, exponent by exponent",
    .run = run,
    .own = options,
    .operands = "",
};
