/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut attention --tolerance: limits for a test of O. */
#ifndef BITCUT_ANALYSIS_CLI_ATTENTION_TEST_H
#define BITCUT_ANALYSIS_CLI_ATTENTION_TEST_H

#include "analysis/cli/attention_setup.h"

/* Derive the limits, try faults with --power, judge the O of --verify, and print the
   answer.  Prints messages and returns an exit status: EXIT_FOUND if the limits reject
   that O. */
int attention_test_run(struct context *x, struct attention_setup *s);

#endif
