/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodings as numbers of MPFR and back, whatever the program does with MPFR itself. */
#ifndef BITCUT_LIB_NUMBER_MPFR_VALUE_H
#define BITCUT_LIB_NUMBER_MPFR_VALUE_H

#include "lib/number/format.h"

#include <mpfr.h>

/* The range of exponents and the flags that the thread had. */
struct mpfr_state {
    mpfr_exp_t emin, emax;
    mpfr_flags_t flags;
};

/* Between these calls exponents of -4096 to 4096 are numbers; after them all is as it was. */
struct mpfr_state mpfr_state_enter(void);
void mpfr_state_leave(struct mpfr_state found);

/* The value of an FP32 encoding, exactly if x has 24 bits or more. */
void mpfr_value_of(mpfr_ptr x, uint32_t encoding);

/* The encoding of x, a number rounded to nearest with the precision of `format` but any
   exponent, as `ternary` says, rounded to nearest even once in all.  Changes x. */
uint64_t mpfr_value_encode(mpfr_ptr x, int ternary, const struct bitcut_format *format);

#endif
