/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of one query of an attention, by the events of its computation: what the
   numerators and denominators of the values of an error budget are. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_BUDGET_SUMS_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_BUDGET_SUMS_H

#include "analysis/accuracy/attention_budget.h"
#include "emu/attention/attention_run.h"

#include <mpfr.h>

/* Sums over keys of a weight times V, and sums of a weight.  All are multiplied by later
   rescales. */
enum numerator {
    OF_EXPS,    /* exact powers of the computed exponents                             */
    OF_P,       /* P                                                                  */
    OF_GIVEN,   /* P as the product with V is given it: divided, if the row does so   */
    OF_CAST,    /* this, rounded to the format of the product                         */
    OF_ALIGNED, /* the same, less the bits that the unit cuts                         */
    OF_UNIT,    /* the products as the unit gives them                                */
    OF_O,       /* O before the division                                              */
    OF_DIVIDED, /* O after the division, times the kernel's sum of P                  */
    NUMERATORS
};
enum denominator {
    BY_EXPS, /* sum of exact powers */
    BY_P,    /* sum of P            */
    BY_SUM,  /* the kernel's sum    */
    BY_ONE,  /* 1                   */
    DENOMINATORS
};

/* The bits of all values that are not exact. */
enum { ATTENTION_QUERY_BITS = 192 };

/* The sums of a split, or of all splits. */
struct attention_query_sums {
    mpfr_t *n; /* [column][NUMERATORS] */
    mpfr_t d[DENOMINATORS];
};

struct attention_query {
    const struct attention_budget_work *w;
    size_t head, kv, at, from, to; /* the query, and the keys that it sees */
    const size_t *column;
    size_t count;
    double *s, *x; /* [key - from]: scores times factors of K, and exponents;    */
    double *shift; /* what was subtracted there.  x and shift lie side by side   */
    double q_factor;
    uint32_t *v; /* [padded key]: a column of V as the unit reads it           */
    struct attention_query_sums split, all;
    float shift_all; /* the largest shift of a split so far */
    bool any;        /* whether there was a split           */
    mpfr_t exp, term;
    const char *event;
    enum bitcut_status status;
    struct fault *f;
};

/* Begin and end the sums of a query whose arrays were allocated. */
void attention_query_start(struct attention_query *q);
void attention_query_clear(struct attention_query *q);

/* The observer that adds the events of the query to its sums. */
struct attention_watch attention_query_watch(struct attention_query *q);

/* The query has no budget, for this reason, unless there was one before. */
void attention_query_end(struct attention_query *q, const char *what);

/* V of a key in column q->column[i], as the product reads it, and the factor of the
   column. */
double attention_query_v(const struct attention_query *q, size_t key, size_t i);
float attention_query_factor(const struct attention_query *q, size_t i);

#endif
