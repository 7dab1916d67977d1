/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer that settles an element if its sum in three parts, together with a bound on
   its error, proves how the exact sum is rounded, and how the remainder is. */
#include "lib/exact/error_bound.h"
#include "lib/exact/exact64_tile.h"
#include "lib/number/hostfp.h"

#include <math.h>

/* An exact value times 2^shift: within `error` of the exact sum of the parts. */
enum { PARTS_MAX = 7 };

struct proof64 {
    double part[PARTS_MAX], error;
    int count, shift;
};

/* The exponent e of a normal number, 2^e <= |x| < 2^(e + 1). */
static int exponent_of(double x) { return (int)(bits_of_double(x) >> 52 & 0x7ff) - 1023; }

/* A normal number times 2^shift, which is normal too. */
static double shifted(double x, int shift)
{
    return double_of_bits(bits_of_double(x) + ((uint64_t)(int64_t)shift << 52));
}

/* x = *x 2^(return value) with 1 <= |*x| < 2 afterwards; x is finite and not 0. */
static int normalise(double *x)
{
    int exponent;
    *x = 2 * frexp(*x, &exponent);
    return exponent - 1;
}

static void add_product(struct proof64 *p, double x, double y)
{
    const double product = x * y;
    p->part[p->count++] = product;
    p->part[p->count++] = fma(x, y, -product);
}

/* Every term passes through at most k + 1 roundings (dgemm_dot3()). */
static struct proof64 proof_of_sum(const struct exact64_tile *t, size_t i, size_t j)
{
    const struct dgemm_sums64 *s = &t->worker->dgemm.sums;
    const size_t at = i * TILE_COLS + j;
    const double unit = shifted(1, pair_bottom(t, i, j));
    return (struct proof64){ .part = { s->high[at], s->middle[at], s->low[at] },
                             .error = error_bound(t->job->k + 2, s->size[at], unit),
                             .count = 3,
                             .shift = pair_shift(t, i, j) };
}

/* The proof for alpha S, from the proof for S: the first two products are exact, the
   third one is rounded. */
static struct proof64 times(const struct proof64 *s, double alpha)
{
    const int exponent = normalise(&alpha);
    struct proof64 p = { .shift = s->shift - exponent };
    add_product(&p, alpha, s->part[0]);
    add_product(&p, alpha, s->part[1]);
    const double last = p.part[p.count++] = alpha * s->part[2];
    p.error = fabs(alpha) * s->error * (1 + 0x1p-50);
    if (fma(alpha, s->part[2], -last) != 0) p.error += fabs(last) * 0x1p-52;
    return p;
}

/* Add beta c to a proof.  False if its exponent is too far from the others. */
static bool add_update(struct proof64 *p, double beta, double c)
{
    enum { LOWEST = -790, HIGHEST = 1000 };
    if (c == 0) return true;
    const int up = normalise(&beta) + normalise(&c) + p->shift;
    if (up < LOWEST || up > HIGHEST) return false;
    const double product = beta * c, error = fma(beta, c, -product);
    p->part[p->count++] = shifted(product, up);
    p->part[p->count++] = error == 0 ? 0 : shifted(error, up);
    return true;
}

/* Transform the parts into three with the same exact sum.  Each part is about the
   rounding error of the sum of itself and the part before; what does not fit is added
   to the error. */
static void reduce(struct proof64 *p)
{
    for (int pass = 0; pass < 3; pass++)
        for (int i = p->count - 1; i > pass; i--) {
            const struct two_sum s = two_sum(p->part[i - 1], p->part[i]);
            p->part[i - 1] = s.sum;
            p->part[i] = s.error;
        }
    for (int i = 3; i < p->count; i++) p->error += fabs(p->part[i]);
    if (p->count > 3) p->error *= 1 + 0x1p-50;
    p->count = 3;
}

/* high + low + rest, with the same exact sum as three parts. */
struct sum3 {
    double high, low, rest;
};

static struct sum3 sum_of(const double part[3])
{
    struct two_sum a = two_sum(part[0], part[1]), b = two_sum(a.error, part[2]);
    a = two_sum(a.sum, b.sum);
    b = two_sum(a.error, b.error);
    if (b.error == 0) {
        a = two_sum(a.sum, b.sum);
        b.sum = a.error;
    }
    return (struct sum3){ a.sum, b.sum, b.error };
}

/* Whether the exact value, within `error` of the sum, is rounded to s->high, and its
   remainder to s->low, which is set.  Rounding is monotone:

   The remainder is between low + (rest - spread) and low + (rest + spread), which must
   round to the same number.  If the error is not 0, rest -+ spread is rounded by at most
   2^-53 (|rest| + spread), which the spread includes.  Then the remainder is within half
   an ulp of s->low, so between s->low times 1 - 2^-53 and 1 + 2^-53; the factors 1 -+
   2^-51 cover the rounding of these products. */
static bool is_proved(struct sum3 *s, double error)
{
    if (s->rest == 0 && error == 0) return true; /* the sum is exact */
    const double spread =
        error == 0 ? 0 : error * (1 + 0x1p-50) + fabs(s->rest) * 0x1p-52;
    const double lower = s->low + (s->rest - spread), upper = s->low + (s->rest + spread);
    if (!(lower == upper)) return false;
    s->low = lower;
    return s->high + lower * (1 - 0x1p-51) == s->high &&
           s->high + lower * (1 + 0x1p-51) == s->high;
}

/* Whether x times 2^shift is a normal number, except near the largest. */
static bool is_in_range(double x, int shift)
{
    const int exponent = exponent_of(x) + shift;
    return exponent >= -1022 && exponent < 1023;
}

static void certify(struct exact64_tile *t, size_t i, size_t j)
{
    const struct exact64_update *u = t->job->update;
    struct proof64 p = proof_of_sum(t, i, j);
    if (u && u->alpha != 1) p = times(&p, u->alpha);
    if (adds_c64(t->job) && !add_update(&p, u->beta, c_at64(t, i, j))) return;
    reduce(&p);
    struct sum3 s = sum_of(p.part);
    if (!is_proved(&s, p.error)) return;
    if (s.high == 0) {
        if (!u && s.low == 0)
            settle64(t, i, j, tile64_is_negative_zero(t, i, j) ? -0.0 : 0.0, 0);
        return;
    }
    if (!is_in_range(s.high, -p.shift)) return;
    if (s.low != 0 && !is_in_range(s.low, -p.shift)) return;
    settle64(t, i, j, shifted(s.high, -p.shift),
             s.low == 0 ? 0 : shifted(s.low, -p.shift));
}

/* Whether the rules of special values decide nothing. */
static bool is_plain(const struct exact64_tile *t, size_t i, size_t j)
{
    const struct exact64_update *u = t->job->update;
    return !u || (isfinite(u->alpha) && u->alpha != 0 && isfinite(u->beta) &&
                  isfinite(c_at64(t, i, j)));
}

/* tile64_run() left the sums. */
void layer64_dot2(struct exact64_tile *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (has_sums(t, i, j) && is_plain(t, i, j)) certify(t, i, j);
}
