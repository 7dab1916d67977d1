#include "analysis/sample.h"

#include "emu/engine.h"
#include "emu/summation.h"
#include "lib/rand.h"

#include <assert.h>

struct rng rng_start(uint64_t seed, uint64_t stream)
{
    return (struct rng){ .seed = seed, .stream = stream };
}

/* C leaves the order of arguments open, so that a call with two draws among them would give
   other samples with another compiler: each has a statement of its own. */
uint64_t rng_bits(struct rng *r)
{
    if (r->left == 0) {
        rand_block(r->word, r->seed, r->stream, r->block++);
        r->left = 4;
    }
    r->left -= 2;
    return rand_bits(r->word[r->left], r->word[r->left + 1]);
}

/* --- random encodings ------------------------------------------------------------- */

static uint64_t ones(int bits) { return bits ? UINT64_MAX >> (64 - bits) : 0; }

static int between(struct rng *rng, int low, int high)
{
    return low + (int)(rng_bits(rng) % (uint64_t)(high - low + 1));
}

static bool one_in(struct rng *rng, int n) { return between(rng, 1, n) == 1; }

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
    return format_decode(f, y).kind == NUMBER_NAN ? x : y;
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
    if (format_decode(f, x << f->pad).kind == NUMBER_NAN) x--;
    return with_sign(f, x << f->pad, negative);
}

static uint64_t place_random(const struct bitcut_format *f, int exponent, struct rng *rng)
{
    const bool negative = rng_bits(rng) & 1;
    return place(f, negative, exponent, rng_bits(rng));
}

static uint64_t negated(const struct bitcut_format *f, uint64_t x)
{
    return with_sign(f, x, !(x >> (f->bits - 1) & 1));
}

static uint64_t zero_random(const struct bitcut_format *f, struct rng *rng)
{
    return with_sign(f, 0, rng_bits(rng) & 1);
}

static uint64_t wide_random(const struct bitcut_format *f, struct rng *rng)
{
    return place_random(f, between(rng, lowest_exponent(f), format_emax(f)), rng);
}

/* --- pieces of samples ------------------------------------------------------------ */

/* Normal operands whose product has the exponent `exponent`, or the nearest they can. */
static void product_place(struct sample *s, const struct bitcut_unit *u, int k,
                          int exponent, struct rng *rng)
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
                           int high, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) product_place(s, u, k, between(rng, low, high), rng);
}

/* The exponent of the exponent field; emin for zero. */
static int exponent_of(const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    return x.kind == NUMBER_ZERO ? format_emin(f) : x.exponent;
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
                        bool negative, int exponent, struct rng *rng)
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
                         struct rng *rng)
{
    for (int i = 0; i < sample_scales(u); i++) {
        s->scale_a[i] = place_random(u->scale, between(rng, -spread, spread), rng);
        s->scale_b[i] = place_random(u->scale, between(rng, -spread, spread), rng);
    }
}

/* A distance in bits at which this unit may drop something. */
static int gap_random(const struct bitcut_unit *u, struct rng *rng)
{
    const int last = u->result->fraction_bits;
    const bool aligns = u->fraction && u->fraction != FRACTION_EXACT;
    const int fraction = aligns ? u->fraction : last;
    const int widths[] = { fraction, u->sum_fraction, u->keep, last };
    const int width = widths[between(rng, 0, 3)];
    return (width ? width : fraction) + between(rng, -1, 2);
}

/* --- classes of inputs ------------------------------------------------------------ */

static void fill_anybits(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = rng_bits(rng) & ones(u->a->bits);
        s->b[k] = rng_bits(rng) & ones(u->b->bits);
    }
    for (int i = 0; i < sample_scales(u); i++) {
        s->scale_a[i] = rng_bits(rng) & ones(u->scale->bits);
        s->scale_b[i] = rng_bits(rng) & ones(u->scale->bits);
    }
    s->c = rng_bits(rng) & ones(u->c->bits);
}

static void fill_unit(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    products_place(s, u, -4, 0, rng);
    scales_place(s, u, 2, rng);
    s->c = place_random(u->c, between(rng, -4, 4), rng);
}

static void fill_wide(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = wide_random(u->a, rng);
        s->b[k] = wide_random(u->b, rng);
    }
    scales_place(s, u, one_in(rng, 2) ? 127 : 20, rng);
    s->c = wide_random(u->c, rng);
}

static void fill_narrow_c_wide(struct sample *s, const struct bitcut_unit *u,
                               struct rng *rng)
{
    fill_unit(s, u, rng);
    s->c = wide_random(u->c, rng);
}

static uint64_t finite_special(const struct bitcut_format *f, struct rng *rng)
{
    const uint64_t least_normal = UINT64_C(1) << (f->fraction_bits + f->pad);
    const uint64_t magnitudes[] = { 0, UINT64_C(1) << f->pad, least_normal - 1,
                                    least_normal, format_largest(f, false) };
    const uint64_t x = magnitudes[between(rng, 0, 4)];
    return with_sign(f, x, one_in(rng, 2));
}

/* An infinity, or a NaN of any sign and payload. */
static uint64_t not_finite(const struct bitcut_format *f, struct rng *rng)
{
    const uint64_t infinity = format_infinity(f, f->has_sign && one_in(rng, 2));
    if (!one_in(rng, 4)) return infinity;
    if (f->special != SPECIAL_IEEE || one_in(rng, 2)) return format_nan(f);
    return infinity | (rng_bits(rng) & ones(f->fraction_bits)) << f->pad;
}

static void fill_special(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
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
    scales[between(rng, 0, sample_scales(u) - 1)] = format_nan(u->scale);
}

/* Products that cancel in pairs, within a block or across blocks, or against c; sometimes
   all but the last bit. */
static void fill_cancel(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    fill_unit(s, u, rng);
    const int apart = between(rng, 1, u->k);
    for (int k = 0; k + apart < u->k; k++) {
        s->a[k + apart] = negated(u->a, s->a[k]);
        s->b[k + apart] = s->b[k];
    }
    const bool negative = one_in(rng, 2);
    const int exponent = between(rng, -3, 3);
    const uint64_t fraction = rng_bits(rng);
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

static void zeros_place(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = zero_random(u->a, rng);
        s->b[k] = place_random(u->b, between(rng, -4, 4), rng);
        if (one_in(rng, 2)) continue;
        s->b[k] = zero_random(u->b, rng);
        if (one_in(rng, 2)) s->a[k] = place_random(u->a, between(rng, -4, 4), rng);
    }
}

static void fill_sparse(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    zeros_place(s, u, rng);
    scales_place(s, u, 8, rng);
    const int span = u->result->fraction_bits;
    for (int i = between(rng, 1, 3); i > 0; i--) {
        const int exponent = between(rng, -span, span);
        product_place(s, u, between(rng, 0, u->k - 1), exponent, rng);
    }
    s->c = one_in(rng, 2) ? zero_random(u->c, rng)
                          : place_random(u->c, between(rng, -span, span), rng);
}

static void fill_zeros(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    zeros_place(s, u, rng);
    scales_place(s, u, 127, rng);
    s->c = zero_random(u->c, rng);
    if (one_in(rng, 4)) s->c = wide_random(u->c, rng);
    if (one_in(rng, 4)) s->c = place_random(u->c, format_emin(u->c) - 1, rng);
    if (one_in(rng, 2)) return;
    for (int k = 0; k < u->k; k++) { /* all products -0, also if a format has no -0 */
        s->a[k] = 0;
        const uint64_t fraction = rng_bits(rng);
        s->b[k] = place(u->b, true, between(rng, -4, 4), fraction);
    }
}

/* A value at an edge of the exponent field, or of the fraction, or of both. */
static uint64_t edge_random(const struct bitcut_format *f, struct rng *rng)
{
    const int emin = format_emin(f), emax = format_emax(f);
    const int exponents[] = { emin - 1, emin, emin + 1, emax - 1, emax, -1, 0, 1 };
    const uint64_t last = UINT64_C(1) << (f->fraction_bits ? 64 - f->fraction_bits : 0);
    const uint64_t fractions[] = { 0,        last,     UINT64_C(1) << 63,
                                   ones(63), ones(64), rng_bits(rng) };
    const uint64_t fraction = fractions[between(rng, 0, 5)];
    const int exponent = exponents[between(rng, 0, 7)];
    return place(f, rng_bits(rng) & 1, exponent, fraction);
}

static void fill_edges(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    for (int k = 0; k < u->k; k++) {
        s->a[k] = edge_random(u->a, rng);
        s->b[k] = edge_random(u->b, rng);
    }
    for (int i = 0; i < sample_scales(u); i++) {
        s->scale_a[i] = edge_random(u->scale, rng);
        s->scale_b[i] = edge_random(u->scale, rng);
    }
    s->c = edge_random(u->c, rng);
}

static void fill_positive_big_c(struct sample *s, const struct bitcut_unit *u,
                                struct rng *rng)
{
    const int most = u->result->fraction_bits + 6;
    fill_unit(s, u, rng);
    for (int k = 0; k < u->k; k++) {
        s->a[k] = with_sign(u->a, s->a[k], false);
        s->b[k] = with_sign(u->b, s->b[k], false);
    }
    const uint64_t fraction = rng_bits(rng);
    s->c = place(u->c, false, between(rng, 0, most), fraction);
}

/* Subnormal operands, subnormal results and underflow. */
static void fill_subnormal(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
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
    for (int i = 0; some == 1 && i < sample_scales(u); i++) s->scale_a[i] = 0;
}

static void fill_c_small(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    fill_unit(s, u, rng);
    s->c = place_random(u->c, -gap_random(u, rng), rng);
}

/* Terms about as far below the largest one as the unit keeps bits. */
static void fill_align(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
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

/* The largest products of all, or of those with a subnormal factor, which cancel, and one
   or two small ones about as far below as bits are kept. */
static void fill_residue(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const bool subnormal = one_in(rng, 3);
    const int most = (subnormal ? format_emin(u->a) : format_emax(u->a)) + format_emax(u->b);
    const int top = most - between(rng, 0, 2), first = between(rng, 0, u->k - 1);
    const int second = (first + between(rng, 1, 3)) % u->k;
    zeros_place(s, u, rng);
    for (int i = 0; i < sample_scales(u); i++) scale_place(s, u, i, 0);
    product_place(s, u, first, top, rng);
    if (subnormal) {
        const int below = between(rng, 1, u->a->fraction_bits ? u->a->fraction_bits : 1);
        s->a[first] = place_random(u->a, format_emin(u->a) - below, rng);
        s->b[first] = place_random(u->b, top - format_emin(u->a), rng);
    }
    s->a[second] = negated(u->a, s->a[first]);
    s->b[second] = s->b[first];
    for (int i = between(rng, 1, 2); i > 0; i--) {
        const int k = between(rng, 0, u->k - 1);
        if (k == first || k == second) continue;
        const int gap = gap_random(u, rng), near = between(rng, -1, 1);
        power_place(s, u, k, one_in(rng, 2), top - gap + near, rng);
        if (one_in(rng, 2)) s->b[k] ^= UINT64_C(1) << u->b->pad;
    }
    s->c = zero_random(u->c, rng);
    if (!one_in(rng, 3)) return;
    const int gap = gap_random(u, rng), near = between(rng, -2, 2);
    s->c = place_random(u->c, top - gap + near, rng);
}

/* Results about the largest finite value. */
static void fill_overflow(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const int emax = format_emax(u->result), bits = u->result->fraction_bits;
    const int low = one_in(rng, 2) ? emax - bits - 4 : emax - 2;
    products_place(s, u, low, low + 4, rng);
    scales_place(s, u, 0, rng);
    const bool negative = one_in(rng, 2);
    const uint64_t fraction = one_in(rng, 2) ? ones(64) : rng_bits(rng);
    s->c = place(u->c, negative, emax - between(rng, 0, 1), fraction);
    if (one_in(rng, 2)) return;
    for (int k = 0; k < u->k; k++) {
        s->a[k] = with_sign(u->a, s->a[k], false);
        s->b[k] = with_sign(u->b, s->b[k], negative);
    }
}

/* Sums half-way between two results, or next to it by one small term: of a power of two
   in a product or any number in c, half of its last bit, and the small term. */
static void fill_ties(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const bool c_leads = one_in(rng, 2), power = !c_leads || one_in(rng, 2);
    const int most = format_emax(u->c) - 1, top = between(rng, -2, most < 30 ? most : 30);
    const int half = top - u->result->fraction_bits - 1, k = between(rng, 0, u->k - 1);
    const bool negative = one_in(rng, 2), below = power && one_in(rng, 2);
    zeros_place(s, u, rng);
    for (int i = 0; i < sample_scales(u); i++) scale_place(s, u, i, 0);
    const int small = top - gap_random(u, rng);
    power_place(s, u, (k + 2) % u->k, one_in(rng, 2), small, rng);
    power_place(s, u, (k + 1) % u->k, negative ^ below, half - below, rng);
    if (c_leads) {
        s->c = place(u->c, negative, top, power ? 0 : rng_bits(rng));
    } else {
        power_place(s, u, k, negative, top, rng);
        s->c = one_in(rng, 2) ? 0 : place(u->c, one_in(rng, 2), half, 0);
    }
}

/* The exponent below which small sums keep bits from, and how many of them. */
static int least_exponent(int *bits, const struct bitcut_unit *u)
{
    const bool keeps = u->summation->reads & READS_KEEP_MIN;
    *bits = keeps ? u->keep : u->fraction == FRACTION_EXACT ? 24 : u->fraction;
    if (keeps) return u->keep_min;
    if (u->align_min) return u->align_min;
    return format_emin(u->result) - u->result->fraction_bits + 12;
}

/* Sums that round at the last bit of the result format, of terms below the least
   exponent that bits are kept from, with small terms at the end of those bits. */
static void fill_align_min(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    int bits;
    const int ulp = format_emin(u->result) - u->result->fraction_bits;
    const int least = least_exponent(&bits, u), end = least - bits;
    const int sum =
        one_in(rng, 2) || least <= ulp ? ulp - 1 : between(rng, ulp, least - 1);
    const bool parts = u->k >= 32 && one_in(rng, 2); /* one product may not reach `sum` */
    zeros_place(s, u, rng);
    for (int i = 0; i < sample_scales(u); i++)
        scale_place(s, u, i, end + between(rng, 0, 4));
    if (sample_scales(u) > 1) scale_place(s, u, 0, sum);
    for (int i = between(rng, 1, 4); i > 0; i--) {
        const int exponent = end + between(rng, -3, 1);
        const bool negative = one_in(rng, 2);
        power_place(s, u, between(rng, 0, u->k - 1), negative, exponent, rng);
    }
    const int first = parts ? 0 : between(rng, 0, u->k - 1);
    const bool negative = one_in(rng, 2);
    for (int k = first; k < first + (parts ? 16 : 1); k++)
        power_place(s, u, k, negative, parts ? sum - 4 : sum, rng);
    s->c = zero_random(u->c, rng);
    const int most = least + 3 > ulp ? least + 3 : ulp;
    if (one_in(rng, 4)) s->c = place_random(u->c, between(rng, ulp, most), rng);
}

/* Block scales far apart, one of them zero, and terms where the bits of a group end. */
static void fill_scales(struct sample *s, const struct bitcut_unit *u, struct rng *rng)
{
    const int chosen = between(rng, 0, sample_scales(u) - 1), emax = format_emax(u->scale);
    products_place(s, u, -2, 4, rng);
    s->scale_a[chosen] = place_random(u->scale, one_in(rng, 2) ? emax : 0, rng);
    s->scale_b[chosen] = wide_random(u->scale, rng);
    if (one_in(rng, 3)) s->scale_b[chosen] = 0;
    const int top = scale_exponent(s, u, chosen);
    for (int i = 0; i < sample_scales(u); i++)
        if (i != chosen) scale_place(s, u, i, top - gap_random(u, rng));
    const bool zeros = one_in(rng, 2);
    for (int k = 0; zeros && k < u->k; k++)
        if (k / u->scale_block == chosen) s->a[k] = zero_random(u->a, rng);
    s->c = zero_random(u->c, rng);
    if (one_in(rng, 2)) s->c = place_random(u->c, top - gap_random(u, rng), rng);
}

const struct sample_class sample_classes[] = {
    /* clang-format off */
    { "anybits",        "uniformly random encodings, NaN and infinities included",       fill_anybits, false },
    { "special",        "ordinary numbers with zeros, ends of the range, Inf and NaN",   fill_special, false },
    { "unit",           "exponents near 0",                                              fill_unit, false },
    { "wide",           "exponents over the whole range of the formats",                 fill_wide, false },
    { "narrow_c_wide",  "products near each other, C of any size",                       fill_narrow_c_wide, false },
    { "cancel",         "products that cancel, all or all but the last bit",             fill_cancel, false },
    { "sparse",         "mostly zeros",                                                  fill_sparse, false },
    { "zeros",          "zeros of both signs",                                           fill_zeros, false },
    { "edges",          "fields at their ends: all ones, all zeros, one apart",          fill_edges, false },
    { "positive_big_c", "all positive, C large",                                         fill_positive_big_c, false },
    { "subnormal",      "subnormal operands and results, underflow",                     fill_subnormal, false },
    { "c_small",        "C about as far below the products as bits are kept",            fill_c_small, false },
    { "align",          "terms about as far apart as bits are kept",                     fill_align, false },
    { "residue",        "largest products that cancel, small ones where bits end",        fill_residue, false },
    { "align_min",      "terms below the least alignment exponent",                      fill_align_min, false },
    { "overflow",       "results about the largest finite value",                        fill_overflow, false },
    { "ties",           "sums half-way between two results, or next to it",              fill_ties, false },
    { "scales",         "block scales far apart, or zero",                               fill_scales, true },
    { 0 }
    /* clang-format on */
};

int sample_scales(const struct bitcut_unit *u)
{
    return u->scale ? u->k / u->scale_block : 0;
}

/* A sample as the unit reads it. */
struct numbers {
    struct number a[UNIT_K_MOST], b[UNIT_K_MOST];
    struct number scale_a[UNIT_K_MOST], scale_b[UNIT_K_MOST];
};

static void sample_read(struct numbers *to, const struct bitcut_unit *u,
                        const struct sample *s)
{
    for (int k = 0; k < u->k; k++) {
        to->a[k] = unit_read(u, u->a, s->a[k]);
        to->b[k] = unit_read(u, u->b, s->b[k]);
    }
    for (int i = 0; i < sample_scales(u); i++) {
        to->scale_a[i] = format_decode(u->scale, s->scale_a[i]);
        to->scale_b[i] = format_decode(u->scale, s->scale_b[i]);
    }
}

uint64_t sample_dot(const struct bitcut_unit *u, const struct sample *s)
{
    struct numbers x;
    sample_read(&x, u, s);
    return unit_dot(u, (struct lane){ x.a, u->scale ? x.scale_a : NULL },
                    (struct lane){ x.b, u->scale ? x.scale_b : NULL }, s->c);
}

uint64_t sample_trace(struct unit_trace *trace, const struct bitcut_unit *u,
                      const struct sample *s)
{
    struct numbers x;
    sample_read(&x, u, s);
    return unit_trace(trace, u, (struct lane){ x.a, u->scale ? x.scale_a : NULL },
                      (struct lane){ x.b, u->scale ? x.scale_b : NULL }, s->c);
}

/* --- samples in arrays ------------------------------------------------------------ */

static void store_row(const struct sample_arrays *to, const struct bitcut_unit *u,
                      struct fragment_shape shape, size_t row, const struct sample *s)
{
    const size_t scales = (size_t)sample_scales(u);
    for (size_t k = 0; k < shape.k; k++) array_set(to->a, row * shape.k + k, s->a[k]);
    for (size_t k = 0; k < scales; k++)
        array_set(to->scale_a, row * scales + k, s->scale_a[k]);
}

static void store_column(const struct sample_arrays *to, const struct bitcut_unit *u,
                         struct fragment_shape shape, size_t at, size_t j,
                         const struct sample *s)
{
    const size_t scales = (size_t)sample_scales(u);
    for (size_t k = 0; k < shape.k; k++)
        array_set(to->b, (at * shape.k + k) * shape.n + j, s->b[k]);
    for (size_t k = 0; k < scales; k++)
        array_set(to->scale_b, (at * scales + k) * shape.n + j, s->scale_b[k]);
}

void sample_store(const struct sample_arrays *to, const struct bitcut_unit *u, size_t at,
                  const struct sample *s)
{
    const struct fragment_shape shape = { .m = 1, .n = 1, .k = (size_t)u->k };
    store_row(to, u, shape, at, s);
    store_column(to, u, shape, at, 0, s);
    array_set(to->c, at, s->c);
}

void sample_fragment(const struct sample_arrays *to, const struct bitcut_unit *u,
                     struct fragment_shape shape, size_t at,
                     const struct sample_class *class, struct rng *rng)
{
    const size_t count = shape.m > shape.n ? shape.m : shape.n;
    uint64_t c[SAMPLE_ROWS_MOST];
    assert(count <= SAMPLE_ROWS_MOST);
    for (size_t i = 0; i < count; i++) {
        struct sample s;
        class->fill(&s, u, rng);
        if (i < shape.m) store_row(to, u, shape, at * shape.m + i, &s);
        if (i < shape.n) store_column(to, u, shape, at, i, &s);
        c[i] = s.c;
    }
    for (size_t i = 0; i < shape.m; i++)
        for (size_t j = 0; j < shape.n; j++)
            array_set(to->c, (at * shape.m + i) * shape.n + j,
                      c[i == j ? i : (i + j) % count]);
}
