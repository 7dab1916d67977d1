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
    TO_ODD, /* truncate, then set the last bit if any dropped bit was set */
    BY_BIT, /* truncate, then one step away from zero if any dropped bit was set and a
               given fraction bit of x is set                                        */
    STOCHASTIC /* truncate, then one step away from zero; the probability is the dropped
                  fraction of the step                                                  */
};

enum overflow {
    OVERFLOW_IEEE, /* Inf or the largest value, as IEEE 754 defines for the direction */
    OVERFLOW_INF,  /* always infinity                                                 */
    OVERFLOW_SATURATE, /* largest finite value, also for the conversion of an infinity */
    OVERFLOW_WRAP, /* for an integer, the value modulo 2^bits, as integer instructions add
                      (PTX ISA); otherwise as OVERFLOW_SATURATE                      */
    OVERFLOW_RANGE /* for an integer, the nearest end of its range, which for two's
                      complement begins with -2^(bits - 1), as .satfinite gives (PTX ISA);
                      otherwise as OVERFLOW_SATURATE                                 */
};

/* Results that become a zero with their sign. */
enum flush {
    FLUSH_NONE,
    FLUSH_SUBNORMAL, /* results that are subnormal in the format                      */
    FLUSH_TINY,      /* results that are below the smallest normal number when they are
                        rounded to the bits of the format as if exponents had no lower
                        limit                                                         */
    FLUSH_BEFORE     /* results of values below the smallest normal number before
                        rounding                                                      */
};

/* A row of the rounding table.  Callers may copy a row and change its flags. */
struct bitcut_rounding {
    const char *name, *what;
    enum direction direction;
    int bit; /* for BY_BIT: the bit of weight 2^(e - bit), where e is the exponent of x
                but at least -126: bit 1 to 23 of FP32's fraction field, from the top, for
                normal and subnormal x                                             */
    enum overflow overflow;
    enum flush flush;        /* an integer is never subnormal */
    uint64_t seed, position; /* STOCHASTIC: of the random bits, see round_random() */
    uint64_t *draws; /* STOCHASTIC: number of values rounded so far, which is added to
                        the position, and which round_pack() increases; NULL: 0      */
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

/* Whether the rule rounds to the nearest value, whichever way ties go. */
static inline bool round_is_nearest(const struct bitcut_rounding *r)
{
    return r->direction == TO_NEAREST_EVEN || r->direction == TO_NEAREST_AWAY;
}

/* A nonzero value to be rounded to a format: (-1)^negative * (significand + t) *
   2^exponent, with t = 0, or 0 < t < 1 if `sticky`. */
struct unrounded {
    uint64_t significand;
    int32_t exponent;
    bool negative, sticky;
};

/* The 64 random bits by which a rule STOCHASTIC rounds x: outputs 0 and 1 of Philox
   4x32-10 with the key `seed` and the counter { h low, h high, position low, position
   high }.  h is a hash of x (sign, 64 bits of its significand, exponent, sticky).  The
   bits are a function of seed, position and value, so no order of evaluation changes
   them.  x is not 0. */
uint64_t round_random(const struct bitcut_rounding *r, struct unrounded x);

/* Round x to `format` and encode it.  The result is correct for every value and
   direction: subnormal results are rounded once, at their own last bit; overflow and
   flushing follow the row.  A significand of 0 without sticky gives the zero with the
   sign of x.  If x.sticky is set, the significand must have its top bit set; wide_value()
   ensures this.  A format without a sign gives its NaN for values below zero.  A format
   without a zero gives its smallest value for values that round to zero.

   STOCHASTIC goes away from zero if the dropped fraction of a step, truncated to 64 bits,
   is more than 2^-64 round_random().  The probability is the dropped fraction; it is exact
   if the fraction has no bit below 2^-64, else too small by less than 2^-64.  An exact
   value does not change.  A subnormal result has its own step.  A value that exceeds the
   largest finite value before or after the step overflows, to infinity if the row says so,
   else as rounding to nearest does. */
uint64_t round_pack(const struct bitcut_format *format,
                    const struct bitcut_rounding *rounding, struct unrounded x);

/* The FP32 encoding x rounded to a format whose values FP32 can represent, as FP32 again.
   A NaN becomes the NaN of the format.  NULL: x. */
uint32_t f32_through(const struct bitcut_format *format,
                     const struct bitcut_rounding *rounding, uint32_t x);

/* x as a number of `format`, to be rounded to another format.  x must be finite or
   zero. */
struct unrounded number_unrounded(const struct bitcut_format *format, struct number x);

/* The largest error of one rounding, relative to its result if the result is normal: a
   power of two. */
double round_error(const struct bitcut_format *format, enum direction direction);

#endif
