/* SPDX-License-Identifier: BSD-3-Clause */
/* The multiply-add of FP64, with the NaN of a GPU, and the updates of the schemes. */
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

double fp64_update(double alpha, double v, double beta, double c)
{
    const double t = fp64_product(alpha, v);
    return beta == 0 ? t : fp64_fma(beta, c, t);
}

double fp64_update_adding(double alpha, double v, double beta, double c)
{
    const double d = fp64_update(alpha, v, beta, c);
    return beta == 0 && fabs(alpha) != 1 ? d + 0.0 : d;
}

double fp64_update_fused(double alpha, double v, double beta, double c)
{
    return fp64_fma(alpha, v, fp64_product(beta, c));
}
