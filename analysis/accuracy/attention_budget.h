/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of an attention comes from: parts that add up to it.

   Each part is the difference of two successive values.  The first value is exact
   attention, the last one is O, so the parts add up to the error exactly.  Values without
   an exponential are rational: the last two are exact, the others are divided, and
   multiplied by rescales, with 192 bits; values with exact exponentials have 192 bits as
   well (attention_oracle.h).  Errors are below 2^-150 of the largest |V| of the column.
   Each value is then rounded once to a multiple of 2^-140 of it, so that equal values
   have no difference.  All differences are exact, and nothing is lost between them.

   With s the scores, x the arguments of the exponential in base b, and R the product of
   the rescales that follow a tile, the values are

     softmax(scale Q K^T) V                        exact
     the same of Q, K, V as the products read them             operands
     the same of the scores of the unit                        scores
     sum of b^(x + shift) v / sum of b^(x + shift)             exponents
     sum of b^x R v         / sum of b^x R                     rescale
     sum of P R v           / sum of P R                       exp
     sum of cast(P) R v     / sum of P R                       cast
     the same with bits cut by the unit of P V                 alignment
     the same with its rounded sums                            accumulation
     O before the division  / sum of P R                       rescale: O times R, rounded
     O before the division  / the sum of the kernel            sum
     O after the division                                      division
     O of all splits, merged                                   merge
     O                                                         output

   where splits up to "division" are merged exactly.  A row that divides P before the
   product has "sum" and "division" before "cast". */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_BUDGET_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_BUDGET_H

#include "analysis/accuracy/budget.h"
#include "emu/attention/attention_operands.h"
#include "lib/base/record.h"

enum attention_part {
    ATTENTION_OPERANDS,
    ATTENTION_SCORES,
    ATTENTION_EXPONENTS,
    ATTENTION_RESCALE,
    ATTENTION_EXP,
    ATTENTION_CAST,
    ATTENTION_ALIGNMENT,
    ATTENTION_ACCUMULATION,
    ATTENTION_SUM,
    ATTENTION_DIVISION,
    ATTENTION_MERGE,
    ATTENTION_OUTPUT,
    ATTENTION_PARTS
};

/* The parts by position, ended by a row whose name is NULL. */
extern const struct table_row attention_parts[];

/* The budget of one output.  Values are rounded to binary64. */
struct attention_output_budget {
    size_t head, row, column;
    const char
        *event; /* why it has no parts: something is infinite or NaN; NULL: it has */
    double part[ATTENTION_PARTS], error;
    double value, o; /* the exact output, and O                             */
    double size;     /* the mean of |V| by the exact weights     */
    const char *exact[ATTENTION_PARTS]; /* as "m*2^e", if asked for; else NULL */
    const char *exact_value, *exact_error;
};

/* What is computed for one attention: its plan and its operands. */
struct attention_budget_work {
    const struct attention_plan *plan;
    const struct attention_operands *x;
};

/* The budgets of `count` columns of a query.  One thread at a time, because of MPFR.
   BITCUT_NO_MEMORY. attention_output_clear() frees the texts. */
enum bitcut_status attention_budget_query(struct attention_output_budget *to,
                                          const struct attention_budget_work *w,
                                          size_t head, size_t query, const size_t *column,
                                          size_t count, bool texts, struct fault *f);
void attention_output_clear(struct attention_output_budget *x);

/* The budgets of many outputs.  Statistics are in u of the format of O times the mean of
   |V| by the exact weights, which no output exceeds in exact arithmetic. */
struct attention_budget {
    size_t total, outputs; /* outputs of O, and those that were computed                */
    size_t without;        /* of these, outputs without parts                           */
    const char *event;     /* the reason of the first of them                           */
    size_t head, row, column; /* the output with the largest error                      */
    struct budget_statistics part[ATTENTION_PARTS + 1]; /* and of the error             */
};

/* The budgets of all outputs, or of about `samples` outputs spread over all queries; 0:
   as many as have about 2^20 products with V, at least 16. */
enum bitcut_status attention_budget_find(struct attention_budget *to,
                                         const struct bitcut_attention *attention,
                                         size_t samples, int threads,
                                         const struct progress *progress,
                                         struct fault *f);

/* The budget of one output, with texts. */
enum bitcut_status attention_budget_at(struct attention_output_budget *to,
                                       const struct bitcut_attention *attention,
                                       const size_t at[3], struct fault *f);

extern const struct record_field attention_budget_fields[], attention_output_fields[],
    attention_part_fields[], attention_output_part_fields[];

/* Append the largest parts. */
void attention_budget_describe(char *text, size_t size, const struct attention_budget *b);
void attention_output_describe(char *text, size_t size,
                               const struct attention_output_budget *b, double u);

#endif
