/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_rows.h"

#include "analysis/advise/advise_say.h"
#include "analysis/cli/advise_rows.h"
#include "analysis/cli/say.h"
#include "lib/recipe.h"
#include "lib/split.h"

#include <math.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------- */

static void append_counts(json_t *to, const char *operand, const json_t *values)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(values, "exponents"), i, one)
    {
        json_array_append_new(to, json_pack("{s:s, s:O, s:O}", "operand", operand,
                                            "exponent", json_object_get(one, "exponent"),
                                            "count", json_object_get(one, "count")));
    }
}

void gemm_report_values(json_t *to, const json_t *row, json_t *all, const char *of)
{
    (void)all, (void)of;
    append_counts(to, "A", json_object_get(row, "values_a"));
    append_counts(to, "B", json_object_get(row, "values_b"));
}

/* --- splits ----------------------------------------------------------------------- */

static bool is_of(const json_t *kept, const struct bitcut_split *s)
{
    return !strcmp(text_at(kept, "split"), s->name) &&
           whole_at(kept, "scale_from") <= s->scale &&
           s->scale <= whole_at(kept, "scale_to") &&
           !json_is_true(json_object_get(kept, "flush")) &&
           !json_is_null(json_object_get(kept, "exponent"));
}

void gemm_report_kept(json_t *to, const json_t *row, json_t *all, const char *of)
{
    (void)all, (void)of;
    for (const struct known_split *known = known_splits; known->recipe; known++) {
        size_t i;
        json_t *kept;
        json_array_foreach(json_object_get(row, "kept"), i, kept)
        {
            if (!is_of(kept, known->split)) continue;
            json_t *const one = json_pack("{s:s, s:i}", "recipe", known->recipe,
                                          "scale", known->split->scale);
            json_object_update(one, kept);
            json_object_del(one, "scale_from");
            json_object_del(one, "scale_to");
            json_object_del(one, "flush");
            json_array_append_new(to, one);
        }
    }
}

void gemm_report_kept_in_all(json_t *to, const json_t *row, json_t *all, const char *of)
{
    size_t i;
    json_t *kept;
    (void)all, (void)of;
    json_array_foreach(json_object_get(row, "kept"), i, kept)
    {
        if (!json_is_null(json_object_get(kept, "exponent"))) continue;
        json_t *const one = json_copy(kept);
        json_object_del(one, "exponent");
        json_array_append_new(to, one);
    }
}

/* --- recipes ---------------------------------------------------------------------- */

/* In its place by cost, then by error. */
static void insert_by_cost(json_t *to, json_t *one)
{
    size_t at = json_array_size(to);
    for (; at; at--) {
        const json_t *const other = json_array_get(to, at - 1);
        const double cost = real_at(other, "cost") - real_at(one, "cost");
        if (cost < 0 || (cost == 0 && real_at(other, "error") <= real_at(one, "error")))
            break;
    }
    json_array_insert_new(to, at, one);
}

void gemm_report_tried(json_t *to, const json_t *row, json_t *all, const char *of)
{
    static const char *const keys[] = { "chips", "recipe",  "scale", "equilibrate",
                                        "terms", "cost",    "tflops", "error", "high",
                                        "bound", "reaches", "unit",  "evidence" };
    size_t i;
    const json_t *tried;
    (void)all, (void)of;
    json_array_foreach(json_object_get(row, "tried"), i, tried)
    {
        json_t *const one = json_object();
        char few[80] = "";
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            json_object_set(one, keys[k], json_object_get(tried, keys[k]));
        advise_say_chips(few, sizeof few, text_at(tried, "chips"));
        json_object_set_new(one, "chips", json_string(few));
        insert_by_cost(to, one);
    }
}

/* --- the result ------------------------------------------------------------------- */

void gemm_report_worst(json_t *to, const json_t *row, json_t *all, const char *of)
{
    size_t i, n;
    const json_t *worst, *part;
    (void)all, (void)of;
    json_array_foreach(json_object_get(row, "worst"), i, worst)
    {
        const double unit = ldexp(real_at(worst, "size"), -24);
        json_t *const one = json_object();
        json_object_set(one, "i", json_object_get(worst, "i"));
        json_object_set(one, "j", json_object_get(worst, "j"));
        json_object_set(one, "exact", json_object_get(worst, "value"));
        json_object_set(one, "result", json_object_get(worst, "given"));
        json_object_set(one, "result_bits", json_object_get(worst, "given_encoding"));
        json_object_set(one, "model_bits", json_object_get(worst, "d_encoding"));
        json_object_set(one, "u", json_object_get(worst, "u"));
        json_array_foreach(json_object_get(worst, "parts"), n, part)
        {
            json_object_set_new(one, text_at(part, "name"),
                                json_real(unit > 0 ? real_at(part, "value") / unit : 0));
        }
        const double rest = real_at(worst, "unexplained") / unit;
        json_object_set_new(one, "unexplained",
                            isfinite(rest) ? json_real(rest) : json_null());
        json_array_append_new(to, one);
    }
}

void gemm_report_bounds(json_t *to, const json_t *row, json_t *all, const char *of)
{
    static const char *const keys[] = { "bound", "kind",    "worst_error", "worst_limit",
                                        "ratio", "outputs", "verdict",     "source" };
    size_t i;
    const json_t *bound;
    (void)row, (void)of;
    json_array_foreach(all, i, bound)
    {
        json_t *const one = json_object();
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            json_object_set(one, keys[k], json_object_get(bound, keys[k]));
        json_array_append_new(to, one);
    }
}

void gemm_report_list(json_t *to, const json_t *row, json_t *all, const char *of)
{
    (void)all;
    json_array_extend(to, json_object_get(row, of));
}

void gemm_report_histogram(json_t *to, const char *result, const json_t *bins)
{
    double total = 0;
    size_t i;
    const json_t *bin;
    json_array_foreach(bins, i, bin) { total += (double)json_integer_value(bin); }
    json_array_foreach(bins, i, bin)
    {
        const json_int_t count = json_integer_value(bin);
        if (count)
            json_array_append_new(to,
                                  json_pack("{s:s, s:f, s:I, s:f}", "result", result,
                                            "ulps", i ? ldexp(1, (int)i) : 1.0, "count",
                                            count, "share", (double)count / total));
    }
}
