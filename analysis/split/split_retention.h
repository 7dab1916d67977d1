/* SPDX-License-Identifier: BSD-3-Clause */
/* What a split keeps of values, exponent by exponent: the answer of `bitcut split` and of
   bitcut_split_measure(). */
#ifndef BITCUT_ANALYSIS_SPLIT_SPLIT_RETENTION_H
#define BITCUT_ANALYSIS_SPLIT_SPLIT_RETENTION_H

#include "analysis/split/exponents.h"
#include "lib/base/record.h"

struct split_problem {
    const struct bitcut_split *split;
    bool flush;                 /* whether units flush, as retention_measure() takes it */
    const struct exponents *of; /* values of an array, all; NULL: of each exponent ...  */
    size_t samples; /* ... so many by the seed, 0: all 2^23                  */
    uint64_t seed;
    const char *input; /* where the array comes from, or NULL */
};

/* Of values of one exponent, or of all that were added. */
struct split_retention {
    struct bitcut_split split;
    bool flush, of_array, all;
    int e;
    struct retention r;
    const char *input;
    size_t values, zeros, infinite, nan; /* of an array, all together */
};

/* Its fields (lib/base/record.h): all; those that are measured; and what an array has
   besides.  The last two are numbers. */
extern const struct record_field split_fields[], split_measures[], split_specials[];

/* As retention_measure() and exponents_measure(). */
enum bitcut_status split_retention_measure(struct split_retention *to,
                                           const struct split_problem *q, int e,
                                           int threads, const struct progress *progress,
                                           struct fault *f);

/* All of nothing yet; and one more exponent, from the highest down. */
struct split_retention split_retention_none(const struct split_problem *q);
void split_retention_add(struct split_retention *all, const struct split_retention *more);

#endif
