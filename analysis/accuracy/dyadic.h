/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact values of a GEMM: integers times 2^-DYADIC_UNIT. */
#ifndef BITCUT_ANALYSIS_ACCURACY_DYADIC_H
#define BITCUT_ANALYSIS_ACCURACY_DYADIC_H

#include "lib/number/wide.h"

#include <gmp.h>

/* Far below all that happens: a product of three subnormal FP32 numbers is a multiple of
   2^-447. */
enum { DYADIC_UNIT = 1400 };

/* x times 2^by; it must be a multiple of the unit. */
void dyadic_shift(mpz_t x, long by);

/* The value of an encoding of a format, of an FP32 encoding, of a wide sum; infinities
   and NaN are 0. */
void dyadic_set(mpz_t to, const struct bitcut_format *f, uint64_t encoding);
void dyadic_set_f32(mpz_t to, uint32_t encoding);
void dyadic_set_wide(mpz_t to, const struct wide *w);

/* x times an FP32 value; the product must be a multiple of the unit. */
void dyadic_multiply(mpz_t x, uint32_t factor);

/* x in binary64, toward zero. */
double dyadic_value(const mpz_t x);

/* "m*2^e", m odd, or "0*2^0", which the caller frees; NULL: no memory. */
char *dyadic_text(const mpz_t x);

/* Add a term to a wide sum, or take it away. */
static inline void wide_add_term(struct wide *to, struct term x, bool minus)
{
    if (x.significand) wide_add(to, x.negative != minus, x.significand, x.exponent);
}

#endif
