/* SPDX-License-Identifier: BSD-3-Clause */
/* Directed vectors: for a unit, a few samples that tell it from all its mutants. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_DIRECTED_H
#define BITCUT_ANALYSIS_EVIDENCE_DIRECTED_H

#include "analysis/evidence/mutant.h"
#include "analysis/evidence/sample.h"
#include "lib/base/progress.h"

/* The samples chosen for a unit and what they achieve. */
struct directed {
    struct mutant mutants[MUTANTS_MAX];
    int mutant_count;
    int kills[MUTANTS_MAX]; /* samples that notice each mutant */
    struct sample *samples;
    int count;
};

enum { DIRECTED_KILLS = 4 }; /* of each mutant, where that many are found */

/* Bit i: whether the unit's output on s differs from mutant i's; for the first `count`
   mutants of a list whose bit in `which` is set. */
uint64_t directed_mask(const struct bitcut_unit *u, const struct sample *s,
                       const struct mutant *mutants, int count, uint64_t which);

/* Choose samples from all classes until each mutant without a proof is noticed by
   DIRECTED_KILLS of them, or enough have been tried in vain; the same for the same seed.
   BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop.  *d is set only on success.
 */
enum bitcut_status directed_make(struct directed *d, const struct bitcut_unit *u,
                                 uint64_t seed, const struct progress *progress,
                                 struct fault *f);
void directed_clear(struct directed *d);

#endif
