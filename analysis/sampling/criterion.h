/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that accept or reject a result. */
#ifndef BITCUT_ANALYSIS_SAMPLING_CRITERION_H
#define BITCUT_ANALYSIS_SAMPLING_CRITERION_H

#include "analysis/sampling/tolerance.h"

/* A row of the table of tests for the result of a run.  NaN and infinities pass where C
   has the same. */
struct criterion {
    const char *name, *what;
    bool (*accepts)(const struct sample_run *r, const struct bitcut_tolerances *t);
};

enum {
    CRITERION_BOUND,
    CRITERION_OBSERVED,
    CRITERION_NORM,
    CRITERION_BOTH,
    CRITERION_ALLCLOSE,
    CRITERION_TORCH,
    CRITERION_NUMPY,
    CRITERIA
};

extern const struct criterion criteria[]; /* ended by a row whose name is NULL */

/* The tests that accept D.  The caller is under hostfp_enter(). */
void criteria_run(bool accepted[CRITERIA], const struct sample_run *r,
                  const struct bitcut_tolerances *t);

#endif
