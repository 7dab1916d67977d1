/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/emu/spec.h"

#include "emu/summation.h"
#include "tests/emu/spec_sum.h"

#include <assert.h>

/* The numbers of one step: products and c, the scale of each product, and a factor. */
struct workspace {
    struct term terms[SPEC_K_MAX + 1], scales[SPEC_K_MAX], factor;
};

static void workspace_init(struct workspace *w, int block)
{
    for (int i = 0; i <= block; i++) mpz_init(w->terms[i].value.m);
    for (int i = 0; i < block; i++) mpz_init(w->scales[i].value.m);
    mpz_init(w->factor.value.m);
}

static void workspace_clear(struct workspace *w, int block)
{
    mpz_clear(w->factor.value.m);
    for (int i = 0; i < block; i++) mpz_clear(w->scales[i].value.m);
    for (int i = 0; i <= block; i++) mpz_clear(w->terms[i].value.m);
}

static void operand_read(struct term *t, const struct bitcut_unit *u,
                         const struct bitcut_format *f, uint64_t encoding)
{
    term_read(t, f, encoding);
    if (u->flush_inputs == INPUT_POSITIVE) flush(t, false, f);
    if (u->flush_inputs == INPUT_SIGNED) flush(t, true, f);
    if (u->via) term_convert(t, u->via);
}

/* product = a b */
static void product_read(struct term *product, struct term *factor,
                         const struct bitcut_unit *u, uint64_t a, uint64_t b)
{
    operand_read(product, u, u->a, a);
    operand_read(factor, u, u->b, b);
    term_multiply(product, factor);
    if (u->normalise && product->kind == KIND_FINITE)
        product->exponent = leading(&product->value);
}

/* scale = scale_a scale_b */
static void scale_read(struct term *scale, struct term *factor,
                       const struct bitcut_unit *u, uint64_t scale_a, uint64_t scale_b)
{
    term_read(scale, u->scale, scale_a);
    term_read(factor, u->scale, scale_b);
    term_multiply(scale, factor);
}

/* Fill k[0], k[1], ... with 0 to u->k - 1 in the order in which they enter the blocks. */
static void order_fill(int *k, const struct bitcut_unit *u)
{
    const int bit[] = { [K_BIT0] = 0, [K_BIT1] = 1, [K_BIT2] = 2 };
    int n = 0;
    for (int i = 0; i < u->k && u->order == K_ASCENDING; i++) k[n++] = i;
    for (int i = u->k; i > 0 && u->order == K_DESCENDING; i--) k[n++] = i - 1;
    if (n > 0) return;
    for (int i = 0; i < u->k; i++)
        if (!(i & 1 << bit[u->order])) k[n++] = i;
    for (int i = 0; i < u->k; i++)
        if (i & 1 << bit[u->order]) k[n++] = i;
}

/* C as the unit reads it. */
static uint64_t c_read(struct term *t, const struct bitcut_unit *u, uint64_t c)
{
    term_read(t, u->c, c);
    if (t->kind != KIND_FINITE || u->flush_inputs == INPUT_RECORDED) return c;
    flush(t, u->flush_inputs != INPUT_POSITIVE, u->c);
    return t->kind == KIND_ZERO ? signed_zero(u->c, t->negative) : c;
}

static const struct bitcut_rounding to_nearest = { .direction = TO_NEAREST_EVEN,
                                                   .overflow = OVERFLOW_IEEE };

/* The operands as given to spec_dot(). */
struct operands {
    const uint64_t *a, *b, *scale_a, *scale_b;
};

/* One step of the chain: the products at k[0], k[1], ... and d. */
static uint64_t step(struct workspace *w, const struct bitcut_unit *u,
                     const struct operands *x, const int *k, uint64_t d)
{
    const struct spec_sum *sum = spec_sum_find(u->summation->name);
    assert(sum);
    for (int i = 0; i < u->block; i++) {
        product_read(&w->terms[i], &w->factor, u, x->a[k[i]], x->b[k[i]]);
        if (!u->scale) continue;
        const int at = k[i] / u->scale_block;
        scale_read(&w->scales[i], &w->factor, u, x->scale_a[at], x->scale_b[at]);
        if (!sum->scales_groups) term_multiply(&w->terms[i], &w->scales[i]);
    }
    term_read(&w->terms[u->block], u->c, d);
    return sum->add(u, w->terms, w->scales, u->block);
}

uint64_t spec_dot(const struct bitcut_unit *u, const uint64_t *a, const uint64_t *b,
                  const uint64_t *scale_a, const uint64_t *scale_b, uint64_t c)
{
    assert(u->k <= SPEC_K_MAX && u->k % u->block == 0);
    const struct operands x = { a, b, scale_a, scale_b };
    struct workspace w;
    int k[SPEC_K_MAX];
    workspace_init(&w, u->block);
    const uint64_t c_in = c_read(&w.factor, u, c);
    uint64_t d = u->c_last ? 0 : c_in;
    order_fill(k, u);
    for (int i = 0; i < u->k; i += u->block) d = step(&w, u, &x, k + i, d);
    if (u->c_last) {
        term_read(&w.terms[0], u->c, d);
        term_read(&w.terms[1], u->c, c_in);
        struct bitcut_unit whole = *u;
        whole.result = u->c;
        whole.zero = ZERO_IEEE;
        d = spec_exact_sum(&whole, &to_nearest, w.terms, 2);
    }
    workspace_clear(&w, u->block);
    return d;
}

bool spec_adds(const char *summation) { return spec_sum_find(summation) != NULL; }
