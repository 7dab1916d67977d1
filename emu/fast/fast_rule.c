/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows, splits and tiles the fast paths take, and the parameters of their
   kernels. */
#include "emu/engine.h"
#include "emu/fast/fast.h"
#include "emu/summation.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

static const struct bitcut_format *f32(void) { return &formats[FORMAT_F32]; }
static const struct bitcut_format *f16(void) { return &formats[FORMAT_F16]; }

/* --- exponents -------------------------------------------------------------------- */

struct fast_range fast_format_range(const struct bitcut_unit *u)
{
    const struct bitcut_format *as = unit_operand_format(u, u->a);
    const int low = format_least_exponent(u->a), emin = format_emin(as);
    return (struct fast_range){ as == u->a || low < emin ? emin : low,
                                format_emax(u->a) };
}

bool fast_range_fits(struct fast_range r)
{
    return r.low >= FAST_LOW && r.high <= FAST_HIGH;
}

/* The lowest bit that a product can have. */
static int last_bit(const struct bitcut_unit *u, struct fast_range a, struct fast_range b)
{
    return a.low + b.low - 2 * u->a->fraction_bits;
}

/* --- aligned sums ------------------------------------------------------------------ */

/* Whether products are exact floats. */
static bool products_fit(const struct bitcut_unit *u)
{
    return u->a->fraction_bits <= 11;
}

/* Whether the sums of a block fit: one 32-bit sum of all products, or two sums, where the
   first begins with c.  In units of the last retained bit a product is at most `most`,
   and c is below 2^(fraction + 1). */
static bool sums_fit(struct fast_rule *r, bool *two, const struct bitcut_unit *u)
{
    const int drop = u->fraction - 2 * u->a->fraction_bits;
    if (drop < 0 || u->fraction > 29) return false;
    const int64_t significand = ((int64_t)2 << u->a->fraction_bits) - 1;
    const int64_t most = significand * significand << drop;
    const int64_t c = (int64_t)2 << u->fraction;
    *two = u->block * most + c > INT32_MAX;
    r->first = *two ? u->block / 2 : u->block;
    return r->first % 4 == 0 && r->first * most + c <= INT32_MAX &&
           (u->block - r->first) * most <= INT32_MAX && u->block * most + c <= UINT32_MAX;
}

/* Whether a sum that is too large becomes the largest number. */
static bool saturates(const struct bitcut_unit *u)
{
    return u->rounding.overflow == OVERFLOW_SATURATE ||
           u->rounding.overflow == OVERFLOW_WRAP;
}

/* The result is rounded toward zero to f32, or to fewer fraction bits with the same
   exponents; or to nearest f16, where sums are rounded to odd in f32 before. */
static bool fused_result(struct fast_rule *r, const struct bitcut_unit *u)
{
    const enum direction direction = u->rounding.direction;
    if (u->rounding.flush || saturates(u)) return false;
    r->method = FAST_FUSED_F16;
    r->half = u->result == f16();
    if (r->half)
        return u->c == f16() && direction == TO_NEAREST_EVEN &&
               fast_range_fits(fast_format_range(u));
    r->method = u->result == f32() ? FAST_FUSED_F32 : FAST_FUSED_CUT;
    r->mask = -(1 << (23 - u->result->fraction_bits));
    return u->c == f32() && direction == TO_ZERO && format_holds(f32(), u->result) &&
           format_emin(u->result) == format_emin(f32()) && u->result->bits == 32;
}

static bool truncated_make(struct fast_rule *r, const struct bitcut_unit *u)
{
    bool two;
    if (u->normalise || u->floor || u->flush_inputs || u->zero != ZERO_POSITIVE ||
        u->block % 4 || !products_fit(u) || !fused_result(r, u) ||
        !sums_fit(r, &two, u) || (two && r->method == FAST_FUSED_CUT))
        return false;
    if (two) r->method = r->half ? FAST_FUSED_F16_TWO : FAST_FUSED_F32_TWO;
    r->fraction = u->fraction;
    r->least = u->align_min;
    return true;
}

/* Whether the row rounds as the processor does: to nearest f32, with signed zeros. */
static bool values_as_host(const struct bitcut_unit *u)
{
    return u->c == f32() && u->result == f32() && !u->c_last &&
           u->rounding.direction == TO_NEAREST_EVEN && !saturates(u);
}

static bool rounds_as_host(const struct bitcut_unit *u)
{
    return values_as_host(u) && !u->via;
}

/* The errors of the additions of a step's products are added in binary64.  One addition
   has one error; several errors must lie within 53 bits. */
static bool errors_fit(const struct bitcut_unit *u)
{
    const struct fast_range all = fast_format_range(u);
    const int sum_top = 2 * all.high + 2 + u->block; /* 2^block > block */
    return u->block <= 2 || sum_top - 52 - last_bit(u, all, all) <= 53;
}

static bool exact_make(struct fast_rule *r, const struct bitcut_unit *u)
{
    const bool flushes = u->rounding.flush || u->flush_inputs;
    r->method = u->block > 1 ? FAST_EXACT : flushes ? FAST_CHAIN_FLUSH : FAST_CHAIN;
    return rounds_as_host(u) && (!flushes || u->block == 1) && u->zero == ZERO_IEEE &&
           u->block <= 4 && u->block != 3 && errors_fit(u);
}

/* Whether the row rounds to nearest f16 or bf16, with signed zeros, and which. */
static bool rounds_short(struct fast_rule *r, const struct bitcut_unit *u,
                         enum fast_method of_f16, enum fast_method of_bf16)
{
    r->half = u->c == f16();
    r->method = r->half ? of_f16 : of_bf16;
    return (r->half || u->c == &formats[FORMAT_BF16]) && u->result == u->c &&
           !u->c_last && !u->via && u->rounding.direction == TO_NEAREST_EVEN &&
           !saturates(u) && !u->rounding.flush && !u->flush_inputs &&
           u->zero == ZERO_IEEE && products_fit(u);
}

static bool short_exact_make(struct fast_rule *r, const struct bitcut_unit *u)
{
    return rounds_short(r, u, FAST_EXACT_F16, FAST_EXACT_BF16) && u->block <= 4 &&
           u->block != 3 && errors_fit(u);
}

bool fast_fused(struct fast_rule *r, const struct bitcut_unit *u)
{
    if (u->fraction != FRACTION_EXACT) return truncated_make(r, u);
    return exact_make(r, u) || short_exact_make(r, u);
}

/* --- other sums --------------------------------------------------------------------- */

/* Products of at most 23 bits are exact in f32 unless they are far below its normal
   numbers.  Subnormal sums are exact too, so flushing before or after rounding gives the
   same. */
static bool flushed_pairs(struct fast_rule *r, const struct bitcut_unit *u)
{
    r->method = FAST_PAIRS_FLUSH;
    return rounds_as_host(u) && u->rounding.flush == FLUSH_SUBNORMAL &&
           u->zero == ZERO_IEEE && u->flush_inputs == INPUT_POSITIVE &&
           u->a->fraction_bits <= 10 && u->block > 1 && u->block <= 4;
}

/* Products are computed one at a time, rounded and added by the processor itself. */
static bool multiply_add(struct fast_rule *r, const struct bitcut_unit *u)
{
    r->method = FAST_MULTIPLY_ADD;
    return rounds_as_host(u) && !u->rounding.flush && u->zero == ZERO_IEEE &&
           !u->flush_inputs && u->block == 1;
}

/* Products are exact floats if they are in range. */
static bool odd_pairs(struct fast_rule *r, const struct bitcut_unit *u)
{
    r->method = FAST_PAIRS_ODD;
    return u->c == f32() && u->result == f32() && !u->via && !u->c_last &&
           u->rounding.direction == TO_ODD && u->rounding.overflow == OVERFLOW_INF &&
           u->zero == ZERO_IEEE && u->block == 2 && products_fit(u);
}

bool fast_pairs(struct fast_rule *r, const struct bitcut_unit *u)
{
    return flushed_pairs(r, u) || multiply_add(r, u) || odd_pairs(r, u) ||
           (rounds_short(r, u, FAST_MULTIPLY_ADD_F16, FAST_MULTIPLY_ADD_BF16) &&
            u->block == 1);
}

bool fast_dot(struct fast_rule *r, const struct bitcut_unit *u)
{
    r->method = FAST_DOT;
    return rounds_as_host(u) && !u->rounding.flush && !u->flush_inputs &&
           u->zero == ZERO_IEEE && (u->block == 2 || u->block == 4) && errors_fit(u);
}

/* Products are exact floats if they are in range. */
bool fast_chains(struct fast_rule *r, const struct bitcut_unit *u)
{
    r->method = FAST_CHAINS;
    return values_as_host(u) && (!u->via || u->via == f32()) && u->zero == ZERO_IEEE &&
           u->parity && products_fit(u);
}

/* The bits of a double below its first `keep` bits. */
static int64_t below(int keep) { return ((int64_t)1 << (53 - keep)) - 1; }

/* Whether sums have no bits that keep_min cuts: neither products with these exponents nor
   c have bits that low. */
static bool keep_min_cuts_nothing(const struct bitcut_unit *u, struct fast_range a,
                                  struct fast_range b)
{
    const int c = format_least_exponent(u->c), last = u->keep_min - u->keep;
    return last <= c && last <= last_bit(u, a, b);
}

/* Sums of truncated products fit 32-bit integers, and all other integers fit 51 bits. */
bool fast_two_stage(struct fast_rule *r, const struct bitcut_unit *u)
{
    const int extra = u->sum_fraction - u->fraction;
    const struct fast_range all = fast_format_range(u);
    r->method = u->parity ? FAST_TWO_STAGE_PARITY : FAST_TWO_STAGE;
    r->fraction = u->fraction;
    r->sum_fraction = u->sum_fraction;
    if (u->keep < 1 || u->keep > 51 || u->fraction > 28) return false;
    r->dropped = below(u->keep + 1);
    r->last = u->keep_min - u->keep;
    return rounds_as_host(u) && products_fit(u) && u->zero == ZERO_SUM_POSITIVE &&
           !u->rounding.flush && !u->flush_inputs && !u->normalise && !u->floor &&
           (int64_t)u->block << (u->fraction + 2) <= INT32_MAX && extra >= 0 &&
           extra <= 18 &&
           (!u->parity || (fast_range_fits(all) && keep_min_cuts_nothing(u, all, all)));
}

/* Partial sums and their rounded values are far from the limits of f32's range. */
bool fast_serial(struct fast_rule *r, const struct bitcut_unit *u)
{
    const struct fast_range all = fast_format_range(u);
    const enum direction direction = u->rounding.direction;
    const bool to_zero = direction == TO_ZERO;
    r->method = u->carrier ? (to_zero ? FAST_CARRIED_RZ : FAST_CARRIED_RN)
                           : (to_zero ? FAST_SERIAL_RZ : FAST_SERIAL_RN);
    if (u->keep < 1 || u->keep > 52) return false;
    r->dropped = below(u->keep);
    return u->c == f32() && u->result == f32() && !u->via && !u->c_last &&
           (to_zero || direction == TO_NEAREST_EVEN) && !u->rounding.flush &&
           !saturates(u) && !u->flush_inputs && u->zero == ZERO_SUM_POSITIVE &&
           fast_range_fits(all) && last_bit(u, all, all) >= format_emin(f32());
}

/* --- rows --------------------------------------------------------------------------- */

/* The engine computes lines with NaN or Inf.  A NaN in other lines comes from an invalid
   operation, so it does not depend on the row's rule. */

/* Whether kernels can read the encodings of the operands: a sign, and magnitudes in the
   order of their values, up to the largest finite one, followed only by NaN and Inf. */
static bool operands_fit(const struct bitcut_unit *u)
{
    const struct bitcut_format *f = u->a;
    return f == u->b && f->has_sign && f->bits <= 32 && f->exponent_bits <= 8 &&
           f->special != SPECIAL_E8M0 && !format_is_integer(f) && !u->scale &&
           (!u->via || format_holds(u->via, f));
}

bool fast_rule_make(struct fast_rule *r, const struct bitcut_unit *u)
{
    *r = (struct fast_rule){ .block = u->block };
    return FAST_RUN % u->k == 0 && operands_fit(u) && u->summation->fast &&
           u->summation->fast(r, u);
}

bool fast_takes(const struct bitcut_unit *u)
{
    struct fast_rule r;
    return fast_rule_make(&r, u);
}

/* --- tiles -------------------------------------------------------------------------- */

/* The smallest number by which exponents must be lowered to fit the kernels' window. */
static int window_base(struct fast_range r)
{
    if (r.high > FAST_HIGH) return r.high - FAST_HIGH;
    return r.low < FAST_LOW ? r.low - FAST_LOW : 0;
}

/* Whether exponents can be compared as bytes, and values counted in units of a power of
   two.  This changes nothing as long as no value in a kernel, in these units or in the
   real ones, is subnormal or overflows.  Sums are multiples of 2^(low - fraction), and an
   accumulator stops growing when products are dropped next to it.  Promoted sums are
   allowed 2^40 additions. */
static bool window_fits(struct fast_range a, struct fast_range b, int fraction)
{
    const int low = a.low + b.low, high = a.high + b.high;
    const int growth = (fraction > 40 ? fraction : 40) + 8;
    return a.high - a.low <= FAST_HIGH - FAST_LOW &&
           b.high - b.low <= FAST_HIGH - FAST_LOW && low - fraction >= -126 &&
           high + growth <= 127;
}

static bool fused_fit(struct fast_rule *r, int *base_a, int *base_b,
                      const struct bitcut_unit *u, struct fast_range a,
                      struct fast_range b)
{
    if (r->half && r->lowered) return false;
    if (!window_fits(a, b, r->fraction + r->lowered)) {
        r->method = FAST_FUSED_WIDE;
        return !r->half && u->rounding.overflow == OVERFLOW_INF;
    }
    *base_a = window_base(a);
    *base_b = window_base(b);
    const int least = r->least - *base_a - *base_b;
    const int floor = least > FAST_FLOOR ? least : FAST_FLOOR;
    r->floor = (int32_t)(((uint32_t)(floor - 1) & 0xff) * 0x01010101u);
    r->scale = (int32_t)((uint32_t)(254 + r->fraction) << 23);
    return true;
}

/* A product of 2^128 or more is an infinity; then the engine computes the tile. */
static bool two_stage_fit(struct fast_rule *r, int *base_a, int *base_b,
                          const struct bitcut_unit *u, struct fast_range a,
                          struct fast_range b)
{
    if (!window_fits(a, b, r->sum_fraction + r->lowered) ||
        (!u->parity && !keep_min_cuts_nothing(u, a, b))) {
        r->method = FAST_TWO_STAGE_WIDE;
        return a.high + b.high + 2 <= 128;
    }
    *base_a = window_base(a);
    *base_b = window_base(b);
    return true;
}

/* Whether no sum can be subnormal, so that nothing is flushed. */
static bool sums_are_normal(const struct fast_rule *r, const struct bitcut_unit *u,
                            struct fast_range a, struct fast_range b)
{
    return last_bit(u, a, b) - r->lowered >= format_emin(f32());
}

/* Sums of -0 only, which would show the sign of the zero that a subnormal operand
   becomes, do not occur, because accumulators start from +0. */
static bool chain_fit(struct fast_rule *r, int *base_a, int *base_b,
                      const struct bitcut_unit *u, struct fast_range a,
                      struct fast_range b)
{
    (void)base_a, (void)base_b;
    return sums_are_normal(r, u, a, b);
}

/* Products and their sum are in range, too. */
static bool chains_fit(struct fast_rule *r, int *base_a, int *base_b,
                       const struct bitcut_unit *u, struct fast_range a,
                       struct fast_range b)
{
    (void)base_a, (void)base_b;
    return sums_are_normal(r, u, a, b) && a.high + b.high + 3 <= 128;
}

/* It is unknown whether sums that are scaled down are flushed, too. */
static bool flush_fit(struct fast_rule *r, int *base_a, int *base_b,
                      const struct bitcut_unit *u, struct fast_range a,
                      struct fast_range b)
{
    (void)base_a, (void)base_b;
    const bool normal = sums_are_normal(r, u, a, b);
    if (normal) r->method = FAST_PAIRS;
    return normal || !r->lowered;
}

/* Sums that are scaled down may be subnormal. */
static bool serial_fit(struct fast_rule *r, int *base_a, int *base_b,
                       const struct bitcut_unit *u, struct fast_range a,
                       struct fast_range b)
{
    (void)base_a, (void)base_b, (void)u, (void)a, (void)b;
    return !r->lowered;
}

/* Sums of products are floats that are normal and finite, or zeros, and are not scaled
   down, which would round them. */
static bool short_fit(struct fast_rule *r, int *base_a, int *base_b,
                      const struct bitcut_unit *u, struct fast_range a,
                      struct fast_range b)
{
    return !r->lowered && chains_fit(r, base_a, base_b, u, a, b);
}

/* --- methods ------------------------------------------------------------------------ */

/* By enum fast_method: the function that tests a tile (NULL: every tile is accepted), and
   the number of instructions for a vector of f32 outputs, for each product and for each
   step.  Methods that only tiles choose have neither. */
static const struct {
    bool (*fit)(struct fast_rule *r, int *base_a, int *base_b,
                const struct bitcut_unit *u, struct fast_range a, struct fast_range b);
    double product, step;
} methods[FAST_METHODS] = {
    /* clang-format off */
    [FAST_FUSED_F32]        = { fused_fit,      4.5,  10.25 },
    [FAST_FUSED_F32_TWO]    = { fused_fit,      4.5,  13.25 },
    [FAST_FUSED_CUT]        = { fused_fit,      4.5,  11.25 },
    [FAST_FUSED_F16]        = { fused_fit,      4.5,  21.25 },
    [FAST_FUSED_F16_TWO]    = { fused_fit,      4.5,  24.25 },
    [FAST_CHAIN]            = { NULL,           1,     0    },
    [FAST_CHAIN_FLUSH]      = { chain_fit,      1,     0    }, /* as FAST_CHAIN */
    [FAST_CHAINS]           = { chains_fit,     1,     2    },
    [FAST_MULTIPLY_ADD]     = { NULL,           2,     0    },
    [FAST_EXACT]            = { NULL,          16,    20    },
    [FAST_PAIRS_FLUSH]      = { flush_fit,      2,     0    }, /* as FAST_PAIRS */
    [FAST_PAIRS_ODD]        = { chains_fit,    16,    40    },
    [FAST_DOT]              = { NULL,          16,    20    },
    [FAST_TWO_STAGE]        = { two_stage_fit,  4.5,  94    },
    [FAST_TWO_STAGE_PARITY] = { two_stage_fit,  4.5, 148    },
    [FAST_SERIAL_RN]        = { serial_fit,     4,    28    },
    [FAST_SERIAL_RZ]        = { serial_fit,     4,     8    },
    [FAST_CARRIED_RN]       = { serial_fit,     4,     8    },
    [FAST_CARRIED_RZ]       = { serial_fit,     4,    10    },
    [FAST_EXACT_F16]        = { short_fit,     16,    28    },
    [FAST_EXACT_BF16]       = { short_fit,     16,    31    },
    [FAST_MULTIPLY_ADD_F16] = { short_fit,      6,     0    },
    [FAST_MULTIPLY_ADD_BF16] = { short_fit,    12,     0    },
    /* clang-format on */
};

bool fast_rule_fit(struct fast_rule *r, int *base_a, int *base_b,
                   const struct bitcut_unit *u, struct fast_range a, struct fast_range b)
{
    *base_a = *base_b = 0;
    return !methods[r->method].fit ||
           methods[r->method].fit(r, base_a, base_b, u, a, b);
}

double fast_instructions(const struct bitcut_unit *u)
{
    struct fast_rule r;
    if (!fast_rule_make(&r, u)) return 0;
    return methods[r.method].product + methods[r.method].step / r.block;
}

/* --- formats ------------------------------------------------------------------------ */

struct fast_format fast_format_make(const struct bitcut_unit *u, int base,
                                    enum fast_packing packing)
{
    const struct bitcut_format *f = u->a;
    return (struct fast_format){
        .bytes = unit_part_bytes(u),
        .magnitude = ((uint32_t)1 << (f->bits - 1)) - 1,
        .shift = 23 - f->fraction_bits - f->pad,
        .sign_shift = 32 - f->bits,
        .rebias = (127 - f->bias - base) * (1 << 23),
        .flushed = unit_flushes_operands(u) ? 1 << 23 : 0,
        .least = format_emin(unit_operand_format(u, f)) - base,
        .packing = packing,
    };
}

/* --- splits ------------------------------------------------------------------------- */

static uint32_t f32_of(const struct bitcut_format *from, uint64_t encoding)
{
    return (uint32_t)bitcut_format_convert(f32(), &roundings[ROUND_RN], from, encoding);
}

static bool part_make(struct fast_split *s, const struct bitcut_format *f,
                      const struct bitcut_rounding *r, int scale)
{
    const int emin = format_emin(f);
    const uint32_t largest = f32_of(f, format_largest(f, false)), too_large = 0x7f7fffff;
    const bool before = r->flush == FLUSH_BEFORE;
    *s = (struct fast_split){
        .direction = r->direction,
        .drop = 23 - f->fraction_bits,
        .pad = f->pad,
        .sign = f->bits - 1,
        .least_normal = (emin + 127) * (1 << 23),
        .most = (int32_t)largest,
        .rebias = (127 - f->bias) * (1 << 23),
        .least_count = before ? INT32_MAX : r->flush ? 1 << f->fraction_bits : 0,
        .infinity = (uint32_t)bitcut_format_convert(f, r, f32(), 0x7f800000),
        .overflow = (uint32_t)bitcut_format_convert(f, r, f32(), too_large),
        .nan = (uint32_t)format_nan(f),
        .zero_sign = f->special == SPECIAL_FNUZ ? 0 : -1,
        .step = float_of_bits(f32_power_of_two(scale)),
    };
    s->infinity_value = f32_of(f, s->infinity);
    s->overflow_value = f32_of(f, s->overflow);
    if (s->drop < 0 || !f->has_sign || f->bits > 32 || format_is_integer(f) ||
        (r->direction != TO_NEAREST_EVEN && r->direction != TO_NEAREST_AWAY &&
         r->direction != TO_ZERO))
        return false;
    /* Subnormal parts that are subnormal floats round at the same bit as normal ones. */
    if (emin <= -126 && !before) s->least_normal = 0;
    if (emin > -126) s->to_count = float_of_bits(f32_power_of_two(f->fraction_bits - emin));
    if (emin > -126) s->of_count = float_of_bits(f32_power_of_two(emin - f->fraction_bits));
    return emin > -126 || (emin == -126 && (!r->flush || before));
}

bool fast_split_make(struct fast_split s[SPLIT_PARTS_MAX],
                     const struct bitcut_split *split)
{
    for (int i = 0; i < split->parts; i++)
        if (!part_make(&s[i], split->part[i].format, split->part[i].rounding,
                       split->scale))
            return false;
    return split_is_uniform(split);
}
