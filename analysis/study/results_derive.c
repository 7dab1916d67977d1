/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/results_derive.h"

#include "analysis/study/distinct.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/number/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value ? value : "";
}

static size_t size(const json_t *row, const char *key)
{
    return (size_t)json_integer_value(json_object_get(row, key));
}

static json_t *text_or_null(const char *name)
{
    return name ? json_string(name) : json_null();
}

/* --- shapes and formats ----------------------------------------------------------- */

static json_t *shapes_name(const json_t *row, shapes_namer *of)
{
    return text_or_null(of(size(row, "m"), size(row, "n"), size(row, "k")));
}

static json_t *format_of(const json_t *row)
{
    const struct bitcut_split *split = bitcut_split_find(text(row, "split"));
    return text_or_null(split ? split->part[0].format->name : NULL);
}

/* --- speed-ups -------------------------------------------------------------------- */

/* The keys with equal values for kernels that differ only in the number of stages. */
static json_t *shared_by_stages(const json_t *row)
{
    static const char *const keys[] = { "recipe", "tile",    "study", "part",   "m", "n",
                                        "k",      "split_k", "input", "device", NULL };
    json_t *shared = json_object();
    for (const char *const *key = keys; *key; key++)
        json_object_set(shared, *key, json_object_get(row, *key));
    json_object_set_new(shared, "gemms", json_integer(result_gemms(row)));
    json_object_set_new(shared, "equilibrate", json_boolean(result_is_equilibrated(row)));
    return json_pack("{s:o}", "shared", shared);
}

static bool has_time(const json_t *row) { return result_number(row, "ms") > 0; }

static json_t *speedup_of(const json_t *row, const json_t *plain)
{
    if (!has_time(row) || size(row, "stages") < 2 || !plain) return json_null();
    return json_real(result_number(plain, "ms") / result_number(row, "ms"));
}

/* The time of the first kernel with one stage and equal keys, over the time of this row.
 */
static void derive_speedups(json_t *all)
{
    json_t *shared = json_array();
    struct distinct d;
    for (size_t i = 0; i < json_array_size(all); i++)
        json_array_append_new(shared, shared_by_stages(json_array_get(all, i)));
    distinct_of(&d, shared, "shared");
    const json_t **plain = distinct_array(d.groups, sizeof *plain);
    for (size_t i = d.rows; i-- > 0;) {
        const json_t *row = json_array_get(all, i);
        if (size(row, "stages") == 1 && has_time(row)) plain[d.group[i]] = row;
    }
    for (size_t i = 0; i < d.rows; i++) {
        json_t *row = json_array_get(all, i);
        json_object_set_new(row, "speedup", speedup_of(row, plain[d.group[i]]));
    }
    free(plain);
    distinct_clear(&d);
    json_decref(shared);
}

/* The median TFLOPS of a round, with the time in `key` in place of "ms". */
static json_t *tflops_of(const json_t *row, const char *key)
{
    const double ms = result_number(row, key);
    if (!(ms > 0) || !json_is_number(json_object_get(row, "tflops"))) return json_null();
    return json_real(result_number(row, "tflops") * (result_number(row, "ms") / ms));
}

/* --- under load ------------------------------------------------------------------- */

/* The smaller of the speeds in bursts and under load, or the larger, in TFLOPS. */
static json_t *load_end(const json_t *row, bool faster)
{
    const double burst = result_number(row, "tflops"),
                 load = result_number(row, "tflops_sustained");
    if (!(burst > 0 && load > 0)) return json_null();
    return json_real((burst > load) == faster ? burst : load);
}

static json_t *percent_of_burst(const json_t *row)
{
    const double burst = result_number(row, "tflops"),
                 load = result_number(row, "tflops_sustained");
    return burst > 0 && load > 0 ? json_real(100 * load / burst) : json_null();
}

static const char *const limits[] = { "power", "thermal" };

enum { LIMITS = sizeof limits / sizeof limits[0] };

/* The smallest and the largest n at which each limit applied; zeros: at none. */
struct limited {
    size_t from[LIMITS], to[LIMITS];
};

static void add_limit(struct limited *to, const json_t *row)
{
    const size_t n = size(row, "n");
    for (int i = 0; i < LIMITS; i++) {
        if (!result_matches(row, "limit", limits[i])) continue;
        if (!to->from[i] || n < to->from[i]) to->from[i] = n;
        if (n > to->to[i]) to->to[i] = n;
    }
}

/* The label, and "(power at n = 2048 to 16384)". */
static json_t *loaded_label(const json_t *row, const struct limited *x)
{
    char more[200] = "";
    for (int i = 0; i < LIMITS; i++) {
        char to[40] = "";
        if (!x->from[i]) continue;
        if (x->to[i] > x->from[i]) snprintf(to, sizeof to, " to %zu", x->to[i]);
        text_add(more, sizeof more, "%s%s at n = %zu%s", *more ? ", " : " (", limits[i],
                 x->from[i], to);
    }
    return json_sprintf("%s%s%s", text(row, "label"), more, *more ? ")" : "");
}

/* Name the results measured under load, with their limits. */
static void name_loaded(json_t *all)
{
    static const char *const same[] = { "label", "part",   "study", "shapes",
                                        "input", "device", NULL };
    struct distinct d;
    distinct_init(&d, all, same);
    struct limited *x = distinct_array(d.groups, sizeof *x);
    for (size_t i = 0; i < d.rows; i++) add_limit(&x[d.group[i]], json_array_get(all, i));
    for (size_t i = 0; i < d.rows; i++) {
        json_t *row = json_array_get(all, i);
        json_object_set_new(row, "loaded", loaded_label(row, &x[d.group[i]]));
    }
    free(x);
    distinct_clear(&d);
}

/* --- names ------------------------------------------------------------------------ */

static bool one_device(json_t *all)
{
    for (size_t i = 1; i < json_array_size(all); i++)
        if (!result_same(json_array_get(all, i), json_array_get(all, 0), "device"))
            return false;
    return true;
}

/* The name of a result; without tile and stages, which follow from the shape, if the tile
   model chose the kernel for a recipe. */
static json_t *name_of(const json_t *row)
{
    const char *name = text(row, "name");
    char tile[64];
    snprintf(tile, sizeof tile, ".%s.%zu", text(row, "tile"), size(row, "stages"));
    const char *at = strstr(name, tile);
    if (!at || !result_matches(row, "study", "recipes") || size(row, "rank") != 1)
        return json_string(name);
    return json_sprintf("%.*s%s", (int)(at - name), name, at + strlen(tile));
}

static json_t *label_of(const json_t *row, bool one)
{
    const char *fallback = text(row, "fallback");
    json_t *name = name_of(row);
    json_t *label =
        json_sprintf("%s%s%s%s%s%s%s", json_string_value(name),
                     result_is_equilibrated(row) ? " (equilibrated)" : "",
                     *fallback ? " (fallback: " : "", fallback, *fallback ? ")" : "",
                     one ? "" : ", ", one ? "" : text(row, "device"));
    json_decref(name);
    return label;
}

static json_t *series_of(const json_t *row)
{
    const bool whole = result_matches(row, "part", "whole");
    return json_sprintf("%s%s%s", text(row, "label"), whole ? "" : ", ",
                        whole ? "" : text(row, "part"));
}

/* Groups of figures: kernels by the format in their names, and peers; null is drawn with
   every group. */
static json_t *group_of(const json_t *row)
{
    const char *format = text(row, "name");
    if (result_matches(row, "name", "sgemm")) return json_null();
    if (!*text(row, "tile")) return json_string("cuBLAS");
    for (int dots = 0; dots < 2 && format; dots++)
        format = strchr(format, '.') ? strchr(format, '.') + 1 : NULL;
    return format ? json_stringn(format, strcspn(format, ".")) : json_string("kernels");
}

/* --- batches of small GEMMs ------------------------------------------------------- */

static bool is_kernel(const json_t *row)
{
    return !json_is_null(json_object_get(row, "compared"));
}

/* Mark each result with whether its kernel is the first listed one on the same batches.
 */
static void mark_first(json_t *all)
{
    static const char *const same[] = { "addressing", "m",     "n",      "k",
                                        "count",      "input", "device", NULL };
    struct distinct d;
    distinct_init(&d, all, same);
    const json_t **kernel = distinct_array(d.groups, sizeof *kernel);
    for (size_t i = 0; i < d.rows; i++) {
        json_t *row = json_array_get(all, i);
        const json_t **first = &kernel[d.group[i]];
        if (!*first && is_kernel(row)) *first = row;
        const bool is_first = *first && result_same(*first, row, "name");
        json_object_set_new(row, "part", json_string(is_first ? "first" : "other"));
    }
    free(kernel);
    distinct_clear(&d);
}

static json_t *batches_of(const json_t *row, bool one)
{
    return json_sprintf("%zu, %s%s%s", size(row, "count"), text(row, "addressing"),
                        one ? "" : ", ", one ? "" : text(row, "device"));
}

static void derive_batches(json_t *all, shapes_namer *shapes)
{
    const bool one = one_device(all);
    mark_first(all);
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *row = json_array_get(all, i);
        json_object_set_new(row, "shapes", shapes_name(row, shapes));
        json_object_set_new(row, "series", batches_of(row, one));
    }
}

void results_derive(struct results *results, shapes_namer *shapes)
{
    derive_batches(results->rows[RESULT_BATCH], shapes);
    json_t *all = results->rows[RESULT_BENCH];
    const bool one = one_device(all);
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *row = json_array_get(all, i);
        json_object_set_new(row, "shapes", shapes_name(row, shapes));
        json_object_set_new(row, "format", format_of(row));
        json_object_set_new(row, "tflops_low", tflops_of(row, "ms_max"));
        json_object_set_new(row, "tflops_high", tflops_of(row, "ms_min"));
        json_object_set_new(row, "label", label_of(row, one));
        json_object_set_new(row, "load_low", load_end(row, false));
        json_object_set_new(row, "load_high", load_end(row, true));
        json_object_set_new(row, "load_percent", percent_of_burst(row));
        json_object_set_new(row, "series", series_of(row));
        json_object_set_new(row, "group", group_of(row));
    }
    derive_speedups(all);
    name_loaded(all);
}
