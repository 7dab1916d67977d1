/* SPDX-License-Identifier: BSD-3-Clause */
/* The data that a figure draws: its series, its panels, and the points of each. */
#ifndef BITCUT_ANALYSIS_REPORT_PLOT_DATA_H
#define BITCUT_ANALYSIS_REPORT_PLOT_DATA_H

#include "analysis/study/distinct.h"
#include "analysis/study/study.h"

/* Number of curves that can be distinguished in a panel. */
enum { PANEL_SERIES_MAX = 6, PANEL_TITLE_MAX = 120 };

/* A panel: its series in the order of their first rows. */
struct plot_panel {
    char title[PANEL_TITLE_MAX];
    size_t group;   /* index in struct plot_data */
    size_t *series; /* [count]             */
    size_t count;
};

/* The rows that a figure draws.  A series with "roof" true is a limit.  It is drawn in
   every panel in addition to its PANEL_SERIES_MAX series, after them. */
struct plot_data {
    const struct study_plot *plot;
    json_t *rows;
    struct distinct series, groups; /* groups: by the keys of panels */
    struct plot_panel *panel;
    size_t panels;
};

/* The data of `rows`, an array of objects, as described by struct study_plot.  Memory
   comes from distinct_array(). */
void plot_data_init(struct plot_data *d, const struct study_plot *plot, json_t *rows);
void plot_data_clear(struct plot_data *d);

/* The name of a series; whether it is a roof, of how many products, and the data sheet
   that has it, NULL if it was recorded. */
const char *plot_series_name(const struct plot_data *d, size_t series);
bool plot_is_roof(const struct plot_data *d, size_t series);
json_int_t plot_roof_products(const struct plot_data *d, size_t series);
const char *plot_roof_source(const struct plot_data *d, size_t series);

/* A value at x: the value of a row, or the median of several rows, with the smallest and
   the largest. */
struct plot_point {
    double x, low, middle, high;
};

/* The values of the key `y` of a series in a panel, by ascending x if there is a spread,
   otherwise in the order of the rows.  Values that a logarithmic axis cannot show are
   left out.  The caller frees the array. */
struct plot_point *plot_points(size_t *count, const struct plot_data *d,
                               const struct plot_panel *panel, size_t series,
                               const char *y);

/* The number of points in a figure of these rows, without roofs. */
size_t plot_count_points(const struct study_plot *plot, json_t *rows);

#endif
