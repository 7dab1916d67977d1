/* SPDX-License-Identifier: BSD-3-Clause */
/* The multiply-add of FP64, with the NaN of a GPU. */
#include "emu/fp64/scheme.h"

#include "lib/number/bits.h"

#include <math.h>

/* NaN of FP64 operations are rare: the engine finds them. */
static double nan_of_fma(double a, double b, double c)
{
    const uint64_t x = bits_of_double(a), y = bits_of_double(b), z = bits_of_double(c);
    uint64_t d = formats[FORMAT_F64].nan;
    const struct bitcut_unit *const unit = unit_find("fma/f64", &formats[FORMAT_F64]);
    return bitcut_mma(&d, unit, 1, 1, 1, 1, &x, &y, &z, 1) == BITCUT_OK
               ? double_of_bits(d)
               : NAN;
}

double fp64_fma(double a, double b, double c)
{
    const double d = fma(a, b, c);
    return isnan(d) ? nan_of_fma(a, b, c) : d;
}
