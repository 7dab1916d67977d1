/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of summations, shared by the files of their rows and the engine. */
#ifndef BITCUT_EMU_SUM_H
#define BITCUT_EMU_SUM_H

#include "emu/summation.h"
#include "emu/trace.h"

#include <assert.h>

/* Define NAME_plain and NAME_traced of a TRACED function NAME, a step: one without a
   trace, for many calls, and one with a trace. */
#define BOTH(name)                                                                       \
    static uint64_t name##_plain(const struct bitcut_unit *u, const struct step *t)      \
    {                                                                                    \
        return name(u, t, NULL);                                                         \
    }                                                                                    \
    static uint64_t name##_traced(const struct bitcut_unit *u, const struct step *t,     \
                                  struct unit_trace *trace)                              \
    {                                                                                    \
        return name(u, t, trace);                                                        \
    }

/* --- what rows need --------------------------------------------------------------- */

static inline bool divides(int part, int whole) { return part > 0 && whole % part == 0; }

/* Whether the significand of a product fits 64 bits. */
bool sum_products_fit(const struct bitcut_unit *u);

/* 64 terms below 4 with this fraction fit an int64_t. */
enum { SUM_BITS_MAX = 52 };

/* Whether u->fraction is a number of bits, and at most `most`. */
bool sum_fraction_fits(const struct bitcut_unit *u, int most);

/* 2^-position as an error; 0 for FRACTION_EXACT. */
double sum_bit(int position);

/* The error bound of a sum at one alignment that cuts this number of terms. */
struct step_error aligned_error(const struct bitcut_unit *u, int cuts);

/* --- products --------------------------------------------------------------------- */

/* Fraction bits of a product's significand: the sum of the fraction bits of both operands
   as read. */
static inline int product_fraction_bits(const struct bitcut_unit *u)
{
    return (u->via ? u->via : u->a)->fraction_bits +
           (u->via ? u->via : u->b)->fraction_bits;
}

/* The exponent of the leading bit of a nonzero product. */
static inline int product_top(const struct bitcut_unit *u, struct number a,
                              struct number b)
{
    return 63 - __builtin_clzll(a.significand * b.significand) + a.exponent + b.exponent -
           product_fraction_bits(u);
}

static inline bool product_negative(struct number a, struct number b)
{
    return a.negative != b.negative;
}

/* The exponent by which a product aligns; far below any other exponent if it is zero. */
static inline int product_exponent(const struct bitcut_unit *u, struct number a,
                                   struct number b)
{
    if (u->normalise && a.significand && b.significand) return product_top(u, a, b);
    return a.exponent + b.exponent;
}

/* --- values as terms -------------------------------------------------------------- */

static inline struct term product_term(const struct bitcut_unit *u, struct number a,
                                       struct number b)
{
    return (struct term){ (bitcut_uint128)a.significand * b.significand,
                          a.exponent + b.exponent - product_fraction_bits(u),
                          product_negative(a, b) };
}

static inline struct term number_term(const struct bitcut_format *f, struct number z)
{
    return (struct term){ z.significand, z.exponent - f->fraction_bits, z.negative };
}

static inline struct term integer_term(int128 x, int exponent)
{
    return (struct term){ x < 0 ? -(bitcut_uint128)x : (bitcut_uint128)x, exponent,
                          x < 0 };
}

static inline struct term unrounded_term(struct unrounded x)
{
    return (struct term){ x.significand, x.exponent, x.negative };
}

/* --- NaN -------------------------------------------------------------------------- */

/* Whether a b + z gives the NaN of an operand by the row's rule.  If so, *d is this NaN,
   quiet, as an encoding of u->c.  NaNs of a and b are in the formats u->a and u->b, also
   with `via`. */
bool sum_nan_operand(uint64_t *d, const struct bitcut_unit *u, struct number a,
                     struct number b, struct number z);

/* --- cutting and rounding --------------------------------------------------------- */

/* significand * 2^up with the bits below the unit place dropped: from the magnitude or,
   with u->floor, from the signed value. */
static inline int64_t aligned(const struct bitcut_unit *u, uint64_t significand, int up,
                              bool negative)
{
    uint64_t m = 0;
    if (up >= 0) {
        assert(significand == 0 || up <= __builtin_clzll(significand) - 1);
        m = significand << (significand ? up : 0);
    } else {
        if (up > -64) m = significand >> -up;
        if (u->floor && negative && (up <= -64 ? significand : significand - (m << -up)))
            m++;
    }
    return negative ? -(int64_t)m : (int64_t)m;
}

/* Round sum * 2^exponent to an encoding of the result format, with the row's zero rule.
   `zero_negative` is the sign of an exact zero sum, for rules that need it. */
uint64_t sum_round(const struct bitcut_unit *u, struct unrounded sum, bool zero_negative);

/* Whether all terms of a step are -0. */
bool sum_negative_zeros(const struct step *t);

/* The same for sum * 2^exponent, the sum of the terms of the step. */
uint64_t sum_round_integer(const struct bitcut_unit *u, const struct step *t, int128 sum,
                           int exponent);

/* Round an exact sum and add it to the trace under this name. */
TRACED uint64_t finish_exact(const struct bitcut_unit *u, struct unrounded sum,
                             bool zero_negative, const char *name,
                             struct unit_trace *trace)
{
    const uint64_t d = sum_round(u, sum, zero_negative);
    trace_sum(trace, (struct trace_sum){ .name = name,
                                         .value = unrounded_term(sum),
                                         .inexact = sum.sticky,
                                         .rounded = true,
                                         .d = d });
    return d;
}

TRACED void trace_accumulator(const struct bitcut_unit *u, const struct step *t,
                              int exponent, int128 cut, struct unit_trace *trace)
{
    trace_term(trace, (struct trace_term){ .source = TRACE_C,
                                           .exponent = exponent,
                                           .value = number_term(u->c, t->z),
                                           .aligned = cut });
}

/* --- sums that are rounded each --------------------------------------------------- */

/* x + y rounded; x, y and the result are encodings of the result format. */
TRACED uint64_t rounded_sum(const struct bitcut_unit *u, uint64_t x, uint64_t y,
                            const char *name, struct unit_trace *trace)
{
    const struct number a = format_decode(u->result, x), b = format_decode(u->result, y);
    struct special_sum s = { 0 };
    uint64_t d;
    special_add(&s, a);
    special_add(&s, b);
    if (special_result(&d, u, s)) {
        s.operand =
            u->nan_rule != NAN_FIXED && (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN);
        if (s.operand) d = format_quiet(u->result, a.kind == NUMBER_NAN ? a : b);
        trace_special(trace, name, s, d);
        return d;
    }
    const struct term terms[2] = { number_term(u->result, a), number_term(u->result, b) };
    return finish_exact(u, wide_sum(terms, 2), a.negative && b.negative, name, trace);
}

/* Add sum `index` of the step, rounded to the encoding x, to the trace as a term. */
TRACED void trace_rounded(const struct bitcut_unit *u, int index, uint64_t x,
                          struct unit_trace *trace)
{
    if (!trace) return;
    const struct number z = format_decode(u->result, x);
    trace_term_add(trace, (struct trace_term){ .source = TRACE_SUM,
                                               .index = index,
                                               .exponent = z.exponent,
                                               .value = number_term(u->result, z) });
}

/* --- sums at one alignment -------------------------------------------------------- */

/* The largest exponent of the products `from`, from + stride and so on, and of
   `least`. */
static inline int largest_exponent(const struct bitcut_unit *u, const struct step *t,
                                   int from, int stride, int least)
{
    for (int i = from; i < t->n; i += stride) {
        const int e = product_exponent(u, t->a[i], t->b[i]);
        if (e > least) least = e;
    }
    return least;
}

/* The sum of the same products times 2^scale, each cut to `fraction` bits below
   `exponent`. */
TRACED int64_t aligned_products(const struct bitcut_unit *u, const struct step *t,
                                int from, int stride, int scale, int exponent,
                                struct unit_trace *trace)
{
    const int up = u->fraction - product_fraction_bits(u) + scale - exponent;
    int64_t sum = 0;
    for (int i = from; i < t->n; i += stride) {
        const struct number a = t->a[i], b = t->b[i];
        const int64_t cut = aligned(u, a.significand * b.significand,
                                    up + a.exponent + b.exponent, product_negative(a, b));
        sum += cut;
        if (trace) {
            struct term value = product_term(u, a, b);
            value.exponent += scale;
            trace_product(trace, i, product_exponent(u, a, b) + scale, value, cut);
        }
    }
    return sum;
}

/* The accumulator, cut in the same way. */
TRACED int64_t aligned_c(const struct bitcut_unit *u, const struct step *t, int exponent,
                         struct unit_trace *trace)
{
    const int up = u->fraction - u->c->fraction_bits + t->z.exponent - exponent;
    const int64_t cut = aligned(u, t->z.significand, up, t->z.negative);
    trace_accumulator(u, t, t->z.exponent, cut, trace);
    return cut;
}

/* Round an aligned sum, the last operation of a step. */
TRACED uint64_t finish_aligned(const struct bitcut_unit *u, const struct step *t,
                               int128 sum, int exponent, struct unit_trace *trace)
{
    const uint64_t d = sum_round_integer(u, t, sum, exponent - u->fraction);
    trace_sum(trace,
              (struct trace_sum){ .aligned = true,
                                  .at_exponent = true,
                                  .exponent = exponent,
                                  .value = integer_term(sum, exponent - u->fraction),
                                  .rounded = true,
                                  .d = d });
    return d;
}

#endif
