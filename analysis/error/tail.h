/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a number may be above those of a sample: its upper end. */
#ifndef BITCUT_ANALYSIS_ERROR_TAIL_H
#define BITCUT_ANALYSIS_ERROR_TAIL_H

#include <stdbool.h>
#include <stddef.h>

/* A sample, its upper half taken as exponential.

   Numbers that are independent and whose hazard rate does not fall there, such as errors
   that are bounded or normal, and the largest of many of these, exceed what tail_limit()
   says less often than it says: an exponential tail of the same mean excess lies above
   theirs. */
struct tail {
    const double *x; /* ascending                                           */
    size_t count;
    size_t above;     /* numbers of the upper half                           */
    double threshold; /* the number before these; -infinity: there is none   */
    double excess;    /* how far these are above it on average               */
    double variation; /* of that, standard deviation / mean; 0: all are the same */
};

/* Sort x, ascending, and describe its upper half.  None is NaN; x stays where it is. */
void tail_fit(struct tail *t, double *x, size_t count);

/* What one more number of the kind exceeds with a probability of at most p, 0 < p < 1,
   that the sample is no better known than it is included: with r numbers above the
   threshold, of n, and e their mean excess,

     threshold + r e (((r + 1) / ((n + 1) p))^(1/r) - 1), at least the threshold,

   as one more number is above that of rank n - r with probability (r + 1) / (n + 1), and
   an exponential excess is above t times the mean of r others with (1 + t/r)^-r.
   Infinite if the sample says nothing, or has infinite numbers. */
double tail_limit(const struct tail *t, double p);

/* Whether the tail may be exponential, or lighter: of numbers above the threshold the
   coefficient of variation, 1 if they are exponential, is at most 1 + 1.75 / sqrt(r): some
   3 % of exponential samples have more.  A heavier tail makes tail_limit() too small.  What
   happens in fewer than one of n numbers is in no sample. */
bool tail_is_light(const struct tail *t);

/* The same as a guess, as if e were known; and of p of r/n and more the number of the
   sample that no more than n p others are above. */
double tail_guess(const struct tail *t, double p);

#endif
