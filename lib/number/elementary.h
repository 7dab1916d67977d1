/* SPDX-License-Identifier: BSD-3-Clause */
/* Elementary functions with the same bits on every host.

   They use only + - * / and sqrt of binary64, each rounded to nearest, and no function of
   the host's mathematical library, whose results differ between systems.  Callers run
   under hostfp_enter(), and the build forbids contraction.  The stated errors are
   measured against MPFR; the tests check them. */
#ifndef BITCUT_LIB_NUMBER_ELEMENTARY_H
#define BITCUT_LIB_NUMBER_ELEMENTARY_H

#include <stdint.h>

/* The FP32 encoding of x, rounded to nearest even, subnormals preserved; and the value of
   an encoding, exactly. */
uint32_t f32_of_double(double x);
double double_of_f32(uint32_t x);

/* The natural logarithm of a finite x > 0, subnormals included.  Error below 1 ulp. */
double elementary_log(double x);

/* e^x for finite x.  The error is below 1.25 ulp.  A result below 2^-1022 is rounded once
   more to the spacing of subnormals.  The result is 0 below, and +Inf above, the range of
   binary64. */
double elementary_exp(double x);

/* The sine and cosine of 0 <= x <= 8.  The error is below 1.5 ulp. */
double elementary_sin(double x);
double elementary_cos(double x);

/* The z with Phi(z) = p, where Phi is the standard normal distribution function, for
   2^-53 <= p <= 1 - 2^-53.  The relative error is below 2^-49.  Wichura, "Algorithm AS
   241: the percentage points of the normal distribution", Applied Statistics 37 (1988),
   routine PPND16. */
double elementary_quantile(double p);

#endif
