/* SPDX-License-Identifier: BSD-3-Clause */
/* The error budget of a result: of all its outputs, of the worst outputs, or of one
   output. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_ANSWER_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_ANSWER_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/gemm_data.h"
#include "emu/gemm_sentence.h"

struct budget_problem;
struct budget_place;

/* How the budgets of a result are computed.  Statuses as for budget_find(). */
struct budget_source {
    enum bitcut_status (*all)(struct budget_summary *to, const struct budget_problem *q,
                              const struct gemm_options *options, struct fault *f);

    /* Set the budget of output (i, j), with texts, and the given D. */
    enum bitcut_status (*at)(struct budget_place *to, const struct budget_problem *q,
                             size_t i, size_t j, struct fault *f);

    /* Set u[i n + j] to |D - C| / |A||B| of the given D, in u of its format; infinite
       where only one of D and C is finite. */
    enum bitcut_status (*errors)(double *u, const struct budget_problem *q,
                                 const struct gemm_options *options, struct fault *f);
};

/* A request for budgets of the m x n result `d` of a GEMM on a unit, or of another
   source's. */
struct budget_problem {
    const struct bitcut_gemm *gemm;
    size_t m, n;
    const struct gemm_plan *plan; /* of an FP32 GEMM, with the next two */
    const struct gemm_data *data;
    const struct matrix *d;
    const struct budget_source *source; /* NULL: of the FP32 GEMM */
    const void *context;                /* of another source      */
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
    double given64; /* of an FP64 GEMM, in place of `given` */
    double u;       /* |D - C| / |A||B| of the given result, in u of its format */
};

/* Whether the given result has the emulator's bits. */
bool budget_place_is_same(const struct budget_place *p);

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
record_describe budget_describe_all, budget_describe_worst, budget_describe_one;

/* The same about a struct budget_answer. */
record_describe budget_answer_describe_all, budget_answer_describe_worst,
    budget_answer_describe_one;

void gemm_describe_library(char *text, size_t size, const void *answer);

/* Their lines, by the sentences of an answer. */
#define BUDGET_LINES_OF(all, worst, one)                                                 \
    { "error budget", all, RECORD_ALWAYS, NULL },                                        \
        { "worst outputs", worst, RECORD_ALWAYS, NULL },                                 \
    {                                                                                    \
        "one output", one, RECORD_ALWAYS, NULL                                           \
    }
#define BUDGET_LINES                                                                     \
    BUDGET_LINES_OF(budget_describe_all, budget_describe_worst, budget_describe_one)

#endif
