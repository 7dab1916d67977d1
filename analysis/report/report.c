/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/report.h"

#include "analysis/report/plot_data.h"
#include "analysis/study/distinct.h"
#include "lib/base/text.h"
#include "lib/io/decimal.h"
#include "lib/io/json_value.h"
#include "lib/io/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct report_outcome_row report_outcomes[REPORT_OUTCOMES] = {
    /* clang-format off */
    [REPORT_ACCEPTED]     = { "ACCEPTED",     "\u2713", "accepted" },
    [REPORT_REJECTED]     = { "REJECTED",     "\u2717", "rejected" },
    [REPORT_NOT_JUDGED]   = { "NOT JUDGED",   "?",      "open" },
    [REPORT_MEASURED]     = { "MEASURED",     "\u2022", "open" },
    [REPORT_NOT_MEASURED] = { "NOT MEASURED", "?",      "open" },
    [REPORT_NOT_FINISHED] = { "NOT FINISHED", "\u2026", "open" },
    /* clang-format on */
};

/* --- values ----------------------------------------------------------------------- */

const char *report_cell(char number[REPORT_CELL_MAX], const json_t *value, int digits)
{
    if (json_is_string(value)) return json_string_value(value);
    if (json_is_boolean(value)) return json_is_true(value) ? "yes" : "no";
    number[0] = 0;
    if (json_is_real(value))
        snprintf(number, REPORT_CELL_MAX, "%.*g", digits, json_real_value(value));
    else if (json_is_integer(value))
        snprintf(number, REPORT_CELL_MAX, "%lld", (long long)json_integer_value(value));
    return number;
}

/* --- sections --------------------------------------------------------------------- */

const struct section *report_section_next(const struct page *page, int chapter,
                                          const struct section *s)
{
    const struct section *const end = page->sections + page->count;
    s = s ? s + 1 : page->sections;
    while (s < end && (int)s->chapter != chapter) s++;
    return s < end ? s : NULL;
}

bool report_has_figure(const struct section *s)
{
    enum { POINTS_MIN = 4 };
    return s->plot->y && plot_count_points(s->plot, s->rows) >= POINTS_MIN;
}

bool report_shows_table(const struct section *s)
{
    enum { SHORT = 16 };
    return !report_has_figure(s) && json_array_size(s->rows) <= SHORT;
}

/* --- comma-separated values ------------------------------------------------------- */

/* Whether a spreadsheet would evaluate the text: a formula, and no number.  Some skip
   blanks before it, and control characters, for which "?" stands. */
static bool is_formula(const char *text)
{
    uint32_t unused;
    const char *const start = text + strspn(text, " \t\r\n");
    return *start && strchr("=+-@", *start) && !decimal_read(&unused, text);
}

/* In quotes, which are doubled inside, if it would break the column; a formula after a ',
   which makes it a text. */
static void write_csv_cell(FILE *to, const char *text)
{
    const char *quote = text[strcspn(text, ",;\"")] ? "\"" : "";
    fputs(quote, to);
    if (is_formula(text)) fputc('\'', to);
    for (char shown[TEXT_BYTES]; text_next(shown, &text);) {
        if (*shown == '"') fputc('"', to);
        fputs(shown, to);
    }
    fputs(quote, to);
}

static void write_csv(FILE *to, json_t *rows)
{
    const char *key;
    json_t *value, *first = json_array_get(rows, 0);
    const char *separator = "";
    json_object_foreach(first, key, value)
    {
        fputs(separator, to);
        write_csv_cell(to, key);
        separator = ",";
    }
    fputc('\n', to);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        separator = "";
        json_object_foreach(first, key, value)
        {
            char number[REPORT_CELL_MAX];
            json_t *cell = json_object_get(json_array_get(rows, i), key);
            fputs(separator, to);
            write_csv_cell(to, report_cell(number, cell, 17));
            separator = ",";
        }
        fputc('\n', to);
    }
}

enum bitcut_status report_write_csv(const char *path, json_t *rows, struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    write_csv(o.file, rows);
    return output_commit(&o, f);
}

/* --- JSON ------------------------------------------------------------------------- */

static void write_rows(FILE *to, json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        fputs(i ? ",\n" : "\n", to);
        json_put_row(to, json_array_get(rows, i));
    }
}

enum bitcut_status report_write_json(const char *path, const struct section *s,
                                     struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    json_t *head = json_pack("{s:s, s:s, s:s, s:s?, s:O?, s:s?, s:O?, s:O?}", "name",
                             s->name, "title", s->title, "what", s->what, "sees",
                             s->plot->sees, "provenance", s->provenance, "scale",
                             s->scale, "recorded", s->recorded, "verdicts", s->verdicts);
    char *text = json_dumps(head, JSON_COMPACT);
    text[strlen(text) - 1] = 0; /* without the closing brace */
    json_put(o.file, text);
    fputs(",\"rows\":[", o.file);
    write_rows(o.file, s->rows);
    fputs("\n]}\n", o.file);
    free(text);
    json_decref(head);
    return output_commit(&o, f);
}

/* --- captions --------------------------------------------------------------------- */

/* The meaning of bars; empty if there are none. */
static json_t *bars_of(const struct section *s)
{
    const struct study_plot *plot = s->plot;
    struct distinct d;
    if (plot->low) return json_string(plot->bars);
    if (!plot->spread) return json_string("");
    distinct_of(&d, s->rows, plot->spread);
    json_t *bars = json_sprintf("Marks are medians of %zu seeds; bars reach from the "
                                "least to the largest.",
                                d.groups);
    distinct_clear(&d);
    return bars;
}

json_t *report_caption(const struct section *s)
{
    const char *sees = s->plot->sees ? s->plot->sees : "";
    if (!s->picture[PLOT_SVG].bytes) return json_string(sees);
    json_t *bars = bars_of(s);
    const bool both = *sees && json_string_length(bars);
    json_t *caption =
        json_sprintf("%s%s%s", sees, both ? " " : "", json_string_value(bars));
    json_decref(bars);
    return caption;
}

/* --- the whole -------------------------------------------------------------------- */

enum bitcut_status report_write(const char *path, report_form *form,
                                const struct page *page, struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    form(o.file, page);
    return output_commit(&o, f);
}
