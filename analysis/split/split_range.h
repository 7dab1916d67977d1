/* SPDX-License-Identifier: BSD-3-Clause */
/* The range of values that a split retains. */
#ifndef BITCUT_ANALYSIS_SPLIT_SPLIT_RANGE_H
#define BITCUT_ANALYSIS_SPLIT_SPLIT_RANGE_H

#include "lib/base/status.h"
#include "lib/number/split.h"

/* Exponents of values: from `least` on, the split retains as many bits as of values of
   exponent 0; up to `most` no part overflows, except of values that are rounded up to
   2^(most + 1). */
struct split_range {
    int least, most;
};

/* Find the range of a split, whose values retain at most a sixteenth of a bit less in the
   mean, by a sample of each binade; with `flush` for a unit that reads subnormal parts as
   zeros.  Values of exponent 0 must not overflow.  Statuses as for
   retention_measure(). */
enum bitcut_status split_range_find(struct split_range *to, const struct bitcut_split *s,
                                    bool flush, struct fault *f);

#endif
