#include "emu/engine.h"

#include "lib/fma.h"
#include "lib/wide.h"

#include <assert.h>

__extension__ typedef __int128 int128;

/* One step of the chain: n products and an accumulator. */
struct step {
    const struct number *a, *b;
    const struct number *scale_a, *scale_b; /* of the first product; NULL if none */
    int n;
    uint64_t c;      /* the accumulator as an encoding of unit->c ... */
    struct number z; /* ... and as a number                           */
};

static int product_fraction_bits(const struct bitcut_unit *u)
{
    return unit_operand_format(u, u->a)->fraction_bits +
           unit_operand_format(u, u->b)->fraction_bits;
}

/* --- special values --------------------------------------------------------------- */

/* What a set of terms adds up to before any finite arithmetic. */
struct special_sum {
    bool nan, positive, negative; /* a NaN term, a +Inf term, a -Inf term */
};

static void add_special_product(struct special_sum *s, struct number a, struct number b)
{
    const bool infinite = a.class == NUMBER_INF || b.class == NUMBER_INF;
    const bool zero = a.class == NUMBER_ZERO || b.class == NUMBER_ZERO;
    const bool negative = a.negative != b.negative;
    s->nan |= a.class == NUMBER_NAN || b.class == NUMBER_NAN || (infinite && zero);
    s->positive |= infinite && !negative;
    s->negative |= infinite && negative;
}

static void add_special(struct special_sum *s, struct number z)
{
    s->nan |= z.class == NUMBER_NAN;
    s->positive |= z.class == NUMBER_INF && !z.negative;
    s->negative |= z.class == NUMBER_INF && z.negative;
}

/* Whether a term is NaN or infinite; if so *d is the step's result. */
static bool special_result(uint64_t *d, const struct bitcut_unit *u, struct special_sum s)
{
    if (s.nan || (s.positive && s.negative)) *d = u->nan;
    else if (s.positive || s.negative) *d = format_infinity(u->c, s.negative);
    else return false;
    return true;
}

/* The exponent of the leading one of a nonzero product. */
static int product_top(const struct bitcut_unit *u, struct number a, struct number b)
{
    return 63 - __builtin_clzll(a.significand * b.significand) + a.exponent + b.exponent -
           product_fraction_bits(u);
}

/* TWO_STAGE: a finite product too large for the result format counts as infinite. */
static void add_overflow(struct special_sum *s, const struct bitcut_unit *u,
                         struct number a, struct number b)
{
    if (a.significand == 0 || b.significand == 0) return;
    if (product_top(u, a, b) <= format_emax(u->result)) return;
    s->positive |= a.negative == b.negative;
    s->negative |= a.negative != b.negative;
}

/* NAN_OPERAND: the first NaN of b, the accumulator and a, made quiet. */
static bool nan_operand(uint64_t *d, const struct bitcut_unit *u, const struct step *t)
{
    const struct number candidate[] = { t->b[0], t->z, t->a[0] };
    for (int i = 0; i < 3; i++) {
        if (candidate[i].class != NUMBER_NAN) continue;
        *d = format_quiet(u->c, candidate[i]);
        return true;
    }
    return false;
}

/* Whether a NaN or an infinity decides the step; if so *d is its result.  PAIRS decides
   at every operation, because a finite product may become infinite. */
static bool special_step(uint64_t *d, const struct bitcut_unit *u, const struct step *t)
{
    if (u->summation == SUM_PAIRS) return false;
    const bool may_overflow = u->summation == SUM_TWO_STAGE;
    unsigned any = t->z.class;
    for (int i = 0; i < t->n; i++) any |= t->a[i].class | t->b[i].class;
    for (int i = 0; u->scale && i < t->n; i += u->scale_block)
        any |=
            t->scale_a[i / u->scale_block].class | t->scale_b[i / u->scale_block].class;
    if (any < NUMBER_INF && !may_overflow) return false;
    if (u->nan_rule == NAN_OPERAND && nan_operand(d, u, t)) return true;

    struct special_sum s = { 0 };
    add_special(&s, t->z);
    for (int i = 0; i < t->n; i++) {
        add_special_product(&s, t->a[i], t->b[i]);
        if (may_overflow) add_overflow(&s, u, t->a[i], t->b[i]);
    }
    for (int i = 0; u->scale && i < t->n; i += u->scale_block) {
        s.nan |= t->scale_a[i / u->scale_block].class == NUMBER_NAN;
        s.nan |= t->scale_b[i / u->scale_block].class == NUMBER_NAN;
    }
    return special_result(d, u, s);
}

/* --- sums at one alignment -------------------------------------------------------- */

/* significand * 2^up with the bits below the unit place dropped, of the magnitude or, with
   u->floor, of the signed value. */
static int64_t aligned(const struct bitcut_unit *u, uint64_t significand, int up,
                       bool negative)
{
    uint64_t m = 0;
    if (up >= 0) {
        assert(significand == 0 || up <= __builtin_clzll(significand) - 1);
        m = significand << (significand ? up : 0);
    } else {
        if (up > -64) m = significand >> -up;
        if (u->floor && negative && (up <= -64 ? significand : significand - (m << -up)))
            m++;
    }
    return negative ? -(int64_t)m : (int64_t)m;
}

static bool product_negative(struct number a, struct number b)
{
    return a.negative != b.negative;
}

/* The exponent by which a product aligns; far below any other if it is zero. */
static int product_exponent(const struct bitcut_unit *u, struct number a, struct number b)
{
    if (u->normalise && a.significand && b.significand) return product_top(u, a, b);
    return a.exponent + b.exponent;
}

/* The largest exponent of the nonzero products, at least `least`. */
static int largest_exponent(const struct bitcut_unit *u, const struct number *a,
                            const struct number *b, int n, int stride, int least)
{
    for (int i = 0; i < n; i += stride) {
        const int e = product_exponent(u, a[i], b[i]);
        if (e > least) least = e;
    }
    return least;
}

/* The products truncated to `fraction` bits below `exponent` and added. */
static int64_t aligned_products(const struct bitcut_unit *u, const struct number *a,
                                const struct number *b, int n, int stride, int fraction,
                                int exponent)
{
    const int up = fraction - product_fraction_bits(u) - exponent;
    int64_t sum = 0;
    for (int i = 0; i < n; i += stride)
        sum += aligned(u, a[i].significand * b[i].significand,
                       up + a[i].exponent + b[i].exponent, product_negative(a[i], b[i]));
    return sum;
}

/* Round sum * 2^exponent to an encoding of the result format, with the row's zero rule.
   `zero_negative` is the sign of an exact zero sum where the rule asks for it. */
static uint64_t finish(const struct bitcut_unit *u, struct unrounded sum,
                       bool zero_negative)
{
    if (sum.significand == 0) sum.negative = u->zero == ZERO_IEEE && zero_negative;
    const uint64_t d = round_pack(u->result, &u->rounding, sum);
    const bool zero = d == format_zero(u->result, true);
    return zero && u->zero == ZERO_POSITIVE ? format_zero(u->result, false) : d;
}

static bool is_negative_zero(struct number x, bool negative)
{
    return x.class == NUMBER_ZERO && negative;
}

/* Whether all terms of a step are -0. */
static bool all_negative_zeros(const struct step *t)
{
    bool all = is_negative_zero(t->z, t->z.negative);
    for (int i = 0; i < t->n && all; i++) {
        const bool negative = product_negative(t->a[i], t->b[i]);
        all = is_negative_zero(t->a[i], negative) || is_negative_zero(t->b[i], negative);
    }
    return all;
}

static uint64_t finish_integer(const struct bitcut_unit *u, const struct step *t,
                               int128 sum, int exponent)
{
    const bitcut_uint128 magnitude = sum < 0 ? -(bitcut_uint128)sum : (bitcut_uint128)sum;
    assert(magnitude >> 64 == 0);
    const struct unrounded x = { .significand = (uint64_t)magnitude,
                                 .exponent = exponent,
                                 .negative = sum < 0 };
    return finish(u, x, sum == 0 && u->zero == ZERO_IEEE && all_negative_zeros(t));
}

/* --- one function for each kind of summation -------------------------------------- */

static struct term product_term(const struct bitcut_unit *u, struct number a,
                                struct number b)
{
    return (struct term){ (bitcut_uint128)a.significand * b.significand,
                          a.exponent + b.exponent - product_fraction_bits(u),
                          product_negative(a, b) };
}

static struct term number_term(const struct bitcut_format *f, struct number z)
{
    return (struct term){ z.significand, z.exponent - f->fraction_bits, z.negative };
}

static uint64_t exact_step(const struct bitcut_unit *u, const struct step *t)
{
    struct term terms[UNIT_K_MOST + 1];
    bool negative = t->z.negative;
    for (int i = 0; i < t->n; i++) {
        terms[i] = product_term(u, t->a[i], t->b[i]);
        negative &= terms[i].negative;
    }
    terms[t->n] = number_term(u->c, t->z);
    return finish(u, wide_sum(terms, t->n + 1), negative);
}

/* A power-of-two scale adds its exponent to every product's. */
static int scale_exponent(const struct bitcut_unit *u, const struct step *t)
{
    return u->scale ? t->scale_a->exponent + t->scale_b->exponent : 0;
}

static uint64_t fused_step(const struct bitcut_unit *u, const struct step *t)
{
    if (u->fraction == FRACTION_EXACT) return exact_step(u, t);
    const int scale = scale_exponent(u, t);
    int exponent = largest_exponent(u, t->a, t->b, t->n, 1, u->align_min - scale) + scale;
    if (t->z.exponent > exponent) exponent = t->z.exponent;
    const int64_t sum =
        aligned_products(u, t->a, t->b, t->n, 1, u->fraction, exponent - scale) +
        aligned(u, t->z.significand,
                u->fraction - u->c->fraction_bits + t->z.exponent - exponent,
                t->z.negative);
    return finish_integer(u, t, sum, exponent - u->fraction);
}

/* The exact sum of products whose exponents are all at least 0 and small. */
static int64_t group_sum(const struct bitcut_unit *u, const struct step *t, int from, int n)
{
    int64_t sum = 0;
    for (int i = from; i < from + n; i++)
        if (t->a[i].significand && t->b[i].significand)
            sum += aligned(u, t->a[i].significand * t->b[i].significand,
                           t->a[i].exponent + t->b[i].exponent,
                           product_negative(t->a[i], t->b[i]));
    return sum;
}

static uint64_t grouped_step(const struct bitcut_unit *u, const struct step *t)
{
    int exponent = u->align_min > t->z.exponent ? u->align_min : t->z.exponent;
    for (int i = 0; i < t->n; i += u->scale_block) {
        const int e = t->scale_a[i / u->scale_block].exponent +
                      t->scale_b[i / u->scale_block].exponent;
        if (e > exponent) exponent = e;
    }
    const int fraction_bits = product_fraction_bits(u) + 2 * u->scale->fraction_bits;
    int64_t sum = aligned(u, t->z.significand,
                          u->fraction - u->c->fraction_bits + t->z.exponent - exponent,
                          t->z.negative);
    for (int i = 0; i < t->n; i += u->group) {
        const struct number sa = t->scale_a[i / u->scale_block];
        const struct number sb = t->scale_b[i / u->scale_block];
        const int64_t g = group_sum(u, t, i, u->group);
        const uint64_t magnitude =
            (uint64_t)(g < 0 ? -g : g) * sa.significand * sb.significand;
        sum += aligned(u, magnitude,
                       u->fraction - fraction_bits + sa.exponent + sb.exponent - exponent,
                       g < 0);
    }
    return finish_integer(u, t, sum, exponent - u->fraction);
}

/* One product rounded to the result format, an encoding of it. */
static uint64_t rounded_product(const struct bitcut_unit *u, struct number a,
                                struct number b)
{
    struct special_sum s = { 0 };
    uint64_t d;
    add_special_product(&s, a, b);
    if (special_result(&d, u, s)) return d;
    const struct term p = product_term(u, a, b);
    const struct unrounded x = { .significand = (uint64_t)p.significand,
                                 .exponent = p.exponent,
                                 .negative = p.negative };
    return round_pack(u->result, &u->rounding, x);
}

static uint64_t rounded_sum(const struct bitcut_unit *u, uint64_t x, uint64_t y)
{
    const struct number a = format_decode(u->result, x), b = format_decode(u->result, y);
    struct special_sum s = { 0 };
    uint64_t d;
    add_special(&s, a);
    add_special(&s, b);
    if (special_result(&d, u, s)) return d;
    const struct term terms[2] = { number_term(u->result, a), number_term(u->result, b) };
    return finish(u, wide_sum(terms, 2), a.negative && b.negative);
}

static uint64_t pairs_step(const struct bitcut_unit *u, const struct step *t)
{
    uint64_t s[UNIT_K_MOST];
    for (int i = 0; i < t->n; i++) s[i] = rounded_product(u, t->a[i], t->b[i]);
    for (int n = t->n; n > 1; n /= 2)
        for (int i = 0; i < n / 2; i++) s[i] = rounded_sum(u, s[2 * i], s[2 * i + 1]);
    return rounded_sum(u, t->c, s[0]);
}

static int128 floor_shift(int128 x, int up)
{
    if (up >= 0) return x * ((int128)1 << up);
    return up < -126 ? (x < 0 ? -1 : 0)
                     : x >> -up; /* >> of a negative floors: assume.h */
}

/* A sum of products in two stages: `sum` * 2^(exponent - fraction). */
struct stage {
    int128 sum;
    int exponent;
};

static struct stage product_stage(const struct bitcut_unit *u, const struct step *t,
                                  int from, int stride)
{
    const struct number *a = t->a + from, *b = t->b + from;
    const int n = t->n - from;
    const int e = largest_exponent(u, a, b, n, stride, 2 * NUMBER_ZERO_EXPONENT);
    if (e < NUMBER_ZERO_EXPONENT / 2)
        return (struct stage){ 0, 2 * NUMBER_ZERO_EXPONENT };
    return (struct stage){ aligned_products(u, a, b, n, stride, u->fraction, e), e };
}

static uint64_t two_stage_step(const struct bitcut_unit *u, const struct step *t)
{
    struct stage p = product_stage(u, t, 0, u->parity ? 2 : 1);
    if (u->parity) {
        const struct stage odd = product_stage(u, t, 1, 2);
        const int e = odd.exponent > p.exponent ? odd.exponent : p.exponent;
        p.sum =
            floor_shift(p.sum, p.exponent - e) + floor_shift(odd.sum, odd.exponent - e);
        p.exponent = e;
    }
    const int zc = t->z.class == NUMBER_ZERO ? format_emin(u->c) : t->z.exponent;
    const int e = p.exponent > zc ? p.exponent : zc;
    const int128 z = t->z.negative ? -(int128)t->z.significand : (int128)t->z.significand;
    int128 sum = floor_shift(p.sum, u->sum_fraction - u->fraction + p.exponent - e);
    if (!u->parity || zc >= e - (u->fraction + 1))
        sum += floor_shift(z, u->fraction - u->c->fraction_bits + zc - e) *
               ((int128)1 << (u->sum_fraction - u->fraction));

    const uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    const int top = magnitude ? 63 - __builtin_clzll(magnitude) : 0;
    const int drop = top > u->keep ? top - u->keep : 0;
    return finish_integer(u, t, floor_shift(sum, -drop), e - u->sum_fraction + drop);
}

/* x truncated to `keep` significant bits. */
static struct term truncated(struct unrounded x, int keep)
{
    struct term t = { x.significand, x.exponent, x.negative };
    if (x.significand == 0) return t;
    const int drop = 64 - __builtin_clzll(x.significand) - keep;
    if (drop <= 0) return t;
    return (struct term){ x.significand >> drop, x.exponent + drop, x.negative };
}

static uint64_t serial_step(const struct bitcut_unit *u, const struct step *t)
{
    struct term sum[2] = { { 0 } };
    for (int i = 0; i < t->n; i++) {
        sum[1] = product_term(u, t->a[i], t->b[i]);
        sum[0] = truncated(wide_sum(sum, 2), u->keep);
    }
    sum[1] = number_term(u->c, t->z);
    return finish(u, wide_sum(sum, 2), u->zero == ZERO_IEEE && all_negative_zeros(t));
}

typedef uint64_t step_function(const struct bitcut_unit *, const struct step *);

static step_function *const steps[] = {
    [SUM_FUSED] = fused_step,   [SUM_GROUPED] = grouped_step,
    [SUM_PAIRS] = pairs_step,   [SUM_TWO_STAGE] = two_stage_step,
    [SUM_SERIAL] = serial_step,
};

/* --- the chain -------------------------------------------------------------------- */

const struct bitcut_format *unit_operand_format(const struct bitcut_unit *u,
                                                const struct bitcut_format *format)
{
    return u->via ? u->via : format;
}

static bool is_subnormal(const struct bitcut_format *f, struct number x)
{
    return x.class == NUMBER_FINITE && x.significand >> f->fraction_bits == 0;
}

struct number unit_read(const struct bitcut_unit *u, const struct bitcut_format *format,
                        uint64_t encoding)
{
    struct number x = format_decode(format, encoding);
    if (u->flush_inputs && is_subnormal(format, x)) x = format_decode(format, 0);
    if (!u->via) return x;
    if (x.class != NUMBER_FINITE) return x;
    return format_decode(
        u->via, round_pack(u->via, &roundings[ROUND_RN], number_unrounded(format, x)));
}

/* The numbers of k = 0, 1, ... in the order in which they enter the blocks. */
static void reorder(struct number *to, const struct number *from, int k,
                    enum k_order order)
{
    int at = 0;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < k; i++) {
            const int side = order == K_DESCENDING ? 0 : i >> (order - K_BIT0) & 1;
            if (side == half) to[at++] = from[order == K_DESCENDING ? k - 1 - i : i];
        }
}

static uint64_t chain(const struct bitcut_unit *u, struct lane a, struct lane b,
                      uint64_t c)
{
    for (int k = 0; k < u->k; k += u->block) {
        const struct step t = {
            .a = a.x + k,
            .b = b.x + k,
            .scale_a = u->scale ? a.scale + k / u->scale_block : NULL,
            .scale_b = u->scale ? b.scale + k / u->scale_block : NULL,
            .n = u->block,
            .c = c,
            .z = format_decode(u->c, c),
        };
        if (!special_step(&c, u, &t)) c = steps[u->summation](u, &t);
    }
    return c;
}

uint64_t unit_dot(const struct bitcut_unit *u, struct lane a, struct lane b, uint64_t c)
{
    struct number x[UNIT_K_MOST], y[UNIT_K_MOST];
    if (u->order != K_ASCENDING) {
        reorder(x, a.x, u->k, u->order);
        reorder(y, b.x, u->k, u->order);
        a.x = x;
        b.x = y;
    }
    if (u->flush_inputs && is_subnormal(u->c, format_decode(u->c, c))) c = 0;
    if (!u->c_last) return chain(u, a, b, c);
    const uint64_t one =
        round_pack(u->c, &roundings[ROUND_RN], (struct unrounded){ .significand = 1 });
    return fma_round(u->c, &roundings[ROUND_RN], u->nan, chain(u, a, b, 0), one, c);
}
