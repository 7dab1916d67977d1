/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide fixed-point numbers: exact sums of floating-point terms, rounded once. */
#ifndef BITCUT_LIB_NUMBER_WIDE_H
#define BITCUT_LIB_NUMBER_WIDE_H

#include "lib/number/round.h"

__extension__ typedef unsigned __int128 bitcut_uint128;

/* Enough for any sum of products of three binary64 values: 2^-3222 to 2^3072 and 63 bits
   of carries. */
enum { WIDE_LIMBS = 100 };

/* A two's complement integer of `limbs` 64-bit limbs, lowest first, times 2^exponent. */
struct wide {
    int exponent, limbs;
    uint64_t limb[WIDE_LIMBS];
};

/* Set w to zero, with room for any multiple of 2^lowest of magnitude below 2^(highest +
   63): up to 2^62 terms below 2^(highest + 1). */
void wide_clear(struct wide *w, int lowest, int highest);

/* Add (-1)^negative * significand * 2^exponent, exactly.  exponent >= the `lowest` of
   wide_clear(). */
void wide_add(struct wide *w, bool negative, bitcut_uint128 significand, int exponent);

/* The sum, to be rounded to a format: its sign, its top 64 bits with the highest bit set,
   and whether any lower bit is set.  Zero gives significand 0 and negative false. */
struct unrounded wide_value(const struct wide *w);

/* One term of an exact sum: (-1)^negative * significand * 2^exponent. */
struct term {
    bitcut_uint128 significand;
    int32_t exponent;
    bool negative;
};

/* The exact sum of n terms.  Zero terms are allowed and cost nothing. */
struct unrounded wide_sum(const struct term *terms, int n);

#endif
