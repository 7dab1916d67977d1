/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gfx9/gfx9_statement.h"
#include "tests/gfx9/gfx9_statement_order.h"

#include <string.h>

/* --- bits ------------------------------------------------------------------------- */

static bool bit(uint64_t x, unsigned n) { return n < 64 && x >> n & 1; }

/* Bits from `low` on, `count` of them; those above the 64th are `above`. */
static uint64_t bits(uint64_t x, unsigned low, unsigned count, bool above)
{
    uint64_t d = 0;
    for (unsigned n = 0; n < count && n < 64; n++)
        d |= (uint64_t)(low + n < 64 ? bit(x, low + n) : above) << n;
    return d;
}

/* As a signed number of so many bits. */
static int64_t as_signed(uint64_t x, unsigned count)
{
    const uint64_t top = bit(x, count - 1) ? UINT64_C(1) << (count - 1) : 0;
    return (int64_t)(bits(x, 0, count - 1, false) - top);
}

static unsigned count_ones(uint64_t x)
{
    unsigned d = 0;
    for (unsigned n = 0; n < 64; n++) d += bit(x, n);
    return d;
}

/* From the highest of `width` bits down, or from the lowest up: where the first is that
   has the value; 32 ones, if none. */
static uint64_t first_from_top(uint64_t x, unsigned width, bool value)
{
    for (unsigned n = 0; n < width; n++)
        if (bit(x, width - 1 - n) == value) return n;
    return 0xffffffff;
}

static uint64_t first_from_bottom(uint64_t x, unsigned width)
{
    for (unsigned n = 0; n < width; n++)
        if (bit(x, n)) return n;
    return 0xffffffff;
}

static uint64_t mirrored(uint64_t x)
{
    uint64_t d = 0;
    for (unsigned n = 0; n < 32; n++)
        if (bit(x, n)) d |= UINT64_C(1) << (31 - n);
    return d;
}

/* A bit of each pair of a's and b's by a truth table: bit 2 a + b of `truth`. */
static uint64_t logic(uint64_t a, uint64_t b, unsigned truth)
{
    uint64_t d = 0;
    for (unsigned n = 0; n < 64; n++)
        d |= (uint64_t)(truth >> (2 * bit(a, n) + bit(b, n)) & 1) << n;
    return d;
}

enum { AND = 8, OR = 14, XOR = 6, AND_NOT = 4, OR_NOT = 13, NAND = 7, NOR = 1, XNOR = 9 };

/* v_perm_b32: bytes 0 to 3 are b's, 4 to 7 a's. */
static uint64_t permute(uint64_t a, uint64_t b, uint64_t selectors)
{
    static const unsigned signs[] = { 15, 31, 47, 63 };
    const uint64_t from = a << 32 | b;
    uint64_t d = 0;
    for (unsigned n = 0; n < 4; n++) {
        const unsigned s = (unsigned)bits(selectors, 8 * n, 8, 0);
        uint64_t byte = 0;
        if (s >= 13) byte = 255;
        else if (s >= 8 && s < 12) byte = bit(from, signs[s - 8]) ? 255 : 0;
        else if (s < 8) byte = bits(from, 8 * s, 8, 0);
        d += byte * (UINT64_C(1) << 8 * n);
    }
    return d;
}

/* --- rows ------------------------------------------------------------------------- */

#define A      (x->s[0])
#define B      (x->s[1])
#define C      (x->s[2])
#define A32    ((uint32_t)A)
#define B32    ((uint32_t)B)
#define C32    ((uint32_t)C)
#define S32(X) as_signed(X, 32)
#define S24(X) as_signed(X, 24)
#define U24(X) bits(X, 0, 24, false)
#define D(X)   x->d = (uint64_t)(X)
#define OUT(X) x->out = (X)
#define NONZERO  OUT(x->d != 0)
#define LOW(X, COUNT) ((unsigned)bits(X, 0, COUNT, false))
#define LIMIT  (UINT64_C(1) << 32)

#define MEANS(NAME, ...)                                                                 \
    static void NAME(struct step *x) { __VA_ARGS__; }

/* clang-format off */
MEANS(nothing, (void)x)
MEANS(same, D(A))
MEANS(not_32, D(logic(A, 0, NOR)))
MEANS(reverse, D(mirrored(A)))
MEANS(find_high_u, D(first_from_top(A, 32, true)))
MEANS(find_high_i, D(first_from_top(A, 32, !bit(A, 31))))
MEANS(find_low_32, D(first_from_bottom(A, 32)))
MEANS(find_low_64, D(first_from_bottom(A, 64)))
MEANS(from_signed, D(of_integer(S32(A))))
MEANS(from_unsigned, D(of_integer((int64_t)A)))
MEANS(to_unsigned, D(to_integer(A32, 0, UINT32_MAX)))
MEANS(to_signed, D(to_integer(A32, INT32_MIN, INT32_MAX)))
MEANS(narrow, D(statement_narrow(A32)))
MEANS(widen, D(statement_widen(A32)))
MEANS(byte0, D(of_integer((int64_t)LOW(A, 8))))
MEANS(byte1, D(of_integer((int64_t)bits(A, 8, 8, 0))))
MEANS(byte2, D(of_integer((int64_t)bits(A, 16, 8, 0))))
MEANS(byte3, D(of_integer((int64_t)bits(A, 24, 8, 0))))
MEANS(truncate, D(to_whole(A32, MPFR_RNDZ)))
MEANS(upward, D(to_whole(A32, MPFR_RNDU)))
MEANS(invert, D(reciprocal_of(A32)))
MEANS(downward, D(to_whole(A32, MPFR_RNDD)))
MEANS(to_even, D(to_whole(A32, MPFR_RNDN)))
MEANS(exponent, D(exponent_of(A32)))
MEANS(significand, D(significand_of(A32)))

MEANS(select_b, D(x->in ? B : A))
MEANS(add_f32, D(statement_add32(A32, B32)))
MEANS(sub_f32, D(statement_add32(A32, B32 ^ SIGN)))
MEANS(subrev_f32, D(statement_add32(B32, A32 ^ SIGN)))
MEANS(mul_f32, D(statement_multiply32(A32, B32)))
MEANS(fma_f32, D(statement_fma32(A32, B32, C32)))
MEANS(min_f32, D(choose_float(A32, B32, LESS)))
MEANS(max_f32, D(choose_float(A32, B32, MORE)))
MEANS(med3_f32, D(middle_float(A32, B32, C32)))
MEANS(ldexp_f32, D(scaled(A32, (int32_t)B32)))
MEANS(pkrtz, D(pack_toward_zero(A32, B32)))
MEANS(add_f16, D(statement_add16(A32, B32)))
MEANS(sub_f16, D(statement_add16(A32, B32 ^ 0x8000)))
MEANS(subrev_f16, D(statement_add16(B32, A32 ^ 0x8000)))
MEANS(mul_f16, D(statement_multiply16(A32, B32)))
MEANS(fma_f16, D(statement_fma16(A32, B32, C32)))
MEANS(class_f32, OUT(has_class(A32, B32)))

MEANS(mul_i24, D(S24(A) * S24(B)))
MEANS(mul_hi_i24, D((S24(A) * S24(B)) >> 32))
MEANS(mul_u24, D(U24(A) * U24(B)))
MEANS(mul_hi_u24, D((U24(A) * U24(B)) / LIMIT))
MEANS(mul_low, D(A * B))
MEANS(mul_hi_u, D(A * B / LIMIT))
MEANS(mul_hi_i, D((S32(A) * S32(B)) >> 32))
MEANS(mad_i24, D(S24(A) * S24(B) + S32(C)))
MEANS(mad_u24, D(U24(A) * U24(B) + C))
MEANS(mad_u16, D(A * B + C))
MEANS(mad_u64, const uint64_t p = A * B;
      D(p + C); OUT((p / LIMIT + C / LIMIT + (p % LIMIT + C % LIMIT) / LIMIT) >> 32))
/* The carry is bit 64 of the sum: its sign. */
MEANS(mad_i64, const int64_t p = S32(A) * S32(B), c = (int64_t)C;
      D((uint64_t)p + C); OUT((p >> 1) + (c >> 1) + (p & c & 1) < 0))

MEANS(min_i32, D(choose(A, B, 32, true, LESS)))
MEANS(max_i32, D(choose(A, B, 32, true, MORE)))
MEANS(min_u32, D(choose(A, B, 32, false, LESS)))
MEANS(max_u32, D(choose(A, B, 32, false, MORE)))
MEANS(min3_i32, D(choose(choose(A, B, 32, true, LESS), C, 32, true, LESS)))
MEANS(max3_i32, D(choose(choose(A, B, 32, true, MORE), C, 32, true, MORE)))
MEANS(min3_u32, D(choose(choose(A, B, 32, false, LESS), C, 32, false, LESS)))
MEANS(max3_u32, D(choose(choose(A, B, 32, false, MORE), C, 32, false, MORE)))
MEANS(min_i16, D(choose(A, B, 16, true, LESS)))
MEANS(max_i16, D(choose(A, B, 16, true, MORE)))
MEANS(min_u16, D(choose(A, B, 16, false, LESS)))
MEANS(max_u16, D(choose(A, B, 16, false, MORE)))
MEANS(add_u16, D(A + B))
MEANS(sub_u16, D(A + 0x10000 - B))
MEANS(subrev_u16, D(B + 0x10000 - A))

/* The second operand by the first, and the first by the second. */
MEANS(left_by_16, D(B << LOW(A, 4)))
MEANS(right_by_16, D(bits(B, LOW(A, 4), 16, false)))
MEANS(right_signed_by_16, D(as_signed(B, 16) >> LOW(A, 4)))
MEANS(left_by_32, D(B << LOW(A, 5)))
MEANS(right_by_32, D(bits(B, LOW(A, 5), 32, false)))
MEANS(right_signed_by_32, D(S32(B) >> LOW(A, 5)))
MEANS(left_by_64, D(B << LOW(A, 6)))
MEANS(right_by_64, D(bits(B, LOW(A, 6), 64, false)))
MEANS(right_signed_by_64, D(bits(B, LOW(A, 6), 64, bit(B, 63))))

MEANS(and_, D(logic(A, B, AND)))
MEANS(or_, D(logic(A, B, OR)))
MEANS(xor_, D(logic(A, B, XOR)))
MEANS(xnor, D(logic(A, B, XNOR)))
MEANS(add, D(A + B))
MEANS(sub, D(A + LIMIT - B))
MEANS(subrev, D(B + LIMIT - A))
MEANS(add_co, D(A + B); OUT(A + B >= LIMIT))
MEANS(sub_co, D(A + LIMIT - B); OUT(B > A))
MEANS(subrev_co, D(B + LIMIT - A); OUT(A > B))
MEANS(addc_co, D(A + B + x->in); OUT(x->d >= LIMIT))
MEANS(subb_co, D(A + LIMIT - B - x->in); OUT(B + x->in > A))
MEANS(subbrev_co, D(B + LIMIT - A - x->in); OUT(A + x->in > B))
MEANS(field_u, D(bits(A, LOW(B, 5), LOW(C, 5), false)))
MEANS(field_i, const unsigned count = LOW(C, 5);
      D(count ? as_signed(bits(A, LOW(B, 5), count, false), count) : 0))
MEANS(insert, D(logic(A, B, AND) + logic(C, A, AND_NOT)))
MEANS(mask, D(((UINT64_C(1) << LOW(A, 5)) - 1) << LOW(B, 5)))
MEANS(align_bit, D(bits(A << 32 | B, LOW(C, 5), 32, false)))
MEANS(align_byte, D(bits(A << 32 | B, 8 * LOW(C, 2), 32, false)))
MEANS(perm, D(permute(A, B, C)))
MEANS(xor_add, D(logic(A, B, XOR) + C))
MEANS(shift_add, D(bits(A << LOW(B, 5), 0, 32, 0) + C))
MEANS(shift_add_64, D((A << LOW(B, 3)) + C))
MEANS(add_shift, D(LOW(A + B, 32) << LOW(C, 5)))
MEANS(add3, D(A + B + C))
MEANS(shift_or, D(logic(A << LOW(B, 5), C, OR)))
MEANS(and_or, D(logic(logic(A, B, AND), C, OR)))
MEANS(or3, D(logic(logic(A, B, OR), C, OR)))
MEANS(count_add, D(count_ones(A) + B))
MEANS(below_low, D(count_ones(A & ((UINT64_C(1) << x->lane) - 1)) + B))
MEANS(below_high, D(count_ones(A << 32 & ((UINT64_C(1) << x->lane) - 1)) + B))
MEANS(pack, D(A + (B << 16)))

/* Scalar ones, whose condition is scc. */
MEANS(s_add_i32, D(A + B); OUT(S32(A) + S32(B) != S32(A + B)))
MEANS(s_sub_i32, D(A + LIMIT - B); OUT(S32(A) - S32(B) != S32(A + LIMIT - B)))
MEANS(s_min_i32, D(choose(A, B, 32, true, LESS)); OUT(S32(A) < S32(B)))
MEANS(s_min_u32, D(choose(A, B, 32, false, LESS)); OUT(A < B))
MEANS(s_max_i32, D(choose(A, B, 32, true, MORE)); OUT(S32(A) >= S32(B)))
MEANS(s_max_u32, D(choose(A, B, 32, false, MORE)); OUT(A >= B))
MEANS(s_select, D(x->in ? A : B))
MEANS(s_and, D(logic(A, B, AND)); NONZERO)
MEANS(s_or, D(logic(A, B, OR)); NONZERO)
MEANS(s_xor, D(logic(A, B, XOR)); NONZERO)
MEANS(s_andn2, D(logic(A, B, AND_NOT)); NONZERO)
MEANS(s_orn2_32, D(bits(logic(A, B, OR_NOT), 0, 32, 0)); NONZERO)
MEANS(s_orn2_64, D(logic(A, B, OR_NOT)); NONZERO)
MEANS(s_nand_32, D(bits(logic(A, B, NAND), 0, 32, 0)); NONZERO)
MEANS(s_nand_64, D(logic(A, B, NAND)); NONZERO)
MEANS(s_nor_32, D(bits(logic(A, B, NOR), 0, 32, 0)); NONZERO)
MEANS(s_nor_64, D(logic(A, B, NOR)); NONZERO)
MEANS(s_xnor_32, D(bits(logic(A, B, XNOR), 0, 32, 0)); NONZERO)
MEANS(s_xnor_64, D(logic(A, B, XNOR)); NONZERO)
MEANS(s_left_32, D(bits(A << LOW(B, 5), 0, 32, 0)); NONZERO)
MEANS(s_left_64, D(A << LOW(B, 6)); NONZERO)
MEANS(s_right_32, D(bits(A, LOW(B, 5), 32, false)); NONZERO)
MEANS(s_right_64, D(bits(A, LOW(B, 6), 64, false)); NONZERO)
MEANS(s_right_signed_32, D(bits((uint64_t)(S32(A) >> LOW(B, 5)), 0, 32, 0)); NONZERO)
MEANS(s_right_signed_64, D(bits(A, LOW(B, 6), 64, bit(A, 63))); NONZERO)
MEANS(s_mask_64, D(((UINT64_C(1) << LOW(A, 6)) - 1) << LOW(B, 6)))
MEANS(s_field_u32, D(bits(A, LOW(B, 5), (unsigned)bits(B, 16, 7, 0), false)); NONZERO)
MEANS(s_field_u64, D(bits(A, LOW(B, 6), (unsigned)bits(B, 16, 7, 0), false)); NONZERO)
MEANS(s_field_i32, const unsigned count = (unsigned)bits(B, 16, 7, 0);
      const uint64_t from = bits((uint64_t)(S32(A) >> LOW(B, 5)), 0, 32, 0);
      D(count == 0 ? 0 : count < 32 ? (uint32_t)as_signed(from, count) : from);
      NONZERO)
MEANS(s_shift1_add, D(2 * A + B); OUT(x->d >= LIMIT))
MEANS(s_shift2_add, D(4 * A + B); OUT(x->d >= LIMIT))
MEANS(s_shift3_add, D(8 * A + B); OUT(x->d >= LIMIT))
MEANS(s_shift4_add, D(16 * A + B); OUT(x->d >= LIMIT))
MEANS(s_pack_ll, D(LOW(A, 16) + (LOW(B, 16) << 16)))
MEANS(s_pack_lh, D(LOW(A, 16) + (bits(B, 16, 16, 0) << 16)))
MEANS(s_pack_hh, D(bits(A, 16, 16, 0) + (bits(B, 16, 16, 0) << 16)))
MEANS(s_not_32, D(bits(logic(A, 0, NOR), 0, 32, 0)); NONZERO)
MEANS(s_not_64, D(logic(A, 0, NOR)); NONZERO)
MEANS(s_count, D(count_ones(A)); NONZERO)
MEANS(s_extend_8, D(as_signed(A, 8)))
MEANS(s_extend_16, D(as_signed(A, 16)))
MEANS(s_abs, D(S32(A) < 0 ? -S32(A) : S32(A)); NONZERO)
MEANS(s_eq, OUT(logic(A, B, XOR) == 0))
MEANS(s_lg, OUT(logic(A, B, XOR) != 0))
MEANS(s_gt_i, OUT(S32(A) > S32(B)))
MEANS(s_ge_i, OUT(S32(A) >= S32(B)))
MEANS(s_lt_i, OUT(S32(A) < S32(B)))
MEANS(s_le_i, OUT(S32(A) <= S32(B)))
MEANS(s_gt_u, OUT(A > B))
MEANS(s_ge_u, OUT(A >= B))
MEANS(s_lt_u, OUT(A < B))
MEANS(s_le_u, OUT(A <= B))
MEANS(s_bit0_32, OUT(!bit(A, LOW(B, 5))))
MEANS(s_bit1_32, OUT(bit(A, LOW(B, 5))))
MEANS(s_bit0_64, OUT(!bit(A, LOW(B, 6))))
MEANS(s_bit1_64, OUT(bit(A, LOW(B, 6))))
MEANS(s_move_k, D(B))
MEANS(s_move_if, D(x->in ? B : A))

static const struct statement statements[] = {
    { "v_nop", "=", nothing },
    { "v_mov_b32", "d=d", same },
    { "v_cvt_f32_i32", "f=d", from_signed },
    { "v_cvt_f32_u32", "f=d", from_unsigned },
    { "v_cvt_u32_f32", "d=f", to_unsigned },
    { "v_cvt_i32_f32", "d=f", to_signed },
    { "v_cvt_f16_f32", "h=f", narrow },
    { "v_cvt_f32_f16", "f=h", widen },
    { "v_cvt_f32_ubyte0", "f=d", byte0 },
    { "v_cvt_f32_ubyte1", "f=d", byte1 },
    { "v_cvt_f32_ubyte2", "f=d", byte2 },
    { "v_cvt_f32_ubyte3", "f=d", byte3 },
    { "v_rcp_iflag_f32", "f=f", invert },
    { "v_trunc_f32", "f=f", truncate },
    { "v_ceil_f32", "f=f", upward },
    { "v_rndne_f32", "f=f", to_even },
    { "v_floor_f32", "f=f", downward },
    { "v_not_b32", "d=d", not_32 },
    { "v_bfrev_b32", "d=d", reverse },
    { "v_ffbh_u32", "d=d", find_high_u },
    { "v_ffbl_b32", "d=d", find_low_32 },
    { "v_ffbh_i32", "d=d", find_high_i },
    { "v_frexp_exp_i32_f32", "d=f", exponent },
    { "v_frexp_mant_f32", "f=f", significand },
    { "v_mov_b64", "q=q", same },
    { "v_cndmask_b32", "f=ffc", select_b },
    { "v_add_f32", "f=ff", add_f32 },
    { "v_sub_f32", "f=ff", sub_f32 },
    { "v_subrev_f32", "f=ff", subrev_f32 },
    { "v_mul_f32", "f=ff", mul_f32 },
    { "v_mul_i32_i24", "d=dd", mul_i24 },
    { "v_mul_hi_i32_i24", "d=dd", mul_hi_i24 },
    { "v_mul_u32_u24", "d=dd", mul_u24 },
    { "v_mul_hi_u32_u24", "d=dd", mul_hi_u24 },
    { "v_min_f32", "f=ff", min_f32 },
    { "v_max_f32", "f=ff", max_f32 },
    { "v_min_i32", "d=dd", min_i32 },
    { "v_max_i32", "d=dd", max_i32 },
    { "v_min_u32", "d=dd", min_u32 },
    { "v_max_u32", "d=dd", max_u32 },
    { "v_lshrrev_b32", "d=dd", right_by_32 },
    { "v_ashrrev_i32", "d=dd", right_signed_by_32 },
    { "v_lshlrev_b32", "d=dd", left_by_32 },
    { "v_and_b32", "d=dd", and_ },
    { "v_or_b32", "d=dd", or_ },
    { "v_xor_b32", "d=dd", xor_ },
    { "v_fmamk_f32", "f=fff", fma_f32 },
    { "v_fmaak_f32", "f=fff", fma_f32 },
    { "v_add_co_u32", "dc=dd", add_co },
    { "v_sub_co_u32", "dc=dd", sub_co },
    { "v_subrev_co_u32", "dc=dd", subrev_co },
    { "v_addc_co_u32", "dc=ddc", addc_co },
    { "v_subb_co_u32", "dc=ddc", subb_co },
    { "v_subbrev_co_u32", "dc=ddc", subbrev_co },
    { "v_add_f16", "h=hh", add_f16 },
    { "v_sub_f16", "h=hh", sub_f16 },
    { "v_subrev_f16", "h=hh", subrev_f16 },
    { "v_mul_f16", "h=hh", mul_f16 },
    { "v_add_u16", "w=ww", add_u16 },
    { "v_sub_u16", "w=ww", sub_u16 },
    { "v_subrev_u16", "w=ww", subrev_u16 },
    { "v_mul_lo_u16", "w=ww", mul_low },
    { "v_lshlrev_b16", "w=ww", left_by_16 },
    { "v_lshrrev_b16", "w=ww", right_by_16 },
    { "v_ashrrev_i16", "w=ww", right_signed_by_16 },
    { "v_max_u16", "w=ww", max_u16 },
    { "v_max_i16", "w=ww", max_i16 },
    { "v_min_u16", "w=ww", min_u16 },
    { "v_min_i16", "w=ww", min_i16 },
    { "v_add_u32", "d=dd", add },
    { "v_sub_u32", "d=dd", sub },
    { "v_subrev_u32", "d=dd", subrev },
    { "v_fmac_f32", "f=fff", fma_f32 },
    { "v_xnor_b32", "d=dd", xnor },
    { "v_cmp_class_f32", "c=fd", class_f32 },
    { "v_mad_i32_i24", "d=ddd", mad_i24 },
    { "v_mad_u32_u24", "d=ddd", mad_u24 },
    { "v_bfe_u32", "d=ddd", field_u },
    { "v_bfe_i32", "d=ddd", field_i },
    { "v_bfi_b32", "d=ddd", insert },
    { "v_fma_f32", "f=fff", fma_f32 },
    { "v_alignbit_b32", "d=ddd", align_bit },
    { "v_alignbyte_b32", "d=ddd", align_byte },
    { "v_min3_i32", "d=ddd", min3_i32 },
    { "v_min3_u32", "d=ddd", min3_u32 },
    { "v_max3_i32", "d=ddd", max3_i32 },
    { "v_max3_u32", "d=ddd", max3_u32 },
    { "v_med3_f32", "f=fff", med3_f32 },
    { "v_mad_u64_u32", "qc=ddq", mad_u64 },
    { "v_mad_i64_i32", "qc=ddq", mad_i64 },
    { "v_perm_b32", "d=ddd", perm },
    { "v_mad_u32_u16", "d=wwd", mad_u16 },
    { "v_xad_u32", "d=ddd", xor_add },
    { "v_lshl_add_u32", "d=ddd", shift_add },
    { "v_add_lshl_u32", "d=ddd", add_shift },
    { "v_add3_u32", "d=ddd", add3 },
    { "v_lshl_or_b32", "d=ddd", shift_or },
    { "v_and_or_b32", "d=ddd", and_or },
    { "v_or3_b32", "d=ddd", or3 },
    { "v_fma_f16", "h=hhh", fma_f16 },
    { "v_lshl_add_u64", "q=qdq", shift_add_64 },
    { "v_mul_lo_u32", "d=dd", mul_low },
    { "v_mul_hi_u32", "d=dd", mul_hi_u },
    { "v_mul_hi_i32", "d=dd", mul_hi_i },
    { "v_ldexp_f32", "f=fd", ldexp_f32 },
    { "v_bcnt_u32_b32", "d=dd", count_add },
    { "v_mbcnt_lo_u32_b32", "d=dd", below_low },
    { "v_mbcnt_hi_u32_b32", "d=dd", below_high },
    { "v_lshlrev_b64", "q=dq", left_by_64 },
    { "v_lshrrev_b64", "q=dq", right_by_64 },
    { "v_ashrrev_i64", "q=dq", right_signed_by_64 },
    { "v_bfm_b32", "d=dd", mask },
    { "v_cvt_pkrtz_f16_f32", "d=ff", pkrtz },
    { "v_pack_b32_f16", "d=hh", pack },

    { "s_add_u32", "dc=dd", add_co },
    { "s_sub_u32", "dc=dd", sub_co },
    { "s_add_i32", "dc=dd", s_add_i32 },
    { "s_sub_i32", "dc=dd", s_sub_i32 },
    { "s_addc_u32", "dc=ddc", addc_co },
    { "s_subb_u32", "dc=ddc", subb_co },
    { "s_min_i32", "dc=dd", s_min_i32 },
    { "s_min_u32", "dc=dd", s_min_u32 },
    { "s_max_i32", "dc=dd", s_max_i32 },
    { "s_max_u32", "dc=dd", s_max_u32 },
    { "s_cselect_b32", "d=ddc", s_select },
    { "s_cselect_b64", "q=qqc", s_select },
    { "s_and_b32", "dc=dd", s_and },
    { "s_and_b64", "qc=qq", s_and },
    { "s_or_b32", "dc=dd", s_or },
    { "s_or_b64", "qc=qq", s_or },
    { "s_xor_b32", "dc=dd", s_xor },
    { "s_xor_b64", "qc=qq", s_xor },
    { "s_andn2_b32", "dc=dd", s_andn2 },
    { "s_andn2_b64", "qc=qq", s_andn2 },
    { "s_orn2_b32", "dc=dd", s_orn2_32 },
    { "s_orn2_b64", "qc=qq", s_orn2_64 },
    { "s_nand_b32", "dc=dd", s_nand_32 },
    { "s_nand_b64", "qc=qq", s_nand_64 },
    { "s_nor_b32", "dc=dd", s_nor_32 },
    { "s_nor_b64", "qc=qq", s_nor_64 },
    { "s_xnor_b32", "dc=dd", s_xnor_32 },
    { "s_xnor_b64", "qc=qq", s_xnor_64 },
    { "s_lshl_b32", "dc=dd", s_left_32 },
    { "s_lshl_b64", "qc=qd", s_left_64 },
    { "s_lshr_b32", "dc=dd", s_right_32 },
    { "s_lshr_b64", "qc=qd", s_right_64 },
    { "s_ashr_i32", "dc=dd", s_right_signed_32 },
    { "s_ashr_i64", "qc=qd", s_right_signed_64 },
    { "s_bfm_b32", "d=dd", mask },
    { "s_bfm_b64", "q=dd", s_mask_64 },
    { "s_mul_i32", "d=dd", mul_low },
    { "s_bfe_u32", "dc=dd", s_field_u32 },
    { "s_bfe_i32", "dc=dd", s_field_i32 },
    { "s_bfe_u64", "qc=qd", s_field_u64 },
    { "s_mul_hi_u32", "d=dd", mul_hi_u },
    { "s_mul_hi_i32", "d=dd", mul_hi_i },
    { "s_lshl1_add_u32", "dc=dd", s_shift1_add },
    { "s_lshl2_add_u32", "dc=dd", s_shift2_add },
    { "s_lshl3_add_u32", "dc=dd", s_shift3_add },
    { "s_lshl4_add_u32", "dc=dd", s_shift4_add },
    { "s_pack_ll_b32_b16", "d=dd", s_pack_ll },
    { "s_pack_lh_b32_b16", "d=dd", s_pack_lh },
    { "s_pack_hh_b32_b16", "d=dd", s_pack_hh },
    { "s_movk_i32", "d=dk", s_move_k },
    { "s_cmovk_i32", "d=dkc", s_move_if },
    { "s_cmpk_eq_i32", "c=dk", s_eq },
    { "s_cmpk_lg_i32", "c=dk", s_lg },
    { "s_cmpk_gt_i32", "c=dk", s_gt_i },
    { "s_cmpk_ge_i32", "c=dk", s_ge_i },
    { "s_cmpk_lt_i32", "c=dk", s_lt_i },
    { "s_cmpk_le_i32", "c=dk", s_le_i },
    { "s_cmpk_eq_u32", "c=du", s_eq },
    { "s_cmpk_lg_u32", "c=du", s_lg },
    { "s_cmpk_gt_u32", "c=du", s_gt_u },
    { "s_cmpk_ge_u32", "c=du", s_ge_u },
    { "s_cmpk_lt_u32", "c=du", s_lt_u },
    { "s_cmpk_le_u32", "c=du", s_le_u },
    { "s_addk_i32", "dc=dk", s_add_i32 },
    { "s_mulk_i32", "d=dk", mul_low },
    { "s_mov_b32", "d=d", same },
    { "s_mov_b64", "q=q", same },
    { "s_not_b32", "dc=d", s_not_32 },
    { "s_not_b64", "qc=q", s_not_64 },
    { "s_brev_b32", "d=d", reverse },
    { "s_bcnt1_i32_b32", "dc=d", s_count },
    { "s_bcnt1_i32_b64", "dc=q", s_count },
    { "s_ff1_i32_b32", "d=d", find_low_32 },
    { "s_ff1_i32_b64", "d=q", find_low_64 },
    { "s_flbit_i32_b32", "d=d", find_high_u },
    { "s_sext_i32_i8", "d=d", s_extend_8 },
    { "s_sext_i32_i16", "d=d", s_extend_16 },
    { "s_abs_i32", "dc=d", s_abs },
    { "s_cmp_eq_i32", "c=dd", s_eq },
    { "s_cmp_lg_i32", "c=dd", s_lg },
    { "s_cmp_gt_i32", "c=dd", s_gt_i },
    { "s_cmp_ge_i32", "c=dd", s_ge_i },
    { "s_cmp_lt_i32", "c=dd", s_lt_i },
    { "s_cmp_le_i32", "c=dd", s_le_i },
    { "s_cmp_eq_u32", "c=dd", s_eq },
    { "s_cmp_lg_u32", "c=dd", s_lg },
    { "s_cmp_gt_u32", "c=dd", s_gt_u },
    { "s_cmp_ge_u32", "c=dd", s_ge_u },
    { "s_cmp_lt_u32", "c=dd", s_lt_u },
    { "s_cmp_le_u32", "c=dd", s_le_u },
    { "s_bitcmp0_b32", "c=dd", s_bit0_32 },
    { "s_bitcmp1_b32", "c=dd", s_bit1_32 },
    { "s_bitcmp0_b64", "c=qd", s_bit0_64 },
    { "s_bitcmp1_b64", "c=qd", s_bit1_64 },
    { "s_cmp_eq_u64", "c=qq", s_eq },
    { "s_cmp_lg_u64", "c=qq", s_lg },
};
/* clang-format on */

const struct statement *statement_find(const char *name)
{
    for (size_t n = 0; n < sizeof statements / sizeof *statements; n++)
        if (!strcmp(statements[n].name, name)) return &statements[n];
    return NULL;
}
