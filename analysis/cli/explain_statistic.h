/* SPDX-License-Identifier: BSD-3-Clause */
/* `explain` for published statistics of a GEMM, and the seed of its inputs. */
#ifndef BITCUT_ANALYSIS_CLI_EXPLAIN_STATISTIC_H
#define BITCUT_ANALYSIS_CLI_EXPLAIN_STATISTIC_H

#include "analysis/cli/command.h"
#include "analysis/identify/statistic_search.h"

/* The options of statistics. */
struct explain_statistic_options {
    const char *statistic[STATISTICS]; /* NULL: not given */
    const char *draws;                 /* lib/input/torch_draws.h */
    uint64_t seed;
};

/* Whether the options name tensors or a statistic. */
bool explain_statistic_asked(const struct explain_statistic_options *o);

/* Search and print the row.  `limits`: the recipe, the unit and the chip that alone are
   considered, and the effort.  Prints messages and returns an exit status. */
int explain_statistic(struct context *x, const struct explain_statistic_options *o,
                      const struct statistic_problem *limits);

#endif
