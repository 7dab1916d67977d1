/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of a result comes from: of all its outputs, of the worst, of one. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_ANSWER_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_ANSWER_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/gemm_data.h"
#include "emu/gemm_sentence.h"

/* What is asked of a result, `d`, of a GEMM on a unit. */
struct budget_problem {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct gemm_data *data;
    const struct matrix *d;
    bool all;        /* of all outputs together                */
    size_t worst;    /* of each of so many that err the most   */
    bool one;        /* of the output (i, j)                   */
    size_t i, j;
};

/* The budget of an output on the emulator, and what the result has there. */
struct budget_place {
    size_t i, j;
    struct budget_output budget;
    uint32_t given;
    double u; /* |D - C| / |A||B| of what is given, u = 2^-24 */
};

struct budget_answer {
    const struct budget_problem *problem;
    struct budget_summary all;
    struct budget_place one, *worst; /* worst: the worst first */
    size_t worst_count;
};

/* BITCUT_NO_MEMORY, BITCUT_UNSUPPORTED if asked to stop; *option is then the part that
   failed, "budget".  budget_answer_clear() ends it, whatever that is. */
enum bitcut_status budget_find(struct budget_answer *to, const struct budget_problem *q,
                               const struct gemm_options *options, const char **option,
                               struct fault *f);
void budget_answer_clear(struct budget_answer *x);

/* All that is said of a result. */
struct judged;
struct gemm_answer {
    struct gemm_description gemm;       /* first                              */
    const struct judged *judged;        /* NULL: it was not                   */
    const struct budget_answer *budget; /* NULL: it was not asked for         */
};

/* Sentences (lib/base/record.h) on an answer that begins with a struct gemm_answer. */
void budget_describe_all(char *text, size_t size, const void *answer);
void budget_describe_worst(char *text, size_t size, const void *answer);
void budget_describe_one(char *text, size_t size, const void *answer);

#define BUDGET_LINES                                                                     \
    { "error budget", budget_describe_all, RECORD_ALWAYS, NULL },                        \
        { "worst outputs", budget_describe_worst, RECORD_ALWAYS, NULL },                 \
    {                                                                                    \
        "one output", budget_describe_one, RECORD_ALWAYS, NULL                           \
    }

#endif
