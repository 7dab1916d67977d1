/* The engine against the independent statement of the units (tests/spec.h): every row of
   the unit table on every class of inputs, bit for bit; and both against published and
   measured answers. */
#include "emu/engine.h"
#include "tests/spec.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* The operands of one output. */
struct sample {
    uint64_t a[UNIT_K_MOST], b[UNIT_K_MOST], c;
    uint64_t scale_a[UNIT_K_MOST], scale_b[UNIT_K_MOST];
};

/* --- random encodings ------------------------------------------------------------- */

static uint64_t ones(int bits) { return bits ? UINT64_MAX >> (64 - bits) : 0; }

static int between(uint64_t *rng, int low, int high)
{
    return low + (int)(test_bits(rng) % (uint64_t)(high - low + 1));
}

static bool one_in(uint64_t *rng, int n) { return between(rng, 1, n) == 1; }

static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* The lowest exponent a leading one can have in f (e8m0 has no fraction). */
static int lowest_exponent(const struct bitcut_format *f)
{
    return format_emin(f) - f->fraction_bits;
}

/* x with the given sign, unless f has no such number. */
static uint64_t with_sign(const struct bitcut_format *f, uint64_t x, bool negative)
{
    if (!f->has_sign) return x;
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    const uint64_t y = negative ? x | sign : x & ~sign;
    return format_decode(f, y).class == NUMBER_NAN ? x : y;
}

/* The encoding with the leading one at `exponent`, moved into the range of f, followed by
   the highest bits of `fraction`; never a NaN or an infinity. */
static uint64_t place(const struct bitcut_format *f, bool negative, int exponent,
                      uint64_t fraction)
{
    const int top = clamp(exponent, lowest_exponent(f), format_emax(f));
    const int emin = format_emin(f);
    uint64_t x = f->fraction_bits ? fraction >> (64 - f->fraction_bits) : 0;
    if (top < emin)
        x = (x | UINT64_C(1) << f->fraction_bits) >> (emin - top);
    else
        x |= (uint64_t)(top + f->bias) << f->fraction_bits;
    if (format_decode(f, x << f->pad).class == NUMBER_NAN) x--;
    return with_sign(f, x << f->pad, negative);
}

static uint64_t place_random(const struct bitcut_format *f, int exponent, uint64_t *rng)
{
    const bool negative = test_bits(rng) & 1;
    return place(f, negative, exponent, test_bits(rng));
}

static uint64_t negated(const struct bitcut_format *f, uint64_t x)
{
    return with_sign(f, x, !(x >> (f->bits - 1) & 1));
}

static uint64_t zero_random(const struct bitcut_format *f, uint64_t *rng)
{
    return with_sign(f, 0, test_bits(rng) & 1);
}

static uint64_t one_of(const struct bitcut_format *f) { return place(f, false, 0, 0); }

static uint64_t wide_random(const struct bitcut_format *f, uint64_t *rng)
{
    return place_random(f, between(rng, lowest_exponent(f), format_emax(f)), rng);
}

/* --- pieces of samples ------------------------------------------------------------ */

/* Normal operands whose product has the exponent `exponent`, or the nearest they can. */
static void product_place(struct sample *s, const struct bitcut_unit *u, int k,
                          int exponent, uint64_t *rng)
{
    const int least = format_emin(u->a), most = format_emax(u->a);
    const int low = clamp(exponent - format_emax(u->b), least, most);
    const int high = clamp(exponent - format_emin(u->b), low, most);
    const int first = between(rng, low, high);
    s->a[k] = place_random(u->a, first, rng);
    s->b[k] = place_random(u->b, exponent - first, rng);
}

/* All products with exponents from low to high. */
static void products_place(struct sample *s, const struct bitcut_unit *u, int low,
                           int high, uint64_t *rng)
{
    for (int k = 0; k < u->k; k++) product_place(s, u, k, between(rng, low, high), rng);
}

/* How many block scales a and b have each. */
static int scale_count(const struct bitcut_unit *u)
{
    return u->scale ? u->k / u->scale_block : 0;
}

/* The exponent of the exponent field; emin for zero. */
static int exponent_of(const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    return x.class == NUMBER_ZERO ? format_emin(f) : x.exponent;
}

/* The exponent that the scales of block i add to a product. */
static int scale_exponent(const struct sample *s, const struct bitcut_unit *u, int i)
{
    return exponent_of(u->scale, s->scale_a[i]) + exponent_of(u->scale, s->scale_b[i]);
}

/* Scales of block i that multiply to 2^exponent, or as near as they can. */
static void scale_place(struct sample *s, const struct bitcut_unit *u, int i,
                        int exponent)
{
    s->scale_a[i] = place(u->scale, false, exponent / 2, 0);
    s->scale_b[i] = place(u->scale, false, exponent - exponent / 2, 0);
}

/* Operands, subnormal ones too, whose product with its scales is +-2^exponent, or the
   nearest power of two they can. */
static void power_place(struct sample *s, const struct bitcut_unit *u, int k,
                        bool negative, int exponent, uint64_t *rng)
{
    if (u->scale) exponent -= scale_exponent(s, u, k / u->scale_block);
    const int least = lowest_exponent(u->a), most = format_emax(u->a);
    const int low = clamp(exponent - format_emax(u->b), least, most);
    const int high = clamp(exponent - lowest_exponent(u->b), low, most);
    const int first = between(rng, low, high);
    s->a[k] = place(u->a, negative, first, 0);
    s->b[k] = place(u->b, false, exponent - first, 0);
}

/* Block scales with exponents from -spread to spread. */
static void scales_place(struct sample *s, const struct bitcut_unit *u, int spread,
                         uint64_t *rng)
{
    for (int i = 0; i < scale_count(u); i++) {
        s->scale_a[i] = place_random(u->scale, between(rng, -spread, spread), rng);
        s->scale_b[i] = place_random(u->scale, between(rng, -spread, spread), rng);
    }
}

/* A distance in bits at which this unit may drop something. */
static int gap_random(const struct bitcut_unit *u, uint64_t *rng)
{
    const int last = u->result->fraction_bits;
    const bool aligns = u->fraction && u->fraction != FRACTION_EXACT;
    const int fraction = aligns ? u->fraction : last;
    const int widths[] = { fraction, u->sum_fraction, u->keep, last };
    const int width = widths[between(rng, 0, 3)];
    return (width ? width : fraction) + between(rng, -1, 2);
}

/* --- classes of inputs ------------------------------------------------------------ */

static void fill_anybits(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = test_bits(rng) & ones(u->a->bits);
        s->b[k] = test_bits(rng) & ones(u->b->bits);
    }
    for (int i = 0; i < scale_count(u); i++) {
        s->scale_a[i] = test_bits(rng) & ones(u->scale->bits);
        s->scale_b[i] = test_bits(rng) & ones(u->scale->bits);
    }
    s->c = test_bits(rng) & ones(u->c->bits);
}

static void fill_unit(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    products_place(s, u, -4, 0, rng);
    scales_place(s, u, 2, rng);
    s->c = place_random(u->c, between(rng, -4, 4), rng);
}

static void fill_wide(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = wide_random(u->a, rng);
        s->b[k] = wide_random(u->b, rng);
    }
    scales_place(s, u, one_in(rng, 2) ? 127 : 20, rng);
    s->c = wide_random(u->c, rng);
}

static void fill_narrow_c_wide(struct sample *s, const struct bitcut_unit *u,
                               uint64_t *rng)
{
    fill_unit(s, u, rng);
    s->c = wide_random(u->c, rng);
}

static uint64_t finite_special(const struct bitcut_format *f, uint64_t *rng)
{
    const uint64_t least_normal = UINT64_C(1) << (f->fraction_bits + f->pad);
    const uint64_t magnitudes[] = { 0, UINT64_C(1) << f->pad, least_normal - 1,
                                    least_normal, format_largest(f, false) };
    const uint64_t x = magnitudes[between(rng, 0, 4)];
    return with_sign(f, x, one_in(rng, 2));
}

/* An infinity, or a NaN of any sign and payload. */
static uint64_t not_finite(const struct bitcut_format *f, uint64_t *rng)
{
    const uint64_t infinity = format_infinity(f, f->has_sign && one_in(rng, 2));
    if (!one_in(rng, 4)) return infinity;
    if (f->special != SPECIAL_IEEE || one_in(rng, 2)) return format_nan(f);
    return infinity | (test_bits(rng) & ones(f->fraction_bits)) << f->pad;
}

static void fill_special(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    fill_unit(s, u, rng);
    for (int k = 0; k < u->k; k++) {
        if (one_in(rng, 4)) s->a[k] = finite_special(u->a, rng);
        if (one_in(rng, 4)) s->b[k] = finite_special(u->b, rng);
    }
    if (one_in(rng, 4)) s->c = finite_special(u->c, rng);
    if (u->scale && one_in(rng, 4)) s->scale_b[0] = finite_special(u->scale, rng);
    for (int i = between(rng, 0, 3); i > 0; i--) {
        const int k = between(rng, 0, u->k - 1);
        if (one_in(rng, 3))
            s->c = not_finite(u->c, rng);
        else if (one_in(rng, 2))
            s->a[k] = not_finite(u->a, rng);
        else
            s->b[k] = not_finite(u->b, rng);
    }
    if (!u->scale || !one_in(rng, 8)) return;
    uint64_t *scales = one_in(rng, 2) ? s->scale_a : s->scale_b;
    scales[between(rng, 0, scale_count(u) - 1)] = format_nan(u->scale);
}

/* Products that cancel in pairs, within a block or across blocks, or against c; sometimes
   all but the last bit. */
static void fill_cancel(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    fill_unit(s, u, rng);
    const int apart = between(rng, 1, u->k);
    for (int k = 0; k + apart < u->k; k++) {
        s->a[k + apart] = negated(u->a, s->a[k]);
        s->b[k + apart] = s->b[k];
    }
    const bool negative = one_in(rng, 2);
    const int exponent = between(rng, -3, 3);
    const uint64_t fraction = test_bits(rng);
    s->a[0] = place(u->a, negative, exponent, 0);
    s->b[0] = place(u->b, false, 0, fraction);
    s->c = zero_random(u->c, rng);
    if (one_in(rng, 2)) {
        const uint64_t held = fraction & ~ones(64 - u->b->fraction_bits);
        s->c = place(u->c, !negative, exponent, held);
    } else if (u->k > apart) {
        s->a[apart] = negated(u->a, s->a[0]);
        s->b[apart] = s->b[0];
    }
    if (one_in(rng, 3)) s->c ^= 1;
    if (one_in(rng, 3)) s->b[0] ^= UINT64_C(1) << u->b->pad;
}

static void zeros_place(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = zero_random(u->a, rng);
        s->b[k] = place_random(u->b, between(rng, -4, 4), rng);
        if (one_in(rng, 2)) continue;
        s->b[k] = zero_random(u->b, rng);
        if (one_in(rng, 2)) s->a[k] = place_random(u->a, between(rng, -4, 4), rng);
    }
}

static void fill_sparse(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    zeros_place(s, u, rng);
    scales_place(s, u, 8, rng);
    const int span = u->result->fraction_bits;
    for (int i = between(rng, 1, 3); i > 0; i--)
        product_place(s, u, between(rng, 0, u->k - 1), between(rng, -span, span), rng);
    s->c = one_in(rng, 2) ? zero_random(u->c, rng)
                          : place_random(u->c, between(rng, -span, span), rng);
}

static void fill_zeros(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    zeros_place(s, u, rng);
    scales_place(s, u, 127, rng);
    s->c = zero_random(u->c, rng);
    if (one_in(rng, 4)) s->c = wide_random(u->c, rng);
    if (one_in(rng, 4)) s->c = place_random(u->c, format_emin(u->c) - 1, rng);
    if (one_in(rng, 2)) return;
    for (int k = 0; k < u->k; k++) {
        s->a[k] = with_sign(u->a, s->a[k], false);
        s->b[k] = with_sign(u->b, s->b[k], true);
    }
}

/* A value at an edge of the exponent field, or of the fraction, or of both. */
static uint64_t edge_random(const struct bitcut_format *f, uint64_t *rng)
{
    const int emin = format_emin(f), emax = format_emax(f);
    const int exponents[] = { emin - 1, emin, emin + 1, emax - 1, emax, -1, 0, 1 };
    const uint64_t last = UINT64_C(1) << (f->fraction_bits ? 64 - f->fraction_bits : 0);
    const uint64_t fractions[] = { 0,        last,     UINT64_C(1) << 63,
                                   ones(63), ones(64), test_bits(rng) };
    return place(f, test_bits(rng) & 1, exponents[between(rng, 0, 7)],
                 fractions[between(rng, 0, 5)]);
}

static void fill_edges(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = edge_random(u->a, rng);
        s->b[k] = edge_random(u->b, rng);
    }
    for (int i = 0; i < scale_count(u); i++) {
        s->scale_a[i] = edge_random(u->scale, rng);
        s->scale_b[i] = edge_random(u->scale, rng);
    }
    s->c = edge_random(u->c, rng);
}

static void fill_positive_big_c(struct sample *s, const struct bitcut_unit *u,
                                uint64_t *rng)
{
    const int most = u->result->fraction_bits + 6;
    fill_unit(s, u, rng);
    for (int k = 0; k < u->k; k++) {
        s->a[k] = with_sign(u->a, s->a[k], false);
        s->b[k] = with_sign(u->b, s->b[k], false);
    }
    s->c = place(u->c, false, between(rng, 0, most), test_bits(rng));
}

/* Subnormal operands, subnormal results and underflow. */
static void fill_subnormal(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    const int emin = format_emin(u->result), bits = u->result->fraction_bits;
    products_place(s, u, emin - bits - 4, emin + 2, rng);
    scales_place(s, u, 0, rng);
    s->c = place_random(u->c, between(rng, emin - bits, emin + 1), rng);
    if (one_in(rng, 2)) s->c = zero_random(u->c, rng);
    const int some = between(rng, 1, 4);
    for (int k = 0; k < u->k; k++) {
        if (!one_in(rng, some)) continue;
        const int low = lowest_exponent(u->a);
        s->a[k] = place_random(u->a, between(rng, low, format_emin(u->a)), rng);
        if (one_in(rng, 2)) s->b[k] = wide_random(u->b, rng);
    }
}

static void fill_c_small(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    fill_unit(s, u, rng);
    s->c = place_random(u->c, -gap_random(u, rng), rng);
}

/* Terms about as far below the largest one as the unit keeps bits. */
static void fill_align(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    const int low = lowest_exponent(u->a) + lowest_exponent(u->b);
    const int high = format_emax(u->a) + format_emax(u->b);
    const int least = lowest_exponent(u->c), most = format_emax(u->c);
    const int top = clamp(between(rng, low, high), least, most);
    const int gap = gap_random(u, rng), few = between(rng, 1, 8);
    for (int k = 0; k < u->k; k++) {
        const int below = one_in(rng, few) ? between(rng, gap - 2, gap + 2) : 200;
        product_place(s, u, k, top - below, rng);
        if (below == 200) s->a[k] = zero_random(u->a, rng);
    }
    scales_place(s, u, one_in(rng, 2) ? 0 : gap / 2 + 1, rng);
    s->c = place_random(u->c, top, rng);
    if (one_in(rng, 3)) return;
    product_place(s, u, between(rng, 0, u->k - 1), top, rng);
    s->c = place_random(u->c, top - between(rng, gap - 2, gap + 2), rng);
}

/* Results about the largest finite value. */
static void fill_overflow(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    const int emax = format_emax(u->result), bits = u->result->fraction_bits;
    const int low = one_in(rng, 2) ? emax - bits - 4 : emax - 2;
    products_place(s, u, low, low + 4, rng);
    scales_place(s, u, 0, rng);
    const bool negative = one_in(rng, 2);
    const uint64_t fraction = one_in(rng, 2) ? ones(64) : test_bits(rng);
    s->c = place(u->c, negative, emax - between(rng, 0, 1), fraction);
    if (one_in(rng, 2)) return;
    for (int k = 0; k < u->k; k++) {
        s->a[k] = with_sign(u->a, s->a[k], false);
        s->b[k] = with_sign(u->b, s->b[k], negative);
    }
}

/* Sums half-way between two results, or next to it by one small term: of a power of two
   in a product or any number in c, half of its last bit, and the small term. */
static void fill_ties(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    const bool c_leads = one_in(rng, 2), power = !c_leads || one_in(rng, 2);
    const int most = format_emax(u->c) - 1, top = between(rng, -2, most < 30 ? most : 30);
    const int half = top - u->result->fraction_bits - 1, k = between(rng, 0, u->k - 1);
    const bool negative = one_in(rng, 2), below = power && one_in(rng, 2);
    zeros_place(s, u, rng);
    for (int i = 0; i < scale_count(u); i++) scale_place(s, u, i, 0);
    power_place(s, u, (k + 2) % u->k, one_in(rng, 2), top - gap_random(u, rng), rng);
    power_place(s, u, (k + 1) % u->k, negative ^ below, half - below, rng);
    if (c_leads) {
        s->c = place(u->c, negative, top, power ? 0 : test_bits(rng));
    } else {
        power_place(s, u, k, negative, top, rng);
        s->c = one_in(rng, 2) ? 0 : place(u->c, one_in(rng, 2), half, 0);
    }
}

/* Sums that round at the last bit of the result format, of terms below the least
   alignment exponent, with small terms at the end of the bits kept there. */
static void fill_align_min(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    const int ulp = format_emin(u->result) - u->result->fraction_bits;
    const int least = u->align_min ? u->align_min : ulp + 12;
    const int end = least - (u->fraction == FRACTION_EXACT ? 24 : u->fraction);
    const int sum = one_in(rng, 2) ? ulp - 1 : between(rng, ulp, least - 1);
    const bool parts = u->k >= 32 && one_in(rng, 2); /* one product may not reach `sum` */
    zeros_place(s, u, rng);
    for (int i = 0; i < scale_count(u); i++)
        scale_place(s, u, i, end + between(rng, 0, 4));
    if (scale_count(u) > 1) scale_place(s, u, 0, sum);
    for (int i = between(rng, 1, 4); i > 0; i--)
        power_place(s, u, between(rng, 0, u->k - 1), one_in(rng, 2),
                    end + between(rng, -3, 1), rng);
    const int first = parts ? 0 : between(rng, 0, u->k - 1);
    const bool negative = one_in(rng, 2);
    for (int k = first; k < first + (parts ? 16 : 1); k++)
        power_place(s, u, k, negative, parts ? sum - 4 : sum, rng);
    s->c = zero_random(u->c, rng);
    if (one_in(rng, 4)) s->c = place_random(u->c, between(rng, ulp, least + 3), rng);
}

/* Block scales far apart, one of them zero, and terms where the bits of a group end. */
static void fill_scales(struct sample *s, const struct bitcut_unit *u, uint64_t *rng)
{
    const int chosen = between(rng, 0, scale_count(u) - 1), emax = format_emax(u->scale);
    products_place(s, u, -2, 4, rng);
    s->scale_a[chosen] = place_random(u->scale, one_in(rng, 2) ? emax : 0, rng);
    s->scale_b[chosen] = wide_random(u->scale, rng);
    if (one_in(rng, 3)) s->scale_b[chosen] = 0;
    const int top = scale_exponent(s, u, chosen);
    for (int i = 0; i < scale_count(u); i++)
        if (i != chosen) scale_place(s, u, i, top - gap_random(u, rng));
    const bool zeros = one_in(rng, 2);
    for (int k = 0; zeros && k < u->k; k++)
        if (k / u->scale_block == chosen) s->a[k] = zero_random(u->a, rng);
    s->c = zero_random(u->c, rng);
    if (one_in(rng, 2)) s->c = place_random(u->c, top - gap_random(u, rng), rng);
}

struct input_class {
    const char *name;
    void (*fill)(struct sample *s, const struct bitcut_unit *u, uint64_t *rng);
    bool scaled; /* only for units with block scales */
};

static const struct input_class classes[] = {
    { "anybits", fill_anybits, false },
    { "special", fill_special, false },
    { "unit", fill_unit, false },
    { "wide", fill_wide, false },
    { "narrow_c_wide", fill_narrow_c_wide, false },
    { "cancel", fill_cancel, false },
    { "sparse", fill_sparse, false },
    { "zeros", fill_zeros, false },
    { "edges", fill_edges, false },
    { "positive_big_c", fill_positive_big_c, false },
    { "subnormal", fill_subnormal, false },
    { "c_small", fill_c_small, false },
    { "align", fill_align, false },
    { "align_min", fill_align_min, false },
    { "overflow", fill_overflow, false },
    { "ties", fill_ties, false },
    { "scales", fill_scales, true },
    { 0 }
};

/* --- the comparison --------------------------------------------------------------- */

static uint64_t engine_dot(const struct bitcut_unit *u, const struct sample *s)
{
    struct number a[UNIT_K_MOST], b[UNIT_K_MOST];
    struct number scale_a[UNIT_K_MOST], scale_b[UNIT_K_MOST];
    for (int k = 0; k < u->k; k++) {
        a[k] = unit_read(u, u->a, s->a[k]);
        b[k] = unit_read(u, u->b, s->b[k]);
    }
    for (int i = 0; i < scale_count(u); i++) {
        scale_a[i] = format_decode(u->scale, s->scale_a[i]);
        scale_b[i] = format_decode(u->scale, s->scale_b[i]);
    }
    return unit_dot(u, (struct lane){ a, u->scale ? scale_a : NULL },
                    (struct lane){ b, u->scale ? scale_b : NULL }, s->c);
}

static uint64_t sample_spec(const struct bitcut_unit *u, const struct sample *s)
{
    return spec_dot(u, s->a, s->b, u->scale ? s->scale_a : NULL,
                    u->scale ? s->scale_b : NULL, s->c);
}

static void print_row(const char *name, const struct bitcut_format *f, const uint64_t *x,
                      int n)
{
    printf("# %s (%s):", name, f->name);
    for (int i = 0; i < n; i++) printf(" %0*" PRIx64, (f->bits + 3) / 4, x[i]);
    printf("\n");
}

static void print_result(const char *name, const struct bitcut_format *f, uint64_t x)
{
    printf("# %s %0*" PRIx64 " = %a\n", name, (f->bits + 3) / 4, x,
           format_to_double(f, x));
}

static void print_difference(const struct bitcut_unit *u, const struct sample *s,
                             uint64_t got, uint64_t want)
{
    print_row("a", u->a, s->a, u->k);
    print_row("b", u->b, s->b, u->k);
    if (u->scale) print_row("scales of a", u->scale, s->scale_a, scale_count(u));
    if (u->scale) print_row("scales of b", u->scale, s->scale_b, scale_count(u));
    print_result("c   ", u->c, s->c);
    print_result("got ", u->c, got);
    print_result("want", u->c, want);
}

/* About the same time for every row, whatever its k. */
static int sample_count(const struct bitcut_unit *u)
{
    const int products = test_long() ? 1250000 : 25000;
    return products / (u->k + 4);
}

/* Compare a row on a class; returns how many outputs differ and prints the first. */
static int class_compare(const struct bitcut_unit *u, const struct input_class *class,
                         uint64_t stream)
{
    const int count = class->scaled && !u->scale ? 0 : sample_count(u);
    uint64_t rng = test_seed() ^ stream << 32;
    int differ = 0;
    for (int i = 0; i < count; i++) {
        struct sample s;
        class->fill(&s, u, &rng);
        const uint64_t got = engine_dot(u, &s), want = sample_spec(u, &s);
        if (got == want || differ++) continue;
        printf("# %s, class %s, index %d\n", u->name, class->name, i);
        print_difference(u, &s, got, want);
    }
    if (differ)
        printf("# %s, class %s: %d of %d differ\n", u->name, class->name, differ, count);
    fflush(stdout); /* a failed check ends the process without it */
    return differ;
}

START_TEST(engine_is_spec)
{
    uint64_t stream = 0;
    int differ = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (const struct input_class *class = classes; class->name; class ++)
            differ += class_compare(u, class, stream++);
    ck_assert_int_eq(differ, 0);
}
END_TEST

/* --- known answers ---------------------------------------------------------------- */

static bool name_matches(const char *name, const char *begin, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return !strncmp(name, begin, strlen(begin)) && n >= m && !strcmp(name + n - m, end);
}

static void unit_scales(struct sample *s, const struct bitcut_unit *u)
{
    for (int i = 0; i < scale_count(u); i++)
        s->scale_a[i] = s->scale_b[i] = one_of(u->scale);
}

/* The sum a b + c of the example; exactly -0.875 (MMA-Sim, arXiv 2511.10909). */
static const double example_a[4] = { -0x1p13, -0.5, -0.25, -0.125 };
static const double example_b[4] = { 0x1p10, 1, 1, 1 };
static const double example_c = 0x1p23;

/* Published results; bf16 on Hopper and Blackwell, which is not published, sums as f16,
   and Blackwell's mma of e5m2 as Hopper's.  Of two lines for a unit the first counts. */
static const struct {
    const char *begin, *end; /* of the unit's name */
    double d;
} example_answers[] = {
    { "volta/", ".f16", 0 },
    { "turing/", ".f16", -0.5 },
    { "ampere/", ".f16", -0.5 },
    { "ampere/", ".bf16", -0.5 },
    { "ampere/", ".tf32", -0.5 },
    { "ada/", ".f16", -0.5 },
    { "ada/", ".bf16", -0.5 },
    { "ada/", ".tf32", -0.5 },
    { "ada/", ".e5m2", 0 },
    { "hopper/", ".f16", -0.75 },
    { "hopper/", ".bf16", -0.75 },
    { "hopper/", ".tf32", -0.75 },
    { "hopper/", ".e5m2", 0 },
    { "blackwell/mma.", ".e5m2", 0 },
    { "blackwell/", ".f16", -0.75 },
    { "blackwell/", ".bf16", -0.75 },
    { "blackwell/", ".tf32", -0.75 },
    { "blackwell/", ".e5m2", -0.75 },
    { "rtx-blackwell/", ".f16", -0.75 },
    { "rtx-blackwell/", ".bf16", -0.75 },
    { "rtx-blackwell/", ".tf32", -0.75 },
    { "rtx-blackwell/", ".e5m2", -0.75 },
    { "cdna1/", ".f16", -0.875 },
    { "cdna1/", ".bf16", -0.875 },
    { "cdna2/", ".f16", 0 },
    { "cdna2/", ".bf16_1k", 0 },
    { "cdna2/", ".bf16", -0.375 },
    { "cdna3/", ".f16", -0.5 },
    { "cdna3/", ".bf16", -0.5 },
    { "cdna3/", ".bf8.bf8", -1.0 },
    { "", ".f64", -0.875 },
};

enum { EXAMPLE_ANSWERS = sizeof example_answers / sizeof example_answers[0] };

/* Encode x; false if the format does not have it. */
static bool encode_exactly(uint64_t *encoding, const struct bitcut_format *f, double x)
{
    *encoding = bitcut_format_convert(f, &roundings[ROUND_RN], &formats[FORMAT_F64],
                                      bits_of_double(x));
    return format_to_double(f, *encoding) == x;
}

/* The example from product `first` on, padded with zeros; false if not encodable. */
static bool example_fill(struct sample *s, const struct bitcut_unit *u, int first)
{
    memset(s, 0, sizeof *s);
    unit_scales(s, u);
    for (int k = 0; k < u->k && first + k < 4; k++)
        if (!encode_exactly(&s->a[k], u->a, example_a[first + k]) ||
            !encode_exactly(&s->b[k], u->b, example_b[first + k]))
            return false;
    return true;
}

typedef uint64_t dot(const struct bitcut_unit *u, const struct sample *s);

/* The example through as many instructions as four products need; false as above. */
static bool example_dot(uint64_t *d, const struct bitcut_unit *u, dot *f)
{
    if (!encode_exactly(d, u->c, example_c)) return false;
    for (int first = 0; first < 4; first += u->k) {
        struct sample s;
        if (!example_fill(&s, u, first)) return false;
        s.c = *d;
        *d = f(u, &s);
    }
    return true;
}

static int example_answer(const char *name)
{
    int i = 0;
    while (i < EXAMPLE_ANSWERS &&
           !name_matches(name, example_answers[i].begin, example_answers[i].end))
        i++;
    return i;
}

START_TEST(published_example)
{
    bool used[EXAMPLE_ANSWERS] = { false };
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const int answer = example_answer(u->name);
        uint64_t want, spec, got;
        if (answer == EXAMPLE_ANSWERS || !example_dot(&spec, u, sample_spec)) continue;
        ck_assert(example_dot(&got, u, engine_dot));
        ck_assert(encode_exactly(&want, u->c, example_answers[answer].d));
        ck_assert_msg(spec == want, "%s: spec %" PRIx64 ", published %" PRIx64, u->name,
                      spec, want);
        ck_assert_msg(got == want, "%s: engine %" PRIx64 ", published %" PRIx64, u->name,
                      got, want);
        used[answer] = true;
    }
    for (int i = 0; i < EXAMPLE_ANSWERS; i++)
        ck_assert_msg(used[i], "no unit %s*%s", example_answers[i].begin,
                      example_answers[i].end);
}
END_TEST

/* Measured on an H200 with mma.sync and wgmma: every product is a b. */
static const struct {
    const char *begin, *end; /* of the unit's name */
    uint64_t a, b, c, d;
} measured[] = {
    /* carries do not wrap */
    { "hopper/", "k16.f32.f16", 0x3fff, 0x3fff, 0x3fffffff, 0x4283e001 },
    /* sums of negative zeros, and a negative sum that underflows */
    { "hopper/", ".f32.f16", 0x8000, 0x3c00, 0x80000000, 0 },
    { "hopper/", ".f16.f16", 0x8001, 0x0001, 0, 0 },
    /* NaN */
    { "hopper/", ".f32.f16", 0x7c01, 0x3c00, 0, 0x7fffffff },
    { "hopper/", ".f32.f16", 0x7c00, 0, 0, 0x7fffffff },
    { "hopper/", ".f16.f16", 0x7c01, 0x3c00, 0, 0x7fff },
    /* the low 13 bits of tf32 are not read: infinity, NaN */
    { "hopper/", ".f32.tf32", 0x7f800001, 0x3f800000, 0, 0x7f800000 },
    { "hopper/", ".f32.tf32", 0x7f802000, 0x3f800000, 0, 0x7fffffff },
};

START_TEST(measured_answers)
{
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        int found = 0;
        for (const struct bitcut_unit *u = units; u->name; u++) {
            if (!name_matches(u->name, measured[i].begin, measured[i].end)) continue;
            struct sample s = { .c = measured[i].c };
            for (int k = 0; k < u->k; k++) s.a[k] = measured[i].a, s.b[k] = measured[i].b;
            ck_assert_uint_eq(sample_spec(u, &s), measured[i].d);
            ck_assert_uint_eq(engine_dot(u, &s), measured[i].d);
            found++;
        }
        ck_assert_int_gt(found, 0);
    }
}
END_TEST

TEST_MAIN("engine", engine_is_spec, published_example, measured_answers)
