/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of a report about one attention, and what the page makes of them.  Each is
   computed once, when it is needed. */
#ifndef BITCUT_ANALYSIS_CLI_ATTENTION_REPORT_ANSWERS_H
#define BITCUT_ANALYSIS_CLI_ATTENTION_REPORT_ANSWERS_H

#include "analysis/accuracy/attention_answer.h"
#include "analysis/accuracy/metric.h"
#include "analysis/cli/attention_setup.h"
#include "analysis/cli/result_report.h"
#include "analysis/identify/attention_search.h"
#include "analysis/sampling/attention_excerpt.h"
#include "analysis/sampling/attention_tolerance.h"

/* How the row by which O is judged was chosen. */
enum attention_choice {
    ROW_TOLD,    /* by --row                                       */
    ROW_FOUND,   /* it gives O, apart from a fault or a few places */
    ROW_STANDARD /* by the format of Q: no row was found, or there is no O */
};

enum { ATTENTION_ROWS_MAX = 16, ATTENTION_WORST = 8 };

/* The outputs of an excerpt, O or those of a row, and their errors.  Positions in
   `errors` are those of O. */
struct attention_result {
    const struct bitcut_attention_row *row;  /* NULL: O                               */
    const struct bitcut_format *of_q, *of_p; /* formats of its products' operands     */
    void *o;                   /* [head][query][value_dim]; NULL: not computed  */
    char why[BITCUT_TEXT_MAX]; /* then: why                                     */
    struct bitcut_attention_errors errors;
    struct attention_measure measure; /* relative to u times the mean of |V|         */
    size_t bins[HISTOGRAM_BINS];      /* outputs by distance, as ulp_histogram()     */
};

/* All zeros except the first three members.  Must not be moved. */
struct attention_answers {
    struct context *context;
    const struct attention_setup_options *o;
    double seconds; /* the time limit of explain */
    struct attention_setup s;
    bool given;                    /* whether there is an O */
    struct bitcut_attention taken; /* the attention, with sizes and scale set */

    struct attention_explanation explanation;
    enum attention_choice choice;
    const struct bitcut_attention_row *row; /* NULL: not chosen yet */
    char vary[BITCUT_ATTENTION_TEXT_MAX];   /* its variations       */
    bool any_tiles;
    struct attention_excerpt x;
    char line[BITCUT_ATTENTION_MAX];    /* all fields of the row */
    struct bitcut_attention by;         /* the excerpt's attention by the row */
    struct attention_result own, model; /* O; the row's O */
    struct bitcut_difference bits;      /* O compared with the row; positions are O's */
    size_t wrong; /* outputs of O that are infinite or NaN where exact attention is not,
                     or the reverse, unless the row's output is the same Inf or NaN */
    struct attention_answer answer;         /* of O, or of the row if there is no O */
    struct attention_tolerance_answer test; /* limits, the verdict on O, power  */
    double *bound;                          /* limits by weights; NULL: none    */
    struct attention_output_budget worst[ATTENTION_WORST];
    size_t worst_count, worst_at[ATTENTION_WORST];
    struct attention_result other[ATTENTION_ROWS_MAX]; /* of all rows, the best first */
    size_t others;
    bool has_explanation, has_excerpt, has_errors, has_bits, has_limits, has_power,
        has_worst, has_rows;
    struct fault why; /* of the first answer that failed */
};

/* Read the matrices and check the row.  Prints and returns an exit status;
   attention_answers_clear() has to be called after any status. */
int attention_answers_read(struct attention_answers *a);
void attention_answers_clear(struct attention_answers *a);

/* Compute an answer, and those that it depends on, unless it exists.  BITCUT_NO_MEMORY;
   BITCUT_UNSUPPORTED if asked to stop. */
typedef enum bitcut_status attention_ask(struct attention_answers *a, struct fault *f);
attention_ask attention_ask_explanation, attention_ask_errors, attention_ask_verdict,
    attention_ask_bounds, attention_ask_budget, attention_ask_worst, attention_ask_rows,
    attention_ask_power;

/* Choose the row by which O is judged, unless it is chosen. */
attention_ask attention_ask_row;

/* The attention by that row. */
struct bitcut_attention attention_answers_by_row(const struct attention_answers *a);

/* Measure a result whose outputs are there. */
void attention_result_measure(struct attention_result *r,
                              const struct attention_answers *a);

/* A result as a pair for limits; *o is the matrix of its outputs. */
struct attention_pair attention_result_pair(const struct attention_answers *a,
                                            struct bitcut_matrix *o, const void *at);

/* Whether O is within the limits: the errors, and the outputs counted by `wrong`, of
   which there is none if the row decides which outputs are Inf or NaN. */
bool attention_answers_accepts(const struct attention_answers *a);

/* The result that the page is about: O, or that of the row. */
const struct attention_result *
attention_answers_result(const struct attention_answers *a);

/* The error of output i of the excerpt, relative to u times the mean of |V|; NaN: it is
   no number where the exact result is one, or the reverse. */
double attention_answers_error(const struct attention_answers *a,
                               const struct attention_result *r, size_t i);

/* u of the format of O. */
double attention_answers_u(const struct attention_answers *a);

/* The most accurate result of a row with operands of 16 bits and more, or with shorter
   ones; NULL: there is none. */
const struct attention_result *attention_answers_best(const struct attention_answers *a,
                                                      bool is_short);

/* Append the rows of a section. */
typedef void attention_report_rows(json_t *to, const struct attention_answers *a);
attention_report_rows attention_rows_explanation, attention_rows_errors,
    attention_rows_bits, attention_rows_histogram, attention_rows_bounds,
    attention_rows_budget, attention_rows_places, attention_rows_worst,
    attention_rows_algorithms, attention_rows_power;

/* Set the banner from the answers so far, and append the assertion. */
void attention_report_judge(struct result_report *r, const struct attention_answers *a);
void attention_report_code(struct result_report *r, const struct attention_answers *a);

/* Sentences about the answers. */
record_describe attention_report_bits, attention_report_worst, attention_report_best,
    attention_report_short;

#endif
