/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: studies and recorded results as one HTML page and as Markdown, with files
   of their data and figures. */
#ifndef BITCUT_ANALYSIS_REPORT_REPORT_H
#define BITCUT_ANALYSIS_REPORT_REPORT_H

#include "analysis/report/plot.h"

/* A study, or a figure of recorded results, in the report. */
struct section {
    const char *name, *what, *title, *text;
    int chapter;    /* index in the page's chapters */
    json_t *source; /* the source of the numbers: a command, as text */
    json_t *origin; /* where it ran; NULL: irrelevant */
    json_t *inputs; /* objects of texts "file" and "sha256"; NULL: it reads no files */
    const struct study_plot *plot; /* y NULL: a table */
    json_t *rows;     /* an array of objects; NULL: it was not run yet, or it failed */
    json_t *failed;   /* the reason of a failure, a text; NULL: it did not fail */
    json_t *says;     /* an array of objects of texts "what" and "says"; NULL: none */
    json_t *verdicts; /* claim_verdict() of its claims, each with "scale", the scale of
                         the rows, and "recorded", the verdict from rows that come with
                         bitcut: an object with "verdict", "ours", "low", "high" and
                         "reason", or null; NULL: it has no claims */
    /* the scale of a study's rows (study_scales); NULL: it is no study */
    const char *scale;
    json_t *
        recorded; /* the rows that come with bitcut: an object of "scale", "seed", "file",
                 "sha256", "points" and "of", the number of all points; NULL: none */
    struct picture picture[PLOTS]; /* no bytes: no figure */
    json_t *provenance;            /* its provenance_of(); NULL: not run yet */
};

/* The outcome of a report on one result. */
enum report_outcome {
    REPORT_ACCEPTED,
    REPORT_REJECTED,
    REPORT_NOT_JUDGED, /* a result without a verdict */
    REPORT_MEASURED,   /* no result, only matrices */
    REPORT_NOT_MEASURED,
    REPORT_NOT_FINISHED,
    REPORT_OUTCOMES
};

/* Each outcome with a sign that is independent of colour. */
extern const struct report_outcome_row {
    const char *name, *sign, *style;
} report_outcomes[REPORT_OUTCOMES];

/* The report as a whole. */
struct page {
    const char *title;                /* a heading                            */
    const char *command;              /* the command line that makes it       */
    const char *about;                /* the origin of its numbers */
    const struct table_row *chapters; /* ended by {0} */
    json_t *answers; /* an array of objects of texts "question" and "answer", which come
                        first; NULL: none */
    json_t *banner;  /* an object that comes first: "outcome", an enum report_outcome;
                        "verdict", its name; "reason"; "error" and "limit", each a number
                        or null; or NULL */
    json_t *code;    /* code to copy: an array of objects of texts "title" and "language",
                        and "lines", an array of texts; or NULL */
    const struct section *sections;
    size_t count;
    /* figures of findings, by row (report_finding.h); NULL: none */
    const struct picture *small;
};

enum { REPORT_CELL_MAX = 64 };

/* A value as text, in `number` if it is a number: reals with `digits` significant digits,
   null as an empty text. */
const char *report_cell(char number[REPORT_CELL_MAX], const json_t *value, int digits);

/* The verdicts of all sections in their order: an array that the caller releases. */
json_t *report_verdicts(const struct page *page);

/* The number of verdicts on claims of papers, or on bitcut's own questions, for each enum
   claim_outcome.  Returns their sum. */
size_t report_count_verdicts(size_t counts[VERDICTS], json_t *verdicts,
                             enum claim_origin origin);

/* The same as sentences: first claims of papers, then bitcut's own questions, which count
   neither for nor against a paper.  The caller releases the text. */
json_t *report_all_counts(json_t *verdicts);

/* The scales of the verdicts, each with its meaning, the source of its rows, and the
   number of claims by origin and verdict: an array of objects with these keys, which the
   caller releases.  Empty if no verdict has a scale. */
extern const char *const report_scale_keys[]; /* ended by NULL */
json_t *report_scales(json_t *verdicts);

/* An explanation of the scales, before their table: sentences that the caller releases;
   empty if there are no scales. */
json_t *report_about_scales(json_t *verdicts);

/* Whether any of these verdicts has a stored verdict. */
bool report_has_recorded(json_t *verdicts);

/* Whether the stored verdict differs from the verdict by the section's rows. */
bool report_changes(const json_t *verdict);

/* The same for all claims, as sentences with the names of claims.  The caller releases
   the text; it is empty if there are no stored rows. */
json_t *report_all_changes(json_t *verdicts);

/* The reason of a verdict and the reason of its stored verdict, without their common
   ending, and that ending. */
struct report_reasons {
    char own[REASON_MAX], recorded[REASON_MAX]; /* empty if they are the same */
    char both[REASON_MAX];
};
void report_reasons(struct report_reasons *r, const json_t *verdict);

/* A sentence about the stored rows of a section, which the caller releases; empty if
   there are none. */
json_t *report_recorded(const struct section *s);

/* The units whose models were used for claims: an array of { "unit", "evidence", "claims"
   }, each unit once, in their order.  The caller releases it. */
json_t *report_units(json_t *verdicts);

/* The section after `s` in a chapter, or the first section for NULL.  NULL at the end. */
const struct section *report_section_next(const struct page *page, int chapter,
                                          const struct section *s);

/* Write the rows as comma-separated values with a header line, reals with 17 digits,
   quotes around values with a comma or a quote, and a ' before a text that a spreadsheet
   would evaluate (a text that begins with =, +, - or @ and is no number).  Texts are made
   safe to print (lib/base/text.h), here and in the page. */
enum bitcut_status report_write_csv(const char *path, json_t *rows, struct fault *f);

/* Whether its rows are drawn: it has a plot and at least four points. */
bool report_has_figure(const struct section *s);

/* Whether its table is short and the only content: then it is shown, not folded. */
bool report_shows_table(const struct section *s);

/* Write a section as one object: "name", "title", "what", "sees" (or null), "provenance",
   "scale", "recorded" and "verdicts" (or null), and "rows", one per line. */
enum bitcut_status report_write_json(const char *path, const struct section *s,
                                     struct fault *f);

/* The text below a section's figure, or below its table if it has none: what to see, and
   the meaning of marks and bars.  The caller releases it; empty if there is none. */
json_t *report_caption(const struct section *s);

/* A function that writes the whole report. */
typedef void report_form(FILE *to, const struct page *page);

/* The page: first the subject of the tests and every verdict; then, by chapters, every
   section with its text, verdicts, the command that gives its numbers, figure, table, and
   links to its data.  A table has at most 64 rows; the data files have all rows. */
report_form report_html;

/* The same as Markdown, without tables and data; it names the files of figures and data.
 */
report_form report_markdown;

enum bitcut_status report_write(const char *path, report_form *form,
                                const struct page *page, struct fault *f);

#endif
