/* SPDX-License-Identifier: BSD-3-Clause */
/* Ratios of means over runs, with confidence intervals. */
#ifndef BITCUT_ANALYSIS_STUDY_BOOTSTRAP_H
#define BITCUT_ANALYSIS_STUDY_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

/* Two quantities of a run, such as a seed: their sums and the number of terms. */
struct bootstrap_run {
    double top, bottom;
    size_t tops, bottoms;
};

/* A ratio and its interval. */
struct bootstrap_ratio {
    double value, low, high;
};

/* The mean of all `top` over the mean of all `bottom`.  With `geometric` sums are sums of
   logarithms and means are geometric; otherwise they are arithmetic. 0 over 0 is 1;
   infinite over infinite is NaN.  The interval has 95 % confidence by the bootstrap: runs
   are drawn with replacement, 1000 times, by a generator with a fixed seed, so that the
   same runs give the same interval everywhere.  For few runs percentiles are too narrow;
   they are widened in the ratio of Student's to the normal distribution (Hesterberg, What
   teachers should know about the bootstrap, 2015, section 3.3).  For a single run, and
   for a ratio that is 0, infinite or NaN, both ends are the ratio. */
struct bootstrap_ratio bootstrap_ratio_of(const struct bootstrap_run *runs, size_t count,
                                          bool geometric);

#endif
