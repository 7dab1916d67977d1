/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that name a call of a library, and GEMMs that are computed as it will compute
   them. */
#ifndef BITCUT_ANALYSIS_CLI_LIBRARY_OPTION_H
#define BITCUT_ANALYSIS_CLI_LIBRARY_OPTION_H

#include "analysis/cli/budget_command.h"
#include "analysis/cli/setup.h"
#include "analysis/predict/predict.h"

/* `library` in the struct of a command. */
struct library_options {
    const char *name, *chip, *call, *types, *layout,
        *fields; /* NULL: the first call and types, the call's layout or NN, fields as
                    sizes determine them */
    int threads;                              /* 0: 1 */
};

#define LIBRARY_OPTIONS(COMMAND)                                                         \
    { "library", "compute as this library will (bitcut list libraries), with --chip",    \
      OPTION(COMMAND, library.name, TEXT, "L") },                                        \
        { "chip",                                                                        \
          "chip for which the library selects kernels; bitcut list libraries has them",  \
          OPTION(COMMAND, library.chip, TEXT, "C") },                                    \
        { "call",                                                                        \
          "call of a program, such as linear of torch-2.11 (default: the first of the "  \
          "library)",                                                                    \
          OPTION(COMMAND, library.call, TEXT, "F") },                                    \
        { "types", "types of the library's call (default: the first of the library)",    \
          OPTION(COMMAND, library.types, TEXT, "T") },                                   \
        { "layout",                                                                      \
          "NN, NT, TN or TT: T if A, or B, is stored transposed in the library's call; " \
          "matrices are row-major (default: that of the call, or NN)",                   \
          OPTION(COMMAND, library.layout, TEXT, "L") },                                  \
        { "fields",                                                                      \
          "the algorithm that the library chooses, such as id=66,stages=35,splits=9 "    \
          "(default: as the sizes determine it)",                                        \
          OPTION(COMMAND, library.fields, TEXT, "F") },                                  \
    {                                                                                    \
        "library-threads", "threads of the library (default 1)",                         \
            OPTION(COMMAND, library.threads, INT, "N")                                   \
    }

/* Choose the library's row, chip and types, and set the formats and layouts of g.  Prints
   messages and returns an exit status. */
int library_choose(struct prediction *p, struct bitcut_gemm *g,
                   const struct library_options *o);

/* Complain about options that the library decides, and, without a library, about options of
   its call.  Returns an exit status. */
int library_check(const struct library_options *o, const struct context *x);

/* Open s, in place of setup_gemm(): the library decides recipe, unit and order.  Prints and
   returns an exit status. */
int library_open(struct setup *s, const struct library_options *o);

/* Predict the GEMM of s, whose matrices are set: the recipe, unit and order of s are those of
   the first computation.  The caller clears *p after any status, and s refers to it.  Prints
   and returns an exit status. */
int library_predict(struct prediction *p, struct setup *s, const struct library_options *o);

/* Complain about a budget of outputs that have several computations. */
int library_check_budget(const struct setup *s, const struct budget_options *o);

/* Write what the library computes, as a sentence; NULL without a library. */
enum { LIBRARY_TEXT_MAX = 1000 };
const char *library_text(char text[LIBRARY_TEXT_MAX], const struct setup *s);

/* D of a GEMM with several computations, in FP32: *d is allocated.  Prints and returns an
   exit status. */
int library_compute(struct matrix *d, const struct setup *s, const struct context *x);

#endif
