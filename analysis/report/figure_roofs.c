/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/figure_roofs.h"

#include "analysis/study/distinct.h"
#include "emu/rate.h"
#include "lib/gemm/recipe.h"

#include <math.h>
#include <string.h>

/* For a format of parts: the peer whose single product gives the device's rate, and the
   name of the rate in data sheets. */
static const struct rated {
    const char *group, *name, *part;
    enum rate_format format;
} rated[] = { { "f16", "hgemm", "product", RATE_F16 },
              { "bf16", "hgemm", "product", RATE_BF16 },
              { "tf32", "sgemm-tf32", "whole", RATE_TF32 },
              { 0 } };

/* The limits of one product of a row's parts. */
struct roof {
    double rate;        /* TFLOPS                              */
    double bytes;       /* per second, in 10^12; INFINITY: no limit */
    const char *source; /* a data sheet; NULL: recorded */
};

/* The largest value of a key among the results of a kind for the device. */
static double most(const struct results *results, enum result_kind kind, const char *key,
                   const json_t *of, const char *name, const char *part)
{
    double largest = 0;
    for (size_t i = 0; i < json_array_size(results->rows[kind]); i++) {
        const json_t *row = json_array_get(results->rows[kind], i);
        if (result_same(row, of, "device") &&
            (!name || result_matches(row, "name", name)) &&
            (!part || result_matches(row, "part", part)))
            largest = fmax(largest, result_number(row, key));
    }
    return largest;
}

static const struct rated *rated_of(const json_t *row)
{
    const struct rated *w = rated;
    while (w->group && !result_matches(row, "group", w->group)) w++;
    return w->group ? w : NULL;
}

static struct roof recorded_roof(const struct figure *g, const struct results *results,
                                 const json_t *row)
{
    const struct rated *w = rated_of(row);
    const bool of_bytes = !strcmp(g->plot.x, "flops_per_byte");
    return (struct roof){
        .rate = w ? most(results, RESULT_BENCH, "tflops", row, w->name, w->part) : 0,
        .bytes =
            of_bytes
                ? fmax(most(results, RESULT_BENCH, "gb_per_second", row, NULL, NULL),
                       most(results, RESULT_BATCH, "gb_per_second", row, NULL, NULL)) /
                      1000
                : INFINITY
    };
}

static struct roof printed_roof(const json_t *row)
{
    const char *device = json_string_value(json_object_get(row, "device"));
    const struct rate_row *rate = device ? rate_of_device(device) : NULL;
    const struct rated *w = rated_of(row);
    if (!rate || !w) return (struct roof){ 0 };
    return (struct roof){ rate->peak[w->format], INFINITY, rate->source };
}

/* The number of products of parts in the kernel of a row, by the recipe in its name; 0:
   it is no kernel. */
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

/* The position of a roof, and its name. */
struct drawn {
    json_t *roofs;
    const struct figure *figure;
    const json_t *row;
    const char *name, *source;
    int products;
};

static void add(const struct drawn *d, double x, double y)
{
    json_array_append_new(
        d->roofs,
        json_pack("{s:s, s:s, s:O?, s:O?, s:b, s:i, s:s?, s:f, s:f}", "series", d->name,
                  "label", d->name, "group", json_object_get(d->row, "group"), "device",
                  json_object_get(d->row, "device"), "roof", 1, "products", d->products,
                  "source", d->source, d->figure->plot.x, x, d->figure->plot.y, y));
}

/* One roof from the smallest to the largest x: flat, or rising with the bytes. */
static void add_roof(json_t *roofs, const struct figure *g, json_t *rows,
                     const struct roof *roof, const json_t *row)
{
    const int products = products_of(row);
    if (!(roof->rate > 0)) return;
    const double rate = roof->rate / products, bytes = roof->bytes;
    const double first = result_number(json_array_get(rows, 0), g->plot.x);
    const double last =
        result_number(json_array_get(rows, json_array_size(rows) - 1), g->plot.x);
    json_t *name =
        json_sprintf("%s %d product%s", roof->source ? "data sheet," : "roof of",
                     products, products > 1 ? "s" : "");
    const struct drawn d = { roofs,        g,       row, json_string_value(name),
                             roof->source, products };
    add(&d, first, fmin(rate, bytes * first));
    if (rate / bytes > first && rate / bytes < last) add(&d, rate / bytes, rate);
    add(&d, last, fmin(rate, bytes * last));
    json_decref(name);
}

json_t *figure_roofs(const struct figure *g, json_t *rows, const struct results *results)
{
    json_t *roofs = json_array(), *known = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!products_of(row)) continue;
        json_t *key = json_sprintf(
            "%s %s %d", json_string_value(json_object_get(row, "device")),
            json_string_value(json_object_get(row, "group")), products_of(row));
        if (!json_object_get(known, json_string_value(key))) {
            const struct roof roof[] = { recorded_roof(g, results, row),
                                         printed_roof(row) };
            for (int j = 0; j < 2; j++) add_roof(roofs, g, rows, &roof[j], row);
        }
        json_object_set_new(known, json_string_value(key), json_true());
        json_decref(key);
    }
    json_decref(known);
    return roofs;
}
