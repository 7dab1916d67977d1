/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/short_result.h"

#include "lib/number/bits.h"

#include <math.h>

static const struct bitcut_format *const f32 = &formats[FORMAT_F32];

int result_unit_exponent(const struct bitcut_format *format)
{
    return -1 - (result_is_short(format) ? format : f32)->fraction_bits;
}

double result_unit(const struct bitcut_format *format)
{
    return ldexp(1, result_unit_exponent(format));
}

const char *result_name(const struct bitcut_format *format)
{
    return (format ? format : f32)->name;
}

void result_round(uint32_t *d, size_t count, const struct bitcut_format *format)
{
    for (size_t i = 0; i < count && result_is_short(format); i++)
        d[i] = f32_through(format, &roundings[ROUND_RN], d[i]);
}

uint32_t result_rounded(const struct bitcut_format *format, double c)
{
    const struct bitcut_rounding *const rn = &roundings[ROUND_RN];
    return (uint32_t)bitcut_format_convert(
        f32, rn, format,
        bitcut_format_convert(format, rn, &formats[FORMAT_F64], bits_of_double(c)));
}

/* The values that round to a result; from > to: none. */
struct preimage {
    double from, to;
};

/* A result beyond the range: values of that sign, or of both signs for NaN. */
static struct preimage overflowing(const struct bitcut_format *format, bool negative)
{
    const double least = format_overflow(format);
    return negative ? (struct preimage){ -INFINITY, -least }
                    : (struct preimage){ least, INFINITY };
}

/* Values of magnitude |x| that round to |d|, a finite value. */
static struct preimage around(const struct bitcut_format *format, double d)
{
    const double size = fabs(d), ulp = format_ulp(format, size);
    int exponent;
    const bool power =
        frexp(size, &exponent) == 0.5 && exponent - 1 > format_emin(format);
    const double above = size == format_largest_value(format) ? (double)INFINITY
                                                              : size + ulp / 2,
                 below = size - (power ? ulp / 4 : ulp / 2);
    return d < 0 ? (struct preimage){ -above, -below }
                 : (struct preimage){ below, above };
}

static double distance(struct preimage x, double c)
{
    return c < x.from ? x.from - c : c > x.to ? c - x.to : 0;
}

double result_gap(const struct bitcut_format *format, uint32_t d, double c)
{
    const double value = value_of_float(d);
    if (isnan(c)) return isnan(value) ? 0 : (double)INFINITY;
    if (isfinite(value))
        return isinf(c) && fabs(value) != format_largest_value(format)
                   ? (double)INFINITY
                   : distance(around(format, value), c);
    if (isinf(value))
        return isinf(c) && (c < 0) != (value < 0)
                   ? (double)INFINITY
                   : distance(overflowing(format, value < 0), c);
    if (format->special == SPECIAL_IEEE) return INFINITY;
    return distance(overflowing(format, c < 0), c);
}

double result_gap_between(const struct bitcut_format *format, uint32_t d, uint32_t other)
{
    const double x = value_of_float(d), y = value_of_float(other);
    if (!isfinite(x) || !isfinite(y))
        return x == y || (isnan(x) && isnan(y)) ? 0 : (double)INFINITY;
    const struct preimage a = around(format, x), b = around(format, y);
    return a.to < b.from ? b.from - a.to : b.to < a.from ? a.from - b.to : 0;
}
