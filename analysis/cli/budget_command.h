/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of a GEMM comes from, for the commands that run or check one. */
#ifndef BITCUT_ANALYSIS_CLI_BUDGET_COMMAND_H
#define BITCUT_ANALYSIS_CLI_BUDGET_COMMAND_H

#include "analysis/cli/say.h"
#include "analysis/cli/setup.h"

struct budget_options {
    bool all;
    const char *at; /* "I,J", or NULL            */
    size_t worst;   /* outputs that err the most */
};

extern struct budget_options budget_options;

#define BUDGET_OPTIONS                                                                   \
    { "budget", "say where the error comes from, in parts that add up to it exactly",    \
      OPTION_FLAG, &budget_options.all, NULL },                                          \
        { "worst", "say it of each of the N outputs that err the most, or besides",      \
          OPTION_COUNT, &budget_options.worst, "N" },                                    \
    {                                                                                    \
        "at", "say it of output (I, J) alone, or besides", OPTION_TEXT,                  \
            &budget_options.at, "I,J"                                                    \
    }

/* Whether there is such an output; prints and returns an exit status. */
int budget_check(const struct setup *s);

/* Add the keys `budget`, `at` and `worst` to a row, as far as they are asked for; the
   outputs that err the most are those of `d`, whoever computed it.  Prints and returns an
   exit status. */
int budget_describe(json_t *row, const struct setup *s, const struct matrix *d,
                    const struct context *x);

/* Lines for people. */
emit_say say_budget, say_budget_at, say_budget_worst;

#define SAY_BUDGET                                                                       \
    { "budget", "error budget", NULL, say_budget, LINE_ALWAYS },                         \
        { "worst", "worst outputs", NULL, say_budget_worst, LINE_ALWAYS },               \
    {                                                                                    \
        "at", "one output", NULL, say_budget_at, LINE_ALWAYS                             \
    }

#endif
