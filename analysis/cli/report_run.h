/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a report: its sections one after the other, the files of each, and the pages.
 */
#ifndef BITCUT_ANALYSIS_CLI_REPORT_RUN_H
#define BITCUT_ANALYSIS_CLI_REPORT_RUN_H

#include "analysis/cli/command.h"
#include "analysis/report/report_finding.h"
#include "analysis/report/report.h"

enum { REPORT_SECTIONS_MAX = 64 };

struct report;

/* Gives a section its rows, and its verdicts if it has any.  Prints what is wrong and
   returns an exit status; for EXIT_GOOD and EXIT_FOUND there are rows. */
typedef int report_make(struct section *s, const void *about, struct report *r);

/* A report in progress.  Must be all zeros except the first three members. */
struct report {
    struct context *context;
    const char *folder;
    const struct page *words; /* the page without its sections */
    struct section section[REPORT_SECTIONS_MAX];
    struct {
        report_make *make;
        const void *about;
    } part[REPORT_SECTIONS_MAX];
    size_t count;
    struct picture small[FINDINGS]; /* figures of the findings */
    bool ended; /* the report ended before all sections were made: stopped, or a file
                   cannot be written */
};

/* Append a section.  The report takes over its source and origin. */
void report_add(struct report *r, const struct section *s, report_make *make,
                const void *about);

/* Complain about a file that the report writes and that the option `option` reads.
   Prints a message and returns an exit status. */
int report_check_files(const struct report *r, const char *option, const char *path);

/* Make the sections one after the other and write their files.  The pages are rewritten
   after each section, so that finished sections stay if the report is interrupted.  If a
   section fails, the page has the reason, and the other sections are still made.  A
   folder created for the report is removed if nothing was written.  Prints a row for each
   section, the final row and messages.  Returns the worst exit status. */
int report_run(struct report *r);

void report_clear(struct report *r);

#endif
