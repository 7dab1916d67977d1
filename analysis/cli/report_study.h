/* SPDX-License-Identifier: BSD-3-Clause */
/* A study as a section of a report: its rows, and the verdicts on its claims from these
   rows and from the rows that come with bitcut. */
#ifndef BITCUT_ANALYSIS_CLI_REPORT_STUDY_H
#define BITCUT_ANALYSIS_CLI_REPORT_STUDY_H

#include "analysis/cli/recorded_studies.h"
#include "analysis/report/report.h"

/* Whether the scale and seed of this run are those of the rows that come with bitcut. */
bool report_study_is_recorded(const struct study_run *run);

/* Set the rows and verdicts of a section that belongs to `study`, and the rows that come
   with bitcut.  If report_study_is_recorded(), stored rows are used for their points, and
   only the other points are computed.  Otherwise all points are computed, and claims are
   checked against the stored rows as well.  The stored file is an input of the section.
   Prints what is wrong and returns an exit status. */
int report_study(struct section *s, const struct study *study,
                 const struct study_run *run, struct recorded_studies *recorded);

#endif
