/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/provenance.h"
#include "analysis/report/report_finding.h"

#include "analysis/study/claim.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

/* A character of a text that Markdown shows literally, also in a cell of a table. */
static void write_plain(FILE *to, const char *shown)
{
    if (!shown[1] && strchr("\\`*_{}[]<>#|~&", *shown)) fputc('\\', to);
    fputs(shown, to);
}

/* Only the format is markup: arguments are texts, whatever they contain. */
static void markdown(FILE *to, const char *format, ...) TEXT_FORMAT(2);
static void markdown(FILE *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_print_list(to, write_plain, format, list);
    va_end(list);
}

/* Text as code, in which a backslash is literal; as other text if it contains a backtick.
 */
static void write_code(FILE *to, const char *text)
{
    if (strchr(text, '`')) markdown(to, "%s", text);
    else text_print(to, "`%s`", text);
}

/* A text, which is released, in the paragraph `format`, unless it is empty. */
static void write_paragraph(FILE *to, const char *format, json_t *text)
{
    if (json_string_length(text)) markdown(to, format, json_string_value(text));
    json_decref(text);
}

static void write_cell(FILE *to, const json_t *row, const char *key)
{
    char number[REPORT_CELL_MAX];
    const char *text = report_cell(number, json_object_get(row, key), 4);
    markdown(to, " %s |", *text ? text : "-");
}

static void write_table(FILE *to, json_t *rows, const char *const *keys)
{
    markdown(to, "|");
    for (int i = 0; keys[i]; i++) markdown(to, " %s |", keys[i]);
    markdown(to, "\n|");
    for (int i = 0; keys[i]; i++) markdown(to, " --- |");
    markdown(to, "\n");
    for (size_t at = 0; at < json_array_size(rows); at++) {
        markdown(to, "|");
        for (int i = 0; keys[i]; i++) write_cell(to, json_array_get(rows, at), keys[i]);
        markdown(to, "\n");
    }
    markdown(to, "\n");
}

/* --- verdicts --------------------------------------------------------------------- */

/* The verdict of rows on a claim with its number, as a cell. */
static void write_finding(FILE *to, const json_t *finding, const char *note)
{
    char number[REPORT_CELL_MAX];
    const char *ours = report_cell(number, json_object_get(finding, "ours"), 4);
    markdown(to, " **%s**%s%s",
             verdict_label(json_string_value(json_object_get(finding, "verdict"))), note, *ours ? ": " : "");
    markdown(to, "%s |", ours);
}

static void write_recorded(FILE *to, const json_t *verdict)
{
    char note[REPORT_CELL_MAX] = "";
    const json_t *recorded = json_object_get(verdict, "recorded");
    if (report_changes(verdict))
        snprintf(note, sizeof note, " (small: %s)",
                 verdict_label(json_string_value(json_object_get(verdict, "verdict"))));
    if (json_is_object(recorded)) write_finding(to, recorded, note);
    else markdown(to, " - |");
}

static void write_reason(FILE *to, const json_t *verdict)
{
    struct report_reasons r;
    report_reasons(&r, verdict);
    const char *const pieces[] = { *r.own ? "small: " : "",
                                   r.own,
                                   *r.recorded ? "; paper: " : "",
                                   r.recorded,
                                   *r.own && *r.both ? "; both: " : "",
                                   r.both };
    markdown(to, " ");
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        markdown(to, "%s", pieces[i]);
    markdown(to, " |\n");
}

/* A row for each claim, with the verdict by small sizes and the verdict by stored rows.
 */
static void write_verdicts(FILE *to, json_t *all)
{
    const bool recorded = report_has_recorded(all);
    if (recorded)
        markdown(to,
                 "| claim | paper | printed | small sizes | sizes of papers | reason |\n"
                 "| --- | --- | --- | --- | --- | --- |\n");
    else
        markdown(to, "| claim | paper | printed | found | reason |\n"
                     "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *verdict = json_array_get(all, i);
        markdown(to, "|");
        write_cell(to, verdict, "claim");
        write_cell(to, verdict, "paper");
        write_cell(to, verdict, "printed");
        write_finding(to, verdict, "");
        if (recorded) write_recorded(to, verdict);
        write_reason(to, verdict);
    }
    markdown(to, "\n");
}

/* Sentences on the claims that have a verdict. */
static void write_findings(FILE *to, json_t *all)
{
    markdown(to, "## Findings\n\n");
    for (int i = 0; i < FINDINGS; i++) {
        const struct report_finding *const f = &report_findings[i];
        if (!report_finding_verdict(f->part, all)) continue;
        markdown(to, "**%s**\n\n", study_chapters[f->chapter].what);
        for (const struct report_finding_part *p = f->part; p->claim; p++) {
            const json_t *const verdict = report_finding_verdict(p, all);
            if (verdict) write_paragraph(to, "* %s\n", report_finding_sentence(p, verdict));
        }
        markdown(to, "\n");
    }
}

static void write_claims(FILE *to, const struct page *page)
{
    static const char *const of_unit[] = { "unit", "evidence", "claims", NULL };
    json_t *all = report_verdicts(page), *units = report_units(all),
           *scales = report_scales(all);
    if (json_array_size(all)) {
        if (page->small) write_findings(to, all);
        markdown(to, "## What was tested\n\n");
        write_paragraph(to, "%s\n\n", report_all_counts(all));
        write_paragraph(to, "%s\n\n", report_about_scales(all));
        if (json_array_size(scales)) write_table(to, scales, report_scale_keys);
        write_paragraph(to, "%s\n\n", report_all_changes(all));
        write_table(to, units, of_unit);
        write_verdicts(to, all);
    }
    json_decref(units);
    json_decref(all);
    json_decref(scales);
}

/* --- sections --------------------------------------------------------------------- */

/* The origin of the numbers, and what made them. */
static void write_source(FILE *to, const struct section *s)
{
    markdown(to, "\nNumbers: ");
    write_code(to, json_string_value(s->source));
    if (s->origin) markdown(to, ", recorded on %s", json_string_value(s->origin));
    markdown(to, "; full data: [%s.csv](%s.csv), [%s.json](%s.json)", s->name, s->name,
             s->name, s->name);
    if (s->picture[PLOT_PDF].bytes)
        markdown(to, "; for LaTeX: [%s.pdf](%s.pdf)", s->name, s->name);
    markdown(to, "\n\n");
    write_paragraph(to, "%s\n\n", report_recorded(s));
    write_paragraph(to, "Made by: %s\n\n", provenance_line(s));
}

/* Every row and column, if they are few. */
static void write_rows(FILE *to, const struct section *s)
{
    enum { KEYS_MAX = 24 };
    const char *keys[KEYS_MAX + 1] = { NULL }, *key;
    int count = 0;
    json_t *value;
    if (!report_shows_table(s)) return;
    json_object_foreach(json_array_get(s->rows, 0), key, value)
    {
        if (count < KEYS_MAX) keys[count++] = key;
    }
    if (count) write_table(to, s->rows, keys);
}

/* A claim and its verdict. */
static void write_item(FILE *to, const json_t *verdict)
{
    const json_t *recorded = json_object_get(verdict, "recorded");
    markdown(to, "* **%s**",
             verdict_label(json_string_value(json_object_get(verdict, "verdict"))));
    if (report_changes(verdict))
        markdown(to, ", at the sizes of papers **%s**",
                 verdict_label(json_string_value(json_object_get(recorded, "verdict"))));
    markdown(to, ": %s\n", json_string_value(json_object_get(verdict, "claim")));
}

static void write_section(FILE *to, const struct section *s)
{
    static const char *const of_line[] = { "what", "says", NULL };
    markdown(to, "### %s\n\n%s\n\n", s->title, s->text);
    if (s->failed)
        markdown(to, "**This section could not be made:** %s.\n\n",
                 json_string_value(s->failed));
    else if (!s->rows) markdown(to, "**Not finished.**\n\n");
    if (!s->rows) return;
    if (json_array_size(s->says)) write_table(to, s->says, of_line);
    if (s->picture[PLOT_SVG].bytes) markdown(to, "![%s](%s.svg)\n\n", s->title, s->name);
    write_paragraph(to, "%s\n\n", report_caption(s));
    for (size_t i = 0; i < json_array_size(s->verdicts); i++)
        write_item(to, json_array_get(s->verdicts, i));
    write_rows(to, s);
    write_source(to, s);
}

/* --- the page --------------------------------------------------------------------- */

static void write_banner(FILE *to, const json_t *banner)
{
    if (!banner) return;
    const struct report_outcome_row *const row =
        &report_outcomes[json_integer_value(json_object_get(banner, "outcome"))];
    markdown(to, "**%s %s** %s\n\n", row->sign, row->name,
             json_string_value(json_object_get(banner, "reason")));
}

/* Lines in a fenced block: none of them is a fence. */
static void write_blocks(FILE *to, json_t *code)
{
    if (json_array_size(code)) markdown(to, "## The assertion\n\n");
    for (size_t i = 0; i < json_array_size(code); i++) {
        const json_t *const one = json_array_get(code, i),
                           *const lines = json_object_get(one, "lines");
        markdown(to, "%s:\n\n", json_string_value(json_object_get(one, "title")));
        text_print(to, "```%s\n", json_string_value(json_object_get(one, "language")));
        for (size_t l = 0; l < json_array_size(lines); l++)
            text_print(to, "%s\n", json_string_value(json_array_get(lines, l)));
        markdown(to, "```\n\n");
    }
}

void report_markdown(FILE *to, const struct page *page)
{
    static const char *const of_answer[] = { "question", "answer", NULL };
    markdown(to, "# %s\n\n", page->title);
    write_banner(to, page->banner);
    markdown(to, "Made by bitcut %s: ", bitcut_version());
    write_code(to, page->command);
    markdown(to, ". %s\n\n", page->about);
    if (json_array_size(page->answers)) write_table(to, page->answers, of_answer);
    write_blocks(to, page->code);
    write_claims(to, page);
    for (int chapter = 0; page->chapters[chapter].name; chapter++) {
        const struct section *s = report_section_next(page, chapter, NULL);
        if (s) markdown(to, "## %s\n\n", page->chapters[chapter].what);
        for (; s; s = report_section_next(page, chapter, s)) write_section(to, s);
    }
}
