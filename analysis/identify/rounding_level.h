/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the rounding errors of a correct kernel are on the given data, whatever its
   order of k is. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ROUNDING_LEVEL_H
#define BITCUT_ANALYSIS_IDENTIFY_ROUNDING_LEVEL_H

#include "analysis/identify/problem.h"

/* Directions in which all sums of a chain are rounded. */
enum sum_direction { SUM_TOWARD_ZERO, SUM_UPWARD, SUM_DIRECTIONS };

/* Biases of the errors of sums, and the largest share of that of such a chain, or of its
   opposite, that is one: a chain may drift by more than a step in each sum. */
struct sum_bias {
    const char *name, *cause;
    enum sum_direction way;
    int sign;
    double most;
    double spread, least; /* a result with this bias may have so many times the spread of
                             the chain for its share, and the latter at least */
};

enum { BIAS_TOWARD_ZERO, BIAS_UPWARD, BIAS_DOWNWARD, BIAS_AWAY_FROM_ZERO, BIASES };

extern const struct sum_bias sum_biases[BIASES];

/* Errors of such a chain, relative to |A||B|. */
struct directed_level {
    double all;    /* root mean square                                       */
    double spread; /* of the differences from the mean over orders           */
    double *mean;  /* mean error over orders, of each output: not relative   */
};

/* Of FP32 sums in orders of k that are drawn.  Errors of A B are relative to |A||B|. */
struct rounding_level {
    double nearest;  /* root mean square of the errors of one chain, rounded to nearest:
                        orders with lanes or trees have smaller errors                */
    double agreeing; /* share of the outputs of D, in its format, on which two of the
                        orders agree                                                  */
    struct directed_level directed[SUM_DIRECTIONS];
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
