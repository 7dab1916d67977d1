/* SPDX-License-Identifier: BSD-3-Clause */
/* As `fused`, but first `group` products are added exactly and multiplied by their block
   scales.  The exponent of a group is the exponent of its scales, whatever the size of
   its sum, even if the sum is zero.  A group with a zero scale is ignored. */
#include "emu/sum.h"

/* The exact sum of products whose exponents are all small and at least 0. */
TRACED int64_t group_sum(const struct bitcut_unit *u, const struct step *t, int from,
                         struct unit_trace *trace)
{
    int64_t sum = 0;
    for (int i = from; i < from + u->group; i++) {
        const struct number a = t->a[i], b = t->b[i];
        const int exponent = a.exponent + b.exponent;
        const int64_t term = a.significand && b.significand
                                 ? aligned(u, a.significand * b.significand, exponent,
                                           product_negative(a, b))
                                 : 0;
        sum += term;
        trace_product(trace, i, exponent, product_term(u, a, b), term);
    }
    trace_sum(trace, (struct trace_sum){
                         .name = "group",
                         .aligned = true,
                         .value = integer_term(sum, -product_fraction_bits(u)) });
    return sum;
}

/* The sum of a group times its scales, cut to `fraction` bits below `exponent`. */
TRACED int64_t aligned_group(const struct bitcut_unit *u, const struct step *t, int from,
                             int64_t group, int exponent, struct unit_trace *trace)
{
    const struct number a = t->scale_a[from / u->scale_block];
    const struct number b = t->scale_b[from / u->scale_block];
    const int own = a.exponent + b.exponent;
    const int last = own - product_fraction_bits(u) - 2 * u->scale->fraction_bits;
    const uint64_t magnitude =
        (uint64_t)(group < 0 ? -group : group) * a.significand * b.significand;
    const int64_t cut = aligned(u, magnitude, u->fraction + last - exponent, group < 0);
    trace_term(trace, (struct trace_term){ .source = TRACE_SUM,
                                           .index = from / u->group,
                                           .exponent = own,
                                           .value = { magnitude, last, group < 0 },
                                           .aligned = cut });
    return cut;
}

TRACED uint64_t grouped_step(const struct bitcut_unit *u, const struct step *t,
                             struct unit_trace *trace)
{
    int64_t group[UNIT_K_MAX];
    int exponent = u->align_min > t->z.exponent ? u->align_min : t->z.exponent;
    for (int i = 0; i < t->n; i += u->scale_block) {
        const int e = t->scale_a[i / u->scale_block].exponent +
                      t->scale_b[i / u->scale_block].exponent;
        if (e > exponent) exponent = e;
    }
    for (int i = 0; i < t->n; i += u->group)
        group[i / u->group] = group_sum(u, t, i, trace);
    int64_t sum = 0;
    for (int i = 0; i < t->n; i += u->group)
        sum += aligned_group(u, t, i, group[i / u->group], exponent, trace);
    sum += aligned_c(u, t, exponent, trace);
    return finish_aligned(u, t, sum, exponent, trace);
}

BOTH(grouped_step)

enum {
    GROUP_BITS_MAX = 44, /* 64 products in groups fit an int64_t, with scales           */
    GROUP_EXPONENT_MAX = 4 /* of at most this exponent     */
};

/* Whether the operands are small multiples of their last bit, so that groups are summed
   as integers. */
static bool are_small_integers(const struct bitcut_unit *u)
{
    return format_emin(u->a) >= 0 && format_emin(u->b) >= 0 &&
           format_emax(u->a) + format_emax(u->b) <= GROUP_EXPONENT_MAX;
}

static bool grouped_sound(const struct bitcut_unit *u)
{
    return u->scale && divides(u->group, u->scale_block) && divides(u->group, u->block) &&
           u->zero != ZERO_IEEE && are_small_integers(u) && sum_products_fit(u) &&
           sum_fraction_fits(u, GROUP_BITS_MAX);
}

/* Groups align by their scales, which may be larger than the sums that they scale. */
static struct step_error grouped_error(const struct bitcut_unit *u)
{
    return aligned_error(u, u->block);
}

const struct summation sum_grouped = {
    .name = "grouped",
    .what = "groups of products are summed exactly and scaled, then aligned with c as in "
            "fused",
    .reads = READS_GROUP | READS_FRACTION | READS_ALIGN_MIN | READS_FLOOR,
    .rival = true,
    .sound = grouped_sound,
    .step = grouped_step_plain,
    .step_traced = grouped_step_traced,
    .error = grouped_error,
};
