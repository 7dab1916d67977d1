/* The summations: what one step of a unit computes of finite terms. */
#ifndef BITCUT_EMU_SUM_H
#define BITCUT_EMU_SUM_H

#include "emu/trace.h"
#include "emu/unit.h"

/* One step of the chain: n products and an accumulator. */
struct step {
    const struct number *a, *b;
    const struct number *scale_a, *scale_b; /* of the first product; NULL if none */
    int n;
    uint64_t c;      /* the accumulator as an encoding of unit->c ... */
    struct number z; /* ... and as a number                           */
};

/* The step's result, an encoding of unit->c, by the summation of the row.  Operands,
   scales and accumulator must be finite, and for TWO_STAGE product_top() at most emax of
   the result; for PAIRS they may be anything. */
uint64_t sum_step(const struct bitcut_unit *unit, const struct step *step);

/* The same result, with its sums added to the latest step of the trace. */
uint64_t sum_step_traced(const struct bitcut_unit *unit, const struct step *step,
                         struct unit_trace *trace);

/* Fraction bits of a product's significand: those of both operands as read. */
static inline int product_fraction_bits(const struct bitcut_unit *u)
{
    return (u->via ? u->via : u->a)->fraction_bits +
           (u->via ? u->via : u->b)->fraction_bits;
}

/* The exponent of the leading one of a nonzero product. */
static inline int product_top(const struct bitcut_unit *u, struct number a,
                              struct number b)
{
    return 63 - __builtin_clzll(a.significand * b.significand) + a.exponent + b.exponent -
           product_fraction_bits(u);
}

#endif
