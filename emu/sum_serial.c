/* SPDX-License-Identifier: BSD-3-Clause */
/* Products are added one by one, starting from zero.  Each exact sum is truncated to
   `keep` significant bits.  Then c is added, with one rounding.  With a `carrier`, each
   of these sums is first rounded to this format, to nearest even. */
#include "emu/fast/fast.h"
#include "emu/sum.h"

/* x truncated to `keep` significant bits. */
static struct term truncated(struct unrounded x, int keep)
{
    const struct term t = unrounded_term(x);
    if (x.significand == 0) return t;
    const int drop = 64 - __builtin_clzll(x.significand) - keep;
    if (drop <= 0) return t;
    return (struct term){ x.significand >> drop, x.exponent + drop, x.negative };
}

/* Partial sum `index` as a term. */
TRACED void trace_partial(struct unit_trace *trace, int index, struct term value)
{
    trace_term(trace, (struct trace_term){
                          .source = TRACE_SUM, .index = index, .value = value });
}

/* The exact sum in the row's carrier. */
static struct unrounded carried(const struct bitcut_unit *u, struct unrounded x)
{
    if (!u->carrier) return x;
    const uint64_t d = round_pack(u->carrier, &roundings[ROUND_RN], x);
    return number_unrounded(u->carrier, format_decode(u->carrier, d));
}

/* The sum of the products and c, rounded. */
TRACED uint64_t finish_serial(const struct bitcut_unit *u, const struct step *t,
                              struct unrounded x, struct unit_trace *trace)
{
    const bool zero_negative = u->zero == ZERO_IEEE && sum_negative_zeros(t);
    const struct unrounded kept = carried(u, x);
    const uint64_t d = sum_round(u, kept, zero_negative);
    trace_sum(trace, (struct trace_sum){ .value = unrounded_term(x),
                                         .inexact = x.sticky,
                                         .cut = u->carrier != NULL,
                                         .kept = unrounded_term(kept),
                                         .rounded = true,
                                         .d = d });
    return d;
}

TRACED uint64_t serial_step(const struct bitcut_unit *u, const struct step *t,
                            struct unit_trace *trace)
{
    struct term sum[2] = { { 0 } };
    for (int i = 0; i < t->n; i++) {
        sum[1] = product_term(u, t->a[i], t->b[i]);
        if (i) trace_partial(trace, i - 1, sum[0]);
        trace_product(trace, i, t->a[i].exponent + t->b[i].exponent, sum[1], 0);
        const struct unrounded x = wide_sum(sum, 2);
        sum[0] = truncated(carried(u, x), u->keep);
        trace_sum(trace, (struct trace_sum){ .name = "partial sum",
                                             .value = unrounded_term(x),
                                             .inexact = x.sticky,
                                             .cut = true,
                                             .kept = sum[0] });
    }
    sum[1] = number_term(u->c, t->z);
    trace_partial(trace, t->n - 1, sum[0]);
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    return finish_serial(u, t, wide_sum(sum, 2), trace);
}

BOTH(serial_step)

static bool serial_sound(const struct bitcut_unit *u)
{
    return !u->scale && sum_products_fit(u) && u->keep > 0 && u->keep < 64 &&
           (!u->carrier || u->carrier == &formats[FORMAT_F64]);
}

/* The first sum is one product.  It is short, so that it has all its bits and leaves room
   for the carrier. */
static struct step_error serial_error(const struct bitcut_unit *u)
{
    return (struct step_error){ .products = u->block * sum_bit(u->keep - 1),
                                .roundings = 1 };
}

const struct summation sum_serial = {
    .name = "serial",
    .what = "products are added one by one, each sum is truncated to `keep` bits; c is "
            "added last",
    .reads = READS_KEEP | READS_CARRIER,
    .rival = true,
    .sound = serial_sound,
    .step = serial_step_plain,
    .step_traced = serial_step_traced,
    .error = serial_error,
    .fast = fast_serial,
};
