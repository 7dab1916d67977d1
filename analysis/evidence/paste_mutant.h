/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows one step away from rows of the table, on the lines of a product. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_PASTE_MUTANT_H
#define BITCUT_ANALYSIS_EVIDENCE_PASTE_MUTANT_H

#include "analysis/evidence/mutant.h"
#include "analysis/evidence/paste_product.h"

enum { PASTE_MUTANTS_MAX = 64, PASTE_MUTANT_TEXT = 160 };

/* Mutants that give all lines of a product that decide, each as a text such as
   "hopper/mma.m16n8k16.f32.f16 with fraction 24". */
struct paste_mutants {
    char text[PASTE_MUTANTS_MAX][PASTE_MUTANT_TEXT];
    size_t count; /* those stored */
};

/* Try the mutants of the first row that survives: what the lines leave open of it; or, if
   none survives, of all rows: what a new unit may be.  Mutants that are proved to be the
   same unit are left out.  Returns BITCUT_UNSUPPORTED if asked to stop;
   BITCUT_NO_MEMORY. */
enum bitcut_status paste_mutants_find(struct paste_mutants *to,
                                      const struct paste_product *p,
                                      const struct progress *progress, struct fault *f);

#endif
