/* The report: studies as one HTML page, with their data and figures beside it. */
#ifndef BITCUT_ANALYSIS_REPORT_H
#define BITCUT_ANALYSIS_REPORT_H

#include "analysis/study.h"

/* One study's place in the report. */
struct section {
    const struct study *study;
    json_t *rows; /* an array of objects; NULL: not run yet */
    char *svg;    /* NULL: no figure */
};

/* The page as a whole. */
struct page {
    const char *command; /* the command line that makes it */
    uint64_t seed;
    const struct section *sections;
    size_t count;
};

/* Write the rows as comma-separated values, a header line first, reals to 17 digits. */
enum bitcut_status report_write_csv(const char *path, json_t *rows, struct fault *f);

/* Write the page: every section with its text, the command that gives its numbers,
   figure, table, and data inside the page, so that it can be moved alone. */
enum bitcut_status report_write_page(const char *path, const struct page *page,
                                     struct fault *f);

#endif
