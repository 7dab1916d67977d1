/* SPDX-License-Identifier: BSD-3-Clause */
/* A study as a section of a report: its rows, and what they and those that come with
   bitcut say of its claims. */
#ifndef BITCUT_ANALYSIS_CLI_REPORT_STUDY_H
#define BITCUT_ANALYSIS_CLI_REPORT_STUDY_H

#include "analysis/cli/recorded_studies.h"
#include "analysis/report/report.h"

/* Whether a run computes the points of which there are kept rows. */
bool report_study_is_recorded(const struct study_run *run);

/* Give a section that is of `study` its rows, verdicts and kept rows.  Of the run of kept
   rows (report_study_is_recorded()) those stand for points, and the other points are
   computed; of any other run all are computed, and claims are judged by the kept rows as
   well.  What is kept is an input of the section.  Prints what is wrong and returns an
   exit status. */
int report_study(struct section *s, const struct study *study,
                 const struct study_run *run, struct recorded_studies *kept);

#endif
