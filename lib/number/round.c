/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/round.h"

#include "lib/base/table.h"
#include "lib/number/bits.h"
#include "lib/number/rand.h"

#include <assert.h>
#include <math.h>

/* rn rna rz ru rd: IEEE 754-2019 section 4.3.  odd: Boldo and Melquiond 2008.
   cut: LE-GEMM section 4.1: the exponent field is rebiased and the top fraction bits are
   copied.  If the new exponent field would be 0 or less, the part is 0; if it would not
   fit, the part is infinity.  The paper does not define these two cases.
   rn-daz: to bf16, which has FP32's exponents, as VCVTNEPS2BF16 and VCVTNE2PS2BF16 convert
   (Intel SDM: subnormal sources are zeros with their sign), except for the bits of NaNs.
   feng21, feng22: EGEMM-TC as Ootomo and Yokota describe it in their section 1: truncate,
   then round up by the 21st mantissa bit of x (as printed) or by the 22nd (as they argue
   it should be, counting the implicit bit).  Their mantissa is the 23 bits of the FP32
   fraction field, m22 to m0; a subnormal x is not shifted. */
const struct bitcut_rounding roundings[] = {
    /* clang-format off */
    /* name, what, direction, bit, overflow, flush, seed, position, draws */
    [ROUND_RN]     = { "rn",     "to nearest, ties to even",                              TO_NEAREST_EVEN,  0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_RNA]    = { "rna",    "to nearest, ties away from zero",                       TO_NEAREST_AWAY,  0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_RZ]     = { "rz",     "toward zero",                                           TO_ZERO,          0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_RU]     = { "ru",     "toward +infinity",                                      TO_POSITIVE,      0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_RD]     = { "rd",     "toward -infinity",                                      TO_NEGATIVE,      0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_ODD]    = { "odd",    "to odd",                                                TO_ODD,           0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_CUT]    = { "cut",    "bit-cut: the top bits, no subnormals",                  TO_ZERO,          0, OVERFLOW_INF, FLUSH_SUBNORMAL, 0, 0, NULL },
    [ROUND_RN_FTZ] = { "rn-ftz", "rn, subnormal results become zero",                     TO_NEAREST_EVEN,  0, OVERFLOW_IEEE, FLUSH_SUBNORMAL, 0, 0, NULL },
    [ROUND_RN_DAZ] = { "rn-daz", "rn, values below the normal range become zero",         TO_NEAREST_EVEN,  0, OVERFLOW_IEEE, FLUSH_BEFORE, 0, 0, NULL },
    [ROUND_RN_SAT] = { "rn-sat", "rn, values too large become the largest finite value",  TO_NEAREST_EVEN,  0, OVERFLOW_SATURATE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_FENG21] = { "feng21", "truncate, then up by fraction bit 21",                  BY_BIT,          21, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_FENG22] = { "feng22", "truncate, then up by fraction bit 22",                  BY_BIT,          22, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    [ROUND_SR]     = { "sr",     "stochastic: away from zero as likely as the lost part", STOCHASTIC,       0, OVERFLOW_IEEE, FLUSH_NONE, 0, 0, NULL },
    { 0 }
    /* clang-format on */
};

/* The significand cut at the last retained bit, and a description of the bits below
   it. */
struct cut {
    uint64_t kept;
    bool lost; /* whether any bit below is set            */
    int half;  /* the bits below are below, at or above half: -1, 0, 1 */
    uint64_t part; /* the bits below, the first 64 of a step */
};

static struct cut cut_below(uint64_t significand, bool sticky, int drop)
{
    struct cut c = { .kept = 0, .lost = true, .half = -1 };
    if (drop <= 0) {
        assert(!sticky && drop > -64);
        return (struct cut){ .kept = significand << -drop, .lost = false, .half = -1 };
    }
    if (drop >= 64) c.part = drop < 128 ? significand >> (drop - 64) : 0;
    else c.part = significand << (64 - drop);
    if (drop > 64) return c;
    const uint64_t half = (uint64_t)1 << (drop - 1);
    const uint64_t rest = drop == 64 ? significand : significand & (2 * half - 1);
    c.kept = drop == 64 ? 0 : significand >> drop;
    c.lost = rest || sticky;
    c.half = rest > half || (rest == half && sticky) ? 1 : rest == half ? 0 : -1;
    return c;
}

/* The bit of weight 2^(e - bit), where e is the exponent of x in FP32. */
static bool fraction_bit(struct unrounded x, int bit)
{
    const int top = highest_bit(x.significand) + x.exponent;
    const int emin = format_emin(&formats[FORMAT_F32]);
    const int at = (top < emin ? emin : top) - bit - x.exponent;
    return at >= 0 && at < 64 && (x.significand >> at & 1);
}

/* A bijection of 64-bit numbers: the output function of SplitMix64 (Steele, Lea and
   Flood, 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t round_random(const struct bitcut_rounding *r, struct unrounded x)
{
    const int up = 63 - highest_bit(x.significand);
    const uint64_t other =
        (uint64_t)(uint32_t)(x.exponent - up) << 2 | (uint64_t)x.negative << 1 | x.sticky;
    const uint64_t hash = mix(x.significand << up ^ mix(other + 1));
    uint32_t word[4];
    rand_block(word, r->seed, r->position, hash);
    return rand_bits(word[0], word[1]);
}

/* The retained significand, increased by one step or not. */
static uint64_t step(const struct bitcut_rounding *r, struct unrounded x, struct cut c)
{
    switch (r->direction) {
    case TO_NEAREST_EVEN: return c.kept + (c.half > 0 || (c.half == 0 && (c.kept & 1)));
    case TO_NEAREST_AWAY: return c.kept + (c.half >= 0);
    case TO_POSITIVE: return c.kept + (c.lost && !x.negative);
    case TO_NEGATIVE: return c.kept + (c.lost && x.negative);
    case TO_ODD: return c.kept | c.lost;
    case BY_BIT: return c.kept + (c.lost && fraction_bit(x, r->bit));
    case STOCHASTIC: return c.kept + (c.lost && round_random(r, x) < c.part);
    case TO_ZERO: break;
    }
    return c.kept;
}

static uint64_t overflow_encoding(const struct bitcut_format *f,
                                  const struct bitcut_rounding *r, bool negative)
{
    bool infinite = r->overflow == OVERFLOW_INF;
    if (r->overflow == OVERFLOW_IEEE)
        infinite = r->direction == TO_NEAREST_EVEN || r->direction == TO_NEAREST_AWAY ||
                   r->direction == BY_BIT || r->direction == STOCHASTIC ||
                   (r->direction == TO_POSITIVE && !negative) ||
                   (r->direction == TO_NEGATIVE && negative);
    return infinite ? format_infinity(f, negative) : format_largest(f, negative);
}

/* Whether x is below the smallest normal number when it is rounded to all bits of the
   format.  Rounding at the last bit of subnormal results has given the smallest normal
   number. */
static bool is_tiny(const struct bitcut_format *f, const struct bitcut_rounding *r,
                    struct unrounded x)
{
    const int top = highest_bit(x.significand) + x.exponent;
    const int last = top - f->fraction_bits;
    const struct cut c = cut_below(x.significand, x.sticky, last - x.exponent);
    return top < format_emin(f) && step(r, x, c) >> f->fraction_bits < 2;
}

/* Whether x is below the smallest normal number. */
static bool is_below(const struct bitcut_format *f, struct unrounded x)
{
    return highest_bit(x.significand) + x.exponent < format_emin(f);
}

/* Whether x, rounded to `kept` units of a subnormal's last bit, becomes zero. */
static bool is_flushed(const struct bitcut_format *f, const struct bitcut_rounding *r,
                       struct unrounded x, uint64_t kept)
{
    const uint64_t implicit = (uint64_t)1 << f->fraction_bits;
    if (r->flush == FLUSH_NONE || kept > implicit) return false;
    return kept < implicit || (r->flush == FLUSH_TINY && is_tiny(f, r, x)) ||
           (r->flush == FLUSH_BEFORE && is_below(f, x));
}

/* The largest magnitude of an integer of this sign that does not overflow. */
static uint64_t integer_most(const struct bitcut_format *f,
                             const struct bitcut_rounding *r, bool negative)
{
    return format_largest(f, false) * (f->has_sign || !negative) +
           (f->has_sign && negative && r->overflow == OVERFLOW_RANGE);
}

/* A value that is not 0. */
static uint64_t integer_pack(const struct bitcut_format *f,
                             const struct bitcut_rounding *r, struct unrounded x)
{
    const uint64_t kept =
        x.exponent > 63   ? 0
        : x.exponent >= 0 ? x.significand << x.exponent
                          : step(r, x, cut_below(x.significand, x.sticky, -x.exponent));
    const bool large = highest_bit(x.significand) + x.exponent > 62 ||
                       kept > integer_most(f, r, x.negative);
    if (large && r->overflow == OVERFLOW_RANGE && x.negative)
        return f->has_sign ? UINT64_C(1) << (f->bits - 1) : 0;
    if (large && r->overflow != OVERFLOW_WRAP) return format_largest(f, x.negative);
    return (x.negative ? -kept : kept) & UINT64_MAX >> (64 - f->bits);
}

/* Most values: a normal result that cannot overflow, rounded to nearest or toward zero.
   Returns false for others.  No branch depends on the bits that are rounded: the dropped
   bits are compared with a limit. */
static bool pack_normal(uint64_t *to, const struct bitcut_format *f,
                        const struct bitcut_rounding *r, struct unrounded x)
{
    const uint64_t half = (uint64_t)1 << 63;
    const int top = highest_bit(x.significand), kept_bits = f->fraction_bits;
    const int field = top + x.exponent + f->bias;
    if (field < 1 || field + 3 > 1 << f->exponent_bits || r->direction > TO_ZERO)
        return false;
    const uint64_t all = x.significand << (63 - top);
    const uint64_t kept = all >> (63 - kept_bits),
                   dropped = all << 1 << kept_bits | x.sticky;
    const uint64_t limit = r->direction == TO_NEAREST_EVEN   ? half - (kept & 1)
                           : r->direction == TO_NEAREST_AWAY ? half - 1
                                                             : UINT64_MAX;
    const uint64_t fraction = kept - ((uint64_t)1 << kept_bits) + (dropped > limit);
    *to = ((((uint64_t)field << kept_bits) + fraction) << f->pad) | (uint64_t)x.negative
                                                                        << (f->bits - 1);
    return true;
}

uint64_t round_pack(const struct bitcut_format *f, const struct bitcut_rounding *r,
                    struct unrounded x)
{
    uint64_t packed;
    struct bitcut_rounding own;
    if (x.significand == 0) return format_zero(f, x.negative);
    if (r->draws) {
        own = *r;
        own.position += (*r->draws)++;
        own.draws = NULL;
        r = &own;
    }
    if (format_is_integer(f)) return integer_pack(f, r, x);
    if (x.negative && !f->has_sign) return format_nan(f);
    if (pack_normal(&packed, f, r, x)) return packed;

    const uint64_t implicit = (uint64_t)1 << f->fraction_bits;
    const int emin = format_emin(f);
    const int top = highest_bit(x.significand) + x.exponent;
    const int last = (top < emin ? emin : top) - f->fraction_bits;
    const struct cut c = cut_below(x.significand, x.sticky, last - x.exponent);
    uint64_t kept = step(r, x, c);
    int exponent = last + f->fraction_bits;
    if (kept == 2 * implicit) kept = implicit, exponent++;

    if (kept == 0 || is_flushed(f, r, x, kept)) return format_zero(f, x.negative);
    const uint64_t field = kept < implicit ? 0 : (uint64_t)(exponent + f->bias);
    const uint64_t magnitude = (field << f->fraction_bits | (kept & (implicit - 1)))
                               << f->pad;
    if (exponent > format_emax(f) || magnitude > format_largest(f, false))
        return overflow_encoding(f, r, x.negative);
    return magnitude | (uint64_t)x.negative << (f->bits - 1);
}

struct unrounded number_unrounded(const struct bitcut_format *f, struct number x)
{
    return (struct unrounded){ .significand = x.significand,
                               .exponent = x.exponent - f->fraction_bits,
                               .negative = x.negative };
}

const struct bitcut_rounding *bitcut_rounding_find(const char *name)
{
    return table_find(TABLE(roundings), name);
}

uint64_t bitcut_format_convert(const struct bitcut_format *to,
                               const struct bitcut_rounding *rounding,
                               const struct bitcut_format *from, uint64_t encoding)
{
    const struct number x = format_decode(from, encoding);
    switch (x.kind) {
    case NUMBER_NAN: return format_nan(to);
    case NUMBER_INF:
        if (x.negative && !to->has_sign) return format_nan(to);
        return rounding->overflow == OVERFLOW_SATURATE ? format_largest(to, x.negative)
                                                       : format_infinity(to, x.negative);
    default: return round_pack(to, rounding, number_unrounded(from, x));
    }
}

double round_error(const struct bitcut_format *f, enum direction d)
{
    return ldexp(1, -f->fraction_bits - (d == TO_NEAREST_EVEN || d == TO_NEAREST_AWAY));
}

uint32_t f32_through(const struct bitcut_format *format,
                     const struct bitcut_rounding *rounding, uint32_t x)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    if (!format || format == f32) return x;
    return (uint32_t)bitcut_format_convert(
        f32, &roundings[ROUND_RN], format,
        bitcut_format_convert(format, rounding, f32, x));
}
