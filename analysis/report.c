#include "analysis/report.h"

#include "lib/decimal.h"
#include "lib/output.h"
#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MOST = 64 };

/* What marks a cell that is aligned to the right. */
#define NUMBER " class=\"number\""

/* --- values ----------------------------------------------------------------------- */

/* A value as text, in `number` if it is a number: reals to `digits` significant digits.
 */
static const char *cell_text(char number[NUMBER_MOST], const json_t *value, int digits)
{
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_boolean(value)) return json_is_true(value) ? "yes" : "no";
    number[0] = 0;
    if (json_is_real(value))
        snprintf(number, NUMBER_MOST, "%.*g", digits, json_real_value(value));
    else if (json_is_integer(value))
        snprintf(number, NUMBER_MOST, "%lld", (long long)json_integer_value(value));
    return number;
}

/* How a character of comma-separated values is written. */
typedef int write_character(int c, FILE *to);

static void write_all(FILE *to, write_character *write, const char *text)
{
    for (; *text; text++) write((unsigned char)*text, to);
}

/* Whether a spreadsheet would run it: a formula, and no number. */
static bool is_formula(const char *text)
{
    uint32_t unused;
    return *text && strchr("=+-@", *text) && !decimal_read(&unused, text);
}

/* In quotes, doubled inside, if it would break the column; a formula behind a ', which
   makes it text. */
static void write_csv_cell(FILE *to, write_character *write, const char *text)
{
    const char *quote = text[strcspn(text, ",\"")] ? "\"" : "";
    write_all(to, write, quote);
    if (is_formula(text)) write('\'', to);
    for (char shown[TEXT_BYTES]; text_next(shown, &text);) {
        if (*shown == '"') write('"', to);
        write_all(to, write, shown);
    }
    write_all(to, write, quote);
}

static void write_csv(FILE *to, write_character *write, json_t *rows)
{
    const char *key;
    json_t *value, *first = json_array_get(rows, 0);
    const char *separator = "";
    json_object_foreach(first, key, value)
    {
        write_all(to, write, separator);
        write_all(to, write, key);
        separator = ",";
    }
    write('\n', to);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        separator = "";
        json_object_foreach(first, key, value)
        {
            char number[NUMBER_MOST];
            json_t *cell = json_object_get(json_array_get(rows, i), key);
            write_all(to, write, separator);
            write_csv_cell(to, write, cell_text(number, cell, 17));
            separator = ",";
        }
        write('\n', to);
    }
}

enum bitcut_status report_write_csv(const char *path, json_t *rows, struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    write_csv(o.file, fputc, rows);
    return output_commit(&o, f);
}

/* --- HTML ------------------------------------------------------------------------- */

static void write_escaped(FILE *to, const char *text)
{
    for (char shown[TEXT_BYTES]; text_next(shown, &text);) {
        if (*shown == '&') fputs("&amp;", to);
        else if (*shown == '<') fputs("&lt;", to);
        else if (*shown == '>') fputs("&gt;", to);
        else if (*shown == '"') fputs("&quot;", to);
        else fputs(shown, to);
    }
}

static void write_cell(FILE *to, const json_t *value, const char *tag)
{
    char number[NUMBER_MOST];
    fprintf(to, "<%s%s>", tag, json_is_number(value) ? NUMBER : "");
    write_escaped(to, cell_text(number, value, 6));
    fprintf(to, "</%s>", tag);
}

/* Every row and column. */
static void write_table(FILE *to, json_t *rows)
{
    const char *key;
    json_t *value, *first = json_array_get(rows, 0);
    fputs("<div class=\"wide\"><table><thead><tr>", to);
    json_object_foreach(first, key, value)
    {
        fprintf(to, "<th%s>%s</th>", json_is_number(value) ? NUMBER : "", key);
    }
    fputs("</tr></thead><tbody>\n", to);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        fputs("<tr>", to);
        json_object_foreach(first, key, value)
        {
            write_cell(to, json_object_get(json_array_get(rows, i), key), "td");
        }
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
}

/* The rows of `rows` whose `key` differs from all before: its values in order. */
static json_t *distinct(json_t *rows, const char *key)
{
    json_t *values = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *value = json_object_get(json_array_get(rows, i), key);
        size_t at = 0;
        while (at < json_array_size(values) &&
               !json_equal(json_array_get(values, at), value))
            at++;
        if (at == json_array_size(values)) json_array_append(values, value);
    }
    return values;
}

/* The value of y where two keys have the given values, or NULL. */
static json_t *value_at(json_t *rows, const char *y, const char *down, const json_t *row,
                        const char *across, const json_t *column)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *at = json_array_get(rows, i);
        if (json_equal(json_object_get(at, down), row) &&
            json_equal(json_object_get(at, across), column))
            return json_object_get(at, y);
    }
    return NULL;
}

/* The values of y: a row for each value of `down`, a column for each of `across`. */
static void write_matrix(FILE *to, json_t *rows, const char *y, const char *down,
                         const char *across)
{
    json_t *lines = distinct(rows, down), *columns = distinct(rows, across);
    fprintf(to, "<div class=\"wide\"><table><thead><tr><th>%s</th>", down);
    for (size_t j = 0; j < json_array_size(columns); j++)
        write_cell(to, json_array_get(columns, j), "th");
    fputs("</tr></thead><tbody>\n", to);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        fputs("<tr>", to);
        write_cell(to, line, "td");
        for (size_t j = 0; j < json_array_size(columns); j++)
            write_cell(to,
                       value_at(rows, y, down, line, across, json_array_get(columns, j)),
                       "td");
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
    json_decref(lines);
    json_decref(columns);
}

/* The plotted values, x down or, if there are more of them, series. */
static void write_plotted(FILE *to, const struct study_plot *plot, json_t *rows)
{
    json_t *xs = distinct(rows, plot->x), *series = distinct(rows, plot->series);
    const bool long_names = json_array_size(series) > json_array_size(xs);
    const char *const down = long_names ? plot->series : plot->x;
    const char *const across = long_names ? plot->x : plot->series;
    if (plot->below) fprintf(to, "<p><code>%s</code>:</p>\n", plot->y);
    write_matrix(to, rows, plot->y, down, across);
    if (plot->below) {
        fprintf(to, "<p><code>%s</code>:</p>\n", plot->below);
        write_matrix(to, rows, plot->below, down, across);
    }
    json_decref(xs);
    json_decref(series);
}

/* As a part of a link. */
static int write_encoded(int c, FILE *to)
{
    return strchr("\n%#\"&<> ", c) ? fprintf(to, "%%%02X", (unsigned)c) : fputc(c, to);
}

/* A link that holds the data itself. */
static void write_data_link(FILE *to, const char *name, json_t *rows)
{
    fprintf(to, "<a download=\"%s.csv\" href=\"data:text/csv,", name);
    write_csv(to, write_encoded, rows);
    fprintf(to, "\">%s.csv</a>", name);
}

/* The picture without its XML prologue, which has no place inside HTML. */
static void write_svg(FILE *to, const char *svg)
{
    const char *start = strstr(svg, "<svg");
    if (start) fprintf(to, "<figure>%s</figure>\n", start);
}

/* Where the numbers come from, and the numbers. */
static void write_source(FILE *to, const struct section *s)
{
    fprintf(to, "<p>Numbers: <code>%s</code>", json_string_value(s->source));
    if (s->origin) {
        fputs(", recorded on ", to);
        write_escaped(to, json_string_value(s->origin));
    }
    if (s->rows) {
        fputs("; all of them as ", to);
        write_data_link(to, s->name, s->rows);
    }
    fputs("</p>\n", to);
}

static void write_section(FILE *to, const struct section *s)
{
    const struct study_plot *plot = s->plot;
    fprintf(to, "<section id=\"%s\"><h2>%s</h2>\n<p>", s->name, s->title);
    write_escaped(to, s->text);
    fputs("</p>\n", to);
    write_source(to, s);
    if (!s->rows) {
        fputs("<p><strong>Not finished.</strong></p></section>\n", to);
        return;
    }
    if (s->svg) write_svg(to, s->svg);
    else if (plot->y) fputs("<p>No figure: gnuplot is missing or failed.</p>\n", to);
    if (plot->y && !plot->points) write_plotted(to, plot, s->rows);
    else write_table(to, s->rows);
    fputs("</section>\n", to);
}

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>bitcut "
    "report</title>\n"
    "<style>\n"
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 "
    "1em; }\n"
    "h1, h2 { line-height: 1.2; } section { margin-top: 3em; }\n"
    "table { border-collapse: collapse; font-size: 14px; }\n"
    "th, td { border-bottom: 1px solid #ccc; padding: 0.2em 0.8em; text-align: left; }\n"
    ".number { text-align: right; font-variant-numeric: tabular-nums; }\n"
    ".wide { overflow-x: auto; } figure { margin: 1em 0; overflow-x: auto; }\n"
    "code { background: #f2f2f2; padding: 0.1em 0.3em; }\n"
    "</style></head><body>\n<h1>bitcut report</h1>\n";

static void write_page(FILE *to, const struct page *page)
{
    fputs(head, to);
    fprintf(to, "<p>Made by bitcut %s: <code>", bitcut_version());
    write_escaped(to, page->command);
    fputs(
        "</code>. Numbers are computed by bit-exact models of the matrix units, the "
        "evidence for each of which is in <code>bitcut list units</code>, but for those "
        "that a section says were recorded on a device. In tables they are rounded to "
        "six "
        "digits; the data hold all.</p>\n<ul>\n",
        to);
    for (const struct section *s = page->sections; s < page->sections + page->count; s++)
        fprintf(to, "<li><a href=\"#%s\">%s</a>: %s</li>\n", s->name, s->title, s->what);
    fputs("</ul>\n", to);
    for (size_t i = 0; i < page->count; i++) write_section(to, &page->sections[i]);
    fputs("</body></html>\n", to);
}

enum bitcut_status report_write_page(const char *path, const struct page *page,
                                     struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    write_page(o.file, page);
    return output_commit(&o, f);
}
