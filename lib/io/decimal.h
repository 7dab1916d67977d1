/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal text of FP32 encodings, the same in any locale and rounding mode. */
#ifndef BITCUT_LIB_IO_DECIMAL_H
#define BITCUT_LIB_IO_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Set *x to the FP32 encoding of the number `text` says, rounded once to nearest even
   whatever the number of digits: an optional sign, digits with an optional '.', an
   optional decimal exponent; or inf, infinity or nan.  Letters in either case.  Too large
   gives an infinity, too small a zero, of the number's sign; nan gives 0x7fc00000, -nan
   0xffc00000.  False, with *x unset, if `text` is anything else, blanks before or after
   included.  IEEE 754-2019 section 5.12. */
bool decimal_read(uint32_t *x, const char *text);

enum { DECIMAL_MAX = 32 }; /* room for any number and its 0 */

/* The text of x to 9 significant digits, rounded to nearest even: what printf("%.9g")
   gives in the C locale.  decimal_read() gives x back, except that a NaN becomes the one
   of its sign. */
void decimal_write(char text[DECIMAL_MAX], uint32_t x);

#endif
