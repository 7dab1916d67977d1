/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers.  Two products after the other are added exactly, and each such sum is limited
   to the range of `carrier`.  Then these sums and c are added exactly, and the result is
   rounded once, by the unit's rule.  Source: Intel SDM, VPMADDUBSW, then VPMADDWD by ones,
   which adds two of these sums, and VPADDD. */
#include "emu/sum.h"

/* The sum of products i and i + 1 in the carrier. */
TRACED struct term saturated_pair(const struct bitcut_unit *u, const struct step *t,
                                  int i, struct unit_trace *trace)
{
    const struct bitcut_rounding limits = { .direction = TO_NEAREST_EVEN,
                                            .overflow = OVERFLOW_RANGE };
    struct term products[2];
    for (int p = 0; p < 2; p++) {
        const struct number a = t->a[i + p], b = t->b[i + p];
        products[p] = product_term(u, a, b);
        trace_product(trace, i + p, a.exponent + b.exponent, products[p], 0);
    }
    const struct unrounded x = wide_sum(products, 2);
    const uint64_t d = round_pack(u->carrier, &limits, x);
    const struct term kept = number_term(u->carrier, format_decode(u->carrier, d));
    trace_sum(trace, (struct trace_sum){ .name = "pair",
                                         .value = unrounded_term(x),
                                         .cut = true,
                                         .kept = kept });
    return kept;
}

TRACED uint64_t saturated_step(const struct bitcut_unit *u, const struct step *t,
                               struct unit_trace *trace)
{
    struct term terms[UNIT_K_MAX / 2 + 1];
    int n = 0;
    for (int i = 0; i < t->n; i += 2) terms[n++] = saturated_pair(u, t, i, trace);
    for (int i = 0; i < n; i++)
        trace_term(trace, (struct trace_term){ .source = TRACE_SUM,
                                               .index = i,
                                               .exponent = terms[i].exponent,
                                               .value = terms[i] });
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    terms[n++] = number_term(u->c, t->z);
    return finish_exact(u, wide_sum(terms, n), false, NULL, trace);
}

BOTH(saturated_step)

static bool saturated_sound(const struct bitcut_unit *u)
{
    return !u->scale && u->block % 2 == 0 && sum_products_fit(u) &&
           format_is_integer(u->c) &&
           (u->carrier == &formats[FORMAT_S16] || u->carrier == &formats[FORMAT_S32]);
}

/* A pair of products of 8 bits that is limited to s16 loses at most 130050 - 32767 of
   130050. */
static struct step_error saturated_error(const struct bitcut_unit *u)
{
    (void)u;
    return (struct step_error){ .products = 0.75, .roundings = 1 };
}

const struct summation sum_saturated = {
    .name = "saturated",
    .what = "integers: sums of two products are limited to the carrier, then added to c",
    .reads = READS_CARRIER,
    .reads_exact = READS_CARRIER,
    .sound = saturated_sound,
    .step = saturated_step_plain,
    .step_traced = saturated_step_traced,
    .error = saturated_error,
};
