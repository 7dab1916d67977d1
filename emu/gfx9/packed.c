/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed instructions (VOP3P) other than matrix instructions: two halves or two dwords at
   a time, and multiply-adds of mixed formats. */
#include "emu/gfx9/float.h"
#include "emu/gfx9/wave.h"

/* Which half of operand n is used for half h of the result, and its sign: op_sel and
   op_sel_hi, neg_lo and neg_hi. */
static bool takes_high(const struct instruction *i, int n, int h)
{
    const uint32_t x = i->word[0], y = i->word[1];
    const uint32_t low = x >> 11 & 7, high = (y >> 27 & 3) | (x >> 14 & 1) << 2;
    return (h ? high : low) >> n & 1;
}

static bool negates(const struct instruction *i, int n, int h)
{
    return (h ? i->word[0] >> 8 : i->word[1] >> 29) >> n & 1;
}

/* Operand n of lane l: `dwords` dwords, the low one first. */
static uint64_t take(struct wave *w, const struct instruction *i, int n, int dwords,
                     int l)
{
    const unsigned o = i->s[n];
    if (o < 256) return dwords == 2 ? scalar_read_pair(w, i, o) : scalar_read_half(w, i, o);
    const uint64_t low = w->v[o - 256][l];
    return dwords == 2 ? (uint64_t)w->v[o - 255][l] << 32 | low : low;
}

/* Whether registers can be read and written; also finds the active lanes with
   uninitialised bits. */
static bool ready(uint64_t *unset, struct wave *w, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    bool good = vector_ready(w, i, i->d - 256u, (unsigned)row->d);
    *unset = 0;
    for (int n = 0; n < 3; n++) {
        const unsigned o = i->s[n], count = (unsigned)row->s[n];
        if (!count) continue;
        if (o < 256) *unset |= scalar_unset(w, o, (int)count) ? ~0ull : 0;
        else if (!vector_ready(w, i, o - 256, count)) good = false;
        else *unset |= vector_unset(w, o - 256, count);
    }
    if (i->word[0] >> 15 & 1) {
        wave_fail(w, i, "unsupported: a clamped result");
        good = false;
    }
    w->group->counts.vector++;
    return good;
}

/* --- two dwords ------------------------------------------------------------------- */

enum { FMA, MULTIPLY, ADD };

static uint32_t combine(int what, const uint32_t x[3])
{
    switch (what) {
    case FMA: return float_fma(x[0], x[1], x[2]);
    case MULTIPLY: return float_multiply(x[0], x[1]);
    default: return float_add(x[0], x[1]);
    }
}

static void act_dwords(struct wave *w, const struct instruction *i)
{
    uint64_t unset;
    uint32_t d[2][LANES];
    if (!ready(&unset, w, i)) return;
    for (int h = 0; h < 2; h++) FOR_LANES
        {
            uint32_t x[3] = { 0 };
            for (int n = 0; n < 3; n++) {
                if (!i->opcode->s[n]) continue;
                x[n] = (uint32_t)(take(w, i, n, 2, l) >> (takes_high(i, n, h) ? 32 : 0));
                if (negates(i, n, h)) x[n] ^= FLOAT_SIGN;
            }
            d[h][l] = combine(i->opcode->more, x);
        }
    for (unsigned h = 0; h < 2; h++)
        FOR_LANES if (w->exec >> l & 1) w->v[i->d - 256u + h][l] = d[h][l];
    vector_unset_write(w, i->d - 256u, 2, w->exec, unset, unset);
}

/* One dword of the first operand and one of the second; op_sel selects them. */
static void act_move(struct wave *w, const struct instruction *i)
{
    uint64_t unset, low[2], high[2];
    uint32_t d[2][LANES];
    if (!ready(&unset, w, i)) return;
    for (int h = 0; h < 2; h++) {
        const bool upper = takes_high(i, h, 0);
        const unsigned o = i->s[h], from = o - 256 + upper;
        const uint64_t constant = o < 256 && scalar_unset(w, o, 2) ? ~0ull : 0;
        FOR_LANES d[h][l] = (uint32_t)(take(w, i, h, 2, l) >> (upper ? 32 : 0));
        low[h] = o < 256 ? constant : w->unset[from][0];
        high[h] = o < 256 ? constant : w->unset[from][1];
    }
    for (unsigned h = 0; h < 2; h++) {
        FOR_LANES if (w->exec >> l & 1) w->v[i->d - 256u + h][l] = d[h][l];
        vector_unset_write(w, i->d - 256u + h, 1, w->exec, low[h], high[h]);
    }
}

/* --- two halves ------------------------------------------------------------------- */

static uint32_t combine_halves(int what, const uint32_t x[3])
{
    switch (what) {
    case FMA: return half_fma(x[0], x[1], x[2]);
    case MULTIPLY: return half_multiply(x[0], x[1]);
    default: return half_fma(x[0], HALF_ONE, x[1]);
    }
}

static void act_halves(struct wave *w, const struct instruction *i)
{
    uint64_t unset;
    uint32_t d[LANES] = { 0 };
    if (!ready(&unset, w, i)) return;
    for (int h = 0; h < 2; h++) FOR_LANES
        {
            uint32_t x[3] = { 0 };
            for (int n = 0; n < 3; n++) {
                if (!i->opcode->s[n]) continue;
                x[n] = (uint32_t)take(w, i, n, 1, l) >> (takes_high(i, n, h) ? 16 : 0);
                x[n] = (x[n] & 0xffff) ^ (negates(i, n, h) ? HALF_SIGN : 0);
            }
            d[l] |= combine_halves(i->opcode->more, x) << 16 * h;
        }
    FOR_LANES if (w->exec >> l & 1) w->v[i->d - 256u][l] = d[l];
    vector_unset_write(w, i->d - 256u, 1, w->exec, unset, unset);
}

/* --- mixed formats ---------------------------------------------------------------- */

/* An operand that is f32, or f16 in either half; here neg_hi selects the magnitude. */
static uint32_t mixed(struct wave *w, const struct instruction *i, int n, int l)
{
    uint32_t x = (uint32_t)take(w, i, n, 1, l);
    if (is_fraction(i->s[n])) wave_fail(w, i, "unsupported floating-point constant");
    if (takes_high(i, n, 1))
        x = float_of_half(x >> (takes_high(i, n, 0) ? 16 : 0) & 0xffff);
    if (negates(i, n, 1)) x &= ~FLOAT_SIGN;
    return negates(i, n, 0) ? x ^ FLOAT_SIGN : x;
}

enum { TO_F32, TO_LOW, TO_HIGH };

static void act_mixed(struct wave *w, const struct instruction *i)
{
    uint64_t unset;
    uint32_t d[LANES];
    const unsigned to = i->d - 256u;
    const int where = i->opcode->more;
    if (!ready(&unset, w, i)) return;
    FOR_LANES d[l] = float_fma(mixed(w, i, 0, l), mixed(w, i, 1, l), mixed(w, i, 2, l));
    FOR_LANES
    {
        if (!(w->exec >> l & 1)) continue;
        if (where == TO_F32) w->v[to][l] = d[l];
        else if (where == TO_LOW)
            w->v[to][l] = (w->v[to][l] & ~0xffffu) | float_to_half(d[l], ROUND_RN);
        else w->v[to][l] = (w->v[to][l] & 0xffff) | float_to_half(d[l], ROUND_RN) << 16;
    }
    vector_unset_write(w, to, 1, w->exec, where == TO_HIGH ? w->unset[to][0] : unset,
                       where == TO_LOW ? w->unset[to][1] : unset);
}

/* --- the table -------------------------------------------------------------------- */

#define ROW(NUMBER, NAME, ACT, D, S0, S1, S2, MORE, TARGETS)                             \
    {                                                                                    \
        .encoding = VOP3P, .number = NUMBER, .name = "v_" NAME, .act = ACT, .d = D,      \
        .s = { S0, S1, S2 }, .more = MORE, .targets = TARGETS                            \
    }

const struct opcode gfx9_packed[] = {
    /* clang-format off */
    ROW(0x0e, "pk_fma_f16",    act_halves, 1, 1, 1, 1, FMA,      0),
    ROW(0x0f, "pk_add_f16",    act_halves, 1, 1, 1, 0, ADD,      0),
    ROW(0x10, "pk_mul_f16",    act_halves, 1, 1, 1, 0, MULTIPLY, 0),
    ROW(0x20, "fma_mix_f32",   act_mixed,  1, 1, 1, 1, TO_F32,   0),
    ROW(0x21, "fma_mixlo_f16", act_mixed,  1, 1, 1, 1, TO_LOW,   0),
    ROW(0x22, "fma_mixhi_f16", act_mixed,  1, 1, 1, 1, TO_HIGH,  0),
    ROW(0x30, "pk_fma_f32",    act_dwords, 2, 2, 2, 2, FMA,      TARGET_GFX90A | TARGET_GFX942),
    ROW(0x31, "pk_mul_f32",    act_dwords, 2, 2, 2, 0, MULTIPLY, TARGET_GFX90A | TARGET_GFX942),
    ROW(0x32, "pk_add_f32",    act_dwords, 2, 2, 2, 0, ADD,      TARGET_GFX90A | TARGET_GFX942),
    ROW(0x33, "pk_mov_b32",    act_move,   2, 2, 2, 0, 0,        TARGET_GFX90A | TARGET_GFX942),
    { 0 }
    /* clang-format on */
};
