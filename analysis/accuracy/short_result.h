/* SPDX-License-Identifier: BSD-3-Clause */
/* Results that are rounded once more, to nearest even, from FP32 to a format of fewer
   values: what the rounding adds to an error, and what a rounded result tells about the
   value before the rounding. */
#ifndef BITCUT_ANALYSIS_ACCURACY_SHORT_RESULT_H
#define BITCUT_ANALYSIS_ACCURACY_SHORT_RESULT_H

#include "lib/number/round.h"

#include <stddef.h>

/* Whether FP32 results lose bits in this format; NULL stands for f32. */
static inline bool result_is_short(const struct bitcut_format *format)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    return format && format != f32 && !format_holds(format, f32);
}

/* The unit roundoff of results in this format, 2^-(fraction bits + 1): 2^-24 for f32,
   2^-11 for f16, 2^-8 for bf16, 2^-4 for e4m3.  A format that is not short has 2^-24. */
double result_unit(const struct bitcut_format *format);

/* The binary logarithm of the unit, such as -11. */
int result_unit_exponent(const struct bitcut_format *format);

/* The name of the format of results; NULL stands for f32. */
const char *result_name(const struct bitcut_format *format);

/* Round each FP32 encoding to the format, to nearest even.  Nothing changes for a format
   that is not short.  A NaN becomes the NaN of FP32. */
void result_round(uint32_t *d, size_t count, const struct bitcut_format *format);

/* C rounded to a short format by way of binary64, as an FP32 encoding.  c is C rounded to
   binary64. */
uint32_t result_rounded(const struct bitcut_format *format, double c);

/* The error that a rounded result shows of the value before the rounding: the distance of
   c from the nearest value that rounds to d.

   d is a value of the short format as an FP32 encoding.  The values that round to it
   reach half an ulp to either side; ties count for both neighbours.  Values that overflow
   round to an infinity, to NaN where the format has no infinity, and to the largest
   value, so both a conversion that saturates and one that does not have an error of 0.  A
   zero has no sign.  The result is infinite if d is NaN or infinite and no finite value
   rounds to it, and if c is NaN or infinite and d is not the same.

   If |x - C| <= limit for the FP32 result x, and d is x rounded, this error is at most
   `limit`: x is one of the values that round to d.  Conversely, a d whose error is at
   most `limit` is a correct rounding of a value within the limit. */
double result_gap(const struct bitcut_format *format, uint32_t d, double c);

/* The distance between the values that round to d and the values that round to another
   result of the same format; 0 for equal and for neighbouring results. */
double result_gap_between(const struct bitcut_format *format, uint32_t d, uint32_t other);

#endif
