/* SPDX-License-Identifier: BSD-3-Clause */
/* tolerance for FP64 GEMMs by a scheme, DGEMM among them. */
#ifndef BITCUT_ANALYSIS_CLI_FP64_TOLERANCE_H
#define BITCUT_ANALYSIS_CLI_FP64_TOLERANCE_H

#include "analysis/cli/fp64_command.h"

/* What the command adds to the options of a scheme. */
struct fp64_tolerance {
    struct fp64_request request; /* its d: the result to compare, or NULL */
    size_t runs;
    double false_alarm;
    bool any_order;
};

/* Compute and print the limits.  Returns an exit status: EXIT_FOUND if D is rejected. */
int fp64_tolerance(struct context *x, const struct fp64_tolerance *o);

#endif
