/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, correct and faulty, that tests with given limits reject. */
#ifndef BITCUT_ANALYSIS_SAMPLING_POWER_H
#define BITCUT_ANALYSIS_SAMPLING_POWER_H

#include "analysis/sampling/criterion.h"

/* A kernel, correct or with a fault. */
struct power_row {
    const char *name, *what;
    bool correct;
    size_t runs;               /* runs in which the fault is possible and changes D */
    size_t rejected[CRITERIA]; /* of these runs */
    double error; /* median of their backward_max (metric.h), in u; NaN: no runs */
};

extern const struct record_field power_fields[]; /* fields of a row (lib/base/record.h) */

struct power {
    struct power_row *row; /* correct kernels first */
    size_t rows;
};

/* Run the problem q `runs` times for each kernel, with numbers after the runs from which
   limits were found, so with other data.  The kernels are: the GEMM itself; the GEMM in
   the other orders of order_set() in turn; and every row of the tables of faults (the
   faults of explain in bitcut_tables, and power_faults for outputs and units), each with
   a variant drawn by `seed`.  Each run has about 2^16 products of A and B.  The result
   does not depend on the number of threads.  Statuses as for tolerance_find(). */
enum bitcut_status power_measure(struct power *to, const struct tolerance_problem *q,
                                 const struct tolerance *t, size_t runs, uint64_t seed,
                                 int threads, const struct progress *progress,
                                 struct fault *f);
void power_clear(struct power *p);

#endif
