/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums that were rounded to a shorter format than D has.  Their rounding errors depend on
   the order of k; the bits of D show the format. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_SHORT_SUMS_H
#define BITCUT_ANALYSIS_IDENTIFY_SHORT_SUMS_H

#include "analysis/identify/diagnosis.h"
#include "analysis/identify/guess.h"

/* The shortest format of f16, bf16 and tf32 that has all finite numbers of a block of D,
   and fewer bits than the format of D; NULL: none has them, the block has few, they are
   integers, or most exact results are numbers of the format, too. */
const struct bitcut_format *short_sums_stored(const struct block *b, const double *exact);

/* Whether outputs that are less than their expected values by `rest` are these rounded
   toward zero to a format. */
bool short_sums_are_truncated(const struct block *b, const struct bitcut_format *f,
                              const double *rest);

/* Make a diagnosis a fault if the sums of the outputs, without alpha and C, are numbers
   of a shorter format or sums of a few such numbers, and `g`, the guess without a fault
   that is nearest, is as far away as roundings to that format.  Returns whether it is
   one. */
bool short_sums_name(struct diagnosis *to, const struct residuals *e,
                     const struct guess *g);

/* Add the rounding of all of D to the shorter format that residuals have found, if any.
 */
void short_sums_add_store(struct diagnosis *to, const struct residuals *e);

#endif
