#include "analysis/study/figure_roofs.h"

#include "analysis/study/distinct.h"
#include "lib/recipe.h"

#include <math.h>
#include <string.h>

/* Whose product of words of a format is a device's rate. */
static const struct {
    const char *group, *name, *part;
} rates[] = { { "f16", "hgemm", "product" },
              { "bf16", "hgemm", "product" },
              { "tf32", "sgemm-tf32", "whole" },
              { NULL, NULL, NULL } };

/* The largest value of a key of the results of a kind that are of the device. */
static double most(const struct results *results, enum result_kind kind, const char *key,
                   const json_t *of, const char *name, const char *part)
{
    double largest = 0;
    for (size_t i = 0; i < json_array_size(results->rows[kind]); i++) {
        const json_t *row = json_array_get(results->rows[kind], i);
        if (result_same(row, of, "device") && (!name || result_says(row, "name", name)) &&
            (!part || result_says(row, "part", part)))
            largest = fmax(largest, result_number(row, key));
    }
    return largest;
}

static double rate_of(const struct results *results, const json_t *row)
{
    for (int i = 0; rates[i].group; i++)
        if (result_says(row, "group", rates[i].group))
            return most(results, RESULT_BENCH, "tflops", row, rates[i].name,
                        rates[i].part);
    return 0;
}

/* How many products of words the kernel of a row adds, by the recipe in its name; 0: it
   is no kernel. */
static int products_of(const json_t *row)
{
    char name[32] = "";
    const char *const whole = json_string_value(json_object_get(row, "name"));
    const char *const dot = whole ? strchr(whole, '.') : NULL;
    if (!dot) return 0;
    strncat(name, dot + 1, strcspn(dot + 1, ".") < 31 ? strcspn(dot + 1, ".") : 31);
    const struct bitcut_recipe *recipe = bitcut_recipe_find(name);
    return recipe ? recipe->terms : 0;
}

static void add(json_t *roofs, const struct figure *g, const json_t *row,
                const char *name, double x, double y)
{
    json_array_append_new(roofs, json_pack("{s:s, s:s, s:O?, s:O?, s:b, s:f, s:f}",
                                           "series", name, "label", name, "group",
                                           json_object_get(row, "group"), "device",
                                           json_object_get(row, "device"), "roof", 1,
                                           g->plot.x, x, g->plot.y, y));
}

/* One roof from the least to the largest x: flat, or rising with the bytes. */
static void add_roof(json_t *roofs, const struct figure *g, json_t *rows,
                     const struct results *results, const json_t *row)
{
    const int products = products_of(row);
    const double rate = rate_of(results, row) / products;
    const double first = result_number(json_array_get(rows, 0), g->plot.x);
    const double last =
        result_number(json_array_get(rows, json_array_size(rows) - 1), g->plot.x);
    const double bytes =
        strcmp(g->plot.x, "flops_per_byte")
            ? INFINITY
            : fmax(most(results, RESULT_BENCH, "gb_per_second", row, NULL, NULL),
                   most(results, RESULT_BATCH, "gb_per_second", row, NULL, NULL)) /
                  1000;
    json_t *name =
        json_sprintf("roof of %d product%s", products, products > 1 ? "s" : "");
    const char *const text = json_string_value(name);
    add(roofs, g, row, text, first, fmin(rate, bytes * first));
    if (rate / bytes > first && rate / bytes < last)
        add(roofs, g, row, text, rate / bytes, rate);
    add(roofs, g, row, text, last, fmin(rate, bytes * last));
    json_decref(name);
}

json_t *figure_roofs(const struct figure *g, json_t *rows, const struct results *results)
{
    json_t *roofs = json_array(), *known = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!products_of(row) || !(rate_of(results, row) > 0)) continue;
        json_t *key = json_sprintf(
            "%s %s %d", json_string_value(json_object_get(row, "device")),
            json_string_value(json_object_get(row, "group")), products_of(row));
        if (!json_object_get(known, json_string_value(key)))
            add_roof(roofs, g, rows, results, row);
        json_object_set_new(known, json_string_value(key), json_true());
        json_decref(key);
    }
    json_decref(known);
    return roofs;
}
