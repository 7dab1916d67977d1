/* SPDX-License-Identifier: BSD-3-Clause */
/* How a unit computes an output: every intermediate number, for people and for tests. */
#ifndef BITCUT_EMU_TRACE_H
#define BITCUT_EMU_TRACE_H

#include "emu/special.h"
#include "lib/number/wide.h"

#include <assert.h>

__extension__ typedef __int128 int128;

enum trace_source { TRACE_PRODUCT, TRACE_C, TRACE_SUM, TRACE_ZERO };

/* A term of a sum. */
struct trace_term {
    enum trace_source source;
    int index;         /* PRODUCT: its k; SUM: index among the step's sums; ZERO: the +0
                          that a chain starts from                               */
    int exponent;      /* exponent by which the term aligns; undefined for a zero */
    struct term value; /* the complete term: significand * 2^exponent of its last bit */
    int128 aligned;    /* the retained part of the term, in the units of the sum, if the
                          sum is `aligned`; else 0                               */
};

/* A sum, or a single term that is rounded or cut. */
struct trace_sum {
    const char *name;           /* NULL: the last sum of its step, whose `d` is the result
                                   of the step                                          */
    struct special_sum special; /* a NaN or infinity determined the result: only `d` is
                                   set                                                  */
    int first, terms;           /* range of its terms in `term` of the trace            */
    bool aligned;               /* whether terms were cut to integers of one unit       */
    bool at_exponent;           /* below this exponent; false: nothing was lost         */
    int exponent;
    struct term value; /* sum of the terms before any rounding; its exponent is the
                          unit                                                          */
    bool inexact;      /* whether `value` is cut, with a nonzero remainder below        */
    bool cut;          /* whether it was then cut, and to what                          */
    struct term kept;
    bool rounded; /* whether it was then rounded,                                       */
    uint64_t d;   /* to this encoding of unit->result                                   */
};

/* A step of the chain: one block of products and the accumulator. */
struct trace_step {
    int first, products; /* products of the step: trace.k[first] and so on */
    int first_sum, sums; /* range of its sums in `sum` of the trace        */
    uint64_t c, d;       /* the accumulator before and after: encodings of unit->c */
};

enum { TRACE_SUMS_MAX = 4 * UNIT_K_MAX, TRACE_TERMS_MAX = 5 * UNIT_K_MAX };

/* The complete computation of one output. */
struct unit_trace {
    int steps, sums, terms; /* number of entries of each kind */
    struct trace_step step[UNIT_K_MAX];
    struct trace_sum sum[TRACE_SUMS_MAX];
    struct trace_term term[TRACE_TERMS_MAX];
    int k[UNIT_K_MAX]; /* k in the order in which products enter the blocks */
    bool c_last;       /* whether the steps started from +0 and C was added at the
                          end:                                            */
    uint64_t c, d;     /* C as the unit reads it, and the output, encodings of unit->c */
};

/* A function that takes a trace, or the constant NULL if no trace is wanted.  It is
   always inlined, so that the code without a trace has no trace code. */
#define TRACED static inline __attribute__((always_inline))

/* Functions that add to the trace, if there is one.  Terms belong to the next sum, sums
   to the latest step. */
void trace_step_add(struct unit_trace *trace, int first, int products, uint64_t c);
void trace_sum_add(struct unit_trace *trace, struct trace_sum sum);

static inline void trace_term_add(struct unit_trace *trace, struct trace_term term)
{
    assert(trace->terms < TRACE_TERMS_MAX);
    trace->term[trace->terms++] = term;
}

TRACED void trace_step(struct unit_trace *trace, int first, int products, uint64_t c)
{
    if (trace) trace_step_add(trace, first, products, c);
}

TRACED void trace_sum(struct unit_trace *trace, struct trace_sum sum)
{
    if (trace) trace_sum_add(trace, sum);
}

TRACED void trace_term(struct unit_trace *trace, struct trace_term term)
{
    if (trace) trace_term_add(trace, term);
}

/* Term `index` of the latest step's block. */
TRACED void trace_product(struct unit_trace *trace, int index, int exponent,
                          struct term value, int128 aligned)
{
    if (!trace) return;
    const int k = trace->k[trace->step[trace->steps - 1].first + index];
    trace_term_add(trace,
                   (struct trace_term){ TRACE_PRODUCT, k, exponent, value, aligned });
}

/* A NaN or an infinity determined the result. */
TRACED void trace_special(struct unit_trace *trace, const char *name,
                          struct special_sum special, uint64_t d)
{
    trace_sum(trace, (struct trace_sum){
                         .name = name, .special = special, .rounded = true, .d = d });
}

#endif
