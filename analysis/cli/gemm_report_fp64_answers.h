/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of a report on a D in FP64, and what the page makes of them. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_FP64_ANSWERS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_FP64_ANSWERS_H

#include "analysis/cli/fp64_setup.h"
#include "analysis/cli/gemm_report.h"
#include "analysis/cli/result_report.h"
#include "analysis/fp64/scheme_advice.h"
#include "analysis/fp64/scheme_search.h"

/* All zeros except the first three members.  Must not be moved. */
struct fp64_answers {
    struct context *context;
    const struct gemm_report_options *o;
    struct fp64_request request;
    struct fp64_setup s; /* A, B, C and D; the scheme, or fp64 if none was given */

    /* Errors of D, with those of each output; of what the scheme gives, if D has other
       bits; and of FP64 multiply-adds. */
    struct fp64_answer given, model, plain;
    struct fp64_outputs outputs;
    struct fp64_answer bits; /* D compared with the scheme */
    struct scheme_explanation explanation;
    struct scheme_advice *advice;
    struct scheme_problem advised; /* the problem of the advice */
    double *of_a, *of_b;           /* its matrices              */
    const char *target[1];
    bool has_errors, has_model, has_bits, has_explanation;
    struct fault why; /* of the first answer that failed */
};

/* Read the options and the matrices.  Prints and returns an exit status;
   fp64_answers_clear() has to be called after any status. */
int fp64_answers_read(struct fp64_answers *a);
void fp64_answers_clear(struct fp64_answers *a);

/* Whether a scheme was given. */
static inline bool fp64_answers_told(const struct fp64_answers *a)
{
    return a->o->fp64.scheme;
}

/* Whether D is judged by the limits of FP64 multiply-adds; otherwise by the bound of the
   scheme. */
bool fp64_answers_as_dgemm(const struct fp64_answers *a);

/* The name of what D is compared with: "ozimmu-ef with 8 slices". */
void fp64_answers_name(char *text, size_t size, const struct fp64_answers *a);

/* Compute an answer unless it exists.  BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if asked to
   stop.  fp64_ask_results(): the errors, and the bits unless D is judged as DGEMM's. */
enum bitcut_status fp64_ask_errors(struct fp64_answers *a, struct fault *f);
enum bitcut_status fp64_ask_bits(struct fp64_answers *a, struct fault *f);
enum bitcut_status fp64_ask_results(struct fp64_answers *a, struct fault *f);
enum bitcut_status fp64_ask_explanation(struct fp64_answers *a, struct fault *f);
enum bitcut_status fp64_ask_advice(struct fp64_answers *a, struct fault *f);

/* The output nearest to its limit, or farthest above it; the limit is the bound of the
   scheme, or that of an FP64 GEMM. */
size_t fp64_answers_worst(const struct fp64_answers *a);
double fp64_answers_limit(const struct fp64_answers *a, size_t output);

/* Append the rows of a section. */
typedef void fp64_report_rows(json_t *to, const struct fp64_answers *a);
fp64_report_rows fp64_rows_explanation, fp64_rows_bits, fp64_rows_errors,
    fp64_rows_histogram, fp64_rows_range, fp64_rows_places, fp64_rows_worst,
    fp64_rows_schemes;

/* Set the banner of struct page from the answers so far, and append the assertion. */
void fp64_report_judge(struct result_report *r, const struct fp64_answers *a);
void fp64_report_code(struct result_report *r, const struct fp64_answers *a);

#endif
