/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused multiply-adds from +0: one chain over all products; or with `parity` one chain
   over even and one over odd k, whose results are added.  Then c is added.  Each
   operation is rounded to `result`. */
#include "emu/fast/fast.h"
#include "emu/sum.h"

/* The encoding x to which a product is added: the step's sum `from`, or +0 if `from` is
   negative. */
TRACED void trace_sum_before(const struct bitcut_unit *u, int from, uint64_t x,
                             struct unit_trace *trace)
{
    if (from >= 0) trace_rounded(u, from, x, trace);
    else trace_term(trace, (struct trace_term){ .source = TRACE_ZERO });
}

/* Product i added to it. */
TRACED uint64_t rounded_fma(const struct bitcut_unit *u, const struct step *t, int i,
                            uint64_t x, int from, struct unit_trace *trace)
{
    static const char name[] = "multiply-add";
    const struct number a = t->a[i], b = t->b[i], z = format_decode(u->result, x);
    struct special_sum s = { .nan = true, .operand = true };
    uint64_t d;
    bool special = sum_nan_operand(&d, u, a, b, z);
    if (!special) {
        s = (struct special_sum){ 0 };
        special_add_product(&s, a, b);
        special_add(&s, z);
        special = special_result(&d, u, s);
    }
    if (special) {
        trace_special(trace, name, s, d);
        return d;
    }
    const struct term terms[2] = { product_term(u, a, b), number_term(u->result, z) };
    trace_product(trace, i, a.exponent + b.exponent, terms[0], 0);
    trace_sum_before(u, from, x, trace);
    return finish_exact(u, wide_sum(terms, 2), terms[0].negative && z.negative, name,
                        trace);
}

TRACED uint64_t chains_step(const struct bitcut_unit *u, const struct step *t,
                            struct unit_trace *trace)
{
    const int chains = u->parity ? 2 : 1;
    uint64_t sum[2] = { 0, 0 };
    for (int i = 0; i < t->n; i++)
        sum[i % chains] = rounded_fma(u, t, i, sum[i % chains], i - chains, trace);
    if (u->parity) {
        trace_rounded(u, t->n - 2, sum[0], trace);
        trace_rounded(u, t->n - 1, sum[1], trace);
        sum[0] = rounded_sum(u, sum[0], sum[1], "chains", trace);
    }
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    trace_rounded(u, t->n - 1 + u->parity, sum[0], trace);
    return rounded_sum(u, t->c, sum[0], NULL, trace);
}

BOTH(chains_step)

static bool chains_sound(const struct bitcut_unit *u)
{
    return !u->scale && sum_products_fit(u) && u->result == u->c &&
           (!u->parity || u->block % 2 == 0);
}

/* A product is in all sums of its chain from its own sum on, and in the sum of the two
   chains.  c is only in the last addition. */
static struct step_error chains_error(const struct bitcut_unit *u)
{
    const double each = round_error(u->result, u->rounding.direction);
    const int longest = u->parity ? u->block / 2 + 1 : u->block;
    return (struct step_error){ .products = longest * each,
                                .roundings = u->block + u->parity + 1 };
}

const struct summation sum_chains = {
    .name = "chains",
    .what = "rounded multiply-adds from +0, for even and odd k separately or together; c "
            "is added last",
    .reads = READS_PARITY,
    .rounds_each = true,
    .operand_nan = true,
    .sound = chains_sound,
    .step = chains_step_plain,
    .step_traced = chains_step_traced,
    .error = chains_error,
    .fast = fast_chains,
};
