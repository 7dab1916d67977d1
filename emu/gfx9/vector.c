/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector instructions of one or two dwords: VOP1, VOP2, VOPC and VOP3. */
#include "emu/gfx9/float.h"
#include "emu/gfx9/wave.h"

#include "lib/number/bits.h"

/* Lane l of operands a, b and c; `2` in a name means two dwords. */
#define A       (x->s[0][l])
#define B       (x->s[1][l])
#define C       (x->s[2][l])
#define PAIR(S) ((uint64_t)(S)[LANES + l] << 32 | (S)[l])
#define A2      PAIR(x->s[0])
#define B2      PAIR(x->s[1])
#define C2      PAIR(x->s[2])
/* The same for uninitialised bits. */
#define UA (x->unset[0][l])
#define UB (x->unset[1][l])
#define UC (x->unset[2][l])

#define INT(X)      ((int32_t)(X))
#define BITS24(X)   ((X)&0xffffff)
#define SIGNED24(X) ((int32_t)((X) << 8) >> 8)
#define IN          (x->in >> l & 1)

#define LANE(NAME, D)                                                                    \
    static void NAME(struct lanes *x) { FOR_LANES x->d[l] = (uint32_t)(D); }

/* Two dwords. */
#define LANE2(NAME, D)                                                                   \
    static void NAME(struct lanes *x)                                                    \
    {                                                                                    \
        FOR_LANES                                                                        \
        {                                                                                \
            const uint64_t d = (D);                                                      \
            x->d[l] = (uint32_t)d;                                                       \
            x->d[LANES + l] = (uint32_t)(d >> 32);                                       \
        }                                                                                \
    }

/* A result and a bit. */
#define CARRY(NAME, D, OUT)                                                              \
    static void NAME(struct lanes *x)                                                    \
    {                                                                                    \
        FOR_LANES                                                                        \
        {                                                                                \
            const uint64_t a = A, b = B, in = IN, d = (D);                               \
            (void)in;                                                                    \
            x->d[l] = (uint32_t)d;                                                       \
            x->out |= (uint64_t)((OUT) != 0) << l;                                       \
        }                                                                                \
    }

#define CONDITION(NAME, OUT)                                                             \
    static void NAME(struct lanes *x) { FOR_LANES x->out |= (uint64_t)((OUT) != 0) << l; }

/* clang-format off */

/* --- integers and bits ------------------------------------------------------------ */

LANE(mov_b32, A)
LANE(not_b32, ~A)
LANE(and_b32, A & B)
LANE(or_b32, A | B)
LANE(xor_b32, A ^ B)
LANE(xnor_b32, ~(A ^ B))
LANE(lshrrev_b32, B >> (A & 31))
LANE(ashrrev_i32, INT(B) >> (A & 31))
LANE(lshlrev_b32, B << (A & 31))
LANE(bfrev_b32, reversed(A))
LANE(ffbh_u32, A ? __builtin_clz(A) : -1)
LANE(ffbl_b32, A ? __builtin_ctz(A) : -1)
LANE(ffbh_i32, A == 0 || A == ~0u ? -1 : __builtin_clz(INT(A) < 0 ? ~A : A))
LANE(min_i32, INT(A) < INT(B) ? A : B)
LANE(max_i32, INT(A) > INT(B) ? A : B)
LANE(min_u32, A < B ? A : B)
LANE(max_u32, A > B ? A : B)
LANE(add_u32, A + B)
LANE(sub_u32, A - B)
LANE(subrev_u32, B - A)
LANE(mul_i32_i24, (int64_t)SIGNED24(A) * SIGNED24(B))
LANE(mul_hi_i32_i24, (int64_t)SIGNED24(A) * SIGNED24(B) >> 32)
LANE(mul_u32_u24, BITS24(A) * BITS24(B))
LANE(mul_hi_u32_u24, (uint64_t)BITS24(A) * BITS24(B) >> 32)
LANE(mul_lo_u32, A * B)
LANE(mul_hi_u32, (uint64_t)A * B >> 32)
LANE(mul_hi_i32, (int64_t)INT(A) * INT(B) >> 32)
LANE(mad_i32_i24, (int64_t)SIGNED24(A) * SIGNED24(B) + INT(C))
LANE(mad_u32_u24, BITS24(A) * BITS24(B) + C)
LANE(mad_u32_u16, (A & 0xffff) * (B & 0xffff) + C)
LANE(bfe_u32, C & 31 ? A >> (B & 31) & ((1u << (C & 31)) - 1) : 0)
LANE(bfe_i32, C & 31 ? INT(A >> (B & 31) << (32 - (C & 31))) >> (32 - (C & 31)) : 0)
LANE(bfi_b32, (A & B) | (~A & C))
LANE(bfm_b32, ((1u << (A & 31)) - 1) << (B & 31))
LANE(alignbit_b32, ((uint64_t)A << 32 | B) >> (C & 31))
LANE(alignbyte_b32, ((uint64_t)A << 32 | B) >> 8 * (C & 3))
LANE(perm_b32, permuted((uint64_t)A << 32 | B, C))
LANE(xad_u32, (A ^ B) + C)
LANE(lshl_add_u32, (A << (B & 31)) + C)
LANE(add_lshl_u32, (A + B) << (C & 31))
LANE(add3_u32, A + B + C)
LANE(lshl_or_b32, A << (B & 31) | C)
LANE(and_or_b32, (A & B) | C)
LANE(or3_b32, A | B | C)
LANE(min3_i32, INT(A) < INT(B) ? (INT(A) < INT(C) ? A : C) : INT(B) < INT(C) ? B : C)
LANE(max3_i32, INT(A) > INT(B) ? (INT(A) > INT(C) ? A : C) : INT(B) > INT(C) ? B : C)
LANE(min3_u32, A < B ? (A < C ? A : C) : B < C ? B : C)
LANE(max3_u32, A > B ? (A > C ? A : C) : B > C ? B : C)
LANE(bcnt_u32_b32, (uint32_t)__builtin_popcount(A) + B)
LANE(mbcnt_lo_u32_b32, B + (uint32_t)__builtin_popcount(l < 32 ? A & ((1u << l) - 1) : A))
LANE(mbcnt_hi_u32_b32, B + (l < 32 ? 0 : (uint32_t)__builtin_popcount(A & ((1u << (l - 32)) - 1))))
LANE(cndmask_b32, IN ? B : A)
LANE(pack_b32_f16, (A & 0xffff) | B << 16)
LANE(add_u16, (A + B) & 0xffff)
LANE(sub_u16, (A - B) & 0xffff)
LANE(subrev_u16, (B - A) & 0xffff)
LANE(mul_lo_u16, A * B & 0xffff)
LANE(lshlrev_b16, B << (A & 15) & 0xffff)
LANE(lshrrev_b16, (B & 0xffff) >> (A & 15))
LANE(ashrrev_i16, ((int16_t)B >> (A & 15)) & 0xffff)
LANE(max_u16, (A & 0xffff) > (B & 0xffff) ? A & 0xffff : B & 0xffff)
LANE(max_i16, ((int16_t)A > (int16_t)B ? A : B) & 0xffff)
LANE(min_u16, (A & 0xffff) < (B & 0xffff) ? A & 0xffff : B & 0xffff)
LANE(min_i16, ((int16_t)A < (int16_t)B ? A : B) & 0xffff)

LANE2(mov_b64, A2)
LANE2(lshlrev_b64, B2 << (A & 63))
LANE2(lshrrev_b64, B2 >> (A & 63))
LANE2(ashrrev_i64, (uint64_t)((int64_t)B2 >> (A & 63)))
LANE2(lshl_add_u64, (A2 << (B & 7)) + C2)

CARRY(add_co_u32, a + b, d >> 32)
CARRY(sub_co_u32, a - b, a < b)
CARRY(subrev_co_u32, b - a, b < a)
CARRY(addc_co_u32, a + b + in, d >> 32)
CARRY(subb_co_u32, a - b - in, a < b + in)
CARRY(subbrev_co_u32, b - a - in, b < a + in)

static void mad_u64_u32(struct lanes *x)
{
    FOR_LANES
    {
        const uint64_t product = (uint64_t)A * B, d = product + C2;
        x->d[l] = (uint32_t)d;
        x->d[LANES + l] = (uint32_t)(d >> 32);
        x->out |= (uint64_t)(d < product) << l;
    }
}

static void mad_i64_i32(struct lanes *x)
{
    FOR_LANES
    {
        const int64_t product = (int64_t)INT(A) * INT(B), c = (int64_t)C2;
        int64_t d;
        const bool over = __builtin_add_overflow(product, c, &d);
        x->d[l] = (uint32_t)d;
        x->d[LANES + l] = (uint32_t)((uint64_t)d >> 32);
        x->out |= (uint64_t)((d < 0) != over) << l; /* bit 64: the sign of the sum */
    }
}

/* --- floats ----------------------------------------------------------------------- */

LANE(add_f32, float_add(A, B))
LANE(sub_f32, float_add(A, B ^ FLOAT_SIGN))
LANE(subrev_f32, float_add(B, A ^ FLOAT_SIGN))
LANE(mul_f32, float_multiply(A, B))
LANE(fma_f32, float_fma(A, B, C))
LANE(min_f32, float_least(A, B))
LANE(max_f32, float_most(A, B))
LANE(med3_f32, float_middle(A, B, C))
LANE(ldexp_f32, float_scale(A, INT(B)))
LANE(rcp_iflag_f32, float_reciprocal(A))
LANE(trunc_f32, float_whole(A, TO_ZERO))
LANE(ceil_f32, float_whole(A, TO_POSITIVE))
LANE(floor_f32, float_whole(A, TO_NEGATIVE))
LANE(rndne_f32, float_whole(A, TO_NEAREST_EVEN))
LANE(frexp_exp_i32_f32, float_exponent(A))
LANE(frexp_mant_f32, float_significand(A))
LANE(cvt_f32_i32, bits_of_float((float)INT(A)))
LANE(cvt_f32_u32, bits_of_float((float)A))
LANE(cvt_u32_f32, float_to_unsigned(A))
LANE(cvt_i32_f32, float_to_signed(A))
LANE(cvt_f32_ubyte0, bits_of_float((float)(A & 255)))
LANE(cvt_f32_ubyte1, bits_of_float((float)(A >> 8 & 255)))
LANE(cvt_f32_ubyte2, bits_of_float((float)(A >> 16 & 255)))
LANE(cvt_f32_ubyte3, bits_of_float((float)(A >> 24)))
LANE(cvt_f16_f32, float_to_half(A, ROUND_RN))
LANE(cvt_f32_f16, float_of_half(A & 0xffff))
LANE(cvt_pkrtz_f16_f32, float_to_half(A, ROUND_RZ) | float_to_half(B, ROUND_RZ) << 16)
LANE(add_f16, half_fma(A, HALF_ONE, B))
LANE(sub_f16, half_fma(A, HALF_ONE, B ^ HALF_SIGN))
LANE(subrev_f16, half_fma(B, HALF_ONE, A ^ HALF_SIGN))
LANE(mul_f16, half_multiply(A, B))
LANE(fma_f16, half_fma(A, B, C))

/* --- conditions ------------------------------------------------------------------- */

#define ORDERED(TYPE, X, Y)                                                              \
    CONDITION(lt_##TYPE, X < Y) CONDITION(eq_##TYPE, X == Y)                             \
    CONDITION(le_##TYPE, X <= Y) CONDITION(gt_##TYPE, X > Y)                             \
    CONDITION(ge_##TYPE, X >= Y)
#define CONDITIONS(TYPE, X, Y) ORDERED(TYPE, X, Y) CONDITION(ne_##TYPE, X != Y)

CONDITION(never, 0)
CONDITION(always, 1)
CONDITIONS(i32, INT(A), INT(B))
CONDITIONS(u32, A, B)
CONDITIONS(i16, (int16_t)A, (int16_t)B)
CONDITIONS(u16, (uint16_t)A, (uint16_t)B)
CONDITIONS(i64, (int64_t)A2, (int64_t)B2)
CONDITIONS(u64, A2, B2)
ORDERED(f32, float_of_bits(A), float_of_bits(B))
ORDERED(f16, half_value(A), half_value(B))

/* For floats also the result for NaNs. */
#define UNORDERED(TYPE, X, Y)                                                            \
    CONDITION(lg_##TYPE, X < Y || X > Y) CONDITION(o_##TYPE, X == X && Y == Y)           \
    CONDITION(u_##TYPE, !(X == X && Y == Y)) CONDITION(nge_##TYPE, !(X >= Y))            \
    CONDITION(nlg_##TYPE, !(X < Y || X > Y)) CONDITION(ngt_##TYPE, !(X > Y))             \
    CONDITION(nle_##TYPE, !(X <= Y)) CONDITION(neq_##TYPE, !(X == Y))                    \
    CONDITION(nlt_##TYPE, !(X < Y))

UNORDERED(f32, float_of_bits(A), float_of_bits(B))
UNORDERED(f16, half_value(A), half_value(B))
CONDITION(class_f32, B >> float_class(A) & 1)

/* --- bits that are not set -------------------------------------------------------- */

LANE(mov_unset, UA)
LANE(either_unset, UA | UB)
LANE(and_unset, (UA | UB) & (A | UA) & (B | UB))
LANE(or_unset, (UA | UB) & (~A | UA) & (~B | UB))
LANE(lshlrev_unset, UA ? ~0u : UB << (A & 31))
LANE(lshrrev_unset, UA ? ~0u : UB >> (A & 31))
LANE(ashrrev_unset, UA ? -1 : INT(UB) >> (A & 31))
LANE(bfe_u32_unset, UB | UC ? ~0u : C & 31 ? UA >> (B & 31) & ((1u << (C & 31)) - 1) : 0)
LANE(bfi_unset, UA ? ~0u : (A & UB) | (~A & UC))
LANE(alignbit_unset, UC ? ~0u : (uint32_t)(((uint64_t)UA << 32 | UB) >> (C & 31)))
LANE(alignbyte_unset, UC ? ~0u : (uint32_t)(((uint64_t)UA << 32 | UB) >> 8 * (C & 3)))
LANE(perm_unset, UC ? ~0u : permuted_from((uint64_t)UA << 32 | UB, C))
LANE(lshl_or_unset, UB ? ~0u : (UA << (B & 31) | UC) & (~(A << (B & 31)) | UA << (B & 31)) & (~C | UC))
LANE(and_or_unset, (((UA | UB) & (A | UA) & (B | UB)) | UC) & (~(A & B) | UA | UB) & (~C | UC))
LANE(or3_unset, (UA | UB | UC) & (~A | UA) & (~B | UB) & (~C | UC))
LANE(cndmask_unset, IN ? UB : UA)
LANE(pack_unset, (UA & 0xffff) | UB << 16)
/* An uninitialised upper half of the third operand does not make the lower half of the
   result uninitialised: compilers leave the upper half as it was if they need only 32
   bits of the product. */
LANE2(mad_u64_u32_unset, UA | UB | UC                  ? ~0ull
                         : x->unset[2][LANES + l] ? ~0ull << 32
                                                  : 0)
LANE2(mov_b64_unset, (uint64_t)x->unset[0][LANES + l] << 32 | UA)

/* --- the table -------------------------------------------------------------------- */

#define NAMED(E, N, NAME, FUNCTION, D, S0, S1, S2, ...)                                  \
    { .encoding = E, .number = N, .name = NAME, .act = act_vector, .lanes = FUNCTION,    \
      .d = D, .s = { S0, S1, S2 }, __VA_ARGS__ }
#define ROW(E, N, NAME, D, S0, S1, S2, ...)                                              \
    NAMED(E, N, "v_" #NAME, NAME, D, S0, S1, S2, __VA_ARGS__)
#define ONE(E, N, NAME, ...) ROW(E, N, NAME, 1, 1, 0, 0, __VA_ARGS__)
#define TWO(E, N, NAME, ...) ROW(E, N, NAME, 1, 1, 1, 0, __VA_ARGS__)
#define THREE(E, N, NAME, ...) ROW(E, N, NAME, 1, 1, 1, 1, __VA_ARGS__)
#define FROM(NAME) .shadow = NAME##_unset
#define F32 .float_bits = 32
#define F16 .float_bits = 16

/* Comparisons: eight for integers, sixteen for floats, and the same with exec as
   destination. */
#define COMPARED(N, NAME, FUNCTION, WORDS, BITS, MORE)                                   \
    { .encoding = VOPC, .number = N, .name = NAME, .act = act_vector, .lanes = FUNCTION, \
      .s = { WORDS, WORDS }, .float_bits = BITS, .more = COMPARES | (MORE) }
#define INTEGERS_(N, CMP, TYPE, WORDS, MORE)                                             \
    COMPARED(N,     CMP "f_"  #TYPE, never,     WORDS, 0, MORE),                         \
    COMPARED(N + 1, CMP "lt_" #TYPE, lt_##TYPE, WORDS, 0, MORE),                         \
    COMPARED(N + 2, CMP "eq_" #TYPE, eq_##TYPE, WORDS, 0, MORE),                         \
    COMPARED(N + 3, CMP "le_" #TYPE, le_##TYPE, WORDS, 0, MORE),                         \
    COMPARED(N + 4, CMP "gt_" #TYPE, gt_##TYPE, WORDS, 0, MORE),                         \
    COMPARED(N + 5, CMP "ne_" #TYPE, ne_##TYPE, WORDS, 0, MORE),                         \
    COMPARED(N + 6, CMP "ge_" #TYPE, ge_##TYPE, WORDS, 0, MORE),                         \
    COMPARED(N + 7, CMP "t_"  #TYPE, always,    WORDS, 0, MORE)
#define INTEGERS(N, TYPE, WORDS)                                                         \
    INTEGERS_(N, "v_cmp_", TYPE, WORDS, 0),                                              \
    INTEGERS_(N + 0x10, "v_cmpx_", TYPE, WORDS, SETS_EXEC)
#define FLOATS_(N, CMP, TYPE, BITS, MORE)                                                \
    COMPARED(N,      CMP "f_"   #TYPE, never,      1, BITS, MORE),                       \
    COMPARED(N + 1,  CMP "lt_"  #TYPE, lt_##TYPE,  1, BITS, MORE),                       \
    COMPARED(N + 2,  CMP "eq_"  #TYPE, eq_##TYPE,  1, BITS, MORE),                       \
    COMPARED(N + 3,  CMP "le_"  #TYPE, le_##TYPE,  1, BITS, MORE),                       \
    COMPARED(N + 4,  CMP "gt_"  #TYPE, gt_##TYPE,  1, BITS, MORE),                       \
    COMPARED(N + 5,  CMP "lg_"  #TYPE, lg_##TYPE,  1, BITS, MORE),                       \
    COMPARED(N + 6,  CMP "ge_"  #TYPE, ge_##TYPE,  1, BITS, MORE),                       \
    COMPARED(N + 7,  CMP "o_"   #TYPE, o_##TYPE,   1, BITS, MORE),                       \
    COMPARED(N + 8,  CMP "u_"   #TYPE, u_##TYPE,   1, BITS, MORE),                       \
    COMPARED(N + 9,  CMP "nge_" #TYPE, nge_##TYPE, 1, BITS, MORE),                       \
    COMPARED(N + 10, CMP "nlg_" #TYPE, nlg_##TYPE, 1, BITS, MORE),                       \
    COMPARED(N + 11, CMP "ngt_" #TYPE, ngt_##TYPE, 1, BITS, MORE),                       \
    COMPARED(N + 12, CMP "nle_" #TYPE, nle_##TYPE, 1, BITS, MORE),                       \
    COMPARED(N + 13, CMP "neq_" #TYPE, neq_##TYPE, 1, BITS, MORE),                       \
    COMPARED(N + 14, CMP "nlt_" #TYPE, nlt_##TYPE, 1, BITS, MORE),                       \
    COMPARED(N + 15, CMP "tru_" #TYPE, always,     1, BITS, MORE)
#define FLOATS(N, TYPE, BITS)                                                            \
    FLOATS_(N, "v_cmp_", TYPE, BITS, 0), FLOATS_(N + 0x10, "v_cmpx_", TYPE, BITS, SETS_EXEC)

const struct opcode gfx9_vector[] = {
    { .encoding = VOP1, .number = 0, .name = "v_nop", .act = act_vector, .lanes = never },
    ONE(VOP1, 1,  mov_b32,      FROM(mov)),
    { .encoding = VOP1, .number = 2, .name = "v_readfirstlane_b32",
      .act = act_first_lane, .kinds = "s=x", .d = 1, .s = { 1 } },
    ONE(VOP1, 5,  cvt_f32_i32),
    ONE(VOP1, 6,  cvt_f32_u32),
    ONE(VOP1, 7,  cvt_u32_f32,  F32),
    ONE(VOP1, 8,  cvt_i32_f32,  F32),
    ONE(VOP1, 10, cvt_f16_f32,  F32),
    ONE(VOP1, 11, cvt_f32_f16,  F16),
    ONE(VOP1, 17, cvt_f32_ubyte0),
    ONE(VOP1, 18, cvt_f32_ubyte1),
    ONE(VOP1, 19, cvt_f32_ubyte2),
    ONE(VOP1, 20, cvt_f32_ubyte3),
    ONE(VOP1, 28, trunc_f32,    F32),
    ONE(VOP1, 29, ceil_f32,     F32),
    ONE(VOP1, 30, rndne_f32,    F32),
    ONE(VOP1, 31, floor_f32,    F32),
    ONE(VOP1, 35, rcp_iflag_f32, F32),
    ONE(VOP1, 43, not_b32,      FROM(mov)),
    ONE(VOP1, 44, bfrev_b32),
    ONE(VOP1, 45, ffbh_u32),
    ONE(VOP1, 46, ffbl_b32),
    ONE(VOP1, 47, ffbh_i32),
    ONE(VOP1, 51, frexp_exp_i32_f32, F32),
    ONE(VOP1, 52, frexp_mant_f32,    F32),
    ROW(VOP1, 56, mov_b64, 2, 2, 0, 0, FROM(mov_b64), .targets = TARGET_GFX942),
    { .encoding = VOP1, .number = 82, .name = "v_accvgpr_mov_b32", .act = act_accumulator,
      .kinds = "v=v", .d = 1, .s = { 1 }, .more = 2, .targets = TARGET_GFX90A | TARGET_GFX942 },

    TWO(VOP2, 0,  cndmask_b32,  FROM(cndmask), .float_bits = 32, .more = TAKES_CARRY),
    TWO(VOP2, 1,  add_f32,      F32),
    TWO(VOP2, 2,  sub_f32,      F32),
    TWO(VOP2, 3,  subrev_f32,   F32),
    TWO(VOP2, 5,  mul_f32,      F32),
    TWO(VOP2, 6,  mul_i32_i24),
    TWO(VOP2, 7,  mul_hi_i32_i24),
    TWO(VOP2, 8,  mul_u32_u24),
    TWO(VOP2, 9,  mul_hi_u32_u24),
    TWO(VOP2, 10, min_f32,      F32),
    TWO(VOP2, 11, max_f32,      F32),
    TWO(VOP2, 12, min_i32),
    TWO(VOP2, 13, max_i32),
    TWO(VOP2, 14, min_u32),
    TWO(VOP2, 15, max_u32),
    TWO(VOP2, 16, lshrrev_b32,  FROM(lshrrev)),
    TWO(VOP2, 17, ashrrev_i32,  FROM(ashrrev)),
    TWO(VOP2, 18, lshlrev_b32,  FROM(lshlrev)),
    TWO(VOP2, 19, and_b32,      FROM(and)),
    TWO(VOP2, 20, or_b32,       FROM(or)),
    TWO(VOP2, 21, xor_b32,      FROM(either)),
    NAMED(VOP2, 23, "v_fmamk_f32", fma_f32, 1, 1, 1, 1, F32, .targets = TARGET_GFX942),
    NAMED(VOP2, 24, "v_fmaak_f32", fma_f32, 1, 1, 1, 1, F32, .targets = TARGET_GFX942),
    TWO(VOP2, 25, add_co_u32,   .more = GIVES_CARRY),
    TWO(VOP2, 26, sub_co_u32,   .more = GIVES_CARRY),
    TWO(VOP2, 27, subrev_co_u32, .more = GIVES_CARRY),
    TWO(VOP2, 28, addc_co_u32,  .more = GIVES_CARRY | TAKES_CARRY),
    TWO(VOP2, 29, subb_co_u32,  .more = GIVES_CARRY | TAKES_CARRY),
    TWO(VOP2, 30, subbrev_co_u32, .more = GIVES_CARRY | TAKES_CARRY),
    TWO(VOP2, 31, add_f16,      F16),
    TWO(VOP2, 32, sub_f16,      F16),
    TWO(VOP2, 33, subrev_f16,   F16),
    TWO(VOP2, 34, mul_f16,      F16),
    TWO(VOP2, 38, add_u16,      .more = HALVES),
    TWO(VOP2, 39, sub_u16,      .more = HALVES),
    TWO(VOP2, 40, subrev_u16,   .more = HALVES),
    TWO(VOP2, 41, mul_lo_u16,   .more = HALVES),
    TWO(VOP2, 42, lshlrev_b16,  .more = HALVES),
    TWO(VOP2, 43, lshrrev_b16,  .more = HALVES),
    TWO(VOP2, 44, ashrrev_i16,  .more = HALVES),
    TWO(VOP2, 47, max_u16,      .more = HALVES),
    TWO(VOP2, 48, max_i16,      .more = HALVES),
    TWO(VOP2, 49, min_u16,      .more = HALVES),
    TWO(VOP2, 50, min_i16,      .more = HALVES),
    TWO(VOP2, 52, add_u32),
    TWO(VOP2, 53, sub_u32),
    TWO(VOP2, 54, subrev_u32),
    NAMED(VOP2, 59, "v_fmac_f32", fma_f32, 1, 1, 1, 1, F32),
    TWO(VOP2, 61, xnor_b32,     FROM(either)),

    NAMED(VOPC, 0x10, "v_cmp_class_f32", class_f32, 0, 1, 1, 0, .more = COMPARES),
    FLOATS(0x20, f16, 16),
    FLOATS(0x40, f32, 32),
    INTEGERS(0xa0, i16, 1),
    INTEGERS(0xa8, u16, 1),
    INTEGERS(0xc0, i32, 1),
    INTEGERS(0xc8, u32, 1),
    INTEGERS(0xe0, i64, 2),
    INTEGERS(0xe8, u64, 2),

    THREE(VOP3, 0x1c2, mad_i32_i24),
    THREE(VOP3, 0x1c3, mad_u32_u24),
    THREE(VOP3, 0x1c8, bfe_u32,      FROM(bfe_u32)),
    THREE(VOP3, 0x1c9, bfe_i32),
    THREE(VOP3, 0x1ca, bfi_b32,      FROM(bfi)),
    THREE(VOP3, 0x1cb, fma_f32,      F32),
    THREE(VOP3, 0x1ce, alignbit_b32, FROM(alignbit)),
    THREE(VOP3, 0x1cf, alignbyte_b32, FROM(alignbyte)),
    THREE(VOP3, 0x1d1, min3_i32),
    THREE(VOP3, 0x1d2, min3_u32),
    THREE(VOP3, 0x1d4, max3_i32),
    THREE(VOP3, 0x1d5, max3_u32),
    THREE(VOP3, 0x1d6, med3_f32,     F32),
    ROW(VOP3, 0x1e8, mad_u64_u32, 2, 1, 1, 2, FROM(mad_u64_u32), .more = GIVES_CARRY),
    ROW(VOP3, 0x1e9, mad_i64_i32, 2, 1, 1, 2, .more = GIVES_CARRY),
    THREE(VOP3, 0x1ed, perm_b32,     FROM(perm)),
    THREE(VOP3, 0x1f1, mad_u32_u16,  .more = HALVES),
    THREE(VOP3, 0x1f3, xad_u32),
    THREE(VOP3, 0x1fd, lshl_add_u32),
    THREE(VOP3, 0x1fe, add_lshl_u32),
    THREE(VOP3, 0x1ff, add3_u32),
    THREE(VOP3, 0x200, lshl_or_b32,  FROM(lshl_or)),
    THREE(VOP3, 0x201, and_or_b32,   FROM(and_or)),
    THREE(VOP3, 0x202, or3_b32,      FROM(or3)),
    THREE(VOP3, 0x206, fma_f16,      F16),
    ROW(VOP3, 0x208, lshl_add_u64, 2, 2, 1, 2, .targets = TARGET_GFX942),
    TWO(VOP3, 0x285, mul_lo_u32),
    TWO(VOP3, 0x286, mul_hi_u32),
    TWO(VOP3, 0x287, mul_hi_i32),
    TWO(VOP3, 0x288, ldexp_f32,      F32),
    { .encoding = VOP3, .number = 0x289, .name = "v_readlane_b32", .act = act_read_lane,
      .kinds = "s=xs", .d = 1, .s = { 1, 1 } },
    { .encoding = VOP3, .number = 0x28a, .name = "v_writelane_b32", .act = act_write_lane,
      .kinds = "v=ss", .d = 1, .s = { 1, 1 } },
    TWO(VOP3, 0x28b, bcnt_u32_b32),
    TWO(VOP3, 0x28c, mbcnt_lo_u32_b32),
    TWO(VOP3, 0x28d, mbcnt_hi_u32_b32),
    ROW(VOP3, 0x28f, lshlrev_b64, 2, 1, 2, 0),
    ROW(VOP3, 0x290, lshrrev_b64, 2, 1, 2, 0),
    ROW(VOP3, 0x291, ashrrev_i64, 2, 1, 2, 0),
    TWO(VOP3, 0x293, bfm_b32),
    TWO(VOP3, 0x296, cvt_pkrtz_f16_f32, F32),
    TWO(VOP3, 0x2a0, pack_b32_f16,   F16, FROM(pack)),
    { 0 }
};
