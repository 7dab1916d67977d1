/* SPDX-License-Identifier: BSD-3-Clause */
/* A and B of a command that generates them from families or reads them from files. */
#ifndef BITCUT_ANALYSIS_CLI_OPERANDS_H
#define BITCUT_ANALYSIS_CLI_OPERANDS_H

#include "analysis/cli/setup.h"
#include "lib/input/input.h"

/* The options, `operands` in the struct of a command. */
struct operand_options {
    size_t m, n, k;
    const char *input_a, *input_b, *pair;
};

#define OPERAND_DEFAULTS { .m = 256, .n = 256, .k = 256 }

#define OPERAND_OPTIONS(COMMAND)                                                         \
    { "m", "rows of A and D (default 256)", OPTION(COMMAND, operands.m, COUNT, "M") },   \
        { "n", "columns of B and D (default 256)",                                       \
          OPTION(COMMAND, operands.n, COUNT, "N") },                                     \
        { "k", "columns of A, rows of B (default 256)",                                  \
          OPTION(COMMAND, operands.k, COUNT, "K") },                                     \
        INPUT_OPTIONS(COMMAND)

/* The options of families alone. */
#define INPUT_OPTIONS(COMMAND)                                                           \
    { "input-a", "generate A by this family (bitcut list inputs; default urand(-1,1))",  \
      OPTION(COMMAND, operands.input_a, TEXT, "I") },                                    \
        { "input-b", "generate B by this family",                                        \
          OPTION(COMMAND, operands.input_b, TEXT, "I") },                                \
    {                                                                                    \
        "pair", "generate A and B by this pair of families (bitcut list pairs)",         \
            OPTION(COMMAND, operands.pair, TEXT, "P")                                    \
    }

/* Find the families, and set their names in s->input_a and s->input_b.  Prints messages
   and returns an exit status. */
int operands_parse(struct input *a, struct input *b, struct setup *s,
                   const struct operand_options *o);

/* Set A, B and C of s: from their files if given, otherwise from the families, with the
   sizes of the options and the k of A's file.  Prints messages and returns an exit
   status. */
int operands_make(struct setup *s, const struct operand_options *o,
                  const struct context *x);

#endif
