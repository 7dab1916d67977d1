/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/figure.h"

#include "analysis/report/figure_roofs.h"
#include "analysis/study/distinct.h"

#include <stdlib.h>
#include <string.h>

/* --- results of a figure ---------------------------------------------------------- */

static bool has_number(const json_t *row, const char *key)
{
    return json_is_number(json_object_get(row, key));
}

static bool has_shape(const json_t *row, const struct figure *g)
{
    if (!g->shapes[0]) return true;
    for (int i = 0; i < FIGURE_SHAPES_MAX && g->shapes[i]; i++)
        if (result_matches(row, "shapes", g->shapes[i])) return true;
    return false;
}

static bool takes(const struct figure *g, const json_t *row)
{
    if (g->kind == RESULT_VERIFY || g->kind == RESULT_MEAN) return true;
    return (has_number(row, "ms") || has_number(row, "us")) && has_shape(row, g) &&
           (!g->study || result_matches(row, "study", g->study)) &&
           (!g->part || result_matches(row, "part", g->part)) &&
           (!g->plot.y || (has_number(row, g->plot.x) && has_number(row, g->plot.y)));
}

static json_t *taken(const struct figure *g, const struct results *results)
{
    json_t *all = results->rows[g->kind], *rows = json_array();
    for (size_t i = 0; i < json_array_size(all); i++)
        if (takes(g, json_array_get(all, i)))
            json_array_append(rows, json_array_get(all, i));
    return rows;
}

/* --- rows ------------------------------------------------------------------------- */

/* The columns of figures with axes, unless the figure has its own. */
static const char *const point_columns[] = { "series",
                                             "group",
                                             "label",
                                             "name",
                                             "part",
                                             "tile",
                                             "device",
                                             "shapes",
                                             "m",
                                             "n",
                                             "k",
                                             "split_k",
                                             "ms",
                                             "tflops",
                                             "tflops_low",
                                             "tflops_high",
                                             "ratio_sgemm",
                                             "third",
                                             "relres",
                                             "speedup",
                                             "flops_per_byte",
                                             "gflops_per_watt",
                                             "pj_per_product",
                                             "mhz",
                                             "roof",
                                             "products",
                                             "source",
                                             NULL };

/* An object with these keys only; null where `row` has none. */
static json_t *pick(json_t *row, const char *const *columns)
{
    json_t *picked = json_object();
    for (; *columns; columns++) {
        json_t *value = json_object_get(row, *columns);
        json_object_set_new(picked, *columns, value ? json_incref(value) : json_null());
    }
    return picked;
}

static json_t *pick_all(json_t *rows, const char *const *columns)
{
    json_t *picked = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_array_append_new(picked, pick(json_array_get(rows, i), columns));
    return picked;
}

/* A row and its original position. */
struct place {
    double x;
    size_t at;
    json_t *row;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* By ascending x, stable; not sorted if memory runs out. */
static void sort(json_t *rows, const char *x)
{
    const size_t count = json_array_size(rows);
    struct place *places = memory_allocate(count, sizeof *places);
    if (!places) return;
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_array_get(rows, i);
        places[i] = (struct place){ result_number(row, x), i, json_incref(row) };
    }
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) json_array_set_new(rows, i, places[i].row);
    free(places);
}

/* The values of papers; other columns are null. */
static void append_printed(json_t *rows, const struct figure *g)
{
    for (const struct printed *p = g->printed; p->series; p++) {
        json_t *empty = json_object();
        json_t *row = pick(empty, point_columns);
        json_object_set_new(row, "series", json_string(p->series));
        if (p->group) json_object_set_new(row, "group", json_string(p->group));
        json_object_set_new(row, g->plot.x, json_integer((json_int_t)p->x));
        json_object_set_new(row, g->plot.y, json_real(p->y));
        json_array_append_new(rows, row);
        json_decref(empty);
    }
}

/* Limits of the device in these runs; other columns are null. */
static void append_roofs(json_t *rows, const struct figure *g,
                         const struct results *results)
{
    json_t *roofs = figure_roofs(g, rows, results);
    for (size_t i = 0; i < json_array_size(roofs); i++)
        json_array_append_new(rows, pick(json_array_get(roofs, i), point_columns));
    json_decref(roofs);
}

json_t *figure_rows(const struct figure *g, const struct results *results)
{
    json_t *all = taken(g, results);
    json_t *rows =
        g->rows ? g->rows(all) : pick_all(all, g->columns ? g->columns : point_columns);
    json_decref(all);
    if (g->plot.y && json_array_size(rows)) {
        sort(rows, g->plot.x);
        if (g->roofs) append_roofs(rows, g, results);
        append_printed(rows, g);
    }
    return rows;
}

/* --- origin ----------------------------------------------------------------------- */

/* A key that tells how results were recorded, and the text before its value. */
struct origin {
    const char *key, *words;
};

static const struct origin origins[] = {
    { "device", "" },    { "driver", "driver " }, { "runtime", "" },
    { "library", "" },   { "input", "input " },   { "rounds", "rounds " },
    { "seed", "seed " }, { "date", "" },          { 0 },
};

/* Append the values of a key, each once, to the text, which is released. */
static json_t *append_values(json_t *text, json_t *rows, const struct origin *o)
{
    const char *separator = json_string_length(text) ? "; " : "";
    struct distinct d;
    distinct_of(&d, rows, o->key);
    for (size_t i = 0; i < d.groups; i++) {
        const json_t *row = json_array_get(rows, d.first[i]);
        const json_t *value = json_object_get(row, o->key);
        if (!value || json_is_null(value)) continue;
        const char *before = json_string_value(text), *words = json_string_value(value);
        json_t *longer =
            words ? json_sprintf("%s%s%s%s", before, separator, o->words, words)
                  : json_sprintf("%s%s%s%lld", before, separator, o->words,
                                 (long long)json_integer_value(value));
        json_decref(text);
        text = longer;
        separator = ", ";
    }
    distinct_clear(&d);
    return text;
}

json_t *figure_origin(const struct figure *g, const struct results *results)
{
    static const struct origin sheets = { "source", "data sheet roofs: " };
    json_t *rows = taken(g, results), *text = json_string("");
    for (const struct origin *o = origins; o->key; o++)
        text = append_values(text, rows, o);
    json_t *roofs = g->roofs ? figure_roofs(g, rows, results) : json_array();
    text = append_values(text, roofs, &sheets);
    json_decref(roofs);
    json_decref(rows);
    return text;
}
