/* SPDX-License-Identifier: BSD-3-Clause */
/* What a report on one GEMM asks the library, each problem once and when it is needed.
 */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_ANSWERS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_ANSWERS_H

#include "analysis/cli/gemm_report.h"
#include "analysis/cli/setup.h"
#include "analysis/identify/explain.h"
#include "analysis/sampling/advise_text.h"
#include "analysis/sampling/judged.h"
#include "analysis/sampling/tolerance_text.h"
#include "analysis/verify/verified.h"

/* The questions.  What computed D is found before D is compared with it. */
enum gemm_problem {
    ASK_ADVISE,
    ASK_EXPLAIN,
    ASK_GEMM, /* the recipe and unit that D is compared with, on the emulator */
    ASK_FP32, /* an FP32 loop                                                 */
    ASK_VERIFY,
    ASK_BOUND,
    ASK_TOLERANCE,
    QUESTIONS
};

enum { GEMM_CHIPS = 3 }; /* so many are shown unless --unit asks for one */
enum { GEMM_NOTE_MAX = BITCUT_GEMM_MAX + BITCUT_TEXT_MAX + 40 };

/* Zeros, and the first two. */
struct gemm_answers {
    struct context *context;
    const struct gemm_report_options *o;
    uint32_t alpha, beta;
    struct setup s;  /* A, B and C; GEMM and plan once they are chosen       */
    struct matrix d; /* d.at is NULL unless it was given                     */
    bool chosen;
    char way[BITCUT_GEMM_MAX]; /* the line of GEMM, with a note                        */
    char note[GEMM_NOTE_MAX]; /* why GEMM is not what D was found to be; "": it is    */
    double want;
    size_t seconds;
    struct gemm_data data; /* A, B and C again                               */
    struct matrix emulated;
    struct gemm_asked {
        bool tried;
        int status;       /* of the command that asks the same        */
        struct fault why; /* what it says, if there is no answer      */
    } of[QUESTIONS];
    const char *place[ADVISE_PLACES_MAX]; /* where recipes are tried ... */
    size_t places;                         /* ... and how many           */
    struct advise advice;
    struct explanation explanation;
    struct judged judged, fp32;
    struct gemm_answer model;
    struct budget_problem budget_problem, worst_problem;
    struct budget_answer budget, worst; /* of the emulated D; of D */
    struct verified verified;
    struct bound_result bound[BOUNDS];
    struct tolerance_problem limits;
    struct shuffled_source shuffled;
    struct tolerance tolerance;
    struct tolerance_given given;
    struct power power;
    struct tolerance_answer test;
};

/* Read the matrices, and check the options.  Prints and returns an exit status. */
int gemm_answers_read(struct gemm_answers *a);
void gemm_answers_clear(struct gemm_answers *a);

/* Ask, if it was not asked before, and what has to be known before.  Says what is wrong,
   each time, and returns an exit status: above EXIT_FOUND there is no answer. */
int gemm_ask(struct gemm_answers *a, enum gemm_problem problem);

/* Whether D has another shape than A B, which has one. */
bool gemm_answers_misshapen(const struct gemm_answers *a);

/* The answer, as its sentences take it: a struct advise, explanation, gemm_answer,
   judged, verified, tolerance_answer, or bound results; NULL: it was not asked, or there
   is none. */
const void *gemm_answer_to(const struct gemm_answers *a, enum gemm_problem problem);

/* The command line that asks the same, as a text to be released. */
json_t *gemm_question_line(const struct gemm_answers *a, enum gemm_problem problem);

#endif
