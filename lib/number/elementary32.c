/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/elementary32.h"

#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"

#include <assert.h>

/* --- sums of two doubles ------------------------------------------------------------ */

/* high + low, where |low| is at most half an ulp of high. */
struct pair {
    double high, low;
};

static struct pair pair_of(double x, double y)
{
    const struct two_sum s = two_sum(x, y);
    return (struct pair){ s.sum, s.error };
}

/* The product of two doubles, exactly (Dekker 1971; Veltkamp's split). */
static struct pair product(double x, double y)
{
    const double split = 0x1p27 + 1, p = x * y;
    const double a = split * x, b = split * y;
    const double x1 = a - (a - x), x2 = x - x1, y1 = b - (b - y), y2 = y - y1;
    return (struct pair){ p, ((x1 * y1 - p) + x1 * y2 + x2 * y1) + x2 * y2 };
}

/* Relative errors below 2^-102. */
static struct pair multiply(struct pair x, struct pair y)
{
    const struct pair p = product(x.high, y.high);
    return pair_of(p.high, p.low + (x.high * y.low + x.low * y.high));
}

static struct pair add(struct pair x, struct pair y)
{
    const struct pair s = pair_of(x.high, y.high), t = pair_of(x.low, y.low);
    const struct pair u = pair_of(s.high, s.low + t.high);
    return pair_of(u.high, u.low + t.low);
}

static struct pair divide(struct pair x, double y)
{
    const double q = x.high / y;
    const struct pair p = product(q, y);
    return pair_of(q, ((x.high - p.high) - p.low + x.low) / y);
}

/* ln 2, with an error below 2^-110. */
static const struct pair ln2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };

/* e^t for |t| <= 1/2: the series of t / 2^8 up to t^10 / 10!, squared 8 times. */
static struct pair exp_series(struct pair t)
{
    enum { SQUARES = 8, TERMS = 10 };
    const struct pair one = { 1, 0 };
    const struct pair r = { t.high * 0x1p-8, t.low * 0x1p-8 };
    struct pair y = one;
    for (int i = TERMS; i; i--) y = add(one, divide(multiply(r, y), i));
    for (int i = 0; i < SQUARES; i++) y = multiply(y, y);
    return y;
}

/* --- rounding ------------------------------------------------------------------------
 */

/* RN(2^k y) in binary32 for 0.5 < y < 3, rounded once: the pair is rounded to odd in
   binary64 first, or at the last bit of a subnormal. */
static float rounded(struct pair y, int k)
{
    uint64_t bits = bits_of_double(y.high);
    if (y.low != 0 && (bits & 1) == 0)
        bits = (y.low > 0) == (y.high > 0) ? bits + 1 : bits - 1;
    double x = double_of_bits(bits); /* 53 bits, odd: 29 more than any result has */
    if (k < -200) return 0;
    if (k > 200) return x > 0 ? (float)INFINITY : -(float)INFINITY;
    return (float)(x * double_of_bits((uint64_t)(k + 1023) << 52));
}

/* Whether all values within `error` of y, relatively, round to the same float. */
static bool decided(float *to, double y, double error)
{
    const float low = (float)(y * (1 - error)), high = (float)(y * (1 + error));
    *to = low;
    return low == high;
}

/* --- functions -----------------------------------------------------------------------
 */

/* The nearest integer. */
static int nearest(double x) { return (int)(x + (x < 0 ? -0.5 : 0.5)); }

static const double ln2_inverse = 0x1.71547652b82fep+0;

float elementary32_exp2(float x)
{
    assert(hostfp_entered());
    float y;
    if (x != x) return x;
    if (x < -200) return 0;
    if (x > 200) return (float)INFINITY;
    if (decided(&y, elementary_exp((double)x * ln2.high), 0x1p-44)) return y;
    const int k = nearest((double)x);
    const double f = (double)x - k;
    const struct pair t = multiply((struct pair){ f, 0 }, ln2);
    return rounded(exp_series(t), k);
}

float elementary32_exp(float x)
{
    assert(hostfp_entered());
    float y;
    if (x != x) return x;
    if (x < -150) return 0;
    if (x > 150) return (float)INFINITY;
    if (decided(&y, elementary_exp((double)x), 0x1p-50)) return y;
    const int k = nearest((double)x * ln2_inverse);
    const struct pair whole = multiply((struct pair){ -k, 0 }, ln2);
    return rounded(exp_series(add((struct pair){ (double)x, 0 }, whole)), k);
}

/* log x from its double y: y + (x e^-y - 1), where the correction is below 2^-50, so that
   its square is below 2^-100. */
static float log_by_newton(double x, double y)
{
    const int k = nearest(-y * ln2_inverse);
    const struct pair whole = multiply((struct pair){ -k, 0 }, ln2);
    const struct pair e = exp_series(add((struct pair){ -y, 0 }, whole));
    struct pair p = multiply(e, (struct pair){ x, 0 });
    const double scale = double_of_bits((uint64_t)(k + 1023) << 52);
    p = (struct pair){ p.high * scale, p.low * scale };
    const struct pair correction = add(p, (struct pair){ -1, 0 });
    return rounded(add((struct pair){ y, 0 }, correction), 0);
}

float elementary32_log(float x)
{
    assert(hostfp_entered());
    float y;
    if (x != x || x < 0) return (float)NAN;
    if (x == 0) return -(float)INFINITY;
    if (x == (float)INFINITY) return x;
    if (x == 1) return 0;
    const double log = elementary_log((double)x);
    return decided(&y, log, 0x1p-50) ? y : log_by_newton((double)x, log);
}
