#define _POSIX_C_SOURCE 200809L

#include "analysis/study/plot.h"

#include "analysis/study/distinct.h"
#include "lib/size.h"
#include "lib/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the script ------------------------------------------------------------------- */

/* A label, in which ^ and _{ mean what they do to gnuplot, and a lone _ itself. */
static void write_label(FILE *to, char axis, const char *label)
{
    fprintf(to, "set %clabel '", axis);
    for (; *label; label++) {
        if (*label == '_' && label[1] != '{') fputc('\\', to);
        fputc(*label, to);
    }
    fputs("'\n", to);
}

static void write_axis(FILE *to, char axis, const char *label, bool log, int base)
{
    write_label(to, axis, label);
    if (!log) return;
    fprintf(to, "set logscale %c %d\nset format %c '%d^{%%L}'\n", axis, base, axis, base);
}

/* The rows to draw and their series. */
struct drawing {
    const struct study_plot *plot;
    json_t *rows;
    struct distinct series;
    int *look; /* of each series */
};

static json_t *cell(const struct drawing *d, size_t row, const char *key)
{
    return json_object_get(json_array_get(d->rows, row), key);
}

static bool has_point(const struct drawing *d, const char *y, size_t series, size_t row)
{
    return d->series.group[row] == series && json_is_number(cell(d, row, y));
}

/* Whether the series has a value of y. */
static bool has_line(const struct drawing *d, const char *y, size_t series)
{
    size_t row = d->series.first[series];
    while (row < d->series.rows && !has_point(d, y, series, row)) row++;
    return row < d->series.rows;
}

/* The points of one series as a here-document $s<series>. */
static void write_series(FILE *to, const struct drawing *d, const char *y, size_t series)
{
    fprintf(to, "$s%zu << END\n", series);
    for (size_t i = d->series.first[series]; i < d->series.rows; i++)
        if (has_point(d, y, series, i))
            fprintf(to, "%.17g %.17g\n", json_number_value(cell(d, i, d->plot->x)),
                    json_number_value(cell(d, i, y)));
    fprintf(to, "END\n");
}

static json_t *series_name(const struct drawing *d, size_t series)
{
    return cell(d, d->series.first[series], d->plot->series);
}

/* Text in the quotes of a script.  ASCII is given by its numbers, so that gnuplot takes
   no character (a quote, backslash, backtick, @) for more than itself. */
static void write_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (char shown[TEXT_BYTES]; text_next(shown, &text);) {
        if (shown[1]) fputs(shown, to);
        else fprintf(to, "\\%03o", (unsigned)*shown);
    }
    fputc('"', to);
}

/* The picture's size and its key: beside the axes, or below if the names of series are
   long. */
static void write_layout(FILE *to, const struct drawing *d)
{
    enum { WIDTH = 860, HEIGHT = 480, LINE = 22, LONG = 24 };
    int longest = 0;
    for (size_t i = 0; i < d->series.groups; i++)
        longest = larger_int(longest, (int)json_string_length(series_name(d, i)));
    const bool below = longest > LONG;
    fprintf(to,
            "set terminal svg enhanced size %d,%d font 'sans-serif,14' "
            "background 'white'\nset key noenhanced %s\n",
            WIDTH,
            (HEIGHT + (below ? LINE * ((int)d->series.groups + 1) : 0)) *
                (d->plot->below ? 2 : 1),
            below ? "bmargin left Left reverse maxcols 1 title ' '"
                  : "outside right top");
}

/* How lines look: colours that most eyes tell apart (Okabe and Ito 2008), each with a
   mark of its own.  A recipe has the same everywhere; other series take what is left. */
static const struct {
    const char *recipe; /* NULL: nobody's */
    const char *colour;
    int mark; /* gnuplot's number */
} looks[] = {
    { "ootomo", "#0072B2", 7 }, { "legemm", "#D55E00", 5 }, { "markidis", "#009E73", 9 },
    { "plain", "#E69F00", 11 }, { "fp32", "#000000", 1 },   { "feng", "#CC79A7", 13 },
    { "tf32x3", "#56B4E9", 2 }, { NULL, "#8C6D31", 4 },     { NULL, "#7F7F7F", 6 },
    { NULL, "#5B3A8C", 8 },     { NULL, "#2F6B3A", 10 },    { NULL, "#A03030", 12 },
};

enum { LOOKS = sizeof looks / sizeof looks[0] };

/* The look of the recipe that a word of the series names, or -1. */
static int look_of_recipe(const char *series)
{
    static const char between[] = " ,:/";
    for (; *series; series += strspn(series, between)) {
        const size_t length = strcspn(series, between);
        for (int i = 0; i < LOOKS; i++)
            if (looks[i].recipe && strlen(looks[i].recipe) == length &&
                !strncmp(series, looks[i].recipe, length))
                return i;
        series += length;
    }
    return -1;
}

/* The look of every series: that of its recipe for the first that has it, else the next
   that is free, and when none is, all of them again. */
static void choose_looks(int *look, const struct drawing *d)
{
    bool taken[LOOKS] = { false };
    int next = 0;
    for (size_t i = 0; i < d->series.groups; i++) {
        const int own = look_of_recipe(json_string_value(series_name(d, i)));
        look[i] = own >= 0 && !taken[own] ? own : -1;
        if (look[i] >= 0) taken[own] = true;
    }
    for (size_t i = 0; i < d->series.groups; i++) {
        if (look[i] >= 0) continue;
        for (int tries = 0; tries < LOOKS && taken[next]; tries++)
            next = (next + 1) % LOOKS;
        look[i] = next;
        taken[next] = true;
        next = (next + 1) % LOOKS;
    }
}

/* One picture: y of every series. */
static void write_picture(FILE *to, const struct drawing *d, const char *y)
{
    for (size_t i = 0; i < d->series.groups; i++)
        if (has_line(d, y, i)) write_series(to, d, y, i);
    const char *separator = "plot ";
    for (size_t i = 0; i < d->series.groups; i++) {
        if (!has_line(d, y, i)) continue;
        fprintf(to,
                "%s$s%zu using 1:2 with %s linewidth 2 linecolor rgb '%s' pointtype %d "
                "title ",
                separator, i, d->plot->points ? "points" : "linespoints",
                looks[d->look[i]].colour, looks[d->look[i]].mark);
        write_quoted(to, json_string_value(series_name(d, i)));
        separator = ", ";
    }
    fprintf(to, "\n");
}

static void write_script(FILE *to, const struct drawing *d, const char *title)
{
    const struct study_plot *plot = d->plot;
    write_layout(to, d);
    if (plot->below) fputs("set multiplot layout 2,1\n", to);
    fputs("set grid\nset title ", to);
    write_quoted(to, title);
    fputs(" noenhanced\n", to);
    write_axis(to, 'x', plot->x_label, plot->x_log, 2);
    write_axis(to, 'y', plot->y_label, plot->y_log, 10);
    write_picture(to, d, plot->y);
    if (!plot->below) return;
    fputs("unset title\nunset logscale y\nset format y\n", to);
    write_axis(to, 'y', plot->below_label, false, 10);
    write_picture(to, d, plot->below);
    fputs("unset multiplot\n", to);
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

static enum bitcut_status system_fault(const char *what, struct fault *f)
{
    return fault_set(f, BITCUT_CANNOT, "%s: %s", what, strerror(errno));
}

static _Noreturn void become_gnuplot(FILE *script, FILE *picture)
{
    const int null = open("/dev/null", O_WRONLY);
    if (null >= 0 && dup2(fileno(script), 0) >= 0 && dup2(fileno(picture), 1) >= 0 &&
        dup2(null, 2) >= 0)
        execlp("gnuplot", "gnuplot", "-d", (char *)NULL); /* nobody's settings */
    _exit(127);
}

/* gnuplot with `script` as standard input and `picture` as standard output: whether it
   was there and drew. */
static enum bitcut_status run_gnuplot(bool *drawn, FILE *script, FILE *picture,
                                      const struct progress *progress, struct fault *f)
{
    if (fflush(script) || ferror(script)) return system_fault("its script", f);
    rewind(script);
    const pid_t child = fork();
    if (child < 0) return system_fault("gnuplot", f);
    if (child == 0) become_gnuplot(script, picture);
    const int status = end_of(child, progress);
    *drawn = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return BITCUT_OK;
}

/* All of a file as text; NULL if it is empty. */
static enum bitcut_status read_all(char **text, FILE *from, struct fault *f)
{
    if (fseek(from, 0, SEEK_END) != 0) return system_fault("the picture", f);
    const long size = ftell(from);
    if (size <= 0) return BITCUT_OK;
    char *bytes = memory_allocate((size_t)size + 1, 1);
    if (!bytes)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the picture");
    rewind(from);
    if (fread(bytes, 1, (size_t)size, from) != (size_t)size) {
        free(bytes);
        return system_fault("the picture", f);
    }
    bytes[size] = 0;
    *text = bytes;
    return BITCUT_OK;
}

enum bitcut_status plot_svg(char **svg, const struct study_plot *plot, const char *title,
                            json_t *rows, const struct progress *progress,
                            struct fault *f)
{
    struct drawing d = { .plot = plot, .rows = rows };
    FILE *script = tmpfile(), *picture = tmpfile();
    enum bitcut_status status = BITCUT_OK;
    bool drawn = false;
    *svg = NULL;
    if (!script || !picture) status = system_fault("a temporary file", f);
    if (status == BITCUT_OK) {
        distinct_of(&d.series, rows, plot->series);
        d.look = distinct_array(d.series.groups, sizeof *d.look);
        choose_looks(d.look, &d);
        write_script(script, &d, title);
        status = run_gnuplot(&drawn, script, picture, progress, f);
    }
    if (drawn) status = read_all(svg, picture, f);
    free(d.look);
    distinct_clear(&d.series);
    if (script) fclose(script);
    if (picture) fclose(picture);
    return status;
}
