/* SPDX-License-Identifier: BSD-3-Clause */
/* gemm and verify for FP64 GEMMs by a scheme. */
#ifndef BITCUT_ANALYSIS_CLI_FP64_COMMAND_H
#define BITCUT_ANALYSIS_CLI_FP64_COMMAND_H

#include "analysis/cli/budget_command.h"
#include "analysis/cli/operands.h"
#include "analysis/cli/setup.h"
#include "analysis/fp64/fp64_answer.h"

/* The options, `fp64` in the struct of a command. */
struct fp64_options {
    const char *scheme;
    int parts, worst_range;
    bool worst_inputs;
};

#define FP64_DEFAULTS                                                                    \
    {                                                                                    \
        .parts = SETUP_UNSET, .worst_range = SETUP_UNSET                                 \
    }

#define FP64_OPTIONS(COMMAND)                                                            \
    { "scheme", "compute an FP64 GEMM by this scheme (bitcut list schemes), on --unit",  \
      OPTION(COMMAND, fp64.scheme, TEXT, "S") },                                         \
    {                                                                                    \
        "parts", "slices or moduli of each element (default: of the scheme)",            \
            OPTION(COMMAND, fp64.parts, INT, "N")                                        \
    }

#define WORST_OPTIONS(COMMAND)                                                           \
    { "worst-inputs",                                                                    \
      "search for A and B on which --scheme loses most, and explain the loss",           \
      OPTION(COMMAND, fp64.worst_inputs, FLAG, NULL) },                                  \
    {                                                                                    \
        "worst-range",                                                                   \
            "binades that their rows and columns may span: 0 to 250 (default 60)",       \
            OPTION(COMMAND, fp64.worst_range, INT, "N")                                  \
    }

/* What the command adds. */
struct fp64_request {
    const struct fp64_options *fp64; /* NULL: of explain */
    const struct setup_options *setup;
    const struct operand_options *operands;  /* NULL: A and B are from files */
    const char *save_a, *save_b, *reference; /* of gemm                     */
    const struct budget_options *budget;     /* of gemm and verify; or NULL */
    const char *const *taken; /* options that may be given; NULL: those of gemm */
    const char *d;                           /* of verify: the file of D    */
};

/* The GEMM, with its matrices. */
struct fp64_setup {
    const struct fp64_request *r;
    struct bitcut_gemm gemm;
    int parts;
    struct encoded_matrix a, b, c, d;
    const char *input_a, *input_b;
    bool drawn, is_batch;
    struct worst_problem problem; /* of --worst-inputs */
    struct worst_inputs worst;
    struct budget_problem budget_problem;
    struct budget_answer budget;
    char from[2][WORST_NAME_MAX + 32]; /* origin of its A and B */
};

/* Check the options, and make the GEMM of s->r, the only member that is set.  Prints and
   returns an exit status; fp64_setup_clear() releases the matrices after any status. */
int fp64_setup_make(struct fp64_setup *s, const struct context *x);
void fp64_setup_clear(struct fp64_setup *s);

/* What is said about it before anything is computed. */
struct fp64_answer fp64_setup_answer(const struct fp64_setup *s, const struct context *x);

/* Complain about --parts, or an option of the search, without --scheme.  Returns an exit
 * status. */
int fp64_check(const struct fp64_options *o);

/* Set the scheme, the unit and the parts of *g, and *parts to their number.  Prints and
   returns an exit status, as the next function does. */
int fp64_choose(struct bitcut_gemm *g, int *parts, const struct fp64_options *o,
                const char *unit);

/* Complain about the first given option that is not in `taken`, a list ended by NULL, and
   cannot be combined `with` another one. */
int fp64_check_options(const struct context *x, const char *const *taken,
                       const char *with);

/* Run the command with a scheme.  Prints and returns an exit status. */
int fp64_gemm(struct context *x, const struct fp64_request *r);
int fp64_verify(struct context *x, const struct fp64_request *r);

/* Whether the file of D has FP64 numbers that are not FP32 numbers. */
bool fp64_is_result(const char *path, const struct matrix_options *files);

/* Find the scheme that computed D, for explain.  Prints and returns an exit status. */
int fp64_explain(struct context *x, const struct fp64_request *r);

#endif
