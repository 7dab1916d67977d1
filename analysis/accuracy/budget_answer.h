/* SPDX-License-Identifier: BSD-3-Clause */
/* The error budget of a result: of all its outputs, of the worst outputs, or of one
   output. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_ANSWER_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_ANSWER_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/gemm_data.h"
#include "emu/gemm_sentence.h"

/* A request for budgets of the result `d` of a GEMM on a unit. */
struct budget_problem {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct gemm_data *data;
    const struct matrix *d;
    bool all;     /* budget of all outputs together */
    size_t worst; /* number of outputs with the largest errors to report */
    bool one;     /* budget of the output (i, j) */
    size_t i, j;
};

/* The budget of an output on the emulator, and the value of the given result there. */
struct budget_place {
    size_t i, j;
    struct budget_output budget;
    uint32_t given;
    double u; /* |D - C| / |A||B| of the given result, in u of its format */
};

struct budget_answer {
    const struct budget_problem *problem;
    struct budget_summary all;
    struct budget_place one, *worst; /* worst: sorted, the largest error first */
    size_t worst_count;
};

/* Compute the requested budgets.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if
   asked to stop; then *option names the part that failed, "budget". budget_answer_clear()
   releases the answer after any status. */
enum bitcut_status budget_find(struct budget_answer *to, const struct budget_problem *q,
                               const struct gemm_options *options, const char **option,
                               struct fault *f);
void budget_answer_clear(struct budget_answer *x);

/* Everything that is reported about a result. */
struct judged;
struct gemm_answer {
    struct gemm_description gemm;       /* must be first */
    const struct judged *judged;        /* NULL: the result was not compared */
    size_t largest;                     /* GEMM of a batch that `judged` is about */
    const struct budget_answer *budget; /* NULL: no budget was requested */
    const char *library; /* what a library computes, as a sentence; NULL: none was named */
};

/* Sentences (lib/base/record.h) about an answer that begins with a struct gemm_answer. */
void budget_describe_all(char *text, size_t size, const void *answer);
void budget_describe_worst(char *text, size_t size, const void *answer);
void budget_describe_one(char *text, size_t size, const void *answer);
void gemm_describe_library(char *text, size_t size, const void *answer);

#define BUDGET_LINES                                                                     \
    { "error budget", budget_describe_all, RECORD_ALWAYS, NULL },                        \
        { "worst outputs", budget_describe_worst, RECORD_ALWAYS, NULL },                 \
    {                                                                                    \
        "one output", budget_describe_one, RECORD_ALWAYS, NULL                           \
    }

#endif
