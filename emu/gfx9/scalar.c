/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar instructions: arithmetic, branches, waits, loads of scalars. */
#include "emu/gfx9/float.h"
#include "emu/gfx9/wave.h"

#include <string.h>

/* --- arithmetic ------------------------------------------------------------------- */

/* A scalar instruction with operands a and b, and c, the old value of scc; it sets scc,
   or leaves it unchanged. */
#define SCALAR(NAME, D, CONDITION)                                                       \
    static void NAME(struct scalars *x)                                                  \
    {                                                                                    \
        const uint64_t a = x->s[0], b = x->s[1];                                         \
        const bool c = x->scc;                                                           \
        (void)a, (void)b, (void)c;                                                       \
        const uint64_t d = x->d = (D);                                                   \
        (void)d;                                                                         \
        x->scc = (CONDITION);                                                            \
        x->sets_scc = true;                                                              \
    }
#define LEAVING(NAME, D)                                                                 \
    static void NAME(struct scalars *x)                                                  \
    {                                                                                    \
        const uint64_t a = x->s[0], b = x->s[1];                                         \
        const bool c = x->scc;                                                           \
        (void)a, (void)b, (void)c;                                                       \
        x->d = (D);                                                                      \
    }

#define LOW(X)  ((uint32_t)(X))
#define INT(X)  ((int32_t)(uint32_t)(X))
#define WIDE(X) ((int64_t)INT(X))
#define FITS(X) ((X) == INT(X))

/* A bit field: one operand has its first bit and its width. */
static uint64_t field_of(uint64_t x, uint64_t where, int width)
{
    const unsigned least = where & (unsigned)(width - 1), bits = where >> 16 & 127;
    if (bits == 0) return 0;
    x >>= least;
    return bits >= 64 ? x : x & ((1ull << bits) - 1);
}

static uint64_t signed_field_of(uint64_t x, uint64_t where)
{
    const unsigned least = where & 31, bits = where >> 16 & 127;
    if (bits == 0) return 0;
    const int32_t from = INT(x) >> least;
    return bits >= 32 ? LOW(from) : LOW(INT(LOW(from) << (32 - bits)) >> (32 - bits));
}

/* clang-format off */
SCALAR(s_add_u32, a + b, d >> 32)
SCALAR(s_sub_u32, a - b, a < b)
SCALAR(s_add_i32, LOW(a + b), !FITS(WIDE(a) + WIDE(b)))
SCALAR(s_sub_i32, LOW(a - b), !FITS(WIDE(a) - WIDE(b)))
SCALAR(s_addc_u32, a + b + c, d >> 32)
SCALAR(s_subb_u32, a - b - c, a < b + c)
SCALAR(s_min_i32, INT(a) < INT(b) ? a : b, INT(a) < INT(b))
SCALAR(s_min_u32, a < b ? a : b, a < b)
SCALAR(s_max_i32, INT(a) >= INT(b) ? a : b, INT(a) >= INT(b))
SCALAR(s_max_u32, a >= b ? a : b, a >= b)
LEAVING(s_cselect, c ? a : b)
SCALAR(s_and, a & b, d != 0)
SCALAR(s_or, a | b, d != 0)
SCALAR(s_xor, a ^ b, d != 0)
SCALAR(s_andn2, a & ~b, d != 0)
SCALAR(s_orn2_b32, LOW(a | ~b), d != 0)
SCALAR(s_orn2_b64, a | ~b, d != 0)
SCALAR(s_nand_b32, LOW(~(a & b)), d != 0)
SCALAR(s_nand_b64, ~(a & b), d != 0)
SCALAR(s_nor_b32, LOW(~(a | b)), d != 0)
SCALAR(s_nor_b64, ~(a | b), d != 0)
SCALAR(s_xnor_b32, LOW(~(a ^ b)), d != 0)
SCALAR(s_xnor_b64, ~(a ^ b), d != 0)
SCALAR(s_lshl_b32, LOW(a << (b & 31)), d != 0)
SCALAR(s_lshl_b64, a << (b & 63), d != 0)
SCALAR(s_lshr_b32, a >> (b & 31), d != 0)
SCALAR(s_lshr_b64, a >> (b & 63), d != 0)
SCALAR(s_ashr_i32, LOW(INT(a) >> (b & 31)), d != 0)
SCALAR(s_ashr_i64, (uint64_t)((int64_t)a >> (b & 63)), d != 0)
LEAVING(s_bfm_b32, LOW(((1ull << (a & 31)) - 1) << (b & 31)))
LEAVING(s_bfm_b64, ((1ull << (a & 63)) - 1) << (b & 63))
LEAVING(s_mul_i32, LOW(a * b))
SCALAR(s_bfe_u32, field_of(a, b, 32), d != 0)
SCALAR(s_bfe_i32, signed_field_of(a, b), d != 0)
SCALAR(s_bfe_u64, field_of(a, b, 64), d != 0)
LEAVING(s_mul_hi_u32, a * b >> 32)
LEAVING(s_mul_hi_i32, LOW((uint64_t)(WIDE(a) * WIDE(b)) >> 32))
SCALAR(s_lshl1_add_u32, (a << 1) + b, d >> 32 != 0)
SCALAR(s_lshl2_add_u32, (a << 2) + b, d >> 32 != 0)
SCALAR(s_lshl3_add_u32, (a << 3) + b, d >> 32 != 0)
SCALAR(s_lshl4_add_u32, (a << 4) + b, d >> 32 != 0)
LEAVING(s_pack_ll_b32_b16, (a & 0xffff) | LOW(b << 16))
LEAVING(s_pack_lh_b32_b16, (a & 0xffff) | (b & 0xffff0000))
LEAVING(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000))

LEAVING(s_mov, a)
SCALAR(s_not_b32, LOW(~a), d != 0)
SCALAR(s_not_b64, ~a, d != 0)
LEAVING(s_brev_b32, reversed(LOW(a)))
SCALAR(s_bcnt1_i32_b32, (uint64_t)__builtin_popcountll(a), d != 0)
LEAVING(s_ff1_i32_b32, a ? (uint64_t)__builtin_ctzll(a) : LOW(-1))
LEAVING(s_flbit_i32_b32, a ? (uint64_t)__builtin_clzll(a) - 32 : LOW(-1))
LEAVING(s_sext_i32_i8, LOW((int8_t)a))
LEAVING(s_sext_i32_i16, LOW((int16_t)a))
SCALAR(s_abs_i32, INT(a) < 0 ? LOW(0 - a) : a, d != 0)

SCALAR(s_cmp_eq, 0, a == b)
SCALAR(s_cmp_lg, 0, a != b)
SCALAR(s_cmp_gt_i32, 0, INT(a) > INT(b))
SCALAR(s_cmp_ge_i32, 0, INT(a) >= INT(b))
SCALAR(s_cmp_lt_i32, 0, INT(a) < INT(b))
SCALAR(s_cmp_le_i32, 0, INT(a) <= INT(b))
SCALAR(s_cmp_gt_u32, 0, a > b)
SCALAR(s_cmp_ge_u32, 0, a >= b)
SCALAR(s_cmp_lt_u32, 0, a < b)
SCALAR(s_cmp_le_u32, 0, a <= b)
SCALAR(s_bitcmp0_b32, 0, !(a >> (b & 31) & 1))
SCALAR(s_bitcmp1_b32, 0, a >> (b & 31) & 1)
SCALAR(s_bitcmp0_b64, 0, !(a >> (b & 63) & 1))
SCALAR(s_bitcmp1_b64, 0, a >> (b & 63) & 1)

LEAVING(s_movk_i32, b)
LEAVING(s_cmovk_i32, c ? b : a)
SCALAR(s_addk_i32, LOW(a + b), !FITS(WIDE(a) + WIDE(b)))
LEAVING(s_mulk_i32, LOW(a * b))
/* clang-format on */

/* A row's `more`: scc is an operand; the constant of SOPK is unsigned. */
enum { USES_SCC = 1, UNSIGNED_K = 2 };

/* Read the operands: registers and constants; for SOPK the result's register and a
   constant of 16 bits. */
static void read_scalars(struct scalars *x, struct wave *w, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    for (int n = 0; n < 2; n++)
        if (row->s[n] == 1) x->s[n] = scalar_read(w, i, i->s[n]);
        else if (row->s[n] == 2) x->s[n] = scalar_read_pair(w, i, i->s[n]);
    if (row->encoding != SOPK) return;
    const int16_t k = (int16_t)i->word[0];
    x->s[1] = row->more & UNSIGNED_K ? (uint16_t)k : LOW(k);
}

static bool reads_unset(const struct wave *w, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    return scalar_unset(w, i->s[0], row->s[0]) || scalar_unset(w, i->s[1], row->s[1]) ||
           (row->more & USES_SCC && w->unset_scc);
}

void act_scalar(struct wave *w, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    struct scalars x = { .scc = w->scc };
    read_scalars(&x, w, i);
    const bool unset = reads_unset(w, i);
    row->scalars(&x);
    if (row->d == 1) scalar_write(w, i, i->d, LOW(x.d));
    if (row->d == 2) scalar_write_pair(w, i, i->d, x.d);
    if (unset && row->d && (i->d == SGPR_EXEC || i->d == SGPR_EXEC + 1))
        wave_fail(w, i, "the exec mask is not initialised");
    scalar_unset_write(w, i->d, row->d, unset);
    w->scc = x.scc;
    if (x.sets_scc) w->unset_scc = unset;
}

/* Combine exec with an operand; the result is the old value of exec. */
static void save_exec(struct wave *w, const struct instruction *i)
{
    const uint64_t was = w->exec, x = scalar_read_pair(w, i, i->s[0]);
    if (scalar_unset(w, i->s[0], 2)) wave_fail(w, i, "the exec mask is not initialised");
    switch (i->opcode->more) {
    case 0: w->exec = x & was; break;
    case 1: w->exec = x | was; break;
    case 2: w->exec = x ^ was; break;
    case 3: w->exec = x & ~was; break;
    case 4: w->exec = x | ~was; break;
    default: w->exec = ~x & was; break; /* s_andn1 */
    }
    scalar_write_pair(w, i, i->d, was);
    scalar_unset_write(w, i->d, 2, false);
    w->scc = w->exec != 0;
    w->unset_scc = false;
}

/* The address of the next instruction, to which code adds the distance of constants. */
static void get_pc(struct wave *w, const struct instruction *i)
{
    scalar_write_pair(w, i, i->d, ADDRESS_CODE + w->pc);
    scalar_unset_write(w, i->d, 2, false);
}

/* --- control ---------------------------------------------------------------------- */

enum branch { ALWAYS, SCC0, SCC1, VCCZ, VCCNZ, EXECZ, EXECNZ };

static bool taken(const struct wave *w, enum branch on)
{
    switch (on) {
    case SCC0: return !w->scc;
    case SCC1: return w->scc;
    case VCCZ: return wave_vcc(w) == 0;
    case VCCNZ: return wave_vcc(w) != 0;
    case EXECZ: return w->exec == 0;
    case EXECNZ: return w->exec != 0;
    default: return true;
    }
}

static void branch(struct wave *w, const struct instruction *i)
{
    const enum branch on = (enum branch)i->opcode->more;
    w->group->counts.branches++;
    if (((on == SCC0 || on == SCC1) && w->unset_scc) ||
        ((on == VCCZ || on == VCCNZ) && scalar_unset(w, SGPR_VCC, 2)))
        wave_fail(w, i, "the branch condition is not initialised");
    if ((on == VCCZ || on == VCCNZ) && !scalar_ready(w, i, SGPR_VCC, 2)) return;
    if (taken(w, on)) w->pc += (uint64_t)(4 * (int64_t)(int16_t)i->word[0]);
}

static void end(struct wave *w, const struct instruction *i)
{
    (void)i;
    w->ended = true;
}

static void barrier(struct wave *w, const struct instruction *i)
{
    (void)i;
    w->waiting = true;
    w->group->counts.barriers++;
}

/* Wait until at most these numbers of accesses are pending: vmcnt (bits 3:0, 15:14) and
   lgkmcnt (11:8). */
static void wait_count(struct wave *w, const struct instruction *i)
{
    const uint32_t x = i->word[0];
    w->group->counts.waits++;
    wave_wait(w, COUNT_VM, (int)((x & 15) | (x >> 14 & 3) << 4));
    wave_wait(w, COUNT_LGKM, (int)(x >> 8 & 15));
}

static void nothing(struct wave *w, const struct instruction *i) { (void)w, (void)i; }

/* --- loads ------------------------------------------------------------------------ */

static void load_scalars(struct wave *w, const struct instruction *i)
{
    const unsigned to = i->d, count = i->d_count;
    uint64_t at = scalar_read_pair(w, i, i->s[0]) + scalar_read(w, i, i->s[1]);
    if (i->word[0] >> 17 & 1)
        at += (uint64_t)((int64_t)(int32_t)(i->word[1] << 11) >> 11);
    at &= ~3ull;
    if (scalar_unset(w, i->s[0], 2) || scalar_unset(w, i->s[1], 1))
        wave_fail(w, i, "the address is not initialised");
    const void *from = global_at(w, i, at, 4 * count, false);
    if (!from || !scalar_ready(w, i, to, count)) return;
    memcpy(&w->s[to], from, 4 * count);
    scalar_unset_write(w, to, (int)count, false);
    wave_pend(w, i,
              (struct pending){ .counter = COUNT_LGKM,
                                .scalar = true,
                                .load = true,
                                .first = (uint16_t)to,
                                .count = (uint16_t)count });
}

/* --- the table -------------------------------------------------------------------- */

/* A row: number, name, function, dwords of the result and of operands.  USES reads
   scc. */
#define ROW(E, NUMBER, NAME, FUNCTION, D, A, B)                                          \
    {                                                                                    \
        .encoding = E, .number = NUMBER, .name = NAME, .act = act_scalar,                \
        .scalars = FUNCTION, .d = D, .s = {                                              \
            A,                                                                           \
            B                                                                            \
        }                                                                                \
    }
#define USES(E, NUMBER, NAME, FUNCTION, D, A, B)                                         \
    {                                                                                    \
        .encoding = E, .number = NUMBER, .name = NAME, .act = act_scalar,                \
        .scalars = FUNCTION, .d = D, .s = { A, B }, .more = USES_SCC                     \
    }
#define UNSIGNED(NUMBER, NAME, FUNCTION)                                                 \
    {                                                                                    \
        .encoding = SOPK, .number = NUMBER, .name = NAME, .act = act_scalar,             \
        .scalars = FUNCTION, .s = { 1 }, .more = UNSIGNED_K                              \
    }
#define DOES(E, NUMBER, NAME, ACT, MORE)                                                 \
    {                                                                                    \
        .encoding = E, .number = NUMBER, .name = NAME, .act = ACT, .more = MORE          \
    }
#define SAVE(NUMBER, NAME, MORE)                                                         \
    {                                                                                    \
        .encoding = SOP1, .number = NUMBER, .name = NAME, .act = save_exec, .d = 2,      \
        .s = { 2 }, .more = MORE                                                         \
    }
#define LOAD(NUMBER, NAME, D)                                                            \
    {                                                                                    \
        .encoding = SMEM, .number = NUMBER, .name = NAME, .act = load_scalars, .d = D,   \
        .s = { 2, 1 }                                                                    \
    }

const struct opcode gfx9_scalar[] = {
    /* clang-format off */
    ROW (SOP2, 0,  "s_add_u32",      s_add_u32,      1, 1, 1),
    ROW (SOP2, 1,  "s_sub_u32",      s_sub_u32,      1, 1, 1),
    ROW (SOP2, 2,  "s_add_i32",      s_add_i32,      1, 1, 1),
    ROW (SOP2, 3,  "s_sub_i32",      s_sub_i32,      1, 1, 1),
    USES(SOP2, 4,  "s_addc_u32",     s_addc_u32,     1, 1, 1),
    USES(SOP2, 5,  "s_subb_u32",     s_subb_u32,     1, 1, 1),
    ROW (SOP2, 6,  "s_min_i32",      s_min_i32,      1, 1, 1),
    ROW (SOP2, 7,  "s_min_u32",      s_min_u32,      1, 1, 1),
    ROW (SOP2, 8,  "s_max_i32",      s_max_i32,      1, 1, 1),
    ROW (SOP2, 9,  "s_max_u32",      s_max_u32,      1, 1, 1),
    USES(SOP2, 10, "s_cselect_b32",  s_cselect,      1, 1, 1),
    USES(SOP2, 11, "s_cselect_b64",  s_cselect,      2, 2, 2),
    ROW (SOP2, 12, "s_and_b32",      s_and,          1, 1, 1),
    ROW (SOP2, 13, "s_and_b64",      s_and,          2, 2, 2),
    ROW (SOP2, 14, "s_or_b32",       s_or,           1, 1, 1),
    ROW (SOP2, 15, "s_or_b64",       s_or,           2, 2, 2),
    ROW (SOP2, 16, "s_xor_b32",      s_xor,          1, 1, 1),
    ROW (SOP2, 17, "s_xor_b64",      s_xor,          2, 2, 2),
    ROW (SOP2, 18, "s_andn2_b32",    s_andn2,        1, 1, 1),
    ROW (SOP2, 19, "s_andn2_b64",    s_andn2,        2, 2, 2),
    ROW (SOP2, 20, "s_orn2_b32",     s_orn2_b32,     1, 1, 1),
    ROW (SOP2, 21, "s_orn2_b64",     s_orn2_b64,     2, 2, 2),
    ROW (SOP2, 22, "s_nand_b32",     s_nand_b32,     1, 1, 1),
    ROW (SOP2, 23, "s_nand_b64",     s_nand_b64,     2, 2, 2),
    ROW (SOP2, 24, "s_nor_b32",      s_nor_b32,      1, 1, 1),
    ROW (SOP2, 25, "s_nor_b64",      s_nor_b64,      2, 2, 2),
    ROW (SOP2, 26, "s_xnor_b32",     s_xnor_b32,     1, 1, 1),
    ROW (SOP2, 27, "s_xnor_b64",     s_xnor_b64,     2, 2, 2),
    ROW (SOP2, 28, "s_lshl_b32",     s_lshl_b32,     1, 1, 1),
    ROW (SOP2, 29, "s_lshl_b64",     s_lshl_b64,     2, 2, 1),
    ROW (SOP2, 30, "s_lshr_b32",     s_lshr_b32,     1, 1, 1),
    ROW (SOP2, 31, "s_lshr_b64",     s_lshr_b64,     2, 2, 1),
    ROW (SOP2, 32, "s_ashr_i32",     s_ashr_i32,     1, 1, 1),
    ROW (SOP2, 33, "s_ashr_i64",     s_ashr_i64,     2, 2, 1),
    ROW (SOP2, 34, "s_bfm_b32",      s_bfm_b32,      1, 1, 1),
    ROW (SOP2, 35, "s_bfm_b64",      s_bfm_b64,      2, 1, 1),
    ROW (SOP2, 36, "s_mul_i32",      s_mul_i32,      1, 1, 1),
    ROW (SOP2, 37, "s_bfe_u32",      s_bfe_u32,      1, 1, 1),
    ROW (SOP2, 38, "s_bfe_i32",      s_bfe_i32,      1, 1, 1),
    ROW (SOP2, 39, "s_bfe_u64",      s_bfe_u64,      2, 2, 1),
    ROW (SOP2, 44, "s_mul_hi_u32",   s_mul_hi_u32,   1, 1, 1),
    ROW (SOP2, 45, "s_mul_hi_i32",   s_mul_hi_i32,   1, 1, 1),
    ROW (SOP2, 46, "s_lshl1_add_u32", s_lshl1_add_u32, 1, 1, 1),
    ROW (SOP2, 47, "s_lshl2_add_u32", s_lshl2_add_u32, 1, 1, 1),
    ROW (SOP2, 48, "s_lshl3_add_u32", s_lshl3_add_u32, 1, 1, 1),
    ROW (SOP2, 49, "s_lshl4_add_u32", s_lshl4_add_u32, 1, 1, 1),
    ROW (SOP2, 50, "s_pack_ll_b32_b16", s_pack_ll_b32_b16, 1, 1, 1),
    ROW (SOP2, 51, "s_pack_lh_b32_b16", s_pack_lh_b32_b16, 1, 1, 1),
    ROW (SOP2, 52, "s_pack_hh_b32_b16", s_pack_hh_b32_b16, 1, 1, 1),

    ROW (SOPK, 0,  "s_movk_i32",     s_movk_i32,     1, 0, 0),
    USES(SOPK, 1,  "s_cmovk_i32",    s_cmovk_i32,    1, 1, 0),
    ROW (SOPK, 2,  "s_cmpk_eq_i32",  s_cmp_eq,       0, 1, 0),
    ROW (SOPK, 3,  "s_cmpk_lg_i32",  s_cmp_lg,       0, 1, 0),
    ROW (SOPK, 4,  "s_cmpk_gt_i32",  s_cmp_gt_i32,   0, 1, 0),
    ROW (SOPK, 5,  "s_cmpk_ge_i32",  s_cmp_ge_i32,   0, 1, 0),
    ROW (SOPK, 6,  "s_cmpk_lt_i32",  s_cmp_lt_i32,   0, 1, 0),
    ROW (SOPK, 7,  "s_cmpk_le_i32",  s_cmp_le_i32,   0, 1, 0),
    UNSIGNED  (8,  "s_cmpk_eq_u32",  s_cmp_eq),
    UNSIGNED  (9,  "s_cmpk_lg_u32",  s_cmp_lg),
    UNSIGNED  (10, "s_cmpk_gt_u32",  s_cmp_gt_u32),
    UNSIGNED  (11, "s_cmpk_ge_u32",  s_cmp_ge_u32),
    UNSIGNED  (12, "s_cmpk_lt_u32",  s_cmp_lt_u32),
    UNSIGNED  (13, "s_cmpk_le_u32",  s_cmp_le_u32),
    ROW (SOPK, 14, "s_addk_i32",     s_addk_i32,     1, 1, 0),
    ROW (SOPK, 15, "s_mulk_i32",     s_mulk_i32,     1, 1, 0),

    ROW (SOP1, 0,  "s_mov_b32",      s_mov,          1, 1, 0),
    ROW (SOP1, 1,  "s_mov_b64",      s_mov,          2, 2, 0),
    ROW (SOP1, 4,  "s_not_b32",      s_not_b32,      1, 1, 0),
    ROW (SOP1, 5,  "s_not_b64",      s_not_b64,      2, 2, 0),
    ROW (SOP1, 8,  "s_brev_b32",     s_brev_b32,     1, 1, 0),
    ROW (SOP1, 12, "s_bcnt1_i32_b32", s_bcnt1_i32_b32, 1, 1, 0),
    ROW (SOP1, 13, "s_bcnt1_i32_b64", s_bcnt1_i32_b32, 1, 2, 0),
    ROW (SOP1, 16, "s_ff1_i32_b32",  s_ff1_i32_b32,  1, 1, 0),
    ROW (SOP1, 17, "s_ff1_i32_b64",  s_ff1_i32_b32,  1, 2, 0),
    ROW (SOP1, 18, "s_flbit_i32_b32", s_flbit_i32_b32, 1, 1, 0),
    ROW (SOP1, 22, "s_sext_i32_i8",  s_sext_i32_i8,  1, 1, 0),
    ROW (SOP1, 23, "s_sext_i32_i16", s_sext_i32_i16, 1, 1, 0),
    { .encoding = SOP1, .number = 28, .name = "s_getpc_b64", .act = get_pc, .d = 2 },
    SAVE(32, "s_and_saveexec_b64",   0),
    SAVE(33, "s_or_saveexec_b64",    1),
    SAVE(34, "s_xor_saveexec_b64",   2),
    SAVE(35, "s_andn2_saveexec_b64", 3),
    SAVE(36, "s_orn2_saveexec_b64",  4),
    ROW (SOP1, 48, "s_abs_i32",      s_abs_i32,      1, 1, 0),
    SAVE(51, "s_andn1_saveexec_b64", 5),

    ROW (SOPC, 0,  "s_cmp_eq_i32",   s_cmp_eq,       0, 1, 1),
    ROW (SOPC, 1,  "s_cmp_lg_i32",   s_cmp_lg,       0, 1, 1),
    ROW (SOPC, 2,  "s_cmp_gt_i32",   s_cmp_gt_i32,   0, 1, 1),
    ROW (SOPC, 3,  "s_cmp_ge_i32",   s_cmp_ge_i32,   0, 1, 1),
    ROW (SOPC, 4,  "s_cmp_lt_i32",   s_cmp_lt_i32,   0, 1, 1),
    ROW (SOPC, 5,  "s_cmp_le_i32",   s_cmp_le_i32,   0, 1, 1),
    ROW (SOPC, 6,  "s_cmp_eq_u32",   s_cmp_eq,       0, 1, 1),
    ROW (SOPC, 7,  "s_cmp_lg_u32",   s_cmp_lg,       0, 1, 1),
    ROW (SOPC, 8,  "s_cmp_gt_u32",   s_cmp_gt_u32,   0, 1, 1),
    ROW (SOPC, 9,  "s_cmp_ge_u32",   s_cmp_ge_u32,   0, 1, 1),
    ROW (SOPC, 10, "s_cmp_lt_u32",   s_cmp_lt_u32,   0, 1, 1),
    ROW (SOPC, 11, "s_cmp_le_u32",   s_cmp_le_u32,   0, 1, 1),
    ROW (SOPC, 12, "s_bitcmp0_b32",  s_bitcmp0_b32,  0, 1, 1),
    ROW (SOPC, 13, "s_bitcmp1_b32",  s_bitcmp1_b32,  0, 1, 1),
    ROW (SOPC, 14, "s_bitcmp0_b64",  s_bitcmp0_b64,  0, 2, 1),
    ROW (SOPC, 15, "s_bitcmp1_b64",  s_bitcmp1_b64,  0, 2, 1),
    ROW (SOPC, 18, "s_cmp_eq_u64",   s_cmp_eq,       0, 2, 2),
    ROW (SOPC, 19, "s_cmp_lg_u64",   s_cmp_lg,       0, 2, 2),

    DOES(SOPP, 0,  "s_nop",            nothing,    0),
    DOES(SOPP, 1,  "s_endpgm",         end,        0),
    DOES(SOPP, 2,  "s_branch",         branch,     ALWAYS),
    DOES(SOPP, 4,  "s_cbranch_scc0",   branch,     SCC0),
    DOES(SOPP, 5,  "s_cbranch_scc1",   branch,     SCC1),
    DOES(SOPP, 6,  "s_cbranch_vccz",   branch,     VCCZ),
    DOES(SOPP, 7,  "s_cbranch_vccnz",  branch,     VCCNZ),
    DOES(SOPP, 8,  "s_cbranch_execz",  branch,     EXECZ),
    DOES(SOPP, 9,  "s_cbranch_execnz", branch,     EXECNZ),
    DOES(SOPP, 10, "s_barrier",        barrier,    0),
    DOES(SOPP, 12, "s_waitcnt",        wait_count, 0),
    DOES(SOPP, 14, "s_sleep",          nothing,    0),
    DOES(SOPP, 15, "s_setprio",        nothing,    0),
    DOES(SOPP, 19, "s_icache_inv",     nothing,    0),
    { 0 }
    /* clang-format on */
};

const struct opcode gfx9_memory_scalar[] = {
    /* clang-format off */
    LOAD(0, "s_load_dword",    1),
    LOAD(1, "s_load_dwordx2",  2),
    LOAD(2, "s_load_dwordx4",  4),
    LOAD(3, "s_load_dwordx8",  8),
    LOAD(4, "s_load_dwordx16", 16),
    DOES(SMEM, 0x20, "s_dcache_inv", nothing, 0),
    { 0 }
    /* clang-format on */
};
