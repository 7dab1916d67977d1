/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/report_finding.h"
#include "analysis/report/provenance.h"
#include "analysis/report/report_style.h"
#include "analysis/report/svg.h"

#include "analysis/study/claim.h"
#include "analysis/study/distinct.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts and tables ------------------------------------------------------------- */

/* A character of a text, also inside the quotes of an attribute. */
static void write_escaped(FILE *to, const char *shown)
{
    static const char *const names[] = { "&&amp;", "<&lt;", ">&gt;", "\"&quot;",
                                         "'&#39;" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (*shown == names[i][0]) shown = names[i] + 1;
    fputs(shown, to);
}

/* Only the format is markup: arguments are texts, whatever they contain. */
static void html(FILE *to, const char *format, ...) TEXT_FORMAT(2);
static void html(FILE *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_print_list(to, write_escaped, format, list);
    va_end(list);
}

static void write_cell(FILE *to, const json_t *value, const char *tag)
{
    char number[REPORT_CELL_MAX];
    const char *text = report_cell(number, value, 6);
    if (json_is_number(value)) html(to, "<%s class=\"number\">%s</%s>", tag, text, tag);
    else html(to, "<%s>%s</%s>", tag, text, tag);
}

/* The first rows of a long table: the data files have the others. */
static size_t shown_of(size_t rows)
{
    enum { ROWS_MAX = 64 };
    return rows < ROWS_MAX ? rows : ROWS_MAX;
}

/* The end of a table, with the number of rows that it does not show. */
static void end_table(FILE *to, size_t rows)
{
    html(to, "</tbody></table></div>\n");
    if (shown_of(rows) < rows)
        html(to, "<p>The data files contain the other %zu rows of this table.</p>\n",
             rows - shown_of(rows));
}

/* Every column. */
static void write_table(FILE *to, json_t *rows)
{
    const char *key;
    json_t *value, *first = json_array_get(rows, 0);
    html(to, "<div class=\"wide\"><table><thead><tr>");
    json_object_foreach(first, key, value)
    {
        html(to, json_is_number(value) ? "<th class=\"number\">%s</th>" : "<th>%s</th>",
             key);
    }
    html(to, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < shown_of(json_array_size(rows)); i++) {
        html(to, "<tr>");
        json_object_foreach(first, key, value)
        {
            write_cell(to, json_object_get(json_array_get(rows, i), key), "td");
        }
        html(to, "</tr>\n");
    }
    end_table(to, json_array_size(rows));
}

/* The values of a key of `rows`, each once, as cells. */
static void write_heads(FILE *to, const struct distinct *d, json_t *rows, const char *key)
{
    for (size_t i = 0; i < d->groups; i++)
        write_cell(to, json_object_get(json_array_get(rows, d->first[i]), key), "th");
}

/* The values of a plot, with a row for each value of one key and a column for each value
   of another. */
struct cells {
    const char *key_down, *key_across;
    struct distinct down, across;
    json_t **value; /* [down.groups][across.groups]; NULL: missing */
};

static void cells_clear(struct cells *c)
{
    free(c->value);
    distinct_clear(&c->across);
    distinct_clear(&c->down);
}

/* Returns false if most cells would be empty, or one cell has several values. */
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
    html(to, "<div class=\"wide\"><table><thead><tr><th>%s</th>", c->key_down);
    write_heads(to, &c->across, rows, c->key_across);
    html(to, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < shown_of(c->down.groups); i++) {
        html(to, "<tr>");
        write_cell(to,
                   json_object_get(json_array_get(rows, c->down.first[i]), c->key_down),
                   "td");
        for (size_t j = 0; j < c->across.groups; j++)
            write_cell(to, c->value[i * c->across.groups + j], "td");
        html(to, "</tr>\n");
    }
    end_table(to, c->down.groups);
}

/* The values of y, with rows by x or, if there are more of them, by series; all rows if
   such a table would be nearly empty. */
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
    if (plot->below) html(to, "<p><code>%s</code>:</p>\n", plot->y);
    write_values(to, plot, rows, plot->y);
    if (!plot->below) return;
    html(to, "<p><code>%s</code>:</p>\n", plot->below);
    write_values(to, plot, rows, plot->below);
}

/* The picture never becomes so narrow that its smallest letters, exponents of 9.6 px,
   have less than 9 px: on a phone it scrolls. */
static void write_picture(FILE *to, const char *svg)
{
    html(to, "<div class=\"picture\" style=\"--least: %dpx\">",
         (svg_width(svg) * 15 + 15) / 16);
    svg_write(to, svg);
    html(to, "</div>\n");
}

/* A text, which is released, in the element `format`; nothing if it is empty. */
static void write_element(FILE *to, const char *format, json_t *text)
{
    if (json_string_length(text)) html(to, format, json_string_value(text));
    json_decref(text);
}

/* The origin of the numbers, and the numbers. */
static void write_source(FILE *to, const struct section *s)
{
    html(to, "<p>Numbers: <code>%s</code>", json_string_value(s->source));
    if (s->origin) html(to, ", recorded on %s", json_string_value(s->origin));
    html(to,
         "; full data: <a href=\"%s.csv\">%s.csv</a> and <a href=\"%s.json\">%s.json</a>",
         s->name, s->name, s->name, s->name);
    if (s->picture[PLOT_PDF].bytes)
        html(to, ", the figure as <a href=\"%s.pdf\">PDF</a>", s->name);
    html(to, "</p>\n");
    write_element(to, "<p class=\"provenance\">%s</p>\n", report_recorded(s));
    write_element(to, "<p class=\"provenance\">Made by: %s</p>\n", provenance_line(s));
}

enum { KEY_MAX = 160 }; /* of a filter */

/* --- verdicts --------------------------------------------------------------------- */

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* To four digits, or a dash. */
static void write_short(FILE *to, const json_t *row, const char *key)
{
    char number[REPORT_CELL_MAX];
    const char *text = report_cell(number, json_object_get(row, key), 4);
    html(to, "%s", *text ? text : "-");
}

static void write_text_cell(FILE *to, const json_t *row, const char *key)
{
    html(to, "<td>%s</td>", text_of(row, key));
}

/* The verdict of rows on a claim and, below it, the number.  `unlike` is the verdict of
   the small sizes if it is another, or NULL. */
static void write_found(FILE *to, const json_t *finding, const char *sizes,
                        const json_t *unlike)
{
    const char *verdict = text_of(finding, "verdict");
    html(to,
         unlike ? "<td class=\"changed\" data-sizes=\"%s: \">"
                : "<td data-sizes=\"%s: \">",
         sizes);
    html(to, "<span class=\"%s\">%s</span>", verdict, verdict_label(verdict));
    if (unlike)
        html(to, " <em>(small: %s)</em>", verdict_label(text_of(unlike, "verdict")));
    if (!json_is_null(json_object_get(finding, "ours"))) {
        html(to, "<br>");
        write_short(to, finding, "ours");
    }
    html(to, "</td>");
}

static void write_reason(FILE *to, const json_t *verdict)
{
    struct report_reasons r;
    report_reasons(&r, verdict);
    html(to, *r.own ? "<td><em>small:</em> %s" : "<td>%s", r.own);
    if (*r.recorded) html(to, "<br><em>paper:</em> %s", r.recorded);
    html(to, *r.own && *r.both ? "<br><em>both:</em> %s</td>" : "%s</td>", r.both);
}

/* The values for filters: the paper without the place in it; the verdict; the unit, or
   the measured device, which is a chip's name in capitals. */
static void write_keys(FILE *to, const json_t *row)
{
    const char *const paper = text_of(row, "paper"), *const unit = text_of(row, "unit"),
                      *const device = text_of(row, "device");
    char whose[KEY_MAX], chip[KEY_MAX];
    snprintf(whose, sizeof whose, "%.*s", (int)strcspn(paper, ","), paper);
    snprintf(chip, sizeof chip, "%s", unit ? unit : device ? device : "none");
    for (char *c = chip; *c; c++) *c = (char)tolower((unsigned char)*c);
    html(to, " data-paper=\"%s\" data-verdict=\"%s\" data-unit=\"%s\"", whose,
         verdict_label(text_of(row, "verdict")), chip);
}

/* With the verdict by stored rows, if there is a column for it. */
static void write_verdict(FILE *to, const json_t *row, bool column)
{
    const json_t *recorded = json_object_get(row, "recorded");
    html(to, "<tr");
    write_keys(to, row);
    html(to, "><td><a href=\"#%s\">%s</a></td>", text_of(row, "study"),
         text_of(row, "claim"));
    write_text_cell(to, row, "paper");
    html(to, "<td data-sizes=\"printed: \">");
    write_short(to, row, "printed");
    html(to, "</td>");
    write_found(to, row, column ? "small sizes" : "found", NULL);
    if (json_is_object(recorded))
        write_found(to, recorded, "sizes of papers", report_changes(row) ? row : NULL);
    else if (column) html(to, "<td data-sizes=\"sizes of papers: \">-</td>");
    write_reason(to, row);
    html(to, "</tr>\n");
}

static void write_verdicts(FILE *to, json_t *rows)
{
    const bool column = report_has_recorded(rows);
    html(to, "<table class=\"verdicts\"><thead><tr><th class=\"claim\">claim</th>"
             "<th class=\"paper\">paper</th><th>printed</th>");
    html(to, column ? "<th>small sizes</th><th>sizes of papers</th>" : "<th>found</th>");
    html(to, "<th class=\"reason\">reason</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(rows); i++)
        write_verdict(to, json_array_get(rows, i), column);
    html(to, "</tbody></table>\n");
}

/* --- lines ------------------------------------------------------------------------ */

/* Two texts of each row, the first as its heading. */
static void write_lines(FILE *to, json_t *rows, const char *head, const char *text)
{
    if (!json_array_size(rows)) return;
    html(to, "<table class=\"lines\"><tbody>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        html(to, "<tr><th>%s</th>", text_of(row, head));
        write_text_cell(to, row, text);
        html(to, "</tr>\n");
    }
    html(to, "</tbody></table>\n");
}

/* --- the page --------------------------------------------------------------------- */

static void write_figure(FILE *to, const struct section *s)
{
    html(to, "<figure>\n");
    if (s->picture[PLOT_SVG].bytes) write_picture(to, s->picture[PLOT_SVG].bytes);
    else if (report_has_figure(s))
        html(to, "<p>No figure: gnuplot is missing or failed.</p>\n");
    write_element(to, "<figcaption>%s</figcaption>\n", report_caption(s));
    html(to, "</figure>\n");
}

/* Folded, as the data files have all of it. */
static void write_numbers(FILE *to, const struct section *s)
{
    const struct study_plot *plot = s->plot;
    html(to, "<details%s><summary>Table of %zu rows</summary>\n",
         report_shows_table(s) ? " open" : "", json_array_size(s->rows));
    if (plot->y && !plot->points) write_plotted(to, plot, s->rows);
    else write_table(to, s->rows);
    html(to, "</details>\n");
}

static void write_section(FILE *to, const struct section *s)
{
    html(to, "<section id=\"%s\"><div class=\"whole\"><h3>%s</h3>\n<p>%s</p>\n", s->name,
         s->title, s->text);
    if (s->failed)
        html(to, "<p><strong>This section could not be made:</strong> %s.</p>\n",
             json_string_value(s->failed));
    else if (!s->rows) html(to, "<p><strong>Not finished.</strong></p>\n");
    if (!s->rows) {
        html(to, "</div></section>\n");
        return;
    }
    write_lines(to, s->says, "what", "says");
    write_figure(to, s);
    html(to, "</div>\n");
    if (json_array_size(s->verdicts)) write_verdicts(to, s->verdicts);
    write_source(to, s);
    write_numbers(to, s);
    html(to, "</section>\n");
}

/* The verdict, which has a sign and a word in addition to its colour. */
static void write_banner(FILE *to, const json_t *banner)
{
    if (!banner) return;
    const struct report_outcome_row *const row =
        &report_outcomes[json_integer_value(json_object_get(banner, "outcome"))];
    html(to, "<div class=\"banner %s\"><strong>%s %s</strong> %s</div>\n", row->style,
         row->sign, row->name, text_of(banner, "reason"));
}

/* Code to copy: a click selects a whole block. */
static void write_code(FILE *to, json_t *code)
{
    if (!json_array_size(code)) return;
    html(to, "<h2 id=\"assertion\">The assertion</h2>\n<p>A test of this kernel on these "
             "inputs: click a block to select it.</p>\n");
    for (size_t i = 0; i < json_array_size(code); i++) {
        const json_t *const one = json_array_get(code, i);
        html(to, "<h3>%s</h3>\n<pre><code>", text_of(one, "title"));
        const json_t *const lines = json_object_get(one, "lines");
        for (size_t l = 0; l < json_array_size(lines); l++)
            html(to, "%s\n", json_string_value(json_array_get(lines, l)));
        html(to, "</code></pre>\n");
    }
}

static void write_answers(FILE *to, const struct page *page)
{
    if (!json_array_size(page->answers)) return;
    html(to, "<h2 id=\"answers\">Answers</h2>\n");
    write_lines(to, page->answers, "question", "answer");
}

/* All claims, with filters. */
static void write_filtered(FILE *to, json_t *all)
{
    static const char *const keys[] = { "paper", "verdict", "unit" };
    html(to, "<p>The number below a verdict is the median over the cases of the claim. "
             "The reason names the case that decides.</p>\n<form class=\"filters\" "
             "hidden>");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        html(to,
             "<label>%s <select name=\"%s\"><option value=\"\">all</option></select>"
             "</label>",
             keys[i], keys[i]);
    html(to, "<output></output></form>\n<div id=\"claims\">\n");
    write_verdicts(to, all);
    html(to, "</div>\n");
    fputs(report_script, to);
}

/* The subjects of the tests, the models used, and the verdicts. */
static void write_claims(FILE *to, json_t *all)
{
    if (!json_array_size(all)) return;
    json_t *units = report_units(all), *scales = report_scales(all);
    html(to, "<h2 id=\"verdicts\">What was tested</h2>\n");
    write_element(to, "<p>%s</p>\n", report_all_counts(all));
    write_element(to, "<p>%s</p>\n", report_about_scales(all));
    if (json_array_size(scales)) write_table(to, scales);
    write_element(to, "<p>%s</p>\n", report_all_changes(all));
    html(to, "<p>Units used, and the evidence for each model:</p>\n");
    html(to, "<div class=\"lines\">"); /* names of units break on a phone */
    write_table(to, units);
    html(to, "</div>\n");
    write_filtered(to, all);
    json_decref(units);
    json_decref(scales);
}

/* A claim of a finding: its verdict, and a link. */
static void write_claim_link(FILE *to, const json_t *verdict)
{
    const char *const name = text_of(verdict, "verdict");
    html(to, "<span class=\"%s\">%s</span> <a href=\"#%s\">%s</a> ", name,
         verdict_label(name), text_of(verdict, "study"), text_of(verdict, "name"));
}

/* The sentences of a finding, its claims, and its figure; nothing if no claim has a
   verdict yet. */
static void write_finding(FILE *to, const struct report_finding *f,
                          const struct picture *figure, json_t *all)
{
    if (!report_finding_verdict(f->part, all)) return;
    html(to, "<div class=\"finding\"><div><h3>%s</h3>\n<p>",
         study_chapters[f->chapter].what);
    for (const struct report_finding_part *p = f->part; p->claim; p++)
        if (report_finding_verdict(p, all))
            write_element(to, "%s\n",
                          report_finding_sentence(p, report_finding_verdict(p, all)));
    html(to, "</p>\n<p class=\"provenance\">");
    for (const struct report_finding_part *p = f->part; p->claim; p++)
        if (report_finding_verdict(p, all))
            write_claim_link(to, report_finding_verdict(p, all));
    html(to, "</p></div>\n<div>");
    if (figure->bytes) write_picture(to, figure->bytes);
    html(to, "</div></div>\n");
}

static void write_findings(FILE *to, const struct page *page, json_t *all)
{
    if (!json_array_size(all) || !page->small) return;
    html(to,
         "<div class=\"findings\"><h2 id=\"findings\">Findings</h2>\n<p>A number is the "
         "median over the cases of a claim, from rows of the sizes \"%s\".</p>\n",
         text_of(json_array_get(all, 0), "scale"));
    for (int i = 0; i < FINDINGS; i++)
        write_finding(to, &report_findings[i], &page->small[i], all);
    html(to, "</div>\n");
}

static void write_contents(FILE *to, const struct page *page, bool claims)
{
    html(to, "<h2 id=\"contents\">Contents</h2>\n<ul>\n");
    if (claims) html(to, "<li><a href=\"#verdicts\">What was tested</a></li>\n");
    for (int chapter = 0; page->chapters[chapter].name; chapter++) {
        const struct section *s = report_section_next(page, chapter, NULL);
        if (!s) continue;
        html(to, "<li><a href=\"#chapter-%s\">%s</a>\n<ul>\n",
             page->chapters[chapter].name, page->chapters[chapter].what);
        for (; s; s = report_section_next(page, chapter, s))
            html(to, "<li><a href=\"#%s\">%s</a>: %s</li>\n", s->name, s->title, s->what);
        html(to, "</ul></li>\n");
    }
    html(to, "</ul>\n");
}

void report_html(FILE *to, const struct page *page)
{
    json_t *all = report_verdicts(page);
    fputs(report_style, to);
    html(to, "<title>%s</title></head><body>\n<h1>%s</h1>\n", page->title, page->title);
    write_banner(to, page->banner);
    html(to, "<p>Made by bitcut %s: <code>%s</code>. %s</p>\n", bitcut_version(),
         page->command, page->about);
    write_answers(to, page);
    write_code(to, page->code);
    write_findings(to, page, all);
    write_contents(to, page, json_array_size(all) > 0);
    write_claims(to, all);
    json_decref(all);
    for (int chapter = 0; page->chapters[chapter].name; chapter++) {
        const struct section *s = report_section_next(page, chapter, NULL);
        if (!s) continue;
        html(to, "<h2 id=\"chapter-%s\">%s</h2>\n", page->chapters[chapter].name,
             page->chapters[chapter].what);
        for (; s; s = report_section_next(page, chapter, s)) write_section(to, s);
    }
    html(to, "</body></html>\n");
}
