/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/plot_script.h"

#include "analysis/report/plot_look.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column of a two-column page is 8.6 cm wide; an HTML page has 860 px. */
const struct plot_form plot_forms[] = {
    /* clang-format off */
    { .ending = "svg", .titled = true, .em = 12, .letters = 12,
      .terminal = "svg enhanced size %.0f,%.0f font 'sans-serif,%g' background 'white'",
      .width = { 0, 54, 71, 71 }, .axes = { 0, 24, 17, 14 } },
    { .ending = "pdf", .em = 0.26, .letters = 6,
      .terminal = "pdfcairo enhanced size %.2fcm,%.2fcm font 'sans-serif,%g' fontscale 1 "
                  "linewidth 0.6",
      .width = { 0, 33, 68, 68 }, .axes = { 0, 16, 17, 14 } },
    { .ending = "svg", .em = 12, .letters = 12,
      .terminal = "svg enhanced size %.0f,%.0f font 'sans-serif,%g'",
      .width = { 0, 30, 30, 30 }, .axes = { 0, 11, 11, 11 } },
    { 0 }
    /* clang-format on */
};

/* --- texts ------------------------------------------------------------------------ */

/* A label in which ^ and _{ are gnuplot's markup, and a single _ is literal. */
static void write_label(FILE *to, char axis, const char *label)
{
    fprintf(to, "set %clabel '", axis);
    for (; *label; label++) {
        if (*label == '_' && label[1] != '{') fputc('\\', to);
        fputc(*label, to);
    }
    fprintf(to, "'%s\n", axis == 'x' ? " offset 0,0.6" : "");
}

/* Text in the quotes of a script.  ASCII characters are written by their numbers, so that
   gnuplot interprets none of them (a quote, backslash, backtick, @). */
static void write_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (char shown[TEXT_BYTES]; text_next(shown, &text);) {
        if (shown[1]) fputs(shown, to);
        else fprintf(to, "\\%03o", (unsigned)*shown);
    }
    fputc('"', to);
}

#define GRID                                                                             \
    "set xtics nomirror\nset ytics nomirror\n"                                          \
    "set grid linecolor rgb '#C8C8C8' dashtype 3 linewidth 0.8\n"

/* --- positions, in em ------------------------------------------------------------- */

/* The margins around the axes of a panel, a line of a legend, and the space that gnuplot
   leaves above it. */
static const double LEFT = 7, RIGHT = 1.2, TOP = 2, BOTTOM = 3.9, LINE = 1.5, ABOVE = 1.3,
                    SAMPLE = 5.5, LETTER = 0.62;

/* A picture: its panels stand in `columns`, those of y first, then those of `below`. */
struct layout {
    const struct plot_data *d;
    const struct plot_form *form;
    const struct plot_look *look;
    size_t rows; /* of panels, for one y */
    int columns;
    bool shared;           /* one legend for all panels */
    double legend, common; /* heights of a panel's legend and the common legend */
    double title, width, height;
};

/* Three panels side by side if they fill the rows and their legends have room. */
static int columns_of(const struct layout *l)
{
    const size_t panels = l->d->panels;
    int longest = 0;
    for (size_t i = 0; i < l->d->series.groups; i++)
        longest = larger_int(longest, (int)strlen(plot_series_name(l->d, i)));
    const bool room = l->shared || SAMPLE + LETTER * longest < l->form->width[3] / 3 - 1;
    return panels <= 1 ? 1 : panels % 3 == 0 && room ? 3 : 2;
}

/* The number of names side by side in a legend with that width. */
static size_t names_across(const struct layout *l, const size_t *series, size_t count,
                           double width)
{
    size_t longest = 1;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(plot_series_name(l->d, series ? series[i] : i));
        if (length > longest) longest = length;
    }
    const double across = width / (SAMPLE + LETTER * (double)longest);
    return across < 2 ? 1 : (size_t)across;
}

static double legend_height(const struct layout *l, const size_t *series, size_t count,
                            double width)
{
    const size_t across = names_across(l, series, count, width);
    return LINE * ((double)((count + across - 1) / across) + 1);
}

/* The height of the tallest legend of a panel. */
static double legend_most(const struct layout *l)
{
    double most = 0;
    for (size_t p = 0; p < l->d->panels; p++)
        most = fmax(most, legend_height(l, l->d->panel[p].series, l->d->panel[p].count,
                                        l->width / l->columns - 1));
    return most;
}

/* Columns, rows and the legend: one for all panels, or one for each. */
static void layout_columns(struct layout *l, bool shared)
{
    const struct plot_data *d = l->d;
    l->shared = shared;
    l->columns = columns_of(l);
    l->rows = (d->panels + (size_t)l->columns - 1) / (size_t)l->columns;
    l->width = l->form->width[l->columns];
    l->common = shared ? legend_height(l, NULL, d->series.groups, l->width - 1) : 0;
    l->legend = shared ? 0 : legend_most(l);
}

/* Whether no two series look alike. */
static bool looks_differ(const struct layout *l)
{
    for (size_t i = 0; i < l->d->series.groups; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(l->look[i].colour, l->look[j].colour) &&
                l->look[i].mark == l->look[j].mark && l->look[i].dash == l->look[j].dash)
                return false;
    return true;
}

/* The legends of panels are merged if the series stay distinguishable and the merged
   legend takes at most half of their height. */
static void layout_init(struct layout *l)
{
    const struct plot_data *d = l->d;
    layout_columns(l, false);
    const double each = l->legend * (double)l->rows;
    layout_columns(l, true);
    if (d->panels > 1 && (l->common > each / 2 || !looks_differ(l)))
        layout_columns(l, false);
    l->title = l->form->titled ? 2.4 : 0;
    l->height = l->title + l->common +
                (double)(l->rows * (d->plot->below ? 2 : 1)) *
                    (TOP + l->form->axes[l->columns] + BOTTOM + l->legend);
}

/* The box of the next drawing, measured from the left and the top. */
static void write_box(FILE *to, const struct layout *l, double left, double right,
                      double top, double bottom)
{
    fprintf(to,
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
            "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            left / l->width, right / l->width, 1 - top / l->height,
            1 - bottom / l->height);
}

/* --- legends ---------------------------------------------------------------------- */

static void write_look(FILE *to, const struct layout *l, size_t series, const char *with)
{
    const struct plot_look *look = &l->look[series];
    fprintf(to, " with %s linewidth 2 linecolor rgb '%s' dashtype %d", with, look->colour,
            look->dash);
    if (look->mark) fprintf(to, " pointtype %d pointsize 0.8", look->mark);
}

static const char *style_of(const struct layout *l, size_t series)
{
    const struct study_plot *plot = l->d->plot;
    return plot_is_roof(l->d, series) ? "lines"
           : plot->points             ? "points"
           : plot->steps              ? "histeps"
                                      : "linespoints";
}

/* Samples and names without axes, in the current box. */
static void write_legend(FILE *to, const struct layout *l, const size_t *series,
                         size_t count, double width)
{
    fprintf(to,
            "unset title\nunset xlabel\nunset ylabel\nunset tics\nunset grid\n"
            "unset border\nset key noenhanced center top Left reverse horizontal "
            "maxcols %zu samplen 2.5 spacing 1.1\n",
            names_across(l, series, count, width));
    const char *separator = "plot [1:2] [1:2] ";
    for (size_t i = 0; i < count; i++) {
        const size_t s = series ? series[i] : i;
        const char *style = style_of(l, s);
        fprintf(to, "%sNaN", separator);
        write_look(to, l, s, l->d->plot->steps ? "lines" : style);
        fputs(" title ", to);
        write_quoted(to, plot_series_name(l->d, s));
        separator = ", ";
    }
    fputs("\nset border\nunset key\n" GRID, to);
}

/* --- axes ------------------------------------------------------------------------- */

/* The range of an axis. */
struct axis {
    const char *key, *label;
    bool log;
};

/* From the smallest to the largest value, over all panels. */
struct span {
    double low, high;
};

static void widen(struct span *s, double low, double high)
{
    s->low = fmin(s->low, low);
    s->high = fmax(s->high, high);
}

/* The axis of x, or of the key y. */
static struct span span_of(const struct plot_data *d, const char *y, bool of_x)
{
    struct span s = { INFINITY, -INFINITY };
    for (const struct plot_panel *p = d->panel; p < d->panel + d->panels; p++)
        for (size_t i = 0; i < p->count; i++) {
            size_t count;
            struct plot_point *at = plot_points(&count, d, p, p->series[i], y);
            for (size_t j = 0; j < count; j++)
                widen(&s, of_x ? at[j].x : at[j].low, of_x ? at[j].x : at[j].high);
            free(at);
        }
    return s;
}

/* An axis with some space at both ends.  A logarithmic axis ends at powers; an axis near
   0 begins at 0. */
static void write_axis(FILE *to, char axis, bool log, struct span s)
{
    static const double ROOM = 0.04;
    const double base = axis == 'x' ? 2 : 10;
    fprintf(to, "unset logscale %c\nset format %c\n", axis, axis);
    if (log)
        fprintf(to, "set logscale %c %.0f\nset format %c '%.0f^{%%L}'\n", axis, base,
                axis, base);
    if (!(s.low <= s.high)) return;
    if (log && axis == 'y') {
        s.low = pow(10, floor(log10(s.low)));
        s.high = pow(10, ceil(log10(s.high) + (log10(s.high) == log10(s.low))));
    } else if (log) {
        const double room = pow(s.high / s.low * 1.5, ROOM);
        s = (struct span){ s.low / room, s.high * room };
    } else {
        const double room = s.low < s.high
                                ? fmax(ROOM * (s.high - s.low), 1e-12 * fabs(s.high))
                                : 0.5;
        const bool from_zero = axis == 'y' && s.low >= 0 && s.low < s.high / 2;
        s = (struct span){ from_zero ? 0 : s.low - room, s.high + room };
    }
    fprintf(to, "set %crange [%.9g:%.9g]\n", axis, s.low, s.high);
}

/* --- panels ----------------------------------------------------------------------- */

enum { MARKS_MAX = 16 }; /* of a curve, approximately */

/* The points of every series as here-documents $s<number> with the ends of their bars,
   and the distance between points with a mark. */
static void write_points(FILE *to, const struct layout *l, const struct plot_panel *p,
                         const char *y)
{
    for (size_t i = 0; i < p->count; i++) {
        size_t count;
        struct plot_point *at = plot_points(&count, l->d, p, p->series[i], y);
        fprintf(to, "$s%zu << END\n", i);
        for (size_t j = 0; j < count; j++)
            fprintf(to, "%.17g %.17g %.17g %.17g\n", at[j].x, at[j].middle, at[j].low,
                    at[j].high);
        if (!count) fputs("NaN NaN NaN NaN\n", to);
        fprintf(to, "END\nmarks%zu = %zu\n", i, 1 + count / MARKS_MAX);
        free(at);
    }
}

static bool has_bars(const struct layout *l, size_t series)
{
    return (l->d->plot->spread || l->d->plot->low) && !plot_is_roof(l->d, series);
}

static void write_panel(FILE *to, const struct layout *l, const struct plot_panel *p,
                        const struct axis *y)
{
    write_points(to, l, p, y->key);
    write_label(to, 'x', l->d->plot->x_label);
    write_label(to, 'y', y->label);
    fputs("set title ", to);
    write_quoted(to, p->title);
    fputs(" noenhanced offset 0,-0.5\n", to);
    const char *separator = "plot ";
    for (size_t i = 0; i < p->count; i++) {
        if (has_bars(l, p->series[i])) {
            fprintf(to,
                    "%s$s%zu using 1:2:3:4 with yerrorbars linewidth 1 linecolor rgb "
                    "'%s' pointtype 0 notitle",
                    separator, i, l->look[p->series[i]].colour);
            separator = ", ";
        }
        fprintf(to, "%s$s%zu using 1:2", separator, i);
        write_look(to, l, p->series[i], style_of(l, p->series[i]));
        if (!strcmp(style_of(l, p->series[i]), "linespoints"))
            fprintf(to, " pointinterval marks%zu", i);
        fputs(" notitle", to);
        separator = ", ";
    }
    fputs("\nunset label\n", to);
}

/* All panels of one y.  Returns how far down they reach. */
static double write_panels(FILE *to, const struct layout *l, const struct axis *y,
                           double top)
{
    write_axis(to, 'y', y->log, span_of(l->d, y->key, false));
    const double wide = l->width / l->columns, axes = l->form->axes[l->columns],
                 high = TOP + axes + BOTTOM + l->legend;
    for (size_t i = 0; i < l->d->panels; i++) {
        const struct plot_panel *p = &l->d->panel[i];
        const double left = wide * (double)(i % (size_t)l->columns),
                     down = top + high * (double)(i / (size_t)l->columns);
        write_box(to, l, left + LEFT, left + wide - RIGHT, down + TOP, down + TOP + axes);
        write_panel(to, l, p, y);
        if (l->shared) continue;
        write_box(to, l, left + 0.5, left + wide - 0.5,
                  down + TOP + axes + BOTTOM - ABOVE, down + high);
        write_legend(to, l, p->series, p->count, wide - 1);
    }
    return top + high * (double)l->rows;
}

void plot_write_script(FILE *to, const struct plot_data *d, const struct plot_form *form,
                       const char *title)
{
    const struct study_plot *plot = d->plot;
    struct plot_look *look = distinct_array(d->series.groups, sizeof *look);
    struct layout l = { .d = d, .form = form, .look = look };
    plot_choose_looks(look, d);
    layout_init(&l);
    fputs("set terminal ", to);
    fprintf(to, form->terminal, l.width * form->em, l.height * form->em, form->letters);
    fputs("\nset multiplot\nunset key\n" GRID, to);
    if (form->titled) {
        fprintf(to, "set label 1 at screen 0.5, screen %.5f center noenhanced ",
                1 - 0.5 * l.title / l.height);
        write_quoted(to, title);
        fputs("\n", to);
    }
    write_axis(to, 'x', plot->x_log, span_of(d, plot->y, true));
    const struct axis upper = { plot->y, plot->y_label, plot->y_log },
                      lower = { plot->below, plot->below_label, plot->below_log };
    double down = write_panels(to, &l, &upper, l.title);
    if (plot->below) down = write_panels(to, &l, &lower, down);
    write_box(to, &l, 0.5, l.width - 0.5, down - ABOVE, l.height);
    if (l.shared) write_legend(to, &l, NULL, d->series.groups, l.width - 1);
    fputs("unset multiplot\n", to);
    free(look);
}
