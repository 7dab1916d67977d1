/* SPDX-License-Identifier: BSD-3-Clause */
/* Error budgets for the commands that run or check a GEMM. */
#ifndef BITCUT_ANALYSIS_CLI_BUDGET_COMMAND_H
#define BITCUT_ANALYSIS_CLI_BUDGET_COMMAND_H

#include "analysis/accuracy/budget_answer.h"
#include "analysis/cli/setup.h"

/* The options, `budget` in the struct of a command. */
struct budget_options {
    bool all;
    const char *at; /* "I,J", or NULL            */
    size_t worst;   /* number of outputs with the largest errors */
};

static inline bool budget_is_asked(const struct budget_options *o)
{
    return o->all || o->at || o->worst;
}

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

/* Whether the output named by --at exists.  Prints a message and returns an exit status.
 */
int budget_check(const struct budget_options *o, const struct setup *s);
int budget_check_sizes(const struct budget_options *o, bool is_batch, size_t m, size_t n);

/* What the options, which were checked, request of the m x n outputs of g. */
struct budget_problem budget_problem_of(const struct budget_options *o,
                                        const struct bitcut_gemm *g, size_t m, size_t n);

/* The same as budget_find(), with messages and an exit status. */
int budget_run(struct budget_answer *to, const struct budget_problem *q,
               const struct context *x);

/* Compute the budgets that the options request for d, computed from `data` by the recipe
   of s or by another one.  Sets *q and the answer to it, which budget_answer_clear()
   releases after any exit status. */
int budget_ask(struct budget_answer *to, struct budget_problem *q,
               const struct budget_options *o, const struct setup *s,
               const struct gemm_data *data, const struct matrix *d,
               const struct context *x);

/* Add the requested keys `budget`, `at` and `worst` to a row. */
void budget_json(json_t *row, const struct budget_answer *a);

#endif
