/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/elementary.h"

#include "lib/number/bits.h"
#include "lib/number/format.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>

uint32_t f32_of_double(double x) { return bits_of_float((float)x); }

double double_of_f32(uint32_t x) { return (double)float_of_bits(x); }

/* ln 2 as a sum: the first part has 20 trailing zero bits, so that its products with the
   exponents of binary64 are exact. */
static const double ln2_high = 0x1.62e42fefp-1;
static const double ln2_low = 0x1.473de6af278edp-34;
static const double ln2_inverse = 0x1.71547652b82fep+0;

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1) by Horner's rule. */
static double polynomial(const double *c, int n, double x)
{
    double y = c[n - 1];
    for (int i = n - 2; i >= 0; i--) y = y * x + c[i];
    return y;
}

/* log x = e log 2 + log(1 + f), x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt 2 and f
   exact.  With s = f / (2 + f), log(1 + f) = 2 atanh(s) = 2 s + s R and 2 s = f - s f,
   so that only s (f - R), at most 0.18 of the sum, is rounded before the last
   additions.  |s| < 0.1716: the first term left out of R's series is below 2^-60 of
   the sum. */
double elementary_log(double x)
{
    assert(hostfp_entered());
    static const double series[] = { 1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                     1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21 };
    const uint64_t fraction = ((uint64_t)1 << 52) - 1;
    int e = 0;
    if (x < 0x1p-1022) x *= 0x1p54, e = -54;
    const uint64_t bits = bits_of_double(x);
    double m = double_of_bits((bits & fraction) | (uint64_t)1023 << 52);
    e += (int)(bits >> 52) - 1023;
    if (m > 0x1.6a09e667f3bcdp+0) m *= 0.5, e++;

    const double f = m - 1, s = f / (2 + f), s2 = s * s;
    const double rest = 2 * s2 * polynomial(series, 10, s2);
    return e * ln2_high + (f - (s * (f - rest) - e * ln2_low));
}

/* 2^k for -1022 <= k <= 1023. */
static double power_of_two(int k) { return double_of_bits((uint64_t)(k + 1023) << 52); }

/* e^x = 2^k e^r, where |r| is at most slightly more than ln(2) / 2.  e^r is computed by
   its series up to r^13 / 13!; the next term is below 2^-57. */
double elementary_exp(double x)
{
    assert(hostfp_entered());
    /* clang-format off */
    static const double series[] = {
        1.0,            1.0 / 2,         1.0 / 6,     1.0 / 24,     1.0 / 120,
        1.0 / 720,      1.0 / 5040,      1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
        1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800
    };
    /* clang-format on */
    if (x < -746) return 0;
    if (x > 710) return (double)INFINITY;
    const int k = (int)(x * ln2_inverse + (x < 0 ? -0.5 : 0.5));
    const double r = (x - k * ln2_high) - k * ln2_low;
    const double y = 1 + r * polynomial(series, 13, r);
    const int half = k / 2; /* 2^k alone may be out of range */
    return y * power_of_two(half) * power_of_two(k - half);
}

/* x = q pi / 2 + r with |r| slightly above pi / 4 at most, for 0 <= x <= 8.  pi / 2 is a
   sum; its first two parts have 33 bits, so that their products with q are exact. */
static int quarter_turns(double *r, double x)
{
    assert(hostfp_entered() && x >= 0 && x <= 8);
    static const double part[] = { 0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                   0x1.3198a2e037073p-69 };
    const int q = (int)(x * 0x1.45f306dc9c883p-1 + 0.5);
    *r = ((x - q * part[0]) - q * part[1]) - q * part[2];
    return q;
}

/* The series of the sine up to r^17 / 17! and of the cosine up to r^16 / 16!.  The terms
   that follow are below 2^-60 of the sum. */
static double sine_series(double r)
{
    /* clang-format off */
    static const double series[] = {
        -1.0 / 6,       1.0 / 120,         -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000
    };
    /* clang-format on */
    const double z = r * r;
    return r + r * (z * polynomial(series, 8, z));
}

static double cosine_series(double r)
{
    /* clang-format off */
    static const double series[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320, -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000
    };
    /* clang-format on */
    const double z = r * r, half = 0.5 * z, w = 1 - half;
    return w + ((1 - w - half) + z * z * polynomial(series, 7, z));
}

double elementary_sin(double x)
{
    double r;
    const int q = quarter_turns(&r, x);
    const double y = q & 1 ? cosine_series(r) : sine_series(r);
    return q & 2 ? -y : y;
}

double elementary_cos(double x)
{
    double r;
    const int q = quarter_turns(&r, x);
    const double y = q & 1 ? sine_series(r) : cosine_series(r);
    return (q + 1) & 2 ? -y : y;
}

/* Numerators and denominators of PPND16, for p within 0.425 of 1/2, for sqrt(-log p) up
   to 5, and beyond. */
static const double as241[3][2][8] = {
    { { 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
        1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
        3.3430575583588128105e4, 2.5090809287301226727e3 },
      { 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
        5.2264952788528545610e3 } },
    { { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
        3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4 },
      { 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
        6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
        5.47593808499534494600e-4, 1.05075007164441684324e-9 } },
    { { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
        2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7 },
      { 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
        1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
        1.42151175831644588870e-7, 2.04426310338993978564e-15 } }
};

static double as241_ratio(int piece, double r)
{
    return polynomial(as241[piece][0], 8, r) / polynomial(as241[piece][1], 8, r);
}

double elementary_quantile(double p)
{
    assert(hostfp_entered());
    const double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) return q * as241_ratio(0, 0.180625 - q * q);
    const double r = sqrt(-elementary_log(q < 0 ? p : 1 - p));
    const double z = r <= 5 ? as241_ratio(1, r - 1.6) : as241_ratio(2, r - 5);
    return q < 0 ? -z : z;
}
