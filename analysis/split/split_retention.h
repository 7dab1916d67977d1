/* SPDX-License-Identifier: BSD-3-Clause */
/* What a split retains of values, exponent by exponent: the answer of `bitcut split` and
   of bitcut_split_measure(). */
#ifndef BITCUT_ANALYSIS_SPLIT_SPLIT_RETENTION_H
#define BITCUT_ANALYSIS_SPLIT_SPLIT_RETENTION_H

#include "analysis/split/exponents.h"
#include "lib/base/record.h"

struct split_problem {
    const struct bitcut_split *split;
    bool flush; /* units flush, as for retention_measure() */
    /* all values of an array; NULL: values of each exponent, */
    const struct exponents *of;
    size_t samples; /* this many by the seed, 0: all 2^23 */
    uint64_t seed;
    const char *input; /* source of the array, or NULL */
};

/* Results for the values of one exponent, or for all values added. */
struct split_retention {
    struct bitcut_split split;
    bool flush, of_array, all;
    int e;
    struct retention r;
    const char *input;
    size_t values, zeros, infinite, nan; /* for an array, in total */
};

/* The fields (lib/base/record.h): all; the measured ones; and those that only an array
   has.  The last two are numbers. */
extern const struct record_field split_fields[], split_measures[], split_specials[];

/* Statuses as for retention_measure() and exponents_measure(). */
enum bitcut_status split_retention_measure(struct split_retention *to,
                                           const struct split_problem *q, int e,
                                           int threads, const struct progress *progress,
                                           struct fault *f);

/* Begin with no values; add the next exponent, from the highest down. */
struct split_retention split_retention_none(const struct split_problem *q);
void split_retention_add(struct split_retention *all, const struct split_retention *more);

#endif
