#include "analysis/study/provenance.h"

#include "lib/text.h"

#include <stdio.h>
#include <string.h>

/* Text that Markdown shows as it stands, in a cell of a table as well. */
static void write_plain(FILE *to, const char *text)
{
    for (char shown[TEXT_BYTES]; text_next(shown, &text);) {
        if (!shown[1] && strchr("\\`*_{}[]<>#|~", *shown)) fputc('\\', to);
        fputs(shown, to);
    }
}

static void write_cell(FILE *to, const json_t *row, const char *key)
{
    char number[REPORT_CELL_MOST];
    const char *text = report_cell(number, json_object_get(row, key), 4);
    fputs(" ", to);
    write_plain(to, *text ? text : "-");
    fputs(" |", to);
}

static void write_table(FILE *to, json_t *rows, const char *const *keys)
{
    fputs("|", to);
    for (int i = 0; keys[i]; i++) fprintf(to, " %s |", keys[i]);
    fputs("\n|", to);
    for (int i = 0; keys[i]; i++) fputs(" --- |", to);
    fputs("\n", to);
    for (size_t at = 0; at < json_array_size(rows); at++) {
        fputs("|", to);
        for (int i = 0; keys[i]; i++) write_cell(to, json_array_get(rows, at), keys[i]);
        fputs("\n", to);
    }
    fputs("\n", to);
}

static void write_claims(FILE *to, const struct page *page)
{
    static const char *const of_unit[] = { "unit", "evidence", "claims", NULL };
    static const char *const of_claim[] = { "verdict", "claim",  "paper", "printed",
                                            "ours",    "reason", NULL };
    size_t counts[VERDICTS];
    json_t *all = report_verdicts(page), *units = report_units(all);
    report_count_verdicts(counts, all);
    if (json_array_size(all)) {
        fprintf(to,
                "## What was tested\n\n%zu claims: %zu agree, %zu differ, of %zu nothing "
                "can be said here.\n\n",
                json_array_size(all), counts[VERDICT_AGREES], counts[VERDICT_DIFFERS],
                counts[VERDICT_CANNOT]);
        write_table(to, units, of_unit);
        write_table(to, all, of_claim);
    }
    json_decref(units);
    json_decref(all);
}

/* Where the numbers come from, and what made them. */
static void write_source(FILE *to, const struct section *s)
{
    fprintf(to, "\nNumbers: `%s`", json_string_value(s->source));
    if (s->origin) {
        fputs(", recorded on ", to);
        write_plain(to, json_string_value(s->origin));
    }
    fprintf(to, "; all of them: [%s.csv](%s.csv), [%s.json](%s.json)", s->name, s->name,
            s->name, s->name);
    if (s->picture[PLOT_PDF].bytes)
        fprintf(to, "; for LaTeX: [%s.pdf](%s.pdf)", s->name, s->name);
    fputs("\n\nMade by: ", to);
    json_t *line = provenance_line(s);
    write_plain(to, json_string_value(line));
    json_decref(line);
    fputs("\n\n", to);
}

/* Every row and column, if they are few. */
static void write_rows(FILE *to, const struct section *s)
{
    enum { KEYS_MOST = 24 };
    const char *keys[KEYS_MOST + 1] = { NULL }, *key;
    int count = 0;
    json_t *value;
    if (!report_shows_table(s)) return;
    json_object_foreach(json_array_get(s->rows, 0), key, value)
    {
        if (count < KEYS_MOST) keys[count++] = key;
    }
    if (count) write_table(to, s->rows, keys);
}

static void write_section(FILE *to, const struct section *s)
{
    static const char *const of_line[] = { "what", "says", NULL };
    fputs("### ", to);
    write_plain(to, s->title);
    fputs("\n\n", to);
    write_plain(to, s->text);
    fputs("\n\n", to);
    if (!s->rows) {
        fputs("**Not finished.**\n\n", to);
        return;
    }
    if (json_array_size(s->says)) write_table(to, s->says, of_line);
    if (s->picture[PLOT_SVG].bytes) {
        fputs("![", to);
        write_plain(to, s->title);
        fprintf(to, "](%s.svg)\n\n", s->name);
    }
    json_t *caption = report_caption(s);
    if (json_string_length(caption)) {
        write_plain(to, json_string_value(caption));
        fputs("\n\n", to);
    }
    json_decref(caption);
    for (size_t i = 0; i < json_array_size(s->verdicts); i++) {
        const json_t *row = json_array_get(s->verdicts, i);
        fprintf(to, "* **%s**: ", json_string_value(json_object_get(row, "verdict")));
        write_plain(to, json_string_value(json_object_get(row, "claim")));
        fputs("\n", to);
    }
    write_rows(to, s);
    write_source(to, s);
}

void report_markdown(FILE *to, const struct page *page)
{
    static const char *const of_answer[] = { "question", "answer", NULL };
    fprintf(to, "# %s\n\nMade by bitcut %s: `%s`. %s\n\n", page->title, bitcut_version(),
            page->command, page->about);
    if (json_array_size(page->answers)) write_table(to, page->answers, of_answer);
    write_claims(to, page);
    for (int chapter = 0; page->chapters[chapter].name; chapter++) {
        const struct section *s = report_section_next(page, chapter, NULL);
        if (s) fprintf(to, "## %s\n\n", page->chapters[chapter].what);
        for (; s; s = report_section_next(page, chapter, s)) write_section(to, s);
    }
}
