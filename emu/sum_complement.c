/* SPDX-License-Identifier: BSD-3-Clause */
/* All terms are added at once as in `fused`, but by one's complement.  The sum is
   computed in the sign of c.  A nonzero product of the other sign has its bits inverted,
   without the addition of 1 that would negate it.  So it is one unit of the last retained
   place further from zero than its cut value. */
#include "emu/sum.h"
#include "lib/base/size.h"

#include <math.h>

/* Product i, cut at `exponent`. */
static int64_t inverted(const struct bitcut_unit *u, const struct step *t, int i,
                        int exponent)
{
    const struct number a = t->a[i], b = t->b[i];
    const uint64_t significand = a.significand * b.significand;
    const int up = u->fraction - product_fraction_bits(u) - exponent;
    const bool negative = product_negative(a, b),
               inverts = significand && negative != t->z.negative;
    const int64_t cut = aligned(u, significand, up + a.exponent + b.exponent, negative);
    return negative ? cut - inverts : cut + inverts;
}

/* No term aligns below this exponent. */
static int least_exponent(const struct bitcut_unit *u)
{
    return smaller_int(format_emin(u->c), format_emin(u->a) + format_emin(u->b));
}

TRACED uint64_t complement_step(const struct bitcut_unit *u, const struct step *t,
                                struct unit_trace *trace)
{
    int exponent = largest_exponent(u, t, 0, 1, least_exponent(u));
    if (t->z.exponent > exponent) exponent = t->z.exponent;
    int64_t sum = 0;
    for (int i = 0; i < t->n; i++) {
        const int64_t term = inverted(u, t, i, exponent);
        sum += term;
        trace_product(trace, i, product_exponent(u, t->a[i], t->b[i]),
                      product_term(u, t->a[i], t->b[i]), term);
    }
    sum += aligned_c(u, t, exponent, trace);
    return finish_aligned(u, t, sum, exponent, trace);
}

BOTH(complement_step)

static bool complement_sound(const struct bitcut_unit *u)
{
    return !u->scale && sum_products_fit(u) && sum_fraction_fits(u, SUM_BITS_MAX);
}

/* A product has an error of one unit of the last place if it is cut or inverted; floored,
   it may be both. */
static struct step_error complement_error(const struct bitcut_unit *u)
{
    const double bit = ((1 + u->floor) * u->block + 1) * sum_bit(u->fraction);
    return (struct step_error){ .sum = bit,
                                .cut = bit * ldexp(1, format_emin(u->c)),
                                .roundings = 1 };
}

const struct summation sum_complement = {
    .name = "complement",
    .what = "as fused, but products whose sign differs from c are inverted, not negated",
    .reads = READS_FRACTION | READS_NORMALISE | READS_FLOOR,
    .sound = complement_sound,
    .step = complement_step_plain,
    .step_traced = complement_step_traced,
    .error = complement_error,
};
