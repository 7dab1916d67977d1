/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: the answers of a run to the first questions of its chapters, as sentences. */
#ifndef BITCUT_ANALYSIS_REPORT_REPORT_FINDING_H
#define BITCUT_ANALYSIS_REPORT_REPORT_FINDING_H

#include "analysis/study/study.h"

enum { FINDINGS = 5, FINDING_PARTS = 4 };

/* Sentences about a claim, by its verdict. {} is replaced by the number of the verdict
   ("ours"). */
struct report_finding_part {
    const char *claim; /* its name */
    const char *agrees, *differs;
};

/* A finding: the question of a chapter, sentences, and a small figure. */
struct report_finding {
    enum study_chapter chapter;
    struct report_finding_part part[FINDING_PARTS]; /* ended by one without a claim */
    const char *study; /* the study whose rows the figure draws */
    struct study_plot plot;
};

extern const struct report_finding report_findings[FINDINGS];

/* The verdict on the claim of a part, among those of report_verdicts(); NULL: there is
   none. */
const json_t *report_finding_verdict(const struct report_finding_part *part, json_t *all);

/* The sentence for the verdict of a part: the sentence of the row, or that the claim is
   undecided or unknown.  If stored rows at the sizes of papers have another verdict, the
   sentence ends with it.  The caller releases the text. */
json_t *report_finding_sentence(const struct report_finding_part *part,
                                const json_t *verdict);

#endif
