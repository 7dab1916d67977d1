#include "analysis/study/provenance.h"

#include "analysis/study/distinct.h"
#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What marks a cell that is aligned to the right. */
#define NUMBER " class=\"number\""

/* --- texts and tables -----------------------------------------------------------------
 */

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
    char number[REPORT_CELL_MOST];
    fprintf(to, "<%s%s>", tag, json_is_number(value) ? NUMBER : "");
    write_escaped(to, report_cell(number, value, 6));
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

/* False if most of them would be empty, or one has several values. */
static bool cells_init(struct cells *c, json_t *rows, const char *y, const char *down,
                       const char *across)
{
    enum { CELLS_A_ROW = 16 };
    bool one = true;
    *c = (struct cells){ .key_down = down, .key_across = across };
    distinct_of(&c->down, rows, down);
    distinct_of(&c->across, rows, across);
    if (c->down.groups * c->across.groups <= CELLS_A_ROW * c->down.rows)
        c->value = distinct_array(c->down.groups * c->across.groups, sizeof(json_t *));
    for (size_t i = 0; i < c->down.rows && c->value; i++) {
        json_t **value =
            &c->value[c->down.group[i] * c->across.groups + c->across.group[i]];
        json_t *const own = json_object_get(json_array_get(rows, i), y);
        one &= !*value || json_equal(*value, own);
        *value = own;
    }
    if (c->value && one) return true;
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
    report_csv(to, write_encoded, rows);
    fprintf(to, "\">%s.csv</a>", name);
}

/* The picture without its XML prologue, which has no place inside HTML. */
static void write_svg(FILE *to, const char *svg)
{
    const char *start = strstr(svg, "<svg");
    if (start) fprintf(to, "<div class=\"picture\">%s</div>\n", start);
}

/* Text in an element, which is released. */
static void write_element(FILE *to, const char *start, json_t *text, const char *end)
{
    if (json_string_length(text)) {
        fputs(start, to);
        write_escaped(to, json_string_value(text));
        fputs(end, to);
    }
    json_decref(text);
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
    fprintf(to, ", beside this page as <code>%s.json</code>%s</p>\n", s->name,
            s->picture[PLOT_PDF].bytes ? ", the figure as PDF" : "");
    write_element(to, "<p class=\"provenance\">", report_kept(s), "</p>\n");
    write_element(to, "<p class=\"provenance\">Made by: ", provenance_line(s), "</p>\n");
}

/* --- verdicts -------------------------------------------------------------------------
 */

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* To four digits, or a dash. */
static void write_short(FILE *to, const json_t *row, const char *key)
{
    char number[REPORT_CELL_MOST];
    const char *text = report_cell(number, json_object_get(row, key), 4);
    write_escaped(to, *text ? text : "-");
}

static void write_text_cell(FILE *to, const json_t *row, const char *key)
{
    fputs("<td>", to);
    write_escaped(to, text_of(row, key));
    fputs("</td>", to);
}

/* What rows say of a claim: the verdict and, below it, the number; `unlike` is the
   verdict of the small sizes if that is another, or NULL. */
static void write_finding(FILE *to, const json_t *finding, const char *sizes,
                          const json_t *unlike)
{
    const char *verdict = text_of(finding, "verdict");
    fprintf(to, "<td%s data-sizes=\"%s: \"><span class=\"%s\">%s</span>",
            unlike ? " class=\"changed\"" : "", sizes, verdict, verdict);
    if (unlike) fprintf(to, " <em>(small: %s)</em>", text_of(unlike, "verdict"));
    if (!json_is_null(json_object_get(finding, "ours"))) {
        fputs("<br>", to);
        write_short(to, finding, "ours");
    }
    fputs("</td>", to);
}

static void write_reason(FILE *to, const json_t *verdict)
{
    struct report_reasons r;
    report_reasons(&r, verdict);
    fputs("<td>", to);
    if (*r.own) fputs("<em>small:</em> ", to);
    write_escaped(to, r.own);
    if (*r.kept) fputs("<br><em>paper:</em> ", to);
    write_escaped(to, r.kept);
    if (*r.own && *r.both) fputs("<br><em>both:</em> ", to);
    write_escaped(to, r.both);
    fputs("</td>", to);
}

/* With what kept rows say, if there is a column of it. */
static void write_verdict(FILE *to, const json_t *row, bool column)
{
    const json_t *kept = json_object_get(row, "kept");
    fprintf(to, "<tr><td><a href=\"#%s\">", text_of(row, "study"));
    write_escaped(to, text_of(row, "claim"));
    fputs("</a></td>", to);
    write_text_cell(to, row, "paper");
    fputs("<td data-sizes=\"printed: \">", to);
    write_short(to, row, "printed");
    fputs("</td>", to);
    write_finding(to, row, column ? "small sizes" : "found", NULL);
    if (json_is_object(kept))
        write_finding(to, kept, "sizes of papers", report_changes(row) ? row : NULL);
    else if (column) fputs("<td data-sizes=\"sizes of papers: \">-</td>", to);
    write_reason(to, row);
    fputs("</tr>\n", to);
}

static void write_verdicts(FILE *to, json_t *rows)
{
    const bool column = report_has_kept(rows);
    fprintf(to,
            "<table class=\"verdicts\"><thead><tr><th class=\"claim\">claim</th>"
            "<th class=\"paper\">paper</th><th>printed</th>%s<th class=\"reason\">reason"
            "</th></tr></thead><tbody>\n",
            column ? "<th>small sizes</th><th>sizes of papers</th>" : "<th>found</th>");
    for (size_t i = 0; i < json_array_size(rows); i++)
        write_verdict(to, json_array_get(rows, i), column);
    fputs("</tbody></table>\n", to);
}

/* --- lines ----------------------------------------------------------------------------
 */

/* Two texts of each row, the first as its heading. */
static void write_lines(FILE *to, json_t *rows, const char *head, const char *text)
{
    if (!json_array_size(rows)) return;
    fputs("<table class=\"lines\"><tbody>\n", to);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        fputs("<tr><th>", to);
        write_escaped(to, text_of(row, head));
        fputs("</th>", to);
        write_text_cell(to, row, text);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
}

/* --- the page -------------------------------------------------------------------------
 */

static void write_figure(FILE *to, const struct section *s)
{
    const struct study_plot *plot = s->plot;
    fputs("<figure>\n", to);
    if (s->picture[PLOT_SVG].bytes) write_svg(to, s->picture[PLOT_SVG].bytes);
    else if (plot->y) fputs("<p>No figure: gnuplot is missing or failed.</p>\n", to);
    write_element(to, "<figcaption>", report_caption(s), "</figcaption>\n");
    fputs("</figure>\n", to);
}

/* Folded, as all of it is in the data. */
static void write_numbers(FILE *to, const struct section *s)
{
    const struct study_plot *plot = s->plot;
    fprintf(to, "<details%s><summary>Table of %zu rows</summary>\n",
            report_shows_table(s) ? " open" : "", json_array_size(s->rows));
    if (plot->y && !plot->points) write_plotted(to, plot, s->rows);
    else write_table(to, s->rows);
    fputs("</details>\n", to);
}

static void write_section(FILE *to, const struct section *s)
{
    fprintf(to, "<section id=\"%s\"><div class=\"whole\"><h3>%s</h3>\n<p>", s->name,
            s->title);
    write_escaped(to, s->text);
    fputs("</p>\n", to);
    if (!s->rows) {
        fputs("<p><strong>Not finished.</strong></p></div></section>\n", to);
        return;
    }
    write_lines(to, s->says, "what", "says");
    write_figure(to, s);
    fputs("</div>\n", to);
    if (json_array_size(s->verdicts)) write_verdicts(to, s->verdicts);
    write_source(to, s);
    write_numbers(to, s);
    fputs("</section>\n", to);
}

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --line: #ccc; --code: #f2f2f2; --soft: #555; "
    "--mark: #ffe8a3; }\n"
    "@media (prefers-color-scheme: dark) { :root { --line: #555; --code: #2a2a2a; "
    "--soft: #aaa; --mark: #5c4700; } }\n"
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 "
    "1em; overflow-wrap: break-word; }\n"
    "h1, h2, h3 { line-height: 1.2; } section { margin-top: 3em; }\n"
    "h2 { margin-top: 3em; border-bottom: 2px solid var(--line); }\n"
    "table { border-collapse: collapse; font-size: 14px; }\n"
    "th, td { border-bottom: 1px solid var(--line); padding: 0.2em 0.8em; text-align: "
    "left; vertical-align: top; }\n"
    ".number { text-align: right; font-variant-numeric: tabular-nums; }\n"
    ".verdicts { width: 100%; table-layout: fixed; font-size: 13px; margin: 2em 0; }\n"
    ".verdicts th, .verdicts td { padding: 0.2em 0.4em; }\n"
    ".verdicts th { width: 10%; } .verdicts .claim { width: 22%; }\n"
    ".verdicts .paper { width: 14%; } .verdicts .reason { width: 34%; }\n"
    ".agrees::before { content: \"\\2713 \"; } .differs::before { content: \"\\2260 "
    "\"; } .cannot::before { content: \"? \"; }\n"
    ".differs { font-weight: bold; } .changed { background: var(--mark); }\n"
    ".lines td, .verdicts td, code { overflow-wrap: anywhere; }\n"
    ".wide { overflow-x: auto; } figure { margin: 1em 0; }\n"
    ".picture svg { max-width: 100%; height: auto; }\n"
    "figcaption { font-style: italic; } .provenance { font-size: 12px; color: "
    "var(--soft); "
    "}\n"
    "@media (prefers-color-scheme: dark) { .picture svg { filter: brightness(0.82); "
    "border-radius: 6px; } }\n"
    "code { background: var(--code); padding: 0.1em 0.3em; }\n"
    "@media (max-width: 40em) { .verdicts, .verdicts tbody, .verdicts tr, .verdicts td { "
    "display: block; } .verdicts thead { display: none; } .verdicts td { border: 0; "
    "padding: 0; } .verdicts tr { border-bottom: 1px solid var(--line); padding: 0.5em "
    "0; } .verdicts td[data-sizes]::before { content: attr(data-sizes); } }\n"
    "@page { size: A4; margin: 15mm; }\n"
    "@media print { body { max-width: none; margin: 0; font-size: 11px; } table { "
    "font-size: 10px; } details:not([open]) { "
    "display: none; } h1, h2, h3 { break-after: avoid; } .whole, figure, tr, details { "
    "break-inside: avoid; } summary { break-after: avoid; } .wide { overflow: visible; "
    "} .picture svg { max-height: 17cm; filter: none; } "
    ".verdicts, .provenance { font-size: 9px; } }\n"
    "</style>\n";

static void write_answers(FILE *to, const struct page *page)
{
    if (!json_array_size(page->answers)) return;
    fputs("<h2 id=\"answers\">Answers</h2>\n", to);
    write_lines(to, page->answers, "question", "answer");
}

/* What was tested, by whose models, and what became of it. */
static void write_claims(FILE *to, const struct page *page)
{
    size_t counts[VERDICTS];
    json_t *all = report_verdicts(page), *units = report_units(all),
           *scales = report_scales(all);
    report_count_verdicts(counts, all);
    if (json_array_size(all)) {
        fprintf(to,
                "<h2 id=\"verdicts\">What was tested</h2>\n<p>%zu claims of papers and "
                "makers, each beside numbers that were computed or recorded for it: "
                "<strong>%zu agree, %zu differ</strong>, and of %zu nothing can be said "
                "without the hardware or detail that is named.</p>\n",
                json_array_size(all), counts[VERDICT_AGREES], counts[VERDICT_DIFFERS],
                counts[VERDICT_CANNOT]);
        write_element(to, "<p>", report_about_scales(all), "</p>\n");
        if (json_array_size(scales)) write_table(to, scales);
        write_element(to, "<p>", report_all_changes(all), "</p>\n");
        fputs("<p>Claims are of these units, whose models have this evidence:</p>\n", to);
        fputs("<div class=\"lines\">", to); /* names of units break on a phone */
        write_table(to, units);
        fputs("</div>\n", to);
        write_verdicts(to, all);
    }
    json_decref(units);
    json_decref(all);
    json_decref(scales);
}

static void write_contents(FILE *to, const struct page *page)
{
    fputs("<h2>Chapters</h2>\n<ul>\n", to);
    for (int chapter = 0; page->chapters[chapter].name; chapter++) {
        const struct section *s = report_section_next(page, chapter, NULL);
        if (!s) continue;
        fprintf(to, "<li><a href=\"#chapter-%s\">%s</a>\n<ul>\n",
                page->chapters[chapter].name, page->chapters[chapter].what);
        for (; s; s = report_section_next(page, chapter, s))
            fprintf(to, "<li><a href=\"#%s\">%s</a>: %s</li>\n", s->name, s->title,
                    s->what);
        fputs("</ul></li>\n", to);
    }
    fputs("</ul>\n", to);
}

void report_html(FILE *to, const struct page *page)
{
    fprintf(to, "%s<title>%s</title></head><body>\n<h1>%s</h1>\n", head, page->title,
            page->title);
    fprintf(to, "<p>Made by bitcut %s: <code>", bitcut_version());
    write_escaped(to, page->command);
    fprintf(to, "</code>. %s</p>\n", page->about);
    write_answers(to, page);
    write_claims(to, page);
    write_contents(to, page);
    for (int chapter = 0; page->chapters[chapter].name; chapter++) {
        const struct section *s = report_section_next(page, chapter, NULL);
        if (!s) continue;
        fprintf(to, "<h2 id=\"chapter-%s\">%s</h2>\n", page->chapters[chapter].name,
                page->chapters[chapter].what);
        for (; s; s = report_section_next(page, chapter, s)) write_section(to, s);
    }
    fputs("</body></html>\n", to);
}
