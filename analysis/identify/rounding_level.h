/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the rounding errors of a correct kernel are on the given data, whatever its
   order of k is. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ROUNDING_LEVEL_H
#define BITCUT_ANALYSIS_IDENTIFY_ROUNDING_LEVEL_H

#include "analysis/identify/problem.h"

/* Of FP32 sums in orders of k that are drawn.  Errors of A B are relative to |A||B|. */
struct rounding_level {
    double nearest; /* root mean square of the errors of one chain, rounded to nearest:
                       orders with lanes or trees have smaller errors                */
    double toward_zero; /* the same of one chain that is rounded toward zero            */
    double toward_zero_spread; /* root mean square of the differences between the latter
                                  errors in different orders and their mean            */
    double agreeing;   /* share of the outputs of D, in its format, on which two of the
                          orders agree                                                  */
    double *truncated; /* mean error of a chain rounded toward zero, for each output of
                          the block */
};

/* Compute it on the outputs of a block, with the operands as they are; seeded.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status rounding_level_find(struct rounding_level *to, const struct block *b,
                                       uint64_t seed, struct fault *f);
void rounding_level_clear(struct rounding_level *l);

/* The magnitude of the terms of output (i, j) of a block, with alpha, C and what was
   told. */
double output_magnitude(const struct block *b, size_t i, size_t j);

/* The distance between numbers of a format at x. */
double number_spacing(const struct bitcut_format *f, double x);

/* The level of an output near `value` whose terms have that magnitude: root mean square
   of its error, with the rounding to the format of D, if the error of the sum is `sum`
   times the magnitude. */
double output_level(const struct block *b, double value, double magnitude, double sum);

#endif
