/* SPDX-License-Identifier: BSD-3-Clause */
/* Elementary functions of binary32, correctly rounded to nearest even.

   They use only + - * / of binary64, as lib/number/elementary.h, and run under
   hostfp_enter().  A value of elementary.h is taken where its error cannot change the
   rounding; otherwise sums of two doubles, with an error below 2^-90, decide.  No
   binary32 argument, except those with exact results, is closer than 2^-64 to a tie:
   Lefevre and Muller, "Worst cases for correct rounding of the elementary functions in
   double precision", has the method; the tests compare with MPFR. */
#ifndef BITCUT_LIB_NUMBER_ELEMENTARY32_H
#define BITCUT_LIB_NUMBER_ELEMENTARY32_H

/* 2^x and e^x.  NaN gives NaN, +Inf gives +Inf, -Inf gives +0.  Subnormal results are
   rounded once, at their own last bit. */
float elementary32_exp2(float x);
float elementary32_exp(float x);

/* The natural logarithm.  NaN and x < 0 give NaN, zeros give -Inf, +Inf gives +Inf. */
float elementary32_log(float x);

#endif
