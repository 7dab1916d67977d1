/* SPDX-License-Identifier: BSD-3-Clause */
/* Products are added as in `fused`, without c and without align_min.  Their sum is
   floored to `sum_fraction` bits, and c is floored to `fraction` bits, below the larger
   of the exponents of the products and of c (a zero c has its format's emin).  Both are
   added exactly.  The sum is floored to `keep` bits below the leading one, or below
   keep_min if that is higher, and rounded to `result`.  Products of 2^(emax + 1) or more
   of the result format are infinities.

   With `parity`, products of even and of odd k are summed separately; each sum is floored
   to `fraction` bits at the larger of the two exponents, and both are added.  c is
   ignored if its exponent is more than fraction + 1 below. */
#include "emu/fast/fast.h"
#include "emu/sum.h"
#include "lib/base/size.h"

#include <math.h>

static int128 floor_shift(int128 x, int up)
{
    if (up >= 0) return x * ((int128)1 << up);
    return up < -126 ? (x < 0 ? -1 : 0)
                     : x >> -up; /* >> of a negative number floors (lib/base/assume.h): x
                                    >> -up;                           */
}

/* A sum of products in two stages: `sum` * 2^(exponent - fraction). */
struct stage {
    int128 sum;
    int exponent;
};

TRACED void trace_stage(const struct bitcut_unit *u, struct stage p, const char *name,
                        struct unit_trace *trace)
{
    trace_sum(trace, (struct trace_sum){
                         .name = name,
                         .aligned = true,
                         .at_exponent = true,
                         .exponent = p.exponent,
                         .value = integer_term(p.sum, p.exponent - u->fraction) });
}

TRACED struct stage product_stage(const struct bitcut_unit *u, const struct step *t,
                                  int from, int stride, const char *name,
                                  struct unit_trace *trace)
{
    const int e = largest_exponent(u, t, from, stride, 2 * NUMBER_ZERO_EXPONENT);
    struct stage p = { 0, e };
    if (trace || e > NUMBER_ZERO_EXPONENT / 2) /* zeros are added only for the trace */
        p.sum = aligned_products(u, t, from, stride, 0, e, trace);
    trace_stage(u, p, name, trace);
    return p;
}

/* Stage p, which is sum `index` of the step, floored to `fraction` bits below another
   exponent. */
TRACED int128 floored_stage(const struct bitcut_unit *u, struct stage p, int index,
                            int fraction, int exponent, struct unit_trace *trace)
{
    const int128 cut = floor_shift(p.sum, fraction - u->fraction + p.exponent - exponent);
    trace_term(trace, (struct trace_term){
                          .source = TRACE_SUM,
                          .index = index,
                          .exponent = p.exponent,
                          .value = integer_term(p.sum, p.exponent - u->fraction),
                          .aligned = cut });
    return cut;
}

/* The sum of the products of even and of odd k, added at the larger of their
   exponents. */
TRACED struct stage parity_stage(const struct bitcut_unit *u, const struct step *t,
                                 struct unit_trace *trace)
{
    const struct stage even = product_stage(u, t, 0, 2, "even products", trace);
    const struct stage odd = product_stage(u, t, 1, 2, "odd products", trace);
    struct stage p = { 0, odd.exponent > even.exponent ? odd.exponent : even.exponent };
    p.sum = floored_stage(u, even, 0, u->fraction, p.exponent, trace);
    p.sum += floored_stage(u, odd, 1, u->fraction, p.exponent, trace);
    trace_stage(u, p, "products", trace);
    return p;
}

/* c floored to `fraction` bits below `exponent`, in units of sum_fraction bits; 0 if it
   is ignored. */
TRACED int128 floored_c(const struct bitcut_unit *u, const struct step *t, int own,
                        int exponent, struct unit_trace *trace)
{
    const int128 z = t->z.negative ? -(int128)t->z.significand : (int128)t->z.significand;
    const bool out = u->parity && own < exponent - (u->fraction + 1);
    const int up = u->fraction - u->c->fraction_bits + own - exponent;
    const int128 cut =
        out ? 0 : floor_shift(z, up) * ((int128)1 << (u->sum_fraction - u->fraction));
    trace_accumulator(u, t, own, cut, trace);
    return cut;
}

/* Floor sum * 2^unit to `keep` bits below its leading bit, or below keep_min, and round
   it. */
TRACED uint64_t finish_kept(const struct bitcut_unit *u, const struct step *t, int128 sum,
                            int exponent, struct unit_trace *trace)
{
    const uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    const int unit = exponent - u->sum_fraction, least = u->keep_min - unit;
    const int leading = magnitude ? 63 - __builtin_clzll(magnitude) : 0;
    const int top = leading > least ? leading : least;
    const int drop = top > u->keep ? top - u->keep : 0;
    const int128 kept = floor_shift(sum, -drop);
    const uint64_t d = sum_round_integer(u, t, kept, unit + drop);
    trace_sum(trace, (struct trace_sum){ .aligned = true,
                                         .at_exponent = true,
                                         .exponent = exponent,
                                         .value = integer_term(sum, unit),
                                         .cut = true,
                                         .kept = integer_term(kept, unit + drop),
                                         .rounded = true,
                                         .d = d });
    return d;
}

TRACED uint64_t two_stage_step(const struct bitcut_unit *u, const struct step *t,
                               struct unit_trace *trace)
{
    const struct stage p = u->parity ? parity_stage(u, t, trace)
                                     : product_stage(u, t, 0, 1, "products", trace);
    const int zc = t->z.kind == NUMBER_ZERO ? format_emin(u->c) : t->z.exponent;
    const int e = p.exponent > zc ? p.exponent : zc;
    int128 sum = floored_stage(u, p, u->parity ? 2 : 0, u->sum_fraction, e, trace);
    sum += floored_c(u, t, zc, e, trace);
    return finish_kept(u, t, sum, e, trace);
}

BOTH(two_stage_step)

static bool two_stage_sound(const struct bitcut_unit *u)
{
    return !u->scale && sum_products_fit(u) && sum_fraction_fits(u, SUM_BITS_MAX) &&
           u->sum_fraction >= u->fraction && u->sum_fraction <= SUM_BITS_MAX &&
           u->keep > 0 && u->keep < 64;
}

/* Products are cut, except the largest one; with parity, except the largest of each sum,
   and one of the sums is floored then.  When c is added, the term with the larger
   exponent has all its bits, so either the sum of products or c is floored. */
static struct step_error two_stage_error(const struct bitcut_unit *u)
{
    const double bit = sum_bit(u->fraction); /* sum_fraction is at least `fraction`  */
    const int least =
        larger_int(u->keep_min - u->keep, format_emin(u->c) - u->sum_fraction);
    return (struct step_error){ .products = (u->block - 1) * bit,
                                .sum = bit + sum_bit(u->keep),
                                .cut = 2 * ldexp(1, least),
                                .roundings = 1 };
}

const struct summation sum_two_stage = {
    .name = "two-stage",
    .what = "products are aligned and summed, then c is added; the sum is truncated and "
            "rounded",
    .reads = READS_FRACTION | READS_SUM_FRACTION | READS_KEEP | READS_KEEP_MIN |
             READS_PARITY | READS_NORMALISE | READS_FLOOR,
    .products_overflow = true,
    .rival = true,
    .sound = two_stage_sound,
    .step = two_stage_step_plain,
    .step_traced = two_stage_step_traced,
    .error = two_stage_error,
    .fast = fast_two_stage,
};
