/* SPDX-License-Identifier: BSD-3-Clause */
/* Attentions to compute, and an independent definition of their results: query by query
   and key by key, from the fields of emu/attention/attention_row.h, instructions by
   tests/emu/spec.h, FP32 operations by the processor, other functions by MPFR. */
#ifndef BITCUT_TESTS_ATTENTION_ATTENTION_STATEMENT_H
#define BITCUT_TESTS_ATTENTION_ATTENTION_STATEMENT_H

#include "emu/attention/attention_plan.h"

/* O of all heads, FP32 values before they are rounded to the format of O, and the
   logarithms of the sums.  Floating point is in its default mode. */
void attention_statement(float *o, float *lse, const struct attention_plan *plan);

/* What the definition computes for one output, if statement_seen is not NULL: it has the
   output that is meant. */
enum { SEEN_KEYS = 64, SEEN_SPLITS = 8, SEEN_PRODUCTS = 64 };
struct statement_seen {
    size_t head, query, column;
    struct seen_key {
        bool seen;
        float s, x, p,
            given; /* score, argument of the exponential, P, P in the product */
        size_t split, step;
    } key[SEEN_KEYS];
    struct seen_split {
        size_t steps; /* tiles                               */
        float scale[SEEN_KEYS], shift[SEEN_KEYS]; /* of each tile                      */
        float sum, undivided, o;
    } split[SEEN_SPLITS];
    size_t products; /* sums of P V: from c to d, in a step of a split */
    struct seen_product {
        float c, d;
        size_t split, step;
    } product[SEEN_PRODUCTS];
    float merged, q_factor, k_factor[SEEN_KEYS], v_factor;
    float q[SEEN_KEYS], k[SEEN_KEYS][SEEN_KEYS],
        v[SEEN_KEYS]; /* as the products read them,
                         less the factors      */
};
extern struct statement_seen *statement_seen;

#endif
