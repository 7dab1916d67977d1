/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact values that the parts of operands stand for, and the sums of their products.
 */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_PARTS_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_PARTS_H

#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/dyadic_sum.h"

/* The values that the parts of an element stand for, one for each stage of rounding.
   STAGE_GIVEN is the element that is split: times its factor, rounded, if factors are
   applied to elements. */
enum stage { STAGE_EXACT, STAGE_GIVEN, STAGE_PARTS, STAGE_SMALL, STAGE_REAL, STAGES };

/* A row of A or a column of B, contiguous, as a plan splits it. */
struct budget_line {
    const struct gemm_plan *plan;
    enum bitcut_operand operand;
    const uint32_t *at;
    size_t k;
    const uint8_t *kept;         /* of a sparse row, or NULL */
    bool multiplied;             /* whether elements are multiplied by their factors */
    struct line_factors factors, /* of elements */
        weights;                 /* other factors of the line, except those of steps */
    int exponent; /* exponent of equilibration: values are 2^exponent times the element */
    int top;      /* the magnitudes of the elements that are split are below 2^top, times
                     2^exponent */
};

/* `kept` has the positions of the kept elements of a row of a sparse A; NULL: all k
   count. All arrays must stay where they are. */
struct budget_line budget_line_of(const struct gemm_plan *plan,
                                  enum bitcut_operand operand, const uint32_t *at,
                                  size_t k, const struct line_factors *factors,
                                  const uint8_t *kept);

/* The values of a part of a line. */
struct budget_values;

/* Memory for the values of `most` elements.  Returns NULL if memory runs out; free()
   releases the result. */
struct budget_values *budget_values_new(size_t most);

/* Elements [from, from + count) of the line.  False: no memory. */
bool budget_values_fill(struct budget_values *to, const struct budget_line *line,
                        size_t from, size_t count);

/* The sums of products at each stage, each product times its factors except those that
   steps apply, and times 2^(both exponents). */
struct budget_stages {
    int exponents; /* the sum of both exponents                                       */
    int unit;      /* of these sums, and of other sums of the same products, see
                      analysis/accuracy/dyadic_sum.h                                  */
    struct dyadic_sum sum[STAGES];
};

/* Sums of no products. */
void budget_stages_start(struct budget_stages *to, const struct budget_line *a,
                         const struct budget_line *b);

/* Add the products of the same part of two lines. */
void budget_stages_add(struct budget_stages *to, const struct budget_values *a,
                       const struct budget_values *b);

/* All sums of two lines.  False: no memory. */
bool budget_stages_find(struct budget_stages *to, const struct budget_line *a,
                        const struct budget_line *b);

#endif
