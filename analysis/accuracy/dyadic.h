/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact values of a GEMM: integers times 2^-DYADIC_UNIT. */
#ifndef BITCUT_ANALYSIS_ACCURACY_DYADIC_H
#define BITCUT_ANALYSIS_ACCURACY_DYADIC_H

#include "lib/number/wide.h"

#include <gmp.h>

/* The exponent of the unit.  It is far below all possible values: a product of three
   subnormal FP32 numbers is a multiple of 2^-447. */
enum { DYADIC_UNIT = 1400 };

/* x times 2^by.  The result must be a multiple of the unit. */
void dyadic_shift(mpz_t x, long by);

/* The exact value of an encoding of a format, of an FP32 encoding, or of a wide sum.
   Infinities and NaN give 0. */
void dyadic_set(mpz_t to, const struct bitcut_format *f, uint64_t encoding);
void dyadic_set_f32(mpz_t to, uint32_t encoding);
void dyadic_set_wide(mpz_t to, const struct wide *w);

/* x times an FP32 value.  The product must be a multiple of the unit. */
void dyadic_multiply(mpz_t x, uint32_t factor);

/* x, in units of 2^-(DYADIC_UNIT + extra), rounded toward zero to binary64. */
double dyadic_value(const mpz_t x, long extra);

/* The text "m*2^e" of the same, with m odd, or "0*2^0", which the caller frees.  Returns
   NULL if memory runs out. */
char *dyadic_text(const mpz_t x, long extra);

/* Add a term to a wide sum, or subtract it. */
static inline void wide_add_term(struct wide *to, struct term x, bool minus)
{
    if (x.significand) wide_add(to, x.negative != minus, x.significand, x.exponent);
}

#endif
