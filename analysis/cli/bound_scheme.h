/* SPDX-License-Identifier: BSD-3-Clause */
/* bound for FP64 GEMMs by a scheme. */
#ifndef BITCUT_ANALYSIS_CLI_BOUND_SCHEME_H
#define BITCUT_ANALYSIS_CLI_BOUND_SCHEME_H

#include "analysis/cli/fp64_command.h"

/* Compare the bound with the errors of the given matrices; if no matrices and families
   are given, with those of random and adversarial families.  Returns an exit status:
   EXIT_FOUND if an output exceeds the bound. */
int fp64_bound(struct context *x, const struct fp64_request *r);

#endif
