#define _POSIX_C_SOURCE 200809L

#include "analysis/plot.h"

#include "analysis/distinct.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the script ------------------------------------------------------------------- */

static void write_axis(FILE *to, char axis, const char *label, bool log, int base)
{
    fprintf(to, "set %clabel '%s'\n", axis, label);
    if (!log) return;
    fprintf(to, "set logscale %c %d\nset format %c '%d^{%%L}'\n", axis, base, axis, base);
}

/* The rows to draw and their series. */
struct drawing {
    const struct study_plot *plot;
    json_t *rows;
    struct distinct series;
};

static json_t *cell(const struct drawing *d, size_t row, const char *key)
{
    return json_object_get(json_array_get(d->rows, row), key);
}

/* The points of one series as a here-document $s<series>. */
static void write_series(FILE *to, const struct drawing *d, size_t series)
{
    fprintf(to, "$s%zu << END\n", series);
    for (size_t i = d->series.first[series]; i < d->series.rows; i++)
        if (d->series.group[i] == series)
            fprintf(to, "%.17g %.17g\n", json_number_value(cell(d, i, d->plot->x)),
                    json_number_value(cell(d, i, d->plot->y)));
    fprintf(to, "END\n");
}

static json_t *series_name(const struct drawing *d, size_t series)
{
    return cell(d, d->series.first[series], d->plot->series);
}

/* Text in the quotes of a script, on one line whatever it holds. */
static void write_quoted(FILE *to, const char *text)
{
    fputc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', to);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, to);
    }
    fputc('\'', to);
}

static int larger(int a, int b) { return a > b ? a : b; }

/* The picture's size and its key: beside the axes, or below if the names of series are
   long. */
static void write_layout(FILE *to, const struct drawing *d)
{
    enum { WIDTH = 860, HEIGHT = 480, LINE = 22, LONG = 24 };
    int longest = 0;
    for (size_t i = 0; i < d->series.groups; i++)
        longest = larger(longest, (int)json_string_length(series_name(d, i)));
    const bool below = longest > LONG;
    fprintf(to,
            "set terminal svg enhanced size %d,%d font 'sans-serif,14' "
            "background 'white'\nset key %s noenhanced\n",
            WIDTH, HEIGHT + (below ? LINE * ((int)d->series.groups + 1) : 0),
            below ? "bmargin left Left reverse maxcols 1 title ' '"
                  : "outside right top");
}

static void write_script(FILE *to, const struct drawing *d, const char *title)
{
    const struct study_plot *plot = d->plot;
    write_layout(to, d);
    fputs("set grid\nset title ", to);
    write_quoted(to, title);
    fputs(" noenhanced\n", to);
    write_axis(to, 'x', plot->x_label, plot->x_log, 2);
    write_axis(to, 'y', plot->y_label, plot->y_log, 10);
    for (size_t i = 0; i < d->series.groups; i++) write_series(to, d, i);
    const char *separator = "plot ";
    for (size_t i = 0; i < d->series.groups; i++) {
        fprintf(to, "%s$s%zu using 1:2 with %s linewidth 2 title ", separator, i,
                plot->points ? "points" : "linespoints");
        write_quoted(to, json_string_value(series_name(d, i)));
        separator = ", ";
    }
    fprintf(to, "\n");
}

/* --- the program ------------------------------------------------------------------ */

/* How the child ended, as waitpid() says; killed if work is to stop.  It is looked for
   now and then: any thread may be the one that a signal wakes. */
static int end_of(pid_t child, const struct progress *progress)
{
    static const struct timespec moment = { .tv_nsec = 10000000 };
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (progress_stopped(progress)) kill(child, SIGKILL);
        nanosleep(&moment, NULL);
    }
    return status;
}

/* gnuplot with `script` as standard input and `picture` as standard output. */
static bool run_gnuplot(FILE *script, FILE *picture, const struct progress *progress)
{
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null >= 0 && dup2(fileno(script), 0) >= 0 && dup2(fileno(picture), 1) >= 0 &&
            dup2(null, 2) >= 0)
            execlp("gnuplot", "gnuplot", (char *)NULL);
        _exit(127);
    }
    const int status = end_of(child, progress);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* All of a file as text. */
static char *read_all(FILE *from)
{
    if (fseek(from, 0, SEEK_END) != 0) return NULL;
    const long size = ftell(from);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    rewind(from);
    if (text && fread(text, 1, (size_t)size, from) != (size_t)size) {
        free(text);
        return NULL;
    }
    if (text) text[size] = 0;
    return text;
}

char *plot_svg(const struct study_plot *plot, const char *title, json_t *rows,
               const struct progress *progress)
{
    struct drawing d = { .plot = plot, .rows = rows };
    FILE *script = tmpfile(), *picture = tmpfile();
    char *svg = NULL;
    if (script && picture && distinct_of(&d.series, rows, plot->series)) {
        write_script(script, &d, title);
        fflush(script);
        rewind(script);
        if (run_gnuplot(script, picture, progress)) svg = read_all(picture);
    }
    distinct_clear(&d.series);
    if (script) fclose(script);
    if (picture) fclose(picture);
    return svg;
}
