/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a report: its sections in turn, the files of each, and the pages. */
#ifndef BITCUT_ANALYSIS_CLI_REPORT_RUN_H
#define BITCUT_ANALYSIS_CLI_REPORT_RUN_H

#include "analysis/cli/command.h"
#include "analysis/report/report_finding.h"
#include "analysis/report/report.h"

enum { REPORT_SECTIONS_MAX = 64 };

struct report;

/* Give a section its rows, and verdicts if it has any.  Says what is wrong and returns an
   exit status; of EXIT_GOOD and EXIT_FOUND, there are rows. */
typedef int report_make(struct section *s, const void *about, struct report *r);

/* A report under way: zeros, and the first three. */
struct report {
    struct context *context;
    const char *folder;
    const struct page *words; /* what its pages say besides sections */
    struct section section[REPORT_SECTIONS_MAX];
    struct {
        report_make *make;
        const void *about;
    } part[REPORT_SECTIONS_MAX];
    size_t count;
    struct picture small[FINDINGS]; /* figures of findings */
    bool ended; /* before all sections were made: stopped, or a file cannot be written */
};

/* Append a section, whose source and origin the report takes over. */
void report_add(struct report *r, const struct section *s, report_make *make,
                const void *about);

/* Complain of a file that the report writes and that was also read as `option` says.
   Prints and returns an exit status. */
int report_check_files(const struct report *r, const char *option, const char *path);

/* Make every section in turn and write its files; pages are written anew after each, so
   that what is finished stays.  The page says why a section failed, and the others are
   still made.  A folder that was not there is gone again if nothing came of it.  Prints a
   row for each section, the ending and what is wrong, and returns the worst exit status.
 */
int report_run(struct report *r);

void report_clear(struct report *r);

#endif
