/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of a GEMM comes from, for the commands that run or check one. */
#ifndef BITCUT_ANALYSIS_CLI_BUDGET_COMMAND_H
#define BITCUT_ANALYSIS_CLI_BUDGET_COMMAND_H

#include "analysis/accuracy/budget_answer.h"
#include "analysis/cli/setup.h"

/* What the options said, `budget` in the struct of a command. */
struct budget_options {
    bool all;
    const char *at; /* "I,J", or NULL            */
    size_t worst;   /* outputs that err the most */
};

#define BUDGET_OPTIONS(COMMAND)                                                          \
    { "budget",                                                                          \
      "print the error budget: contributions that add up exactly to the error",          \
      OPTION(COMMAND, budget.all, FLAG, NULL) },                                         \
        { "worst", "print the error budget of the N outputs with the largest errors",    \
          OPTION(COMMAND, budget.worst, COUNT, "N") },                                   \
    {                                                                                    \
        "at", "print the error budget of output (I, J)",                                 \
            OPTION(COMMAND, budget.at, TEXT, "I,J")                                      \
    }

/* Whether there is such an output; prints and returns an exit status. */
int budget_check(const struct budget_options *o, const struct setup *s);

/* As budget_find(); prints and returns an exit status. */
int budget_run(struct budget_answer *to, const struct budget_problem *q,
               const struct context *x);

/* What the options ask of d, which `data` give by the recipe of s or another: *q, and the
   answer to it, which budget_answer_clear() ends, whatever the exit status that is
   returned. */
int budget_ask(struct budget_answer *to, struct budget_problem *q,
               const struct budget_options *o, const struct setup *s,
               const struct gemm_data *data, const struct matrix *d,
               const struct context *x);

/* Add the keys `budget`, `at` and `worst` to a row, as far as they were asked for. */
void budget_json(json_t *row, const struct budget_answer *a);

#endif
