/* SPDX-License-Identifier: BSD-3-Clause */
/* The pattern of differences between a result and its expected value: their sizes, and
   their periods in rows and columns. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_PATTERN_H
#define BITCUT_ANALYSIS_IDENTIFY_DIFFERENCE_PATTERN_H

#include "analysis/identify/difference.h"
#include "lib/number/round.h"

/* Bin 0: the same bits.  Bin i: 2^(i-1) to 2^i - 1 steps apart.  The last bin: one value
   is NaN or infinite, and the other is not the same. */
enum { SPREAD_BINS = 34 };

struct spread {
    size_t bin[SPREAD_BINS];       /* outputs                                          */
    size_t row_period,
        col_period; /* periods of rows and columns with differences; 0: none */
};

/* The number of steps from one number of a format, widened to FP32, to another; 0 if both
   have the same bits, UINT64_MAX if they differ and one is not finite. */
uint64_t spread_distance(const struct bitcut_format *format, uint32_t d, uint32_t h);

/* The pattern for a pair of values of `format`, widened to FP32.  A step leads from one
   number of the format to the next, and also from -0 to +0.  A period is the smallest p
   such that row i has a difference if and only if row i + p has one, for all rows
   (likewise for columns).  There is no period if all rows have differences, or none has,
   or if it exceeds half of their number.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status spread_find(struct spread *s, const struct pair_of *x,
                               const struct bitcut_format *format, struct fault *f);

#endif
