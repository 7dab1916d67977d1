/* SPDX-License-Identifier: BSD-3-Clause */
/* A and B of a command that makes them, from families, or reads them. */
#ifndef BITCUT_ANALYSIS_CLI_OPERANDS_H
#define BITCUT_ANALYSIS_CLI_OPERANDS_H

#include "analysis/cli/setup.h"
#include "lib/file/input.h"

/* What those options said. */
struct operand_options {
    size_t m, n, k;
    const char *input_a, *input_b, *pair;
};

extern struct operand_options operand_options;

#define OPERAND_OPTIONS                                                                  \
    { "m", "rows of A and D (default 256)", OPTION_COUNT, &operand_options.m, "M" },     \
        { "n", "columns of B and D (default 256)", OPTION_COUNT, &operand_options.n,     \
          "N" },                                                                         \
        { "k", "columns of A, rows of B (default 256)", OPTION_COUNT,                    \
          &operand_options.k, "K" },                                                     \
        INPUT_OPTIONS

/* Those of the families alone. */
#define INPUT_OPTIONS                                                                    \
    { "input-a", "family of A (bitcut list inputs; default urand(-1,1))", OPTION_TEXT,   \
      &operand_options.input_a, "I" },                                                   \
        { "input-b", "family of B", OPTION_TEXT, &operand_options.input_b, "I" },        \
    {                                                                                    \
        "pair", "families of A and B together (bitcut list pairs)", OPTION_TEXT,         \
            &operand_options.pair, "P"                                                   \
    }

/* The families, and their names in s->input_a and s->input_b.  Prints and returns an exit
   status. */
int operands_parse(struct input *a, struct input *b, struct setup *s);

/* A, B and C of s: from their files if there are, else of the families, and then of the
   sizes of the options; k of these becomes that of A's file.  Prints and returns an exit
   status. */
int operands_make(struct setup *s, const struct context *x);

#endif
