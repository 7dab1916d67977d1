/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: studies and recorded results as one HTML page and as Markdown, with their
   data and figures beside them. */
#ifndef BITCUT_ANALYSIS_REPORT_REPORT_H
#define BITCUT_ANALYSIS_REPORT_REPORT_H

#include "analysis/report/plot.h"

/* One study, or one figure of recorded results, in the report. */
struct section {
    const char *name, *what, *title, *text;
    int chapter;    /* of the page's                                   */
    json_t *source; /* what gives the numbers: a command, as text      */
    json_t *origin; /* where it ran; NULL: no matter where             */
    json_t *inputs; /* objects of texts "file" and "sha256"; NULL: it reads none       */
    const struct study_plot *plot; /* its y NULL: a table                             */
    json_t *rows;     /* an array of objects; NULL: it was not run yet, or it failed    */
    json_t *failed;   /* why it has no rows, a text; NULL: it did not fail              */
    json_t *says;      /* an array of objects of texts "what" and "says"; NULL: nothing */
    json_t *verdicts;  /* claim_verdict() of its claims, each with "scale", that of the
                          rows,  and "kept", what rows that come with bitcut say of it: an
                          object of  "verdict", "ours", "low", "high" and "reason", or null;
                          NULL: it  has none */
    const char *scale; /* of a study's rows (study_scales); NULL: it is no study */
    json_t *kept; /* the rows that come with bitcut: an object of "scale", "seed", "file",
                     "sha256", "points" and "of", how many there are in all; NULL: none */
    struct picture picture[PLOTS]; /* no bytes: no figure */
    json_t *provenance;            /* provenance_of() it; NULL: not run yet */
};

/* The outcome of a report on one result. */
enum report_outcome {
    REPORT_ACCEPTED,
    REPORT_REJECTED,
    REPORT_NOT_JUDGED, /* a result without a verdict   */
    REPORT_MEASURED,   /* no result, but matrices      */
    REPORT_NOT_MEASURED,
    REPORT_NOT_FINISHED,
    REPORT_OUTCOMES
};

/* Each with its sign, which says it without a colour. */
extern const struct report_outcome_row {
    const char *name, *sign, *style;
} report_outcomes[REPORT_OUTCOMES];

/* The report as a whole. */
struct page {
    const char *title;                /* a heading                            */
    const char *command;              /* the command line that makes it       */
    const char *about;                /* how its numbers came about           */
    const struct table_row *chapters; /* ended by {0} */
    json_t *answers; /* an array of objects of texts "question" and "answer", which
                        stand before all else; NULL: there are none */
    json_t *banner;  /* an object that stands before all else: "outcome", an enum
                        report_outcome, "verdict", its name, "reason", "error", "limit", a
                        number each or null; or NULL                                      */
    json_t *code;    /* code to be copied: an array of objects of texts "title" and
                        "language", and "lines", an array of texts; or NULL               */
    const struct section *sections;
    size_t count;
    const struct picture *small; /* of findings, by row (report_finding.h); NULL: none */
};

enum { REPORT_CELL_MAX = 64 };

/* A value as text, in `number` if it is a number: reals to `digits` significant digits,
   null as an empty text. */
const char *report_cell(char number[REPORT_CELL_MAX], const json_t *value, int digits);

/* The verdicts of all sections in their order: an array to be released. */
json_t *report_verdicts(const struct page *page);

/* How many verdicts there are on claims of papers, or of bitcut's own, and of each kind
   by enum claim_outcome. */
size_t report_count_verdicts(size_t counts[VERDICTS], json_t *verdicts,
                             enum claim_origin origin);

/* The same in sentences, first of papers, then of bitcut's own, which count neither for
   nor against a paper; to be released. */
json_t *report_all_counts(json_t *verdicts);

/* The scales that verdicts are of, each with what it is, where its rows are from and how
   many claims, whose, have which verdict: an array of objects with these keys, to be
   released.  Empty if no verdict has a scale. */
extern const char *const report_scale_keys[]; /* ended by NULL */
json_t *report_scales(json_t *verdicts);

/* What the scales are to a reader, before their table: sentences to be released; empty if
   there are none. */
json_t *report_about_scales(json_t *verdicts);

/* Whether kept rows say anything of these claims. */
bool report_has_recorded(json_t *verdicts);

/* Whether they give another verdict than the rows of the section do. */
bool report_changes(const json_t *verdict);

/* The same of all, in sentences with the names of claims; to be released.  Empty if there
   are no kept rows. */
json_t *report_all_changes(json_t *verdicts);

/* The reason of a verdict and that by kept rows, without what ends both, and that. */
struct report_reasons {
    char own[REASON_MAX], kept[REASON_MAX]; /* empty if they are the same */
    char both[REASON_MAX];
};
void report_reasons(struct report_reasons *r, const json_t *verdict);

/* What is kept of a section, as a sentence to be released; empty if nothing is. */
json_t *report_recorded(const struct section *s);

/* The units by whose models claims were judged: an array of { "unit", "evidence",
   "claims" }, each once, in their order; to be released. */
json_t *report_units(json_t *verdicts);

/* The section after `s`, or the first when it is NULL, of a chapter; NULL at the end. */
const struct section *report_section_next(const struct page *page, int chapter,
                                          const struct section *s);

/* Write the rows as comma-separated values, a header line first, reals to 17 digits,
   quotes around what has a comma or a quote, and a ' before a text that a spreadsheet
   would run (one that begins with =, +, - or @ and is no number).  Texts are fit to print
   (lib/base/text.h), here and in the page. */
enum bitcut_status report_write_csv(const char *path, json_t *rows, struct fault *f);

/* Whether its rows are drawn: as a plot asks for, if they have four points. */
bool report_has_figure(const struct section *s);

/* Whether its table is short and all there is to see: then it is shown, not folded. */
bool report_shows_table(const struct section *s);

/* Write a section as one object: "name", "title", "what", "sees" (or null), "provenance",
   "scale", "kept" and "verdicts" (or null), and "rows", one a line. */
enum bitcut_status report_write_json(const char *path, const struct section *s,
                                     struct fault *f);

/* What stands below a section's figure, or its table if it has none: what to see, and
   what marks and bars are; to be released.  Empty if nothing does. */
json_t *report_caption(const struct section *s);

/* What writes the report as a whole. */
typedef void report_form(FILE *to, const struct page *page);

/* The page: what was tested and every verdict; then by chapters every section with its
   text, verdicts, the command that gives its numbers, figure, table, and links to the data
   beside it.  A table has 64 rows at most: all rows are in the data. */
report_form report_html;

/* The same without tables and data, as Markdown that names the files of figures and data
   beside it. */
report_form report_markdown;

enum bitcut_status report_write(const char *path, report_form *form,
                                const struct page *page, struct fault *f);

#endif
