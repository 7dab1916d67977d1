/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the numbers of a section come from. */
#ifndef BITCUT_ANALYSIS_REPORT_PROVENANCE_H
#define BITCUT_ANALYSIS_REPORT_PROVENANCE_H

#include "analysis/report/report.h"

/* The program and the machine: an object of the texts "bitcut" (its version), "commit"
   (git describe, or what a distribution says of itself, or "unknown"), "compiler",
   "flags" and "processor"; to be released. */
json_t *provenance_build(void);

/* That of a section with rows: the same, and "command", "recorded" (where it ran, or
   null), "units" (an array of objects of "unit" and "evidence": of its rows and
   verdicts), "inputs" (as the section has them) and "data" (the SHA-256 of its comma-
   separated values, a text).  To be released. */
json_t *provenance_of(const struct section *s, const char *data);

/* The same as words for a page, of many units how many have which evidence; to be
   released. */
json_t *provenance_line(const struct section *s);

#endif
