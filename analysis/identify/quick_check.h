/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be told of a result without a recipe, from its distance to the exact product.
 */
#ifndef BITCUT_ANALYSIS_IDENTIFY_QUICK_CHECK_H
#define BITCUT_ANALYSIS_IDENTIFY_QUICK_CHECK_H

#include "analysis/identify/hypothesis.h"

/* Read the matrices of q in a way that fits their sizes: as they stand if that does,
   unless D is far nearer to the product in another way: transposed, or stored by columns.
   BITCUT_BAD_ARGUMENT: none fits; BITCUT_NO_MEMORY. */
enum bitcut_status quick_check_read(struct problem *q, uint64_t seed, struct fault *f);

/* Ranges of k whose products, left out or added again, bring the exact sum much nearer to
   most of the block's outputs than the whole sum is.  Returns how many, the likeliest
   first. */
size_t quick_check_ranges(struct k_range range[RANGES_MAX], const struct block *b,
                          uint32_t alpha, uint32_t beta);

/* Of the columns of a block the `most` whose results, before they are rounded to a format
   shorter than FP32, lie nearest to halfway between two of its numbers, in turn for each
   of the rows: positions in b->col, ascending.  These tell orders of a sum apart, which
   most results of few bits do not.  Returns how many. */
size_t quick_check_ties(size_t *position, size_t most, const struct block *b,
                        const struct bitcut_format *format, uint32_t alpha,
                        uint32_t beta);

/* The median over the block of |D - (alpha A B + beta C)| / (|alpha| |A||B|), in units of
   2^-24, by sums in binary64: of finite outputs alone; NaN if there are none. */
double quick_check_error(const struct block *b, uint32_t alpha, uint32_t beta);

#endif
