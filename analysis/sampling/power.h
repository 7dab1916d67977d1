/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests with given limits reject: correct kernels, and faulty ones. */
#ifndef BITCUT_ANALYSIS_SAMPLING_POWER_H
#define BITCUT_ANALYSIS_SAMPLING_POWER_H

#include "analysis/sampling/criterion.h"

/* A kernel, correct or with a fault. */
struct power_row {
    const char *name, *what;
    bool correct;
    size_t runs;               /* in which the fault is possible and changes D        */
    size_t rejected[CRITERIA]; /* of these                                            */
    double
        error; /* the median of their backward_max (metric.h), u; NaN: there are none */
};

extern const struct record_field power_fields[]; /* of a row (lib/base/record.h) */

struct power {
    struct power_row *row; /* correct ones first */
    size_t rows;
};

/* Runs of q, `runs` of them after those that limits were found from, so none of these:
   the GEMM as it is, in each other order of order_set() in turn, and with every row of
   the tables of faults, which bitcut_tables has for explain and power_faults for outputs
   and units; of each a kind that is drawn by `seed`.  Each run has some 2^16 products of
   A and B.  The same for any number of threads.  As tolerance_find(). */
enum bitcut_status power_measure(struct power *to, const struct tolerance_problem *q,
                                 const struct tolerance *t, size_t runs, uint64_t seed,
                                 int threads, const struct progress *progress,
                                 struct fault *f);
void power_clear(struct power *p);

#endif
