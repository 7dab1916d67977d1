/* SPDX-License-Identifier: BSD-3-Clause */
/* An independent definition of formats and roundings, for the tests: a value by ldexp
   from the fields of its encoding; a rounding by the two neighbours in the ordered list
   of all values, or by MPFR.  It shares the data of the rows with lib, and none of its
   code.

   A code is an encoding without sign and padding.  In every signed format, codes ascend
   with their magnitudes: 0 is zero, code + 1 is the next magnitude.  The code of an
   integer is its magnitude. */
#ifndef BITCUT_TESTS_NUMBER_NUMBER_ORACLE_H
#define BITCUT_TESTS_NUMBER_NUMBER_ORACLE_H

#include "lib/number/round.h"

#include <mpfr.h>

struct value {
    enum number_class kind;
    bool negative;
    double magnitude; /* exact; 0 for zero, meaningless for Inf and NaN */
};

/* What `encoding` stands for. */
struct value oracle_value(const struct bitcut_format *format, uint64_t encoding);

/* How many codes are finite: 0 to oracle_finite() - 1. */
uint64_t oracle_finite(const struct bitcut_format *format);

/* The magnitude of a code, read as if the exponent range had no end: oracle_finite()
   gives the number that would follow the largest. */
double oracle_magnitude(const struct bitcut_format *format, uint64_t code);

/* The code of a magnitude that the format holds exactly. */
uint64_t oracle_code(const struct bitcut_format *format, double magnitude);

/* The bit of weight 2^(e - bit) of a finite encoding's magnitude, e its exponent but that
   of FP32's least normal number at least: what a rule BY_BIT looks at. */
bool oracle_bit(const struct bitcut_format *format, uint64_t encoding, int bit);

/* The random bits of stochastic rounding for a value at a position, its significand with
   the top bit set: by the words of lib/number/round.h. */
uint64_t oracle_random(uint64_t seed, uint64_t position, uint64_t significand,
                       long exponent, bool negative, bool sticky);

/* What conversion makes of an infinity or a NaN. */
uint64_t oracle_special(const struct bitcut_format *format,
                        const struct bitcut_rounding *rounding, struct value x);

/* Where a magnitude lies: on `code`, or between code and code + 1, in the lower half, in
   the middle or in the upper half. */
enum side { SIDE_ON, SIDE_LOW, SIDE_MIDDLE, SIDE_HIGH };

struct place {
    uint64_t code;
    enum side side;
    bool bit; /* oracle_bit() of the operand, for a rule BY_BIT */
};

/* Where a magnitude lies among integers. */
struct place oracle_integer_place(const struct bitcut_format *format, double magnitude);

/* The encoding that `rounding` chooses for a number at `place`. */
uint64_t oracle_choose(const struct bitcut_format *format,
                       const struct bitcut_rounding *rounding, bool negative,
                       struct place place);

/* The encoding of x rounded by `rounding`; x finite, of any precision.  MPFR rounds rn,
   rz, ru and rd, with the exponent range of the format, subnormals and overflow included.
   MPFR has no rna (with subnormals) and no odd: there x is compared with what MPFR's rz
   gives and with the exact middle above it.  Not for BY_BIT.  The exponent range and the
   flags of MPFR are left as found. */
uint64_t oracle_round(const struct bitcut_format *format,
                      const struct bitcut_rounding *rounding, mpfr_srcptr x);

/* The magnitudes of all finite codes, ascending, and the one that would follow. */
struct ladder {
    const struct bitcut_format *format;
    uint64_t finite;
    double *magnitude; /* [finite + 1] */
};

/* Formats of at most LADDER_BITS bits between sign and padding. */
enum { LADDER_BITS = 21 };

void ladder_init(struct ladder *ladder, const struct bitcut_format *format);
void ladder_clear(struct ladder *ladder);

/* The place of x >= 0, looked for upward from `code`, whose magnitude must not exceed x;
   or anywhere, by bisection. */
struct place ladder_climb(const struct ladder *ladder, double x, uint64_t code);
struct place ladder_find(const struct ladder *ladder, double x);

#endif
