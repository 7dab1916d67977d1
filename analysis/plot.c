#define _POSIX_C_SOURCE 200809L

#include "analysis/plot.h"

#include "lib/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the script ------------------------------------------------------------------- */

static bool seen_before(json_t *rows, size_t at, const char *key)
{
    for (size_t i = 0; i < at; i++)
        if (json_equal(json_object_get(json_array_get(rows, i), key),
                       json_object_get(json_array_get(rows, at), key)))
            return true;
    return false;
}

static void write_axis(FILE *to, char axis, const char *label, bool log, int base)
{
    fprintf(to, "set %clabel '%s'\n", axis, label);
    if (!log) return;
    fprintf(to, "set logscale %c %d\nset format %c '%d^{%%L}'\n", axis, base, axis, base);
}

/* Whether the series of row `at` has a value of y. */
static bool has_values(const struct study_plot *plot, const char *y, json_t *rows,
                       size_t at)
{
    json_t *series = json_object_get(json_array_get(rows, at), plot->series);
    for (size_t i = at; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (json_equal(series, json_object_get(row, plot->series)) &&
            json_is_number(json_object_get(row, y)))
            return true;
    }
    return false;
}

/* Whether a line begins at row `at`. */
static bool begins_line(const struct study_plot *plot, const char *y, json_t *rows,
                        size_t at)
{
    return !seen_before(rows, at, plot->series) && has_values(plot, y, rows, at);
}

/* The points of one series as a here-document $s<at>. */
static void write_series(FILE *to, const struct study_plot *plot, const char *y,
                         json_t *rows, size_t at)
{
    json_t *series = json_object_get(json_array_get(rows, at), plot->series);
    fprintf(to, "$s%zu << END\n", at);
    for (size_t i = at; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const json_t *value = json_object_get(row, y);
        if (json_equal(series, json_object_get(row, plot->series)) &&
            json_is_number(value))
            fprintf(to, "%.17g %.17g\n", json_number_value(json_object_get(row, plot->x)),
                    json_number_value(value));
    }
    fprintf(to, "END\n");
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

static int larger(int a, int b) { return a > b ? a : b; }

/* The picture's size and its key: beside the axes, or below if the names of series are
   long. */
static void write_layout(FILE *to, const struct study_plot *plot, json_t *rows)
{
    enum { WIDTH = 860, HEIGHT = 480, LINE = 22, LONG = 24 };
    int count = 0, longest = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (seen_before(rows, i, plot->series)) continue;
        const json_t *name = json_object_get(json_array_get(rows, i), plot->series);
        longest = larger(longest, (int)json_string_length(name));
        count++;
    }
    const bool below = longest > LONG;
    fprintf(to,
            "set terminal svg enhanced size %d,%d font 'sans-serif,14' "
            "background 'white'\nset key %s noenhanced\n",
            WIDTH, (HEIGHT + (below ? LINE * (count + 1) : 0)) * (plot->below ? 2 : 1),
            below ? "bmargin left Left reverse maxcols 1 title ' '"
                  : "outside right top");
}

/* One picture: y of every series. */
static void write_picture(FILE *to, const struct study_plot *plot, const char *y,
                          json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (begins_line(plot, y, rows, i)) write_series(to, plot, y, rows, i);
    const char *separator = "plot ";
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (!begins_line(plot, y, rows, i)) continue;
        fprintf(to, "%s$s%zu using 1:2 with %s linewidth 2 title ", separator, i,
                plot->points ? "points" : "linespoints");
        write_quoted(to, json_string_value(
                             json_object_get(json_array_get(rows, i), plot->series)));
        separator = ", ";
    }
    fprintf(to, "\n");
}

static void write_script(FILE *to, const struct study_plot *plot, const char *title,
                         json_t *rows)
{
    write_layout(to, plot, rows);
    if (plot->below) fputs("set multiplot layout 2,1\n", to);
    fputs("set grid\nset title ", to);
    write_quoted(to, title);
    fputs(" noenhanced\n", to);
    write_axis(to, 'x', plot->x_label, plot->x_log, 2);
    write_axis(to, 'y', plot->y_label, plot->y_log, 10);
    write_picture(to, plot, plot->y, rows);
    if (!plot->below) return;
    fputs("unset title\nunset logscale y\nset format y\n", to);
    write_axis(to, 'y', plot->below_label, false, 10);
    write_picture(to, plot, plot->below, rows);
    fputs("unset multiplot\n", to);
}

/* --- the program ------------------------------------------------------------------ */

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

/* gnuplot with `script` as standard input and `picture` as standard output: whether it was
   there and drew. */
static enum bitcut_status run_gnuplot(bool *drawn, FILE *script, FILE *picture,
                                      struct fault *f)
{
    if (fflush(script) || ferror(script)) return system_fault("its script", f);
    rewind(script);
    const pid_t child = fork();
    if (child < 0) return system_fault("gnuplot", f);
    if (child == 0) become_gnuplot(script, picture);
    int status;
    *drawn = waitpid(child, &status, 0) == child && WIFEXITED(status) &&
             WEXITSTATUS(status) == 0;
    return BITCUT_OK;
}

/* All of a file as text; NULL if it is empty. */
static enum bitcut_status read_all(char **text, FILE *from, struct fault *f)
{
    if (fseek(from, 0, SEEK_END) != 0) return system_fault("the picture", f);
    const long size = ftell(from);
    if (size <= 0) return BITCUT_OK;
    char *bytes = memory_allocate((size_t)size + 1, 1);
    if (!bytes) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the picture");
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
                            json_t *rows, struct fault *f)
{
    FILE *script = tmpfile(), *picture = tmpfile();
    enum bitcut_status status = BITCUT_OK;
    bool drawn = false;
    *svg = NULL;
    if (!script || !picture) status = system_fault("a temporary file", f);
    if (status == BITCUT_OK) {
        write_script(script, plot, title, rows);
        status = run_gnuplot(&drawn, script, picture, f);
    }
    if (drawn) status = read_all(svg, picture, f);
    if (script) fclose(script);
    if (picture) fclose(picture);
    return status;
}
