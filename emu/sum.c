#include "emu/sum.h"

#include <assert.h>

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

/* --- values as terms -------------------------------------------------------------- */

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

static struct term integer_term(int128 x, int exponent)
{
    return (struct term){ x < 0 ? -(bitcut_uint128)x : (bitcut_uint128)x, exponent,
                          x < 0 };
}

static struct term unrounded_term(struct unrounded x)
{
    return (struct term){ x.significand, x.exponent, x.negative };
}

/* --- cutting and rounding --------------------------------------------------------- */

/* significand * 2^up with the bits below the unit place dropped, of the magnitude or,
   with u->floor, of the signed value. */
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

static int128 floor_shift(int128 x, int up)
{
    if (up >= 0) return x * ((int128)1 << up);
    return up < -126 ? (x < 0 ? -1 : 0)
                     : x >> -up; /* >> of a negative floors: assume.h */
}

/* x truncated to `keep` significant bits. */
static struct term truncated(struct unrounded x, int keep)
{
    const struct term t = unrounded_term(x);
    if (x.significand == 0) return t;
    const int drop = 64 - __builtin_clzll(x.significand) - keep;
    if (drop <= 0) return t;
    return (struct term){ x.significand >> drop, x.exponent + drop, x.negative };
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
    return x.kind == NUMBER_ZERO && negative;
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

/* Round an exact sum and trace it by that name. */
TRACED uint64_t finish_exact(const struct bitcut_unit *u, struct unrounded sum,
                             bool zero_negative, const char *name,
                             struct unit_trace *trace)
{
    const uint64_t d = finish(u, sum, zero_negative);
    trace_sum(trace, (struct trace_sum){ .name = name,
                                         .value = unrounded_term(sum),
                                         .inexact = sum.sticky,
                                         .rounded = true,
                                         .d = d });
    return d;
}

TRACED void trace_accumulator(const struct bitcut_unit *u, const struct step *t,
                              int exponent, int128 cut, struct unit_trace *trace)
{
    trace_term(trace, (struct trace_term){ .source = TRACE_C,
                                           .exponent = exponent,
                                           .value = number_term(u->c, t->z),
                                           .aligned = cut });
}

/* --- sums at one alignment -------------------------------------------------------- */

/* The largest exponent of products `from`, from + stride and so on, at least `least`. */
static int largest_exponent(const struct bitcut_unit *u, const struct step *t, int from,
                            int stride, int least)
{
    for (int i = from; i < t->n; i += stride) {
        const int e = product_exponent(u, t->a[i], t->b[i]);
        if (e > least) least = e;
    }
    return least;
}

/* Those products times 2^scale, cut to `fraction` bits below `exponent` and added. */
TRACED int64_t aligned_products(const struct bitcut_unit *u, const struct step *t,
                                int from, int stride, int scale, int exponent,
                                struct unit_trace *trace)
{
    const int up = u->fraction - product_fraction_bits(u) + scale - exponent;
    int64_t sum = 0;
    for (int i = from; i < t->n; i += stride) {
        const struct number a = t->a[i], b = t->b[i];
        const int64_t cut = aligned(u, a.significand * b.significand,
                                    up + a.exponent + b.exponent, product_negative(a, b));
        sum += cut;
        if (trace) {
            struct term value = product_term(u, a, b);
            value.exponent += scale;
            trace_product(trace, i, product_exponent(u, a, b) + scale, value, cut);
        }
    }
    return sum;
}

/* The accumulator cut likewise. */
TRACED int64_t aligned_c(const struct bitcut_unit *u, const struct step *t, int exponent,
                         struct unit_trace *trace)
{
    const int up = u->fraction - u->c->fraction_bits + t->z.exponent - exponent;
    const int64_t cut = aligned(u, t->z.significand, up, t->z.negative);
    trace_accumulator(u, t, t->z.exponent, cut, trace);
    return cut;
}

/* Round an aligned sum: the last thing of a step. */
TRACED uint64_t finish_aligned(const struct bitcut_unit *u, const struct step *t,
                               int128 sum, int exponent, struct unit_trace *trace)
{
    const uint64_t d = finish_integer(u, t, sum, exponent - u->fraction);
    trace_sum(trace,
              (struct trace_sum){ .aligned = true,
                                  .at_exponent = true,
                                  .exponent = exponent,
                                  .value = integer_term(sum, exponent - u->fraction),
                                  .rounded = true,
                                  .d = d });
    return d;
}

/* --- FUSED ------------------------------------------------------------------------ */

TRACED uint64_t exact_step(const struct bitcut_unit *u, const struct step *t,
                           struct unit_trace *trace)
{
    struct term terms[UNIT_K_MOST + 1];
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

/* A power-of-two scale adds its exponent to every product's. */
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

/* --- GROUPED ---------------------------------------------------------------------- */

/* The exact sum of products whose exponents are all at least 0 and small. */
TRACED int64_t group_sum(const struct bitcut_unit *u, const struct step *t, int from,
                         struct unit_trace *trace)
{
    int64_t sum = 0;
    for (int i = from; i < from + u->group; i++) {
        const struct number a = t->a[i], b = t->b[i];
        const int exponent = a.exponent + b.exponent;
        const int64_t term = a.significand && b.significand
                                 ? aligned(u, a.significand * b.significand, exponent,
                                           product_negative(a, b))
                                 : 0;
        sum += term;
        trace_product(trace, i, exponent, product_term(u, a, b), term);
    }
    trace_sum(trace, (struct trace_sum){
                         .name = "group",
                         .aligned = true,
                         .value = integer_term(sum, -product_fraction_bits(u)) });
    return sum;
}

/* A group's sum times its scales, cut to `fraction` bits below `exponent`. */
TRACED int64_t aligned_group(const struct bitcut_unit *u, const struct step *t, int from,
                             int64_t group, int exponent, struct unit_trace *trace)
{
    const struct number a = t->scale_a[from / u->scale_block];
    const struct number b = t->scale_b[from / u->scale_block];
    const int own = a.exponent + b.exponent;
    const int last = own - product_fraction_bits(u) - 2 * u->scale->fraction_bits;
    const uint64_t magnitude =
        (uint64_t)(group < 0 ? -group : group) * a.significand * b.significand;
    const int64_t cut = aligned(u, magnitude, u->fraction + last - exponent, group < 0);
    trace_term(trace, (struct trace_term){ .source = TRACE_SUM,
                                           .index = from / u->group,
                                           .exponent = own,
                                           .value = { magnitude, last, group < 0 },
                                           .aligned = cut });
    return cut;
}

TRACED uint64_t grouped_step(const struct bitcut_unit *u, const struct step *t,
                             struct unit_trace *trace)
{
    int64_t group[UNIT_K_MOST];
    int exponent = u->align_min > t->z.exponent ? u->align_min : t->z.exponent;
    for (int i = 0; i < t->n; i += u->scale_block) {
        const int e = t->scale_a[i / u->scale_block].exponent +
                      t->scale_b[i / u->scale_block].exponent;
        if (e > exponent) exponent = e;
    }
    for (int i = 0; i < t->n; i += u->group)
        group[i / u->group] = group_sum(u, t, i, trace);
    int64_t sum = 0;
    for (int i = 0; i < t->n; i += u->group)
        sum += aligned_group(u, t, i, group[i / u->group], exponent, trace);
    sum += aligned_c(u, t, exponent, trace);
    return finish_aligned(u, t, sum, exponent, trace);
}

/* --- PAIRS ------------------------------------------------------------------------ */

/* One product rounded to the result format, an encoding of it. */
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

/* x + y rounded, encodings of the result format. */
TRACED uint64_t rounded_sum(const struct bitcut_unit *u, uint64_t x, uint64_t y,
                            const char *name, struct unit_trace *trace)
{
    const struct number a = format_decode(u->result, x), b = format_decode(u->result, y);
    struct special_sum s = { 0 };
    uint64_t d;
    special_add(&s, a);
    special_add(&s, b);
    if (special_result(&d, u, s)) {
        trace_special(trace, name, s, d);
        return d;
    }
    const struct term terms[2] = { number_term(u->result, a), number_term(u->result, b) };
    return finish_exact(u, wide_sum(terms, 2), a.negative && b.negative, name, trace);
}

/* Sum `index` of the step, rounded to the encoding x, as a term. */
TRACED void trace_rounded(const struct bitcut_unit *u, int index, uint64_t x,
                          struct unit_trace *trace)
{
    if (!trace) return;
    const struct number z = format_decode(u->result, x);
    trace_term_add(trace, (struct trace_term){ .source = TRACE_SUM,
                                               .index = index,
                                               .exponent = z.exponent,
                                               .value = number_term(u->result, z) });
}

TRACED uint64_t pairs_step(const struct bitcut_unit *u, const struct step *t,
                           struct unit_trace *trace)
{
    uint64_t s[UNIT_K_MOST];
    int first = 0; /* which of the step's sums s[0] is */
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

/* --- TWO_STAGE -------------------------------------------------------------------- */

/* A sum of products in two stages: `sum` * 2^(exponent - fraction). */
struct stage {
    int128 sum;
    int exponent;
};

TRACED void trace_stage(const struct bitcut_unit *u, struct stage p, const char *name,
                        struct unit_trace *trace)
{
    trace_sum(trace, (struct trace_sum){
                         .name = name,
                         .aligned = true,
                         .at_exponent = true,
                         .exponent = p.exponent,
                         .value = integer_term(p.sum, p.exponent - u->fraction) });
}

TRACED struct stage product_stage(const struct bitcut_unit *u, const struct step *t,
                                  int from, int stride, const char *name,
                                  struct unit_trace *trace)
{
    const int e = largest_exponent(u, t, from, stride, 2 * NUMBER_ZERO_EXPONENT);
    struct stage p = { 0, e };
    if (trace || e > NUMBER_ZERO_EXPONENT / 2) /* zeros are added only to be seen */
        p.sum = aligned_products(u, t, from, stride, 0, e, trace);
    trace_stage(u, p, name, trace);
    return p;
}

/* Stage p, which is sum `index` of the step, floored to `fraction` bits below another
   exponent. */
TRACED int128 floored_stage(const struct bitcut_unit *u, struct stage p, int index,
                            int fraction, int exponent, struct unit_trace *trace)
{
    const int128 cut = floor_shift(p.sum, fraction - u->fraction + p.exponent - exponent);
    trace_term(trace, (struct trace_term){
                          .source = TRACE_SUM,
                          .index = index,
                          .exponent = p.exponent,
                          .value = integer_term(p.sum, p.exponent - u->fraction),
                          .aligned = cut });
    return cut;
}

/* The products of even and of odd k, added at the larger of their exponents. */
TRACED struct stage parity_stage(const struct bitcut_unit *u, const struct step *t,
                                 struct unit_trace *trace)
{
    const struct stage even = product_stage(u, t, 0, 2, "even products", trace);
    const struct stage odd = product_stage(u, t, 1, 2, "odd products", trace);
    struct stage p = { 0, odd.exponent > even.exponent ? odd.exponent : even.exponent };
    p.sum = floored_stage(u, even, 0, u->fraction, p.exponent, trace);
    p.sum += floored_stage(u, odd, 1, u->fraction, p.exponent, trace);
    trace_stage(u, p, "products", trace);
    return p;
}

/* c floored to `fraction` bits below `exponent`, in units of sum_fraction bits; 0 if it
   is left out. */
TRACED int128 floored_c(const struct bitcut_unit *u, const struct step *t, int own,
                        int exponent, struct unit_trace *trace)
{
    const int128 z = t->z.negative ? -(int128)t->z.significand : (int128)t->z.significand;
    const bool out = u->parity && own < exponent - (u->fraction + 1);
    const int up = u->fraction - u->c->fraction_bits + own - exponent;
    const int128 cut =
        out ? 0 : floor_shift(z, up) * ((int128)1 << (u->sum_fraction - u->fraction));
    trace_accumulator(u, t, own, cut, trace);
    return cut;
}

/* Floor sum * 2^unit to `keep` bits below its leading one, or below keep_min, and round. */
TRACED uint64_t finish_kept(const struct bitcut_unit *u, const struct step *t, int128 sum,
                            int exponent, struct unit_trace *trace)
{
    const uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    const int unit = exponent - u->sum_fraction, least = u->keep_min - unit;
    const int leading = magnitude ? 63 - __builtin_clzll(magnitude) : 0;
    const int top = leading > least ? leading : least;
    const int drop = top > u->keep ? top - u->keep : 0;
    const int128 kept = floor_shift(sum, -drop);
    const uint64_t d = finish_integer(u, t, kept, unit + drop);
    trace_sum(trace, (struct trace_sum){ .aligned = true,
                                         .at_exponent = true,
                                         .exponent = exponent,
                                         .value = integer_term(sum, unit),
                                         .cut = true,
                                         .kept = integer_term(kept, unit + drop),
                                         .rounded = true,
                                         .d = d });
    return d;
}

TRACED uint64_t two_stage_step(const struct bitcut_unit *u, const struct step *t,
                               struct unit_trace *trace)
{
    const struct stage p = u->parity ? parity_stage(u, t, trace)
                                     : product_stage(u, t, 0, 1, "products", trace);
    const int zc = t->z.kind == NUMBER_ZERO ? format_emin(u->c) : t->z.exponent;
    const int e = p.exponent > zc ? p.exponent : zc;
    int128 sum = floored_stage(u, p, u->parity ? 2 : 0, u->sum_fraction, e, trace);
    sum += floored_c(u, t, zc, e, trace);
    return finish_kept(u, t, sum, e, trace);
}

/* --- SERIAL ----------------------------------------------------------------------- */

/* Partial sum `index` as a term. */
TRACED void trace_partial(struct unit_trace *trace, int index, struct term value)
{
    trace_term(trace, (struct trace_term){
                          .source = TRACE_SUM, .index = index, .value = value });
}

/* The exact sum as the row's carrier holds it. */
static struct unrounded carried(const struct bitcut_unit *u, struct unrounded x)
{
    if (!u->carrier) return x;
    const uint64_t d = round_pack(u->carrier, &roundings[ROUND_RN], x);
    return number_unrounded(u->carrier, format_decode(u->carrier, d));
}

/* The sum of the products and c, rounded. */
TRACED uint64_t finish_serial(const struct bitcut_unit *u, const struct step *t,
                              struct unrounded x, struct unit_trace *trace)
{
    const bool zero_negative = u->zero == ZERO_IEEE && all_negative_zeros(t);
    const struct unrounded kept = carried(u, x);
    const uint64_t d = finish(u, kept, zero_negative);
    trace_sum(trace, (struct trace_sum){ .value = unrounded_term(x),
                                         .inexact = x.sticky,
                                         .cut = u->carrier != NULL,
                                         .kept = unrounded_term(kept),
                                         .rounded = true,
                                         .d = d });
    return d;
}

TRACED uint64_t serial_step(const struct bitcut_unit *u, const struct step *t,
                            struct unit_trace *trace)
{
    struct term sum[2] = { { 0 } };
    for (int i = 0; i < t->n; i++) {
        sum[1] = product_term(u, t->a[i], t->b[i]);
        if (i) trace_partial(trace, i - 1, sum[0]);
        trace_product(trace, i, t->a[i].exponent + t->b[i].exponent, sum[1], 0);
        const struct unrounded x = wide_sum(sum, 2);
        sum[0] = truncated(carried(u, x), u->keep);
        trace_sum(trace, (struct trace_sum){ .name = "partial sum",
                                             .value = unrounded_term(x),
                                             .inexact = x.sticky,
                                             .cut = true,
                                             .kept = sum[0] });
    }
    sum[1] = number_term(u->c, t->z);
    trace_partial(trace, t->n - 1, sum[0]);
    trace_accumulator(u, t, t->z.exponent, 0, trace);
    return finish_serial(u, t, wide_sum(sum, 2), trace);
}

/* --- the table -------------------------------------------------------------------- */

/* Each summation twice: without a trace, where calls are many, and with one. */
#define BOTH(name)                                                                       \
    static uint64_t name##_plain(const struct bitcut_unit *u, const struct step *t)      \
    {                                                                                    \
        return name(u, t, NULL);                                                         \
    }                                                                                    \
    static uint64_t name##_traced(const struct bitcut_unit *u, const struct step *t,     \
                                  struct unit_trace *trace)                              \
    {                                                                                    \
        return name(u, t, trace);                                                        \
    }

BOTH(fused_step)
BOTH(grouped_step)
BOTH(pairs_step)
BOTH(two_stage_step)
BOTH(serial_step)

/* clang-format off */
#define ROW(name) { name##_plain, name##_traced }
/* clang-format on */

static const struct {
    uint64_t (*plain)(const struct bitcut_unit *, const struct step *);
    uint64_t (*traced)(const struct bitcut_unit *, const struct step *,
                       struct unit_trace *);
} steps[] = {
    [SUM_FUSED] = ROW(fused_step),   [SUM_GROUPED] = ROW(grouped_step),
    [SUM_PAIRS] = ROW(pairs_step),   [SUM_TWO_STAGE] = ROW(two_stage_step),
    [SUM_SERIAL] = ROW(serial_step),
};

uint64_t sum_step(const struct bitcut_unit *u, const struct step *t)
{
    return steps[u->summation].plain(u, t);
}

uint64_t sum_step_traced(const struct bitcut_unit *u, const struct step *t,
                         struct unit_trace *trace)
{
    return steps[u->summation].traced(u, t, trace);
}
