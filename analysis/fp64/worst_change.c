/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/worst_change.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>

enum { POWER_MAX = 24 };
static const uint64_t fraction = (UINT64_C(1) << 52) - 1;

/* A change under way. */
struct change {
    int power;
    uint64_t bits; /* the same for all elements */
    struct rng *random;
};

static double with_fraction(double x, uint64_t bits)
{
    return x == 0 ? x
                  : double_of_bits((bits_of_double(x) & ~fraction) | (bits & fraction));
}

static double scale_a(double x, bool of_b, const struct change *c)
{
    return of_b ? x : ldexp(x, c->power);
}

static double scale_b(double x, bool of_b, const struct change *c)
{
    return of_b ? ldexp(x, c->power) : x;
}

static double scale_both(double x, bool of_b, const struct change *c)
{
    return ldexp(x, of_b ? -c->power : c->power);
}

static double make_positive(double x, bool of_b, const struct change *c)
{
    (void)of_b, (void)c;
    return fabs(x);
}

static double negate_a(double x, bool of_b, const struct change *c)
{
    (void)c;
    return of_b ? x : -x;
}

static double set_ones(double x, bool of_b, const struct change *c)
{
    (void)of_b, (void)c;
    return with_fraction(x, fraction);
}

static double set_one_fraction(double x, bool of_b, const struct change *c)
{
    (void)of_b;
    return with_fraction(x, c->bits);
}

static double draw_fraction(double x, bool of_b, const struct change *c)
{
    (void)of_b;
    return with_fraction(x, rng_bits(c->random));
}

/* Ones or zeros below a random bit, after the bits that are there. */
static double set_low_bits(double x, bool of_b, const struct change *c)
{
    const uint64_t low = fraction >> (c->bits % 52);
    (void)of_b;
    return with_fraction(x, c->bits >> 63 ? bits_of_double(x) | low
                                          : bits_of_double(x) & ~low);
}

static const struct {
    const char *what;
    double (*element)(double x, bool of_b, const struct change *c);
} changes[] = {
    { "exponents of A", scale_a },
    { "exponents of B", scale_b },
    { "opposite exponents of A and B", scale_both },
    { "positive", make_positive },
    { "signs of A", negate_a },
    { "all bits of fractions", set_ones },
    { "one fraction for all", set_one_fraction },
    { "random fractions", draw_fraction },
    { "low bits of fractions", set_low_bits },
};

/* Indices first, first + step, ... below end. */
struct indices {
    size_t first, end, step;
};

static struct indices draw_indices(size_t k, struct rng *random)
{
    const size_t first = (size_t)rand_below(rng_bits(random), k),
                 length = 1 + (size_t)rand_below(rng_bits(random), k),
                 step = 1 + (size_t)rand_below(rng_bits(random), 4);
    switch (rand_below(rng_bits(random), 4)) {
    case 0: return (struct indices){ first, first + 1, 1 };
    case 1: return (struct indices){ first, smaller(k, first + length), 1 };
    case 2: return (struct indices){ first % step, k, step };
    default: return (struct indices){ 0, k, 1 };
    }
}

void worst_change(struct worst_lines *x, struct rng *random)
{
    const size_t which =
        (size_t)rand_below(rng_bits(random), sizeof changes / sizeof *changes);
    const uint64_t place = rng_bits(random), line = rng_bits(random);
    struct change c = { .bits = rng_bits(random), .random = random };
    c.power = 1 + (int)rand_below(rng_bits(random), POWER_MAX);
    if (rng_bits(random) >> 63) c.power = -c.power;
    const struct indices at = draw_indices(x->k, random);
    const bool all = place & 1;
    for (size_t i = 0; i < x->m + x->n; i++) {
        const bool of_b = i >= x->m;
        double *const to = of_b ? x->b + (i - x->m) * x->k : x->a + i * x->k;
        const size_t one = of_b ? x->m + (size_t)rand_below(line << 32, x->n)
                                : (size_t)rand_below(line, x->m);
        for (size_t p = at.first; p < at.end && (all || i == one); p += at.step)
            to[p] = changes[which].element(to[p], of_b, &c);
    }
}

int worst_spread(const double *x, size_t k)
{
    int least = 0, most = 0;
    bool any = false;
    for (size_t p = 0; p < k; p++) {
        if (x[p] == 0) continue;
        const int e = ilogb(x[p]);
        least = any ? smaller_int(least, e) : e;
        most = any ? larger_int(most, e) : e;
        any = true;
    }
    return most - least;
}

static bool line_allowed(const double *x, size_t k, int range)
{
    for (size_t p = 0; p < k; p++)
        if (!(x[p] == 0 || (fabs(x[p]) >= 0x1p-200 && fabs(x[p]) <= 0x1p200)))
            return false;
    return worst_spread(x, k) <= range;
}

bool worst_allowed(const struct worst_lines *x, int range)
{
    for (size_t i = 0; i < x->m; i++)
        if (!line_allowed(x->a + i * x->k, x->k, range)) return false;
    for (size_t j = 0; j < x->n; j++)
        if (!line_allowed(x->b + j * x->k, x->k, range)) return false;
    return true;
}
