/* SPDX-License-Identifier: BSD-3-Clause */
/* Ratios of means over runs, and how far other runs might move them. */
#ifndef BITCUT_ANALYSIS_STUDY_BOOTSTRAP_H
#define BITCUT_ANALYSIS_STUDY_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

/* What a run, such as a seed, has of two quantities: sums and how many numbers they
   have. */
struct bootstrap_run {
    double top, bottom;
    size_t tops, bottoms;
};

/* A ratio and an interval around it. */
struct bootstrap_ratio {
    double value, low, high;
};

/* The mean of all `top` over that of all `bottom`: with `geometric` sums are of
   logarithms and means geometric, else they are of the numbers and arithmetic.  0 over 0
   is 1; infinite over infinite is NaN.

   The interval has 95 % by the bootstrap: runs are drawn with replacement, 1000 times, by
   a generator with a fixed seed, so that the same runs have the same interval everywhere.
   Of few runs percentiles are too narrow; they are widened in the ratio of Student's to
   the normal distribution (Hesterberg, What teachers should know about the bootstrap,
   2015, section 3.3).  A single run, and a ratio that is 0, infinite or NaN, have the
   value at both ends. */
struct bootstrap_ratio bootstrap_ratio_of(const struct bootstrap_run *runs, size_t count,
                                          bool geometric);

#endif
