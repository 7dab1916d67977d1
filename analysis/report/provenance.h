/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin of the numbers of a section. */
#ifndef BITCUT_ANALYSIS_REPORT_PROVENANCE_H
#define BITCUT_ANALYSIS_REPORT_PROVENANCE_H

#include "analysis/report/report.h"

/* The program and the machine: an object with the texts "bitcut" (its version), "commit"
   (git describe, or the text of a distribution, or "unknown"), "compiler", "flags" and
   "processor".  The caller releases it. */
json_t *provenance_build(void);

/* The origin of a section with rows: the same keys, and "command", "recorded" (where it
   ran, or null), "units" (an array of objects with "unit" and "evidence", for its rows
   and verdicts), "inputs" (as in the section) and "data" (the SHA-256 of its
   comma-separated values, a text).  The caller releases it. */
json_t *provenance_of(const struct section *s, const char *data);

/* The same as text for a page.  If there are many units, it has the number of units for
   each kind of evidence.  The caller releases it. */
json_t *provenance_line(const struct section *s);

#endif
