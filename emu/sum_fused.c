/* SPDX-License-Identifier: BSD-3-Clause */
/* All terms (products and c) are added at once.  They are aligned at the largest exponent
   among the nonzero terms, but never below align_min.  Each magnitude is truncated to
   `fraction` bits below this exponent.  The terms are added exactly, and the sum is
   rounded once to `result`.  The exponent of a product is the sum of its operands'
   exponents (but see `normalise`).  fraction = FRACTION_EXACT drops nothing; with block =
   1 this is an FMA chain.  Scales are powers of two. */
#include "emu/fast/fast.h"
#include "emu/sum.h"

TRACED uint64_t exact_step(const struct bitcut_unit *u, const struct step *t,
                           struct unit_trace *trace)
{
    struct term terms[UNIT_K_MAX + 1];
    bool negative = t->z.negative;
    for (int i = 0; i < t->n; i++) {
        terms[i] = product_term(u, t->a[i], t->b[i]);
        negative &= terms[i].negative;
        trace_product(trace, i, t->a[i].exponent + t->b[i].exponent, terms[i], 0);
    }
    terms[t->n] = number_term(u->c, t->z);
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    return finish_exact(u, wide_sum(terms, t->n + 1), negative, NULL, trace);
}

/* A power-of-two scale adds its exponent to the exponent of every product. */
static int scale_exponent(const struct bitcut_unit *u, const struct step *t)
{
    return u->scale ? t->scale_a->exponent + t->scale_b->exponent : 0;
}

TRACED uint64_t fused_step(const struct bitcut_unit *u, const struct step *t,
                           struct unit_trace *trace)
{
    if (u->fraction == FRACTION_EXACT) return exact_step(u, t, trace);
    const int scale = scale_exponent(u, t);
    int exponent = largest_exponent(u, t, 0, 1, u->align_min - scale) + scale;
    if (t->z.exponent > exponent) exponent = t->z.exponent;
    int64_t sum = aligned_products(u, t, 0, 1, scale, exponent, trace);
    sum += aligned_c(u, t, exponent, trace);
    return finish_aligned(u, t, sum, exponent, trace);
}

BOTH(fused_step)

/* All products of a step have one scale, a power of two. */
static bool fused_sound(const struct bitcut_unit *u)
{
    if (u->fraction == FRACTION_EXACT) return !u->scale;
    if (u->scale &&
        (u->scale->special != SPECIAL_E8M0 || !divides(u->block, u->scale_block)))
        return false;
    return sum_products_fit(u) && sum_fraction_fits(u, SUM_BITS_MAX);
}

/* The largest term retains all its bits. */
static struct step_error fused_error(const struct bitcut_unit *u)
{
    return aligned_error(u, u->block);
}

const struct summation sum_fused = {
    .name = "fused",
    .what = "products and c are aligned at the largest exponent, truncated, summed "
            "exactly and rounded once",
    .reads = READS_FRACTION | READS_ALIGN_MIN | READS_NORMALISE | READS_FLOOR,
    .reads_exact = READS_FRACTION,
    .operand_nan = true,
    .rival = true,
    .sound = fused_sound,
    .step = fused_step_plain,
    .step_traced = fused_step_traced,
    .error = fused_error,
    .fast = fast_fused,
};
