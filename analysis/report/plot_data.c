/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/plot_data.h"

#include "analysis/study/compare.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 4, KEY_MAX = 32 };

/* --- panels ----------------------------------------------------------------------- */

/* The keys that make panels, as texts and as a list ended by NULL. */
struct keys {
    char text[KEYS_MAX][KEY_MAX];
    const char *key[KEYS_MAX + 1];
};

static void keys_init(struct keys *k, const char *list)
{
    int count = 0;
    if (!list) list = "";
    while (count < KEYS_MAX && row_next_key(k->text[count], KEY_MAX, &list)) {
        k->key[count] = k->text[count];
        count++;
    }
    k->key[count] = NULL;
}

static json_t *row_at(const struct plot_data *d, size_t row)
{
    return json_array_get(d->rows, row);
}

/* The value of a key in the rows of a group; NULL for null. */
static json_t *value_of(const struct plot_data *d, size_t group, const char *key)
{
    json_t *value = json_object_get(row_at(d, d->groups.first[group]), key);
    return json_is_null(value) ? NULL : value;
}

/* Whether rows of `group` are drawn in the panel of `panel`: they have the same values,
   where null matches any value. */
static bool belongs(const struct plot_data *d, size_t group, size_t panel,
                    const struct keys *k)
{
    for (const char *const *key = k->key; *key; key++) {
        json_t *value = value_of(d, group, *key);
        if (value && !json_equal(value, value_of(d, panel, *key))) return false;
    }
    return true;
}

/* Whether a group has its own panel: no other group has more values. */
static bool is_panel(const struct plot_data *d, size_t group, const struct keys *k)
{
    for (size_t other = 0; other < d->groups.groups; other++)
        if (other != group && belongs(d, group, other, k)) return false;
    return true;
}

static void add_title(char title[PANEL_TITLE_MAX], const char *key, const json_t *value)
{
    if (json_is_string(value))
        text_append(title, PANEL_TITLE_MAX, json_string_value(value));
    else
        text_add(title, PANEL_TITLE_MAX, "%s%s %g", *title ? ", " : "", key,
                 json_number_value(value));
}

static bool has_number(const struct plot_data *d, size_t row)
{
    const struct study_plot *plot = d->plot;
    const json_t *const values = row_at(d, row);
    return json_is_number(json_object_get(values, plot->y)) ||
           (plot->below && json_is_number(json_object_get(values, plot->below)));
}

/* Append the panels of a group: its series, at most PANEL_SERIES_MAX in a panel, followed
   by the roofs. drawn[group of series] is working space. */
static void add_panels(struct plot_data *d, size_t group, const struct keys *k)
{
    bool *drawn = distinct_array(d->series.groups, sizeof *drawn);
    for (size_t i = 0; i < d->series.rows; i++)
        if (has_number(d, i) && belongs(d, d->groups.group[i], group, k))
            drawn[d->series.group[i]] = true;
    struct plot_panel *panel = NULL;
    for (size_t s = 0; s < d->series.groups; s++) {
        if (!drawn[s] || plot_is_roof(d, s)) continue;
        if (!panel || panel->count == PANEL_SERIES_MAX) {
            panel = &d->panel[d->panels++];
            panel->group = group;
            panel->series = distinct_array(d->series.groups, sizeof *panel->series);
            for (const char *const *key = k->key; *key; key++)
                if (value_of(d, group, *key))
                    add_title(panel->title, *key, value_of(d, group, *key));
        }
        panel->series[panel->count++] = s;
    }
    for (size_t s = 0; s < d->series.groups; s++)
        for (struct plot_panel *p = d->panel; drawn[s] && p < d->panel + d->panels; p++)
            if (plot_is_roof(d, s) && p->group == group) p->series[p->count++] = s;
    free(drawn);
}

void plot_data_init(struct plot_data *d, const struct study_plot *plot, json_t *rows)
{
    struct keys keys;
    keys_init(&keys, plot->panels);
    *d = (struct plot_data){ .plot = plot, .rows = json_array() };
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (row_is(json_array_get(rows, i), plot->where))
            json_array_append(d->rows, json_array_get(rows, i));
    distinct_of(&d->series, d->rows, plot->series);
    distinct_init(&d->groups, d->rows, keys.key);
    d->panel =
        distinct_array(d->groups.groups * (d->series.groups + 1), sizeof *d->panel);
    for (size_t group = 0; group < d->groups.groups; group++)
        if (is_panel(d, group, &keys)) add_panels(d, group, &keys);
}

void plot_data_clear(struct plot_data *d)
{
    for (size_t i = 0; i < d->panels; i++) free(d->panel[i].series);
    free(d->panel);
    distinct_clear(&d->series);
    distinct_clear(&d->groups);
    json_decref(d->rows);
}

/* --- series ----------------------------------------------------------------------- */

static json_t *of_series(const struct plot_data *d, size_t series, const char *key)
{
    return json_object_get(row_at(d, d->series.first[series]), key);
}

const char *plot_series_name(const struct plot_data *d, size_t series)
{
    const char *name = json_string_value(of_series(d, series, d->plot->series));
    return name ? name : "";
}

bool plot_is_roof(const struct plot_data *d, size_t series)
{
    return json_is_true(of_series(d, series, "roof"));
}

json_int_t plot_roof_products(const struct plot_data *d, size_t series)
{
    return json_integer_value(of_series(d, series, "products"));
}

const char *plot_roof_source(const struct plot_data *d, size_t series)
{
    return json_string_value(of_series(d, series, "source"));
}

/* --- points ----------------------------------------------------------------------- */

static int compare_points(const void *left, const void *right)
{
    const struct plot_point *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return (a->middle > b->middle) - (a->middle < b->middle);
}

/* Merge the points with the same x.  Returns the number of points left. */
static size_t gather(struct plot_point *points, size_t count)
{
    size_t used = 0;
    qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && points[next].x == points[i].x;) next++;
        const size_t half = i + (next - i) / 2;
        const double above = points[half].middle;
        points[used++] = (struct plot_point){
            .x = points[i].x,
            .low = points[i].middle,
            .middle = (next - i) % 2 ? above : (points[half - 1].middle + above) / 2,
            .high = points[next - 1].middle,
        };
    }
    return used;
}

static bool has_place(const json_t *value, bool log)
{
    return json_is_number(value) && !(log && json_number_value(value) <= 0);
}

/* The end of the bar of a row, or `middle` if it has none. */
static double end_of(const struct plot_data *d, size_t row, const char *key,
                     double middle)
{
    const json_t *end = key ? json_object_get(row_at(d, row), key) : NULL;
    return json_is_number(end) ? json_number_value(end) : middle;
}

struct plot_point *plot_points(size_t *count, const struct plot_data *d,
                               const struct plot_panel *panel, size_t series,
                               const char *y)
{
    const struct study_plot *plot = d->plot;
    const bool y_log = y == plot->below ? plot->below_log : plot->y_log;
    struct plot_point *points = distinct_array(d->series.rows, sizeof *points);
    struct keys keys;
    size_t used = 0;
    keys_init(&keys, plot->panels);
    for (size_t i = d->series.first[series]; i < d->series.rows; i++) {
        const json_t *at = json_object_get(row_at(d, i), plot->x);
        const json_t *value = json_object_get(row_at(d, i), y);
        if (d->series.group[i] != series || !has_place(at, plot->x_log) ||
            !has_place(value, y_log) ||
            !belongs(d, d->groups.group[i], panel->group, &keys))
            continue;
        const double middle = json_number_value(value);
        points[used++] =
            (struct plot_point){ json_number_value(at), end_of(d, i, plot->low, middle),
                                 middle, end_of(d, i, plot->high, middle) };
    }
    *count = plot->spread ? gather(points, used) : used;
    return points;
}

size_t plot_count_points(const struct study_plot *plot, json_t *rows)
{
    struct plot_data d;
    size_t points = 0;
    plot_data_init(&d, plot, rows);
    for (const struct plot_panel *p = d.panel; p < d.panel + d.panels; p++)
        for (size_t i = 0; i < p->count; i++) {
            size_t count;
            if (plot_is_roof(&d, p->series[i])) continue;
            free(plot_points(&count, &d, p, p->series[i], plot->y));
            points += count;
        }
    plot_data_clear(&d);
    return points;
}
