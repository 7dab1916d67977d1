/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion between encodings and numbers of MPFR, for any state of MPFR in the
   program. */
#ifndef BITCUT_LIB_NUMBER_MPFR_VALUE_H
#define BITCUT_LIB_NUMBER_MPFR_VALUE_H

#include "lib/number/format.h"

#include <mpfr.h>

/* The range of exponents and the flags that the thread had. */
struct mpfr_state {
    mpfr_exp_t emin, emax;
    mpfr_flags_t flags;
};

/* Between these calls, exponents from -4096 to 4096 are available.  After them the state
   is as it was. */
struct mpfr_state mpfr_state_enter(void);
void mpfr_state_leave(struct mpfr_state found);

/* The value of an FP32 encoding, exactly if x has 24 bits or more. */
void mpfr_value_of(mpfr_ptr x, uint32_t encoding);

/* The encoding of x, rounded to nearest even.  x is the result of an operation that was
   rounded to nearest with the precision of `format` and any exponent; `ternary` is its
   ternary value.  The total is one rounding.  Changes x. */
uint64_t mpfr_value_encode(mpfr_ptr x, int ternary, const struct bitcut_format *format);

#endif
