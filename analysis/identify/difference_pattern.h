/* SPDX-License-Identifier: BSD-3-Clause */
/* How a result and what it should be lie apart: how far, and at which lines again. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_PATTERN_H
#define BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_PATTERN_H

#include "analysis/identify/difference.h"
#include "lib/number/round.h"

/* Bin 0: the same bits; bin i: 2^(i-1) to 2^i - 1 steps apart; the last: one of them is
   NaN or infinite and the other is not the same. */
enum { SPREAD_BINS = 34 };

struct spread {
    size_t bin[SPREAD_BINS];       /* outputs                                          */
    size_t row_period, col_period; /* of lines that differ; 0: they have none          */
};

/* Of a pair whose values are of `format`, widened to FP32.  A step leads from one number
   of the format to the next, from -0 to +0 too.  A period is the least p such that line i
   has a difference if and only if line i + p has, for all lines; it is none if all lines
   have, or none has, or if it is more than half of them.  BITCUT_NO_MEMORY. */
enum bitcut_status spread_find(struct spread *s, const struct pair_of *x,
                               const struct bitcut_format *format, struct fault *f);

#endif
