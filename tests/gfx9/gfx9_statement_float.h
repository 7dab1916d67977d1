/* SPDX-License-Identifier: BSD-3-Clause */
/* Floats in the definition of gfx9's instructions: exact values by MPFR, rounded once. */
#ifndef BITCUT_TESTS_GFX9_GFX9_STATEMENT_FLOAT_H
#define BITCUT_TESTS_GFX9_GFX9_STATEMENT_FLOAT_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

/* IEEE 754 formats: bits of exponent and fraction. */
struct layout {
    int exponent, fraction;
};

extern const struct layout single, half;

/* Encodings taken apart, and put together. */
bool layout_is_nan(const struct layout *x, uint32_t bits);
bool layout_is_signalling(const struct layout *x, uint32_t bits);
bool layout_is_infinite(const struct layout *x, uint32_t bits);
bool layout_is_negative(const struct layout *x, uint32_t bits);
uint32_t layout_quiet(const struct layout *x, uint32_t bits);
uint32_t layout_infinity(const struct layout *x, bool negative);

/* A finite value, exactly; `to` has VALUE_BITS bits. */
enum { VALUE_BITS = 1024 };
void layout_value(mpfr_t to, const struct layout *x, uint32_t bits);

/* Rounded once, in a direction of MPFR's: of zero the sign is `negative`. */
uint32_t layout_round(const struct layout *x, mpfr_srcptr value, mpfr_rnd_t direction,
                      bool negative);

/* a b + c; a NaN is the first operand's that is one, quiet, else the negative one without
   a payload. */
uint32_t layout_fma(const struct layout *x, uint32_t a, uint32_t b, uint32_t c);

#define SIGN 0x80000000u /* of f32 */

/* Of f32: two of them as f16, toward zero; an integer, rounded; the integer toward zero
   from `least` to `most`, 0 for NaNs; rounded to an integer in a direction; 2^by times as
   much; 1 / x; and x = significand 2^exponent, from 1/2 to 1, of what is not finite, or is 0, x
   and 0. */
uint32_t pack_toward_zero(uint32_t a, uint32_t b);
uint32_t of_integer(int64_t x);
uint32_t to_integer(uint32_t x, int64_t least, int64_t most);
uint32_t to_whole(uint32_t x, mpfr_rnd_t direction);
uint32_t scaled(uint32_t x, int32_t by);
uint32_t reciprocal_of(uint32_t x);
uint32_t significand_of(uint32_t x);
uint32_t exponent_of(uint32_t x);

#endif
