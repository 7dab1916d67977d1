/* The report: studies and recorded results as one HTML page, with their data and figures
   beside it. */
#ifndef BITCUT_ANALYSIS_STUDY_REPORT_H
#define BITCUT_ANALYSIS_STUDY_REPORT_H

#include "analysis/study/study.h"

/* One study, or one figure of recorded results, in the report. */
struct section {
    const char *name, *what, *title, *text;
    json_t *source;                /* what gives the numbers: a command, as text      */
    json_t *origin;                /* where it ran; NULL: no matter where             */
    const struct study_plot *plot; /* its y NULL: a table                             */
    json_t *rows;                  /* an array of objects; NULL: not run yet          */
    char *svg;                     /* NULL: no figure                                 */
};

/* The page as a whole. */
struct page {
    const char *command; /* the command line that makes it */
    const struct section *sections;
    size_t count;
};

/* Write the rows as comma-separated values, a header line first, reals to 17 digits,
   quotes around what has a comma or a quote, and a ' before a text that a spreadsheet
   would run (one that begins with =, +, - or @ and is no number).  Texts are fit to print
   (lib/text.h), here and in the page. */
enum bitcut_status report_write_csv(const char *path, json_t *rows, struct fault *f);

/* Write the page: every section with its text, the command that gives its numbers,
   figure, table, and data inside the page, so that it can be moved alone. */
enum bitcut_status report_write_page(const char *path, const struct page *page,
                                     struct fault *f);

#endif
