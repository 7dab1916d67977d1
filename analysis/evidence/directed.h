/* SPDX-License-Identifier: BSD-3-Clause */
/* Directed vectors: for a unit, a few samples that distinguish it from all its mutants.
 */
#ifndef BITCUT_ANALYSIS_EVIDENCE_DIRECTED_H
#define BITCUT_ANALYSIS_EVIDENCE_DIRECTED_H

#include "analysis/evidence/mutant.h"
#include "analysis/evidence/sample.h"
#include "lib/base/progress.h"

/* The samples selected for a unit, and their effect. */
struct directed {
    struct mutant mutants[MUTANTS_MAX];
    int mutant_count;
    int kills[MUTANTS_MAX]; /* number of samples that detect each mutant */
    struct sample *samples;
    int count;
};

enum {
    DIRECTED_KILLS = 4
}; /* required number for each mutant, where that many are found */

/* Set bit i if the unit's output on s differs from the output of mutant i.  Only mutants
   among the first `count` of a list whose bit in `which` is set are tried. */
uint64_t directed_mask(const struct bitcut_unit *u, const struct sample *s,
                       const struct mutant *mutants, int count, uint64_t which);

/* Select samples from all classes until each mutant without a proof is detected by
   DIRECTED_KILLS of them, or until enough samples were tried without success.  The same
   seed gives the same samples.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked
   to stop.  *d is set only on success. */
enum bitcut_status directed_make(struct directed *d, const struct bitcut_unit *u,
                                 uint64_t seed, const struct progress *progress,
                                 struct fault *f);
void directed_clear(struct directed *d);

#endif
