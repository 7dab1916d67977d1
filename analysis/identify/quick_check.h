/* SPDX-License-Identifier: BSD-3-Clause */
/* What the distance of a result from the exact product shows without a recipe. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_QUICK_CHECK_H
#define BITCUT_ANALYSIS_IDENTIFY_QUICK_CHECK_H

#include "analysis/identify/hypothesis.h"

/* Decide how the matrices of q are read, so that their sizes match: as they are if that
   matches, unless D is much nearer to the product in another reading, transposed or
   column-major; as they are if a bias, factors, a start or steps were given.  Of a group,
   only B is transposed.  Returns BITCUT_BAD_ARGUMENT if no reading matches;
   BITCUT_NO_MEMORY. */
enum bitcut_status quick_check_read(struct problem *q, uint64_t seed, struct fault *f);

/* Ranges of k for which the exact sum comes much nearer to most of the block's outputs if
   their products are left out or added again.  Returns their number, the likeliest range
   first; 0 if the problem has factors. */
size_t quick_check_ranges(struct k_range range[RANGES_MAX], const struct block *b,
                          uint32_t alpha, uint32_t beta);

/* The `most` columns of a block whose results, before they are rounded to a format
   shorter than FP32, are nearest to halfway between two of its numbers, for the rows in
   turn: positions in b->col, ascending.  Such outputs distinguish orders of a sum, which
   most results in short formats do not.  Returns their number. */
size_t quick_check_ties(size_t *position, size_t most, const struct block *b,
                        const struct bitcut_format *format, uint32_t alpha,
                        uint32_t beta);

/* The median over the block's finite outputs of |D - (alpha A B + beta C)| / (|alpha|
   |A||B|), in units of 2^-24, with sums in binary64.  Outputs that are 0 count only if
   all are: they may not have been written, or be negative results that became zeros.
   Outputs whose products are all 0 do not count.  NaN if no output counts. */
double quick_check_error(const struct block *b, uint32_t alpha, uint32_t beta);

#endif
