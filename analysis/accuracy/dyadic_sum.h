/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact sums of many terms.  Most terms fit one integer of 128 bits. */
#ifndef BITCUT_ANALYSIS_ACCURACY_DYADIC_SUM_H
#define BITCUT_ANALYSIS_ACCURACY_DYADIC_SUM_H

#include "analysis/accuracy/dyadic.h"

__extension__ typedef __int128 dyadic_near;

/* The sum near 2^unit + far.  All sums that are added to each other have one unit, which
   is an argument of each function: from DYADIC_SUM_UNIT_MIN to DYADIC_SUM_UNIT_MAX. Terms
   that are no multiples of 2^unit, or have no room above it, are added to `far`.  All
   bits zero is the sum 0.  Terms are multiples of 2^-DYADIC_UNIT below 2^DYADIC_SUM_TOP.
 */
struct dyadic_sum {
    dyadic_near near;
    bool has_far; /* otherwise `far` is undefined */
    struct wide far;
};

enum {
    DYADIC_SUM_TOP = 1200,
    DYADIC_SUM_BITS = 118, /* magnitudes of terms in `near` are below 2^DYADIC_SUM_BITS */
    DYADIC_SUM_ROOM = 6,   /* bits above a sum for which a unit is chosen */
    DYADIC_SUM_UNIT_MIN = -DYADIC_UNIT,
    DYADIC_SUM_UNIT_MAX = DYADIC_SUM_TOP - 128
};

/* A unit for sums of about this magnitude, a power of two. */
int dyadic_sum_unit(int exponent);

static inline void dyadic_sum_zero(struct dyadic_sum *x)
{
    x->near = 0;
    x->has_far = false;
}

static inline bool dyadic_sum_is_zero(const struct dyadic_sum *x)
{
    return !x->near && !x->has_far; /* a sum with `far` may be zero, too */
}

/* Add a term, or subtract it. */
void dyadic_sum_add_far(struct dyadic_sum *to, struct term x, bool minus);

/* Add (-1)^negative times an integer below 2^127 to `near`. */
void dyadic_sum_spill(struct dyadic_sum *to, int unit, dyadic_near x);

static inline void dyadic_sum_add_near(struct dyadic_sum *to, int unit, dyadic_near x)
{
    dyadic_near sum;
    if (__builtin_expect(!__builtin_add_overflow(to->near, x, &sum), 1)) to->near = sum;
    else dyadic_sum_spill(to, unit, x);
}

/* Whether a term of at most 64 bits fits `near`; if so, *to is the term there. */
static inline bool dyadic_sum_fits(dyadic_near *to, int unit, struct term x)
{
    const uint64_t low = (uint64_t)x.significand;
    const int up = x.exponent - unit;
    if (!low || x.significand >> 64) return false;
    if (up < 0 || up > DYADIC_SUM_BITS - 64 + __builtin_clzll(low)) return false;
    const dyadic_near size = (dyadic_near)((bitcut_uint128)low << up);
    *to = x.negative ? -size : size;
    return true;
}

static inline void dyadic_sum_add(struct dyadic_sum *to, int unit, struct term x,
                                  bool minus)
{
    dyadic_near near;
    if (dyadic_sum_fits(&near, unit, x))
        dyadic_sum_add_near(to, unit, minus ? -near : near);
    else if (x.significand) dyadic_sum_add_far(to, x, minus);
}

/* Add a sum of the same unit, or subtract it. */
void dyadic_sum_add_sum(struct dyadic_sum *to, int unit, const struct dyadic_sum *x,
                        bool minus);

/* x times 2^by, and x times an FP32 value, whose product must be a multiple of
   2^-DYADIC_UNIT. */
void dyadic_sum_shift(struct dyadic_sum *x, int unit, int by);
void dyadic_sum_multiply(struct dyadic_sum *x, int unit, uint32_t factor);

/* The sum as an integer times 2^-DYADIC_UNIT. */
void dyadic_sum_get(mpz_t to, const struct dyadic_sum *x, int unit);

#endif
