/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats of numbers, floating-point and integers: one row for each format, and the
   number that an encoding represents. */
#ifndef BITCUT_LIB_NUMBER_FORMAT_H
#define BITCUT_LIB_NUMBER_FORMAT_H

#include "lib/bitcut.h"

/* The meaning of encodings with the largest exponent field. */
enum special {
    SPECIAL_IEEE,   /* all ones: infinities and NaNs                                  */
    SPECIAL_FN,     /* finite, except that all ones in exponent and fraction is NaN; no
                       infinity                                                       */
    SPECIAL_FNUZ,   /* finite; the encoding of -0 is the only NaN; no infinity, no -0 */
    SPECIAL_FINITE, /* all finite                                                     */
    SPECIAL_E8M0,   /* only a power of two; 0xff is NaN; no zero, no sign             */
    SPECIAL_INTEGER /* two's complement or unsigned integer: decodes as a subnormal number
                       whose last place is 1, except that the smallest negative integer is
                       a normal number; no infinity, no NaN, no -0                    */
};

/* A row of the format table.  An encoding is an unsigned integer of `bits` bits whose low
   `pad` bits are ignored when read and zero when written: tf32 has 19 bits in the upper
   end of 32.  Above the padding come `fraction_bits`, `exponent_bits` and, if `has_sign`,
   one sign bit. */
struct bitcut_format {
    const char *name, *what;
    int bits, pad;
    int exponent_bits, fraction_bits, bias;
    bool has_sign;
    enum special special;
    uint64_t nan; /* quiet NaN of a result that has no NaN operand to copy; 0: no NaN   */
};

/* The rows, by position: `&formats[FORMAT_F16]`. */
enum {
    FORMAT_F64,
    FORMAT_F32,
    FORMAT_F16,
    FORMAT_BF16,
    FORMAT_TF32,
    FORMAT_E8M13,
    FORMAT_E5M2,
    FORMAT_E4M3,
    FORMAT_E5M2FNUZ,
    FORMAT_E4M3FNUZ,
    FORMAT_E3M2,
    FORMAT_E2M3,
    FORMAT_E2M1,
    FORMAT_UE8M0,
    FORMAT_UE4M3,
    FORMAT_S8,
    FORMAT_S32,
    FORMAT_S16,
    FORMAT_U8
};

extern const struct bitcut_format formats[]; /* ended by a row whose name is NULL */

enum number_class { NUMBER_ZERO, NUMBER_FINITE, NUMBER_INF, NUMBER_NAN };

/* The value (-1)^negative * significand * 2^(exponent - fraction bits of its format).

   `exponent` is the exponent of the exponent field: a subnormal has the smallest exponent
   of its format and a significand below 2^fraction_bits.  It is never normalised, because
   matrix units align by this exponent.  A zero has significand 0 and exponent
   NUMBER_ZERO_EXPONENT, below all others, so that a maximum over exponents ignores it.
   Inf has 0 in both members; NaN has its fraction field as significand. */
struct number {
    uint64_t significand;
    int32_t exponent;
    uint8_t kind;
    bool negative;
};

enum { NUMBER_ZERO_EXPONENT = -32768 };

/* The number that `encoding` represents; bits above format->bits must be zero.  Exact. */
struct number format_decode(const struct bitcut_format *format, uint64_t encoding);

/* Encodings of the special values.  A format without the requested value gives the result
   of its overflow: the NaN if it has one, otherwise the largest finite value.  Exception:
   NaN as an integer is 0, as cvt gives (PTX ISA).  The largest negative integer is the
   largest positive integer with the other sign; 0 if the format has no sign. */
uint64_t format_infinity(const struct bitcut_format *format, bool negative);
uint64_t format_nan(const struct bitcut_format *format);
/* The NaN x of an IEEE-like format made quiet: its sign and fraction are preserved, and
   the highest fraction bit is set. */
uint64_t format_quiet(const struct bitcut_format *format, struct number x);
uint64_t format_largest(const struct bitcut_format *format, bool negative);
uint64_t format_zero(const struct bitcut_format *format, bool negative);

/* Bytes of an encoding in an array: 1, 2, 4 or 8, the fewest that hold it. */
int format_bytes(const struct bitcut_format *format);

/* The smallest normal exponent, 1 - bias (0 - bias for e8m0). */
int format_emin(const struct bitcut_format *format);
/* The exponent of the last bit of a subnormal: format_emin() minus the fraction bits. */
int format_least_exponent(const struct bitcut_format *format);
/* The largest exponent of a finite value. */
int format_emax(const struct bitcut_format *format);

/* Whether x, a number of `format`, is not zero and below the normal numbers. */
bool format_is_subnormal(const struct bitcut_format *format, struct number x);

/* An encoding as an integer that grows by one from each finite value of a format to the
   next; both zeros are 0. */
int64_t format_along_line(const struct bitcut_format *format, uint64_t encoding);

/* Whether the values of a format are integers. */
static inline bool format_is_integer(const struct bitcut_format *format)
{
    return format->special == SPECIAL_INTEGER;
}

/* Whether an encoding is a finite number. */
bool format_is_finite(const struct bitcut_format *format, uint64_t encoding);

/* Whether every value of `narrow`, infinities and NaN included, is a value of `wide`. */
bool format_holds(const struct bitcut_format *wide, const struct bitcut_format *narrow);

/* The value of an encoding as a binary64, exact for every format of the table.  For
   printing and for host arithmetic in the analysis; it is never used to compute a bit of
   a result. */
double format_to_double(const struct bitcut_format *format, uint64_t encoding);

/* The largest finite value. */
double format_largest_value(const struct bitcut_format *format);

/* The distance of the values of a format at |x|: 2^(e - fraction bits), where 2^e <= |x|
   < 2^(e + 1), or e is the smallest normal exponent if |x| is below the normal numbers. x
   is finite. */
double format_ulp(const struct bitcut_format *format, double x);

/* The magnitude from which on a format rounds to nearest out of its range: half an ulp
   above the largest value.  Such a result is infinite, NaN in a format without
   infinities, or the largest value where the conversion saturates. */
double format_overflow(const struct bitcut_format *format);

/* The largest |RN(x) - x| for |x| <= most: half an ulp at `most`.  Infinite if some x may
   overflow. */
double format_rounding_error(const struct bitcut_format *format, double most);

#endif
