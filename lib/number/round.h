/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounding: the table of rounding rules and the one round-and-pack. */
#ifndef BITCUT_LIB_NUMBER_ROUND_H
#define BITCUT_LIB_NUMBER_ROUND_H

#include "lib/number/format.h"

enum direction {
    TO_NEAREST_EVEN,
    TO_NEAREST_AWAY,
    TO_ZERO,
    TO_POSITIVE,
    TO_NEGATIVE,
    TO_ODD,    /* truncate, then set the last bit if anything was lost */
    BY_BIT,    /* truncate, then one step away from zero if anything was lost and a given
                  bit of x's fraction is set                                            */
    STOCHASTIC /* truncate, then one step away from zero with the probability of what was
                  lost, as a part of the step                                        */
};

enum overflow {
    OVERFLOW_IEEE, /* what IEEE 754 gives for the direction: Inf or the largest value */
    OVERFLOW_INF,  /* always infinity                                                 */
    OVERFLOW_SATURATE, /* the largest finite value; a conversion of an infinity gives it
                          too */
    OVERFLOW_WRAP /* of an integer the value modulo 2^bits, as integer instructions add
                     (PTX ISA); else as OVERFLOW_SATURATE                            */
};

/* Which results become a zero of their sign. */
enum flush {
    FLUSH_NONE,
    FLUSH_SUBNORMAL, /* subnormal ones, as the format holds them                      */
    FLUSH_TINY,      /* those below the least normal number when they are rounded to the
                        format's bits as if exponents had no lower end                */
    FLUSH_BEFORE     /* those of what is below it before it is rounded                */
};

/* A row of the rounding table.  Callers may copy a row and change its flags. */
struct bitcut_rounding {
    const char *name, *what;
    enum direction direction;
    int bit; /* BY_BIT: that of weight 2^(e - bit), e the exponent of x but at least
                -126: bit 1 to 23 of FP32's fraction field, from the top, be x normal
                or subnormal                                                       */
    enum overflow overflow;
    enum flush flush;        /* no integer is a subnormal */
    uint64_t seed, position; /* STOCHASTIC: of the random bits, see round_random() */
};

/* The rows, by position: `&roundings[ROUND_RN]`. */
enum {
    ROUND_RN,
    ROUND_RNA,
    ROUND_RZ,
    ROUND_RU,
    ROUND_RD,
    ROUND_ODD,
    ROUND_CUT,
    ROUND_RN_FTZ,
    ROUND_RN_DAZ,
    ROUND_RN_SAT,
    ROUND_FENG21,
    ROUND_FENG22,
    ROUND_SR
};

extern const struct bitcut_rounding roundings[]; /* ended by a row whose name is NULL */

/* Whether it rounds to the nearest value, whichever a tie goes to. */
static inline bool round_is_nearest(const struct bitcut_rounding *r)
{
    return r->direction == TO_NEAREST_EVEN || r->direction == TO_NEAREST_AWAY;
}

/* A nonzero value on its way to a format:
   (-1)^negative * (significand + t) * 2^exponent, with t = 0, or 0 < t < 1 if
   `sticky`. */
struct unrounded {
    uint64_t significand;
    int32_t exponent;
    bool negative, sticky;
};

/* The 64 random bits by which a rule STOCHASTIC rounds x: outputs 0 and 1 of Philox
   4x32-10 with the key `seed` and the counter { h low, h high, position low, position
   high }, h a hash of x (sign, 64 bits of its significand, exponent, sticky).  So they
   are a function of seed, position and value, and no order of evaluation changes them.  x
   is not 0. */
uint64_t round_random(const struct bitcut_rounding *r, struct unrounded x);

/* Round x to `format` and encode it.  STOCHASTIC goes away from zero if the discarded
   fraction of a step, cut to 64 bits, is more than 2^-64 round_random(): with that
   fraction as probability, exactly if it has no bit below 2^-64, else by less than 2^-64
   too rarely. What is exact stays; subnormal results have steps of their own; what
   exceeds the largest finite value before or after the step overflows, to infinity where
   the row says so or as rounding to nearest does.  Correct for every value and direction:
   subnormal results are rounded once, at their own last bit; overflow and flushing follow
   the row. A significand of 0 without sticky gives the zero of x's sign.  If x.sticky is
   set, the significand must have its top bit set (wide_value() sees to it).  A format
   without a sign gives its NaN for what is below zero, and one without a zero its least
   value for what rounds to zero. */
uint64_t round_pack(const struct bitcut_format *format,
                    const struct bitcut_rounding *rounding, struct unrounded x);

/* The FP32 encoding x rounded to a format that FP32 holds, as FP32 again; a NaN becomes
   that of the format.  NULL: x. */
uint32_t f32_through(const struct bitcut_format *format,
                     const struct bitcut_rounding *rounding, uint32_t x);

/* x as a number of `format` on its way elsewhere.  x must be finite or zero. */
struct unrounded number_unrounded(const struct bitcut_format *format, struct number x);

/* What one rounding errs by at most, relative to its result if that is normal: a power of
   two. */
double round_error(const struct bitcut_format *format, enum direction direction);

#endif
