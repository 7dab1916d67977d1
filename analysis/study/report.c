#include "analysis/study/report.h"

#include "analysis/study/distinct.h"
#include "lib/file/decimal.h"
#include "lib/file/output.h"
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

/* The values of a key of `rows`, each once, as cells. */
static void write_heads(FILE *to, const struct distinct *d, json_t *rows, const char *key)
{
    for (size_t i = 0; i < d->groups; i++)
        write_cell(to, json_object_get(json_array_get(rows, d->first[i]), key), "th");
}

/* The values of a plot, with a row for each value of a key down and a column for each of
   one across. */
struct cells {
    const char *key_down, *key_across;
    struct distinct down, across;
    json_t **value; /* [down.groups][across.groups]; NULL: there is none */
};

static void cells_clear(struct cells *c)
{
    free(c->value);
    distinct_clear(&c->across);
    distinct_clear(&c->down);
}

/* False if most of them would be empty. */
static bool cells_init(struct cells *c, json_t *rows, const char *y, const char *down,
                       const char *across)
{
    enum { CELLS_A_ROW = 16 };
    *c = (struct cells){ .key_down = down, .key_across = across };
    distinct_of(&c->down, rows, down);
    distinct_of(&c->across, rows, across);
    if (c->down.groups * c->across.groups <= CELLS_A_ROW * c->down.rows)
        c->value = distinct_array(c->down.groups * c->across.groups, sizeof(json_t *));
    for (size_t i = 0; i < c->down.rows && c->value; i++) {
        json_t **value =
            &c->value[c->down.group[i] * c->across.groups + c->across.group[i]];
        if (!*value) *value = json_object_get(json_array_get(rows, i), y);
    }
    if (c->value) return true;
    cells_clear(c);
    return false;
}

static void write_matrix(FILE *to, const struct cells *c, json_t *rows)
{
    fprintf(to, "<div class=\"wide\"><table><thead><tr><th>%s</th>", c->key_down);
    write_heads(to, &c->across, rows, c->key_across);
    fputs("</tr></thead><tbody>\n", to);
    for (size_t i = 0; i < c->down.groups; i++) {
        fputs("<tr>", to);
        write_cell(to,
                   json_object_get(json_array_get(rows, c->down.first[i]), c->key_down),
                   "td");
        for (size_t j = 0; j < c->across.groups; j++)
            write_cell(to, c->value[i * c->across.groups + j], "td");
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
}

/* The values of y, x down or, if there are more of them, series; all rows where that
   would be nearly empty. */
static void write_values(FILE *to, const struct study_plot *plot, json_t *rows,
                         const char *y)
{
    struct cells c;
    bool good = cells_init(&c, rows, y, plot->x, plot->series);
    if (good && c.across.groups > c.down.groups) {
        cells_clear(&c);
        good = cells_init(&c, rows, y, plot->series, plot->x);
    }
    if (good) write_matrix(to, &c, rows);
    else write_table(to, rows);
    if (good) cells_clear(&c);
}

/* The plotted values. */
static void write_plotted(FILE *to, const struct study_plot *plot, json_t *rows)
{
    if (plot->below) fprintf(to, "<p><code>%s</code>:</p>\n", plot->y);
    write_values(to, plot, rows, plot->y);
    if (!plot->below) return;
    fprintf(to, "<p><code>%s</code>:</p>\n", plot->below);
    write_values(to, plot, rows, plot->below);
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
