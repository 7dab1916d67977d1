/* SPDX-License-Identifier: BSD-3-Clause */
/* Each product is rounded to `result`.  The products are added in a balanced tree of
   rounded additions.  Then c is added, with one rounding. */
#include "emu/fast/fast.h"
#include "emu/sum.h"

#include <math.h>

/* One product, rounded to an encoding of the result format. */
TRACED uint64_t rounded_product(const struct bitcut_unit *u, const struct step *t, int i,
                                struct unit_trace *trace)
{
    static const char name[] = "product";
    const struct number a = t->a[i], b = t->b[i];
    struct special_sum s = { 0 };
    uint64_t d;
    special_add_product(&s, a, b);
    if (special_result(&d, u, s)) {
        trace_special(trace, name, s, d);
        return d;
    }
    const struct term p = product_term(u, a, b);
    const struct unrounded x = { .significand = (uint64_t)p.significand,
                                 .exponent = p.exponent,
                                 .negative = p.negative };
    d = round_pack(u->result, &u->rounding, x);
    trace_product(trace, i, a.exponent + b.exponent, p, 0);
    trace_sum(trace,
              (struct trace_sum){ .name = name, .value = p, .rounded = true, .d = d });
    return d;
}

TRACED uint64_t pairs_step(const struct bitcut_unit *u, const struct step *t,
                           struct unit_trace *trace)
{
    uint64_t s[UNIT_K_MAX];
    int first = 0; /* index of s[0] among the step's sums */
    for (int i = 0; i < t->n; i++) s[i] = rounded_product(u, t, i, trace);
    for (int n = t->n; n > 1; first += n, n /= 2)
        for (int i = 0; i < n / 2; i++) {
            trace_rounded(u, first + 2 * i, s[2 * i], trace);
            trace_rounded(u, first + 2 * i + 1, s[2 * i + 1], trace);
            s[i] = rounded_sum(u, s[2 * i], s[2 * i + 1], "pair", trace);
        }
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    trace_rounded(u, first, s[0], trace);
    return rounded_sum(u, t->c, s[0], NULL, trace);
}

BOTH(pairs_step)

static bool pairs_sound(const struct bitcut_unit *u)
{
    const bool tree = u->block > 0 && (u->block & (u->block - 1)) == 0;
    return !u->scale && tree && sum_products_fit(u) && u->result == u->c;
}

/* A product is affected by its own rounding and the levels of the tree; c only by the
   last addition. */
static struct step_error pairs_error(const struct bitcut_unit *u)
{
    const double each = round_error(u->result, u->rounding.direction);
    return (struct step_error){ .products = (1 + log2(u->block)) * each,
                                .roundings = 2 * u->block };
}

const struct summation sum_pairs = {
    .name = "pairs",
    .what = "rounded products, summed by a tree of rounded additions; c is added last",
    .rounds_each = true,
    .rival = true,
    .sound = pairs_sound,
    .step = pairs_step_plain,
    .step_traced = pairs_step_traced,
    .error = pairs_error,
    .fast = fast_pairs,
};
