/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of figures: panels, spreads, roofs and looks, for rows made by hand, for
   all recorded results, and for some points of every study. */
#include "analysis/report/figure.h"
#include "analysis/report/plot_look.h"
#include "lib/gemm/recipe.h"
#include "lib/number/split.h"
#include "tests/study/sample_results.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* --- rows made by hand ------------------------------------------------------------- */

/* Rows of 20 series a to t on two units, in two rounds at x = 1 and 2; u is on any unit.
 */
static json_t *many_rows(void)
{
    json_t *rows = json_array();
    for (int at = 0; at < 84; at++) {
        const char name[] = { (char)('a' + at / 4), 0 };
        const char *const unit = at / 4 == 20 ? NULL : at / 4 % 2 ? "second" : "first";
        json_array_append_new(rows, json_pack("{s:s, s:s?, s:i, s:i, s:f}", "s", name,
                                              "unit", unit, "x", 2 - at % 2, "round",
                                              at / 2 % 2, "y", (double)at));
    }
    return rows;
}

static const struct study_plot many_plot = {
    .x = "x", .y = "y", .series = "s", .panels = "unit", .spread = "round"
};

/* Each series once, but for the one that is on any unit, and six a panel. */
START_TEST(panels_have_few_series)
{
    json_t *rows = many_rows();
    struct plot_data d;
    plot_data_init(&d, &many_plot, rows);
    size_t all = 0;
    ck_assert_uint_eq(d.panels, 4);
    ck_assert_str_eq(d.panel[0].title, "first");
    ck_assert_str_eq(d.panel[2].title, "second");
    for (size_t i = 0; i < d.panels; i++) {
        ck_assert_uint_le(d.panel[i].count, PANEL_SERIES_MAX);
        all += d.panel[i].count;
    }
    ck_assert_uint_eq(all, 22);
    ck_assert_str_eq(plot_series_name(&d, d.panel[0].series[1]), "c");
    plot_data_clear(&d);
    json_decref(rows);
}
END_TEST

/* At each x, which ascends, the median of the rounds and both extremes. */
START_TEST(spread_is_that_of_rounds)
{
    json_t *rows = json_array();
    static const double values[] = { 5, 1, 9, 2 };
    for (int i = 0; i < 8; i++)
        json_array_append_new(rows, json_pack("{s:s, s:i, s:i, s:f}", "s", "one", "x",
                                              i < 4 ? 7 : 3, "round", i % 4, "y",
                                              values[i % 4] * (i < 4 ? 1 : 10)));
    struct study_plot plot = many_plot;
    struct plot_data d;
    size_t count;
    plot.panels = NULL;
    plot_data_init(&d, &plot, rows);
    struct plot_point *at = plot_points(&count, &d, d.panel, 0, plot.y);
    ck_assert_uint_eq(count, 2);
    for (int i = 0; i < 2; i++) {
        const double scale = i ? 1 : 10;
        ck_assert(at[i].x == (i ? 7 : 3) && at[i].low == scale &&
                  at[i].high == 9 * scale && at[i].middle == 3.5 * scale);
    }
    free(at);
    plot_data_clear(&d);
    json_decref(rows);
}
END_TEST

/* A recipe has one colour in all figures, and its variants the same with other marks. */
START_TEST(recipes_keep_their_colour)
{
    static const char *const names[] = { "sm90.ootomo.f16.promote4", "legemm",
                                         "a100, ootomo", "legemm-shifted", "unknown" };
    json_t *rows = json_array();
    for (int i = 0; i < 5; i++)
        json_array_append_new(
            rows, json_pack("{s:s, s:i, s:i}", "s", names[i], "x", i, "y", i));
    struct study_plot plot = many_plot;
    struct plot_look look[5];
    struct plot_data d;
    plot.panels = plot.spread = NULL;
    plot_data_init(&d, &plot, rows);
    plot_choose_looks(look, &d);
    ck_assert_str_eq(look[0].colour, "#0072B2");
    ck_assert_str_eq(look[1].colour, "#D55E00");
    ck_assert_str_eq(look[2].colour, look[0].colour);
    ck_assert_str_eq(look[3].colour, look[1].colour);
    ck_assert(look[2].mark != look[0].mark && look[3].mark != look[1].mark);
    for (int i = 0; i < 4; i++) ck_assert_str_ne(look[4].colour, look[i].colour);
    plot_data_clear(&d);
    json_decref(rows);
}
END_TEST

/* A row's own ends are those of its bar; a roof has none. */
START_TEST(bars_are_those_of_rows)
{
    json_t *rows = json_loads("[{\"s\": \"a\", \"x\": 1, \"y\": 5, \"l\": 4, \"h\": 7},"
                              " {\"s\": \"a\", \"x\": 2, \"y\": 6, \"l\": null}]",
                              0, NULL);
    const struct study_plot plot = {
        .x = "x", .y = "y", .series = "s", .low = "l", .high = "h"
    };
    static const double want[][3] = { { 4, 5, 7 }, { 6, 6, 6 } };
    struct plot_data d;
    size_t count;
    plot_data_init(&d, &plot, rows);
    struct plot_point *at = plot_points(&count, &d, d.panel, 0, plot.y);
    ck_assert_uint_eq(count, 2);
    for (int i = 0; i < 2; i++)
        ck_assert(at[i].low == want[i][0] && at[i].middle == want[i][1] &&
                  at[i].high == want[i][2]);
    free(at);
    plot_data_clear(&d);
    json_decref(rows);
}
END_TEST

/* Roofs of as many products have the same dashes, those of data sheets another colour. */
START_TEST(roofs_are_told_apart)
{
    static const char rows_text[] =
        "[{\"s\": \"r3\", \"x\": 1, \"y\": 1, \"roof\": true, \"products\": 3},"
        " {\"s\": \"r6\", \"x\": 1, \"y\": 1, \"roof\": true, \"products\": 6},"
        " {\"s\": \"d3\", \"x\": 1, \"y\": 1, \"roof\": true, \"products\": 3,"
        "  \"source\": \"a sheet\"}]";
    json_t *rows = json_loads(rows_text, 0, NULL);
    const struct study_plot plot = { .x = "x", .y = "y", .series = "s" };
    struct plot_look look[3];
    struct plot_data d;
    plot_data_init(&d, &plot, rows);
    plot_choose_looks(look, &d);
    ck_assert_int_eq(look[2].dash, look[0].dash);
    ck_assert_int_ne(look[1].dash, look[0].dash);
    ck_assert_int_gt(look[0].dash, 1);
    ck_assert_str_eq(look[1].colour, look[0].colour);
    ck_assert_str_ne(look[2].colour, look[0].colour);
    plot_data_clear(&d);
    json_decref(rows);
}
END_TEST

/* A row without a look would be drawn as what has no name. */
START_TEST(recipes_and_splits_have_looks)
{
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        ck_assert_msg(plot_has_look(r->name), "recipe %s", r->name);
    for (const struct bitcut_split *s = splits; s->name; s++)
        ck_assert_msg(plot_has_look(s->name), "split %s", s->name);
    ck_assert(!plot_has_look("nobody") && !plot_has_look("oot") && !plot_has_look(""));
}
END_TEST

/* --- all figures ------------------------------------------------------------------- */

/* Every panel has lines with points, at most six but for roofs. */
static void check_panels(const char *name, const struct plot_data *d)
{
    ck_assert_msg(d->panels > 0, "%s: no panel", name);
    for (const struct plot_panel *p = d->panel; p < d->panel + d->panels; p++) {
        size_t lines = 0, points = 0;
        for (size_t i = 0; i < p->count; i++) {
            size_t count;
            free(plot_points(&count, d, p, p->series[i], d->plot->y));
            if (plot_is_roof(d, p->series[i])) continue;
            lines++;
            points += count;
        }
        ck_assert_msg(lines > 0 && lines <= PANEL_SERIES_MAX, "%s, %s: %zu lines", name,
                      p->title, lines);
        ck_assert_msg(points > 0, "%s, %s: nothing drawn", name, p->title);
    }
}

/* A series has the colour that it has in the figures before, by `colours`; and in this
   one no other looks like it, if there are no more than can be told apart. */
static void check_looks(const char *name, const struct plot_data *d, json_t *colours)
{
    struct plot_look *look = calloc(d->series.groups, sizeof *look);
    ck_assert_ptr_nonnull(look);
    plot_choose_looks(look, d);
    for (size_t i = 0; i < d->series.groups; i++) {
        const char *series = plot_series_name(d, i);
        const char *before = json_string_value(json_object_get(colours, series));
        ck_assert_msg(!before || !strcmp(before, look[i].colour), "%s: %s was %s, is %s",
                      name, series, before, look[i].colour);
        ck_assert_msg(plot_is_roof(d, i) || look[i].mark > 0, "%s: %s has no mark", name,
                      series);
        json_object_set_new(colours, series, json_string(look[i].colour));
    }
    for (const struct plot_panel *p = d->panel; p < d->panel + d->panels; p++)
        for (size_t i = 0; i < p->count; i++)
            for (size_t j = 0; j < i; j++)
                ck_assert_msg(
                    memcmp(&look[p->series[i]], &look[p->series[j]], sizeof *look) != 0,
                    "%s, %s: %s and %s look alike", name, p->title,
                    plot_series_name(d, p->series[i]), plot_series_name(d, p->series[j]));
    free(look);
}

static void check_plot(const char *name, const struct study_plot *plot, json_t *rows,
                       json_t *colours)
{
    struct plot_data d;
    plot_data_init(&d, plot, rows);
    check_panels(name, &d);
    check_looks(name, &d, colours);
    plot_data_clear(&d);
}

/* Work under load, which no recorded result has. */
static struct results loaded_results(void)
{
#define LOADED(NAME, N, MORE)                                                            \
    sample_bench_row(NAME, N, N, N, 1, "{\"tflops_sustained\": 90, " MORE "}")
    return sample_results_of(json_pack(
        "[o, o, o, o]", LOADED("sgemm", 64, "\"limit\": \"none\""),
        LOADED("sgemm", 128, "\"limit\": \"power\""),
        LOADED("a.ootomo.f16", 64, "\"tile\": \"1x1x1\", \"recipe\": \"ootomo\""),
        LOADED("a.legemm.f16", 64, "\"tile\": \"1x1x1\"")));
}

/* Figures of all recorded results. */
static void check_recorded(json_t *colours)
{
    struct results r = { { NULL } }, loaded = loaded_results();
    sample_read_kept(&r);
    for (const struct figure *g = figures; g->name; g++) {
        const bool load = g->plot.series && !strcmp(g->plot.series, "loaded");
        json_t *rows = figure_rows(g, load ? &loaded : &r);
        ck_assert_msg(json_array_size(rows) > 0, "%s: no rows", g->name);
        if (g->plot.y) check_plot(g->name, &g->plot, rows, colours);
        json_decref(rows);
    }
    results_clear(&loaded);
    results_clear(&r);
}

static void extend(void *context, size_t at, json_t *rows)
{
    (void)at;
    json_array_extend(context, rows);
    json_decref(rows);
}

/* Every sixteenth point of a study, from the first on: their rows have the keys of all.
 */
static void check_study(const struct study *s, json_t *colours)
{
    const struct study_run run = { .scale = STUDY_SMALL, .seed = 1, .threads = 1 };
    bool *wanted = calloc(s->points(s, run.scale), sizeof *wanted);
    json_t *rows = json_array();
    struct fault f;
    ck_assert_ptr_nonnull(wanted);
    for (size_t i = 0; i < s->points(s, run.scale); i += 16) wanted[i] = true;
    ck_assert_int_eq(study_compute(s, &run, wanted, extend, rows, &f), BITCUT_OK);
    check_plot(s->name, &s->plot, rows, colours);
    json_decref(rows);
    free(wanted);
}

START_TEST(every_figure_can_be_read)
{
    json_t *colours = json_object();
    check_recorded(colours);
    for (int i = 0; studies[i]; i++)
        if (studies[i]->plot.y) check_study(studies[i], colours);
    ck_assert_uint_gt(json_object_size(colours), 50);
    json_decref(colours);
}
END_TEST

TEST_MAIN("figures", panels_have_few_series, spread_is_that_of_rounds,
          recipes_keep_their_colour, bars_are_those_of_rows, roofs_are_told_apart,
          recipes_and_splits_have_looks, every_figure_can_be_read)
