/* SPDX-License-Identifier: BSD-3-Clause */
/* What reports on one result have in common: their page with its verdict, answers and
   code to copy, and the files that they read. */
#ifndef BITCUT_ANALYSIS_CLI_RESULT_REPORT_H
#define BITCUT_ANALYSIS_CLI_RESULT_REPORT_H

#include "analysis/cli/report_run.h"
#include "lib/base/record.h"

/* A report on one result.  Must not be moved while it is open. */
struct result_report {
    struct report report; /* must be first */
    struct page page;     /* its answers, banner and code begin empty */
    json_t *inputs;       /* the files that were read, with their SHA-256 */
};

/* Begin a report with the title, the chapters and the origin of numbers of `words`.
   result_report_close() has to be called. */
void result_report_open(struct result_report *r, struct context *x, const char *folder,
                        const struct page *words);
void result_report_close(struct result_report *r);

/* Add files to the inputs.  A file that the report would write is complained about, so
   the sections have to be added before.  `files` ends with a NULL option; those without a
   path are left out.  Prints messages and returns an exit status. */
int result_report_inputs(struct result_report *r, const struct used_file *files);

/* Make the sections and write the report.  The exit status is that of the verdict; if D
   was not judged, *unjudged, NULL: the worst status of the sections.  Prints why there is
   no verdict. */
int result_report_run(struct result_report *r, const int *unjudged);

/* Set the banner: the verdict, why, and an error with its limit; NaN: there is none. */
void result_report_banner(struct result_report *r, enum report_outcome outcome,
                          const char *reason, double error, double limit);

/* Append the sentence that answers a question, if there is one; found == NULL: it was not
   asked. */
void result_report_answer(struct result_report *r, const char *question,
                          record_describe *describe, const void *found);

/* Whether an answer has the same sentence as a line of a section. */
bool result_report_is_answered(const struct result_report *r, const json_t *line);

/* Remove the lines of a section that answers have. */
void result_report_drop_answered(json_t *says, const struct result_report *r);

/* Append lines of code as a block, and take them over; nothing is added if there are
   none. */
void result_report_code(struct result_report *r, const char *title, const char *language,
                        json_t *lines);

#endif
