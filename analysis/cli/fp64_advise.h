/* SPDX-License-Identifier: BSD-3-Clause */
/* advise for FP64 matrices. */
#ifndef BITCUT_ANALYSIS_CLI_FP64_ADVISE_H
#define BITCUT_ANALYSIS_CLI_FP64_ADVISE_H

#include "analysis/cli/command.h"
#include "analysis/cli/matrix_option.h"
#include "analysis/cli/option.h"

/* What `advise --fp64` reads of the command's options. */
struct fp64_advise {
    const char *a, *b; /* files; b is NULL: A transposed */
    const char *metric;
    double want; /* NaN: not given */
    const struct option_texts *units;
    const struct matrix_options *files;
};

/* Run the command.  Prints and returns an exit status: EXIT_FOUND if nothing reaches the
   wanted error. */
int fp64_advise(struct context *x, const struct fp64_advise *o);

#endif
