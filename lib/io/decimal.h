/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal text of encodings, of FP32 in most functions, the same in any locale and rounding mode. */
#ifndef BITCUT_LIB_IO_DECIMAL_H
#define BITCUT_LIB_IO_DECIMAL_H

#include "lib/number/format.h"

#include <stdbool.h>
#include <stdint.h>

/* Set *x to the FP32 encoding of the number in `text`, rounded once to nearest even for
   any number of digits.

   A number is an optional sign, digits with an optional '.', and an optional decimal
   exponent; or inf, infinity or nan, in small or capital letters.  A number that is too
   large gives an infinity with its sign, a number that is too small a zero with its sign;
   nan gives 0x7fc00000, -nan 0xffc00000.  False, with *x unset, if `text` is anything
   else, or has blanks before or after the number.  IEEE 754-2019 section 5.12. */
bool decimal_read(uint32_t *x, const char *text);

/* The same for a format of IEEE 754, whose NaN nan gives. */
bool decimal_read_format(uint64_t *x, const struct bitcut_format *format,
                         const char *text);

enum { DECIMAL_MAX = 32 }; /* room for any number and its 0 */

/* Write x with 9 significant digits, rounded to nearest even, as printf("%.9g") does in
   the C locale.  decimal_read() returns x from it, except that a NaN becomes the NaN with
   its sign that decimal_read() gives. */
void decimal_write(char text[DECIMAL_MAX], uint32_t x);

#endif
