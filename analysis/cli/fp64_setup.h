/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheme, the matrices and the device of an FP64 GEMM, from the options of a command.
 */
#ifndef BITCUT_ANALYSIS_CLI_FP64_SETUP_H
#define BITCUT_ANALYSIS_CLI_FP64_SETUP_H

#include "analysis/cli/budget_command.h"
#include "analysis/cli/operands.h"
#include "analysis/evidence/recorder.h"
#include "analysis/fp64/fp64_answer.h"
#include "gpu/api/offload.h"

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
    const char *d;            /* the file of D, or NULL                         */
    const char *device,
        *kernel; /* where the scheme runs; NULL: the emulator, any kernel */
};

/* The GEMM, with its matrices.  Must not be moved. */
struct fp64_setup {
    const struct fp64_request *r;
    struct bitcut_gemm gemm;
    int parts;             /* of each element, at most */
    struct fp64_choice by; /* how D is computed        */
    struct encoded_matrix a, b, c, d;
    const char *input_a, *input_b;
    bool drawn, is_batch;
    struct worst_problem problem; /* of --worst-inputs */
    struct worst_inputs worst;
    struct budget_problem budget_problem;
    struct budget_answer budget;
    char from[2][WORST_NAME_MAX + 32];    /* origin of its A and B */
    struct recorder recorder;             /* the device of --device */
    struct gpu_offload offload;           /* and it in place of the emulator */
    const struct gpu_fp64_kernel *kernel; /* its kernel; NULL: the emulator computes */
};

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

/* Read or make everything, and check it.  Prints and returns an exit status;
   fp64_setup_clear() has to be called after any status. */
int fp64_setup_make(struct fp64_setup *s, const struct context *x);
void fp64_setup_clear(struct fp64_setup *s);

/* How the GEMM is computed: by the device, if there is one. */
struct gemm_options fp64_setup_options(const struct fp64_setup *s,
                                       const struct context *x);

/* The answer about the GEMM, before anything is computed. */
struct fp64_answer fp64_setup_answer(const struct fp64_setup *s, const struct context *x);

#endif
