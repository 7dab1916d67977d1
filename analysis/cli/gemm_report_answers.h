/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers in a report about one GEMM.  Each is computed once, when it is needed. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_ANSWERS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_ANSWERS_H

#include "analysis/cli/gemm_report.h"
#include "analysis/cli/gemm_report_batch.h"
#include "analysis/cli/setup.h"
#include "analysis/identify/explain.h"
#include "analysis/sampling/advise_text.h"
#include "analysis/sampling/judged.h"
#include "analysis/sampling/tolerance_text.h"
#include "analysis/verify/verified.h"

/* The problems.  ASK_EXPLAIN comes before D is compared with what computed it. */
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

enum { GEMM_CHIPS = 3 }; /* number of chips that are shown unless --unit is given */
enum { GEMM_NOTE_MAX = BITCUT_GEMM_MAX + BITCUT_TEXT_MAX + 40 };

/* Must be all zeros except the first two members. */
struct gemm_answers {
    struct context *context;
    const struct gemm_report_options *o;
    struct setup_options own; /* the options that told was made from */
    struct bitcut_gemm told;  /* alpha, beta; with `tells` also the bias, the factors, the
                                 start and the steps, of the operands in s */
    int32_t zero[2];          /* zero points of A and B of s */
    bool sparse;              /* whether A is 2:4 sparse */
    bool tells, steps_told, scaling_told; /* as of struct problem */
    struct setup s;  /* A, B and C; GEMM and plan once they are selected */
    struct matrix original[2]; /* A and B before they were quantized, if they were */
    struct matrix less[2];     /* A and B less their zero points, if there are any */
    struct matrix d; /* d.at is NULL unless it was given                     */
    struct gemm_report_batch batch; /* empty, or A, B, C and D are one of its GEMMs */
    bool chosen;
    char configuration[BITCUT_GEMM_MAX]; /* the GEMM as a line of text, with a note */
    char note[GEMM_NOTE_MAX];  /* why the GEMM is not the one found for D; "": it is that
                                  GEMM */
    double want;
    size_t seconds;
    struct gemm_data data; /* A, B and C as the selected GEMM reads them; own are bias and
                              factors, in FP32 */
    struct matrix emulated;
    struct gemm_asked {
        bool tried;
        int status;       /* exit status of the corresponding command */
        struct fault why; /* its message if there is no answer */
    } of[QUESTIONS];
    const char *target[ADVISE_TARGETS_MAX]; /* the targets where recipes are tried, */
    size_t targets;                         /* and their number */
    char advised[1 << 12];                  /* the options of advise for told */
    struct bitcut_gemm asked;  /* told and data for the original A and B; elements stay */
    struct gemm_data asked_of; /* those of data */
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

/* Read the matrices and check the options.  Prints messages and returns an exit status.
 */
int gemm_answers_read(struct gemm_answers *a);
/* Select the requested recipe and unit.  Prints messages and returns an exit status. */
int gemm_answers_take(struct gemm_answers *a);

void gemm_answers_clear(struct gemm_answers *a);

/* Compute an answer, and the answers that it depends on, unless they exist already.
   Prints what is wrong at each call and returns an exit status: above EXIT_FOUND there is
   no answer. */
int gemm_ask(struct gemm_answers *a, enum gemm_problem problem);

/* Whether D has another shape than A B, and A B is defined. */
bool gemm_answers_misshapen(const struct gemm_answers *a);

/* The answer in the form that its sentences take: a struct advise, explanation,
   gemm_answer, judged, verified, tolerance_answer, or bound results.  NULL: it was not
   computed, or there is none. */
const void *gemm_answer_to(const struct gemm_answers *a, enum gemm_problem problem);

/* The FP32 loop that results are compared with.  It multiplies elements by the factors
   that another unit applies. */
struct bitcut_gemm gemm_answers_fp32_loop(const struct gemm_answers *a);

/* A or B as a GEMM reads it: units of integers correct zero points; others multiply
   elements less them. */
const struct matrix *gemm_answers_operand(const struct gemm_answers *a,
                                          const struct bitcut_gemm *g, bool is_b);
/* Whether a GEMM reads A or B in another form than their files have it. */
bool gemm_answers_subtract(const struct gemm_answers *a, const struct bitcut_gemm *g);

/* Whether the budget of all outputs would take minutes. */
bool gemm_answers_are_many(const struct gemm_answers *a);

#endif
