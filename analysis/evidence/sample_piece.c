/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/sample_piece.h"

#include "analysis/evidence/draw.h"

/* The value of the exponent field; emin for zero. */
static int exponent_of(const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    return x.kind == NUMBER_ZERO ? format_emin(f) : x.exponent;
}

int scales_exponent(const struct sample *s, const struct bitcut_unit *u, int i)
{
    return exponent_of(u->scale, s->scale_a[i]) + exponent_of(u->scale, s->scale_b[i]);
}

int draw_gap(const struct bitcut_unit *u, struct rng *rng)
{
    const int last = u->result->fraction_bits;
    const bool aligns = u->fraction && u->fraction != FRACTION_EXACT;
    const int fraction = aligns ? u->fraction : last;
    const int widths[] = { fraction, u->sum_fraction, u->keep, last };
    const int width = widths[draw_between(rng, 0, 3)];
    return (width ? width : fraction) + draw_between(rng, -1, 2);
}

void put_product(struct sample *s, const struct bitcut_unit *u, int k, int exponent,
                 struct rng *rng)
{
    const int least = format_emin(u->a), most = format_emax(u->a);
    const int low = clamp(exponent - format_emax(u->b), least, most);
    const int high = clamp(exponent - format_emin(u->b), low, most);
    const int first = draw_between(rng, low, high);
    s->a[k] = draw_at(u->a, first, rng);
    s->b[k] = draw_at(u->b, exponent - first, rng);
}

void put_products(struct sample *s, const struct bitcut_unit *u, int low, int high,
                  struct rng *rng)
{
    for (int k = 0; k < u->k; k++)
        put_product(s, u, k, draw_between(rng, low, high), rng);
}

void put_power(struct sample *s, const struct bitcut_unit *u, int k, bool negative,
               int exponent, struct rng *rng)
{
    if (u->scale) exponent -= scales_exponent(s, u, k / u->scale_block);
    const int least = format_least_exponent(u->a), most = format_emax(u->a);
    const int low = clamp(exponent - format_emax(u->b), least, most);
    const int high = clamp(exponent - format_least_exponent(u->b), low, most);
    const int first = draw_between(rng, low, high);
    s->a[k] = encoding_at(u->a, negative, first, 0);
    s->b[k] = encoding_at(u->b, false, exponent - first, 0);
}

void put_zeros(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = draw_zero(u->a, rng);
        s->b[k] = draw_at(u->b, draw_between(rng, -4, 4), rng);
        if (draw_one_in(rng, 2)) continue;
        s->b[k] = draw_zero(u->b, rng);
        if (draw_one_in(rng, 2)) s->a[k] = draw_at(u->a, draw_between(rng, -4, 4), rng);
    }
}

void put_scale(struct sample *s, const struct bitcut_unit *u, int i, int exponent)
{
    s->scale_a[i] = encoding_at(u->scale, false, exponent / 2, 0);
    s->scale_b[i] = encoding_at(u->scale, false, exponent - exponent / 2, 0);
}

void put_scales(struct sample *s, const struct bitcut_unit *u, int spread,
                struct rng *rng)
{
    for (int i = 0; i < sample_scales(u); i++) {
        s->scale_a[i] = draw_at(u->scale, draw_between(rng, -spread, spread), rng);
        s->scale_b[i] = draw_at(u->scale, draw_between(rng, -spread, spread), rng);
    }
}
