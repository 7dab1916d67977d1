/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs of exact attention by MPFR: with growing precision until the rounding is
   decided (Ziv 1991), and values half way between two results by an exact test.  MPFR
   ends the program if it runs out of memory.  One thread at a time. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_ORACLE_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_ORACLE_H

#include "lib/number/format.h"

#include <mpfr.h>

/* A query and the keys that it sees: finite FP32 values as doubles. */
struct attention_oracle_query {
    size_t keys, dim, value_dim;
    double scale;
    bool base2; /* whether the weights are 2^(scale score); false: exp(scale score) */
    const double *q, *k, *v; /* [dim], [dim][k_stride], [key][value_dim] */
    size_t k_stride;
    const double *v_max; /* [value_dim]: at least the largest |v| */
};

struct attention_oracle;

/* NULL: no memory. */
struct attention_oracle *attention_oracle_open(const struct attention_oracle_query *x);

/* Output `column`, rounded once to nearest even of the format.  *exact: whether it was
   recognised as an exact value.  *value: its value, rounded to binary64. */
uint64_t attention_oracle_output(bool *exact, double *value, struct attention_oracle *o,
                                 size_t column, const struct bitcut_format *format);

/* Output `column` before it is rounded: *to has the precision of the result, whose error
   is below 2^-150 of the largest |V| of the column.  *size: the same mean of the
   magnitudes of V, in binary64. */
void attention_oracle_mean(mpfr_ptr to, double *size, struct attention_oracle *o,
                           size_t column);

void attention_oracle_close(struct attention_oracle *o);

#endif
