/* SPDX-License-Identifier: BSD-3-Clause */
/* The products of a block are added exactly and rounded to `result`.  Then c is added,
   and the sum is rounded again. */
#include "emu/fast/fast.h"
#include "emu/sum.h"

/* The sum of the products, an encoding of the result format. */
TRACED uint64_t rounded_dot(const struct bitcut_unit *u, const struct step *t,
                            struct unit_trace *trace)
{
    static const char name[] = "products";
    struct special_sum s = { 0 };
    struct term terms[UNIT_K_MAX];
    bool negative = true;
    uint64_t d;
    for (int i = 0; i < t->n; i++) special_add_product(&s, t->a[i], t->b[i]);
    if (special_result(&d, u, s)) {
        trace_special(trace, name, s, d);
        return d;
    }
    for (int i = 0; i < t->n; i++) {
        terms[i] = product_term(u, t->a[i], t->b[i]);
        negative &= terms[i].negative;
        trace_product(trace, i, t->a[i].exponent + t->b[i].exponent, terms[i], 0);
    }
    return finish_exact(u, wide_sum(terms, t->n), negative, name, trace);
}

TRACED uint64_t dot_step(const struct bitcut_unit *u, const struct step *t,
                         struct unit_trace *trace)
{
    const uint64_t dot = rounded_dot(u, t, trace);
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    trace_rounded(u, 0, dot, trace);
    return rounded_sum(u, t->c, dot, NULL, trace);
}

BOTH(dot_step)

static bool dot_sound(const struct bitcut_unit *u)
{
    return !u->scale && u->block > 1 && sum_products_fit(u) && u->result == u->c;
}

/* A product is affected by the rounding of the products' sum; c only by the last
   rounding. */
static struct step_error dot_error(const struct bitcut_unit *u)
{
    return (struct step_error){ .products = round_error(u->result, u->rounding.direction),
                                .roundings = 2 };
}

const struct summation sum_dot = {
    .name = "dot",
    .what =
        "products are summed exactly and rounded, then c is added and the sum rounded",
    .rounds_each = true,
    .sound = dot_sound,
    .step = dot_step_plain,
    .step_traced = dot_step_traced,
    .error = dot_error,
    .fast = fast_dot,
};
