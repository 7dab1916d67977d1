/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of a report about one attention. */
#ifndef BITCUT_ANALYSIS_CLI_ATTENTION_REPORT_PART_H
#define BITCUT_ANALYSIS_CLI_ATTENTION_REPORT_PART_H

#include "analysis/cli/attention_report_answers.h"

/* What a line of an answer is about. */
enum subject { OF_EXPLANATION, OF_ATTENTION, OF_TEST, OF_PAGE };

enum { ATTENTION_LINES_MAX = 4 };

/* A section: how its answer is computed, the lines that it has, and its command. */
struct attention_part_row {
    struct section section;
    bool of_given; /* whether there must be an O */
    attention_ask *ask;
    attention_report_rows *rows;
    enum subject subject;
    const char *line[ATTENTION_LINES_MAX + 1];
    enum { EXPLAINS, VERIFIES, COMPARES, TESTS } command;
    const char *more; /* words of the command */
};

extern const struct attention_part_row attention_report_parts[]; /* ended by no name */
extern const struct table_row attention_report_chapters[];       /* ended by {0}     */

#endif
