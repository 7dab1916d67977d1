/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/draw.h"
#include "analysis/evidence/sample_piece.h"
#include "emu/summation.h"

static void fill_anybits(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = draw_any(u->a, rng);
        s->b[k] = draw_any(u->b, rng);
    }
    for (int i = 0; i < sample_scales(u); i++) {
        s->scale_a[i] = draw_any(u->scale, rng);
        s->scale_b[i] = draw_any(u->scale, rng);
    }
    s->c = draw_any(u->c, rng);
}

static void fill_unit(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    put_products(s, u, -4, 0, rng);
    put_scales(s, u, 2, rng);
    s->c = draw_at(u->c, draw_between(rng, -4, 4), rng);
}

static void fill_wide(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = draw_wide(u->a, rng);
        s->b[k] = draw_wide(u->b, rng);
    }
    put_scales(s, u, draw_one_in(rng, 2) ? 127 : 20, rng);
    s->c = draw_wide(u->c, rng);
}

static void fill_narrow_c_wide(struct sample *s, const struct bitcut_unit *u,
                               struct rng *rng)
{
    fill_unit(s, u, rng);
    s->c = draw_wide(u->c, rng);
}

static void fill_special(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    fill_unit(s, u, rng);
    for (int k = 0; k < u->k; k++) {
        if (draw_one_in(rng, 4)) s->a[k] = draw_limit(u->a, rng);
        if (draw_one_in(rng, 4)) s->b[k] = draw_limit(u->b, rng);
    }
    if (draw_one_in(rng, 4)) s->c = draw_limit(u->c, rng);
    if (u->scale && draw_one_in(rng, 4)) s->scale_b[0] = draw_limit(u->scale, rng);
    for (int i = draw_between(rng, 0, 3); i > 0; i--) {
        const int k = draw_between(rng, 0, u->k - 1);
        if (draw_one_in(rng, 3)) s->c = draw_not_finite(u->c, rng);
        else if (draw_one_in(rng, 2)) s->a[k] = draw_not_finite(u->a, rng);
        else s->b[k] = draw_not_finite(u->b, rng);
    }
    if (!u->scale || !draw_one_in(rng, 8)) return;
    uint64_t *scales = draw_one_in(rng, 2) ? s->scale_a : s->scale_b;
    scales[draw_between(rng, 0, sample_scales(u) - 1)] = format_nan(u->scale);
}

/* Products that cancel in pairs, within a block, across blocks, or against c; sometimes
   all except the last bit. */
static void fill_cancel(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    fill_unit(s, u, rng);
    const int apart = draw_between(rng, 1, u->k);
    for (int k = 0; k + apart < u->k; k++) {
        s->a[k + apart] = encoding_negated(u->a, s->a[k]);
        s->b[k + apart] = s->b[k];
    }
    const bool negative = draw_one_in(rng, 2);
    const int exponent = draw_between(rng, -3, 3);
    const uint64_t fraction = rng_bits(rng);
    s->a[0] = encoding_at(u->a, negative, exponent, 0);
    s->b[0] = encoding_at(u->b, false, 0, fraction);
    s->c = draw_zero(u->c, rng);
    if (draw_one_in(rng, 2)) {
        const uint64_t held = highest_bits(fraction, u->b->fraction_bits);
        s->c = encoding_at(u->c, !negative, exponent, held);
    } else if (u->k > apart) {
        s->a[apart] = encoding_negated(u->a, s->a[0]);
        s->b[apart] = s->b[0];
    }
    if (draw_one_in(rng, 3)) s->c ^= 1;
    if (draw_one_in(rng, 3)) s->b[0] ^= UINT64_C(1) << u->b->pad;
}

static void fill_sparse(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    put_zeros(s, u, rng);
    put_scales(s, u, 8, rng);
    const int span = u->result->fraction_bits;
    for (int i = draw_between(rng, 1, 3); i > 0; i--) {
        const int exponent = draw_between(rng, -span, span);
        put_product(s, u, draw_between(rng, 0, u->k - 1), exponent, rng);
    }
    s->c = draw_one_in(rng, 2) ? draw_zero(u->c, rng)
                               : draw_at(u->c, draw_between(rng, -span, span), rng);
}

static void fill_zeros(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    put_zeros(s, u, rng);
    put_scales(s, u, 127, rng);
    s->c = draw_zero(u->c, rng);
    if (draw_one_in(rng, 4)) s->c = draw_wide(u->c, rng);
    if (draw_one_in(rng, 4)) s->c = draw_at(u->c, format_emin(u->c) - 1, rng);
    if (draw_one_in(rng, 2)) return;
    for (int k = 0; k < u->k; k++) { /* all products -0, even if a format has no -0 */
        s->a[k] = 0;
        const uint64_t fraction = rng_bits(rng);
        s->b[k] = encoding_at(u->b, true, draw_between(rng, -4, 4), fraction);
    }
}

static void fill_edges(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = draw_edge(u->a, rng);
        s->b[k] = draw_edge(u->b, rng);
    }
    for (int i = 0; i < sample_scales(u); i++) {
        s->scale_a[i] = draw_edge(u->scale, rng);
        s->scale_b[i] = draw_edge(u->scale, rng);
    }
    s->c = draw_edge(u->c, rng);
}

static void fill_positive_big_c(struct sample *s, const struct bitcut_unit *u,
                                struct rng *rng)
{
    const int most = u->result->fraction_bits + 6;
    fill_unit(s, u, rng);
    for (int k = 0; k < u->k; k++) {
        s->a[k] = encoding_signed(u->a, s->a[k], false);
        s->b[k] = encoding_signed(u->b, s->b[k], false);
    }
    const uint64_t fraction = rng_bits(rng);
    s->c = encoding_at(u->c, false, draw_between(rng, 0, most), fraction);
}

/* The smallest normal result, of a product or of c, and products of about half the last
   bit of numbers just below it. */
static void fill_tiny(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const int emin = format_emin(u->result), bits = u->result->fraction_bits;
    const bool negative = draw_one_in(rng, 2), c_leads = draw_one_in(rng, 2);
    const int first = draw_between(rng, 0, u->k - 1);
    put_zeros(s, u, rng);
    for (int k = first % 2; k < u->k; k += 2) {
        const int below = emin - bits - draw_between(rng, 0, 2);
        if (draw_one_in(rng, 2)) put_power(s, u, k, !negative, below, rng);
    }
    put_power(s, u, first, negative ^ c_leads, c_leads ? emin - bits - 1 : emin, rng);
    s->c = c_leads ? encoding_at(u->c, negative, emin, 0) : draw_zero(u->c, rng);
}

/* Subnormal operands, subnormal results and underflow. */
static void fill_subnormal(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    if (u->rounding.flush == FLUSH_TINY && draw_one_in(rng, 2)) {
        fill_tiny(s, u, rng);
        return;
    }
    const int emin = format_emin(u->result), bits = u->result->fraction_bits;
    put_products(s, u, emin - bits - 4, emin + 2, rng);
    put_scales(s, u, 0, rng);
    s->c = draw_at(u->c, draw_between(rng, emin - bits, emin + 1), rng);
    if (draw_one_in(rng, 2)) s->c = draw_zero(u->c, rng);
    const int some = draw_between(rng, 1, 4);
    for (int k = 0; k < u->k; k++) {
        if (!draw_one_in(rng, some)) continue;
        const int low = format_least_exponent(u->a);
        s->a[k] = draw_at(u->a, draw_between(rng, low, format_emin(u->a)), rng);
        if (draw_one_in(rng, 2)) s->b[k] = draw_wide(u->b, rng);
    }
    for (int i = 0; some == 1 && i < sample_scales(u); i++) s->scale_a[i] = 0;
}

static void fill_c_small(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    fill_unit(s, u, rng);
    s->c = draw_at(u->c, -draw_gap(u, rng), rng);
}

/* Terms below the largest one by about as many bits as the unit retains. */
static void fill_align(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const int low = format_least_exponent(u->a) + format_least_exponent(u->b);
    const int high = format_emax(u->a) + format_emax(u->b);
    const int least = format_least_exponent(u->c), most = format_emax(u->c);
    const int top = clamp(draw_between(rng, low, high), least, most);
    const int gap = draw_gap(u, rng), few = draw_between(rng, 1, 8);
    for (int k = 0; k < u->k; k++) {
        const int below =
            draw_one_in(rng, few) ? draw_between(rng, gap - 2, gap + 2) : 200;
        put_product(s, u, k, top - below, rng);
        if (below == 200) s->a[k] = draw_zero(u->a, rng);
    }
    put_scales(s, u, draw_one_in(rng, 2) ? 0 : gap / 2 + 1, rng);
    s->c = draw_at(u->c, top, rng);
    if (draw_one_in(rng, 3)) return;
    put_product(s, u, draw_between(rng, 0, u->k - 1), top, rng);
    s->c = draw_at(u->c, top - draw_between(rng, gap - 2, gap + 2), rng);
}

/* The largest products of all, or of those with a subnormal factor, which cancel; and one
   or two small ones, below them by about as many bits as are retained. */
static void fill_residue(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const bool subnormal = draw_one_in(rng, 3);
    const int most =
        (subnormal ? format_emin(u->a) : format_emax(u->a)) + format_emax(u->b);
    const int top = most - draw_between(rng, 0, 2),
              first = draw_between(rng, 0, u->k - 1);
    const int second = (first + draw_between(rng, 1, 3)) % u->k;
    put_zeros(s, u, rng);
    for (int i = 0; i < sample_scales(u); i++) put_scale(s, u, i, 0);
    put_product(s, u, first, top, rng);
    if (subnormal) {
        const int below =
            draw_between(rng, 1, u->a->fraction_bits ? u->a->fraction_bits : 1);
        s->a[first] = draw_at(u->a, format_emin(u->a) - below, rng);
        s->b[first] = draw_at(u->b, top - format_emin(u->a), rng);
    }
    s->a[second] = encoding_negated(u->a, s->a[first]);
    s->b[second] = s->b[first];
    for (int i = draw_between(rng, 1, 2); i > 0; i--) {
        const int k = draw_between(rng, 0, u->k - 1);
        if (k == first || k == second) continue;
        const int gap = draw_gap(u, rng), near = draw_between(rng, -1, 1);
        put_power(s, u, k, draw_one_in(rng, 2), top - gap + near, rng);
        if (draw_one_in(rng, 2)) s->b[k] ^= UINT64_C(1) << u->b->pad;
    }
    s->c = draw_zero(u->c, rng);
    if (u->fraction == FRACTION_EXACT &&
        u->c == &formats[FORMAT_F16]) /* as far as possible */
        s->c = encoding_at(u->c, draw_one_in(rng, 2), format_least_exponent(u->c), 0);
    if (!draw_one_in(rng, 3)) return;
    const int gap = draw_gap(u, rng), near = draw_between(rng, -2, 2);
    s->c = draw_at(u->c, top - gap + near, rng);
}

/* Results near the largest finite value. */
static void fill_overflow(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const int emax = format_emax(u->result), bits = u->result->fraction_bits;
    const int low = draw_one_in(rng, 2) ? emax - bits - 4 : emax - 2;
    put_products(s, u, low, low + 4, rng);
    put_scales(s, u, 0, rng);
    const bool negative = draw_one_in(rng, 2);
    const uint64_t fraction = draw_one_in(rng, 2) ? UINT64_MAX : rng_bits(rng);
    s->c = encoding_at(u->c, negative, emax - draw_between(rng, 0, 1), fraction);
    if (draw_one_in(rng, 2)) return;
    for (int k = 0; k < u->k; k++) {
        s->a[k] = encoding_signed(u->a, s->a[k], false);
        s->b[k] = encoding_signed(u->b, s->b[k], negative);
    }
}

/* Sums half-way between two results, or next to it by one small term: a power of two in a
   product or any number in c, half of its last bit, and the small term. */
static void fill_ties(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const bool c_leads = draw_one_in(rng, 2), power = !c_leads || draw_one_in(rng, 2);
    const int most = format_emax(u->c) - 1,
              top = draw_between(rng, -2, most < 30 ? most : 30);
    const int half = top - u->result->fraction_bits - 1,
              k = draw_between(rng, 0, u->k - 1);
    const bool negative = draw_one_in(rng, 2), below = power && draw_one_in(rng, 2);
    put_zeros(s, u, rng);
    for (int i = 0; i < sample_scales(u); i++) put_scale(s, u, i, 0);
    const int small = top - draw_gap(u, rng);
    put_power(s, u, (k + 2) % u->k, draw_one_in(rng, 2), small, rng);
    put_power(s, u, (k + 1) % u->k, negative ^ below, half - below, rng);
    if (c_leads) {
        s->c = encoding_at(u->c, negative, top, power ? 0 : rng_bits(rng));
    } else {
        put_power(s, u, k, negative, top, rng);
        s->c = draw_one_in(rng, 2) ? 0 : encoding_at(u->c, draw_one_in(rng, 2), half, 0);
    }
}

/* The exponent below which small sums retain bits from a fixed place, and their number.
 */
static int least_exponent(int *bits, const struct bitcut_unit *u)
{
    const bool keeps = u->summation->reads & READS_KEEP_MIN;
    *bits = keeps ? u->keep : u->fraction == FRACTION_EXACT ? 24 : u->fraction;
    if (keeps) return u->keep_min;
    if (u->align_min) return u->align_min;
    return format_least_exponent(u->result) + 12;
}

/* Sums that round at the last bit of the result format, with terms below the smallest
   exponent from which bits are retained, and small terms at the end of those bits. */
static void fill_align_min(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    int bits;
    const int ulp = format_least_exponent(u->result);
    const int least = least_exponent(&bits, u), end = least - bits;
    const int sum =
        draw_one_in(rng, 2) || least <= ulp ? ulp - 1 : draw_between(rng, ulp, least - 1);
    const bool parts =
        u->k >= 32 && draw_one_in(rng, 2); /* one product may not reach `sum` */
    put_zeros(s, u, rng);
    for (int i = 0; i < sample_scales(u); i++)
        put_scale(s, u, i, end + draw_between(rng, 0, 4));
    if (sample_scales(u) > 1) put_scale(s, u, 0, sum);
    for (int i = draw_between(rng, 1, 4); i > 0; i--) {
        const int exponent = end + draw_between(rng, -3, 1);
        const bool negative = draw_one_in(rng, 2);
        put_power(s, u, draw_between(rng, 0, u->k - 1), negative, exponent, rng);
    }
    const int first = parts ? 0 : draw_between(rng, 0, u->k - 1);
    const bool negative = draw_one_in(rng, 2);
    for (int k = first; k < first + (parts ? 16 : 1); k++)
        put_power(s, u, k, negative, parts ? sum - 4 : sum, rng);
    s->c = draw_zero(u->c, rng);
    const int most = least + 3 > ulp ? least + 3 : ulp;
    if (draw_one_in(rng, 4)) s->c = draw_at(u->c, draw_between(rng, ulp, most), rng);
}

/* Block scales that are far apart, one of them zero, and terms at the last bits of a
   group. */
static void fill_scales(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const int chosen = draw_between(rng, 0, sample_scales(u) - 1),
              emax = format_emax(u->scale);
    put_products(s, u, -2, 4, rng);
    s->scale_a[chosen] = draw_at(u->scale, draw_one_in(rng, 2) ? emax : 0, rng);
    s->scale_b[chosen] = draw_wide(u->scale, rng);
    if (draw_one_in(rng, 3)) s->scale_b[chosen] = 0;
    const int top = scales_exponent(s, u, chosen);
    for (int i = 0; i < sample_scales(u); i++)
        if (i != chosen) put_scale(s, u, i, top - draw_gap(u, rng));
    const bool zeros = draw_one_in(rng, 2);
    for (int k = 0; zeros && k < u->k; k++)
        if (k / u->scale_block == chosen) s->a[k] = draw_zero(u->a, rng);
    s->c = draw_zero(u->c, rng);
    if (draw_one_in(rng, 2)) s->c = draw_at(u->c, top - draw_gap(u, rng), rng);
}

const struct sample_class sample_classes[] = {
    /* clang-format off */
    { "anybits",        "uniformly random encodings, NaN and infinities included",                  fill_anybits, false },
    { "special",        "ordinary numbers with zeros, values near the ends of the range, Inf and NaN",fill_special, false },
    { "unit",           "exponents near 0",                                                         fill_unit, false },
    { "wide",           "exponents over the whole range of the formats",                            fill_wide, false },
    { "narrow_c_wide",  "products of similar size, C of any size",                                  fill_narrow_c_wide, false },
    { "cancel",         "products that cancel, completely or except for the last bit",              fill_cancel, false },
    { "sparse",         "mostly zeros",                                                             fill_sparse, false },
    { "zeros",          "zeros of both signs",                                                      fill_zeros, false },
    { "edges",          "extreme fields: all ones, all zeros, or one unit from them",               fill_edges, false },
    { "positive_big_c", "all positive, C large",                                                    fill_positive_big_c, false },
    { "subnormal",      "subnormal operands and results, underflow",                                fill_subnormal, false },
    { "c_small",        "C below the products by about as many bits as the unit retains",           fill_c_small, false },
    { "align",          "terms apart by about as many bits as the unit retains",                    fill_align, false },
    { "residue",        "largest products that cancel, and small products at the last retained bit",fill_residue, false },
    { "align_min",      "terms below the smallest alignment exponent",                              fill_align_min, false },
    { "overflow",       "results near the largest finite value",                                    fill_overflow, false },
    { "ties",           "sums half-way between two results, or next to such a tie",                 fill_ties, false },
    { "scales",         "block scales that are far apart, or zero",                                 fill_scales, true },
    { 0 }
    /* clang-format on */
};
