/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector instructions: take 64 lanes of operands from registers, apply the row's
   operation, and store the result where a lane is active. */
#include "emu/gfx9/wave.h"

#include <string.h>

/* Room for operands of two dwords, and for masks of their uninitialised bits. */
struct room {
    uint32_t d[2 * LANES], s[3][2 * LANES];
};

static const uint32_t nothing_here[2 * LANES];

/* --- operands --------------------------------------------------------------------- */

static uint32_t part_of(uint32_t x, struct part p)
{
    static const struct {
        int shift, bits;
    } parts[] = { { 0, 8 }, { 8, 8 }, { 16, 8 }, { 24, 8 }, { 0, 16 }, { 16, 16 } };
    if (p.select > 5) return x;
    const int shift = parts[p.select].shift, bits = parts[p.select].bits;
    x = x >> shift & ((1u << bits) - 1);
    return p.sign ? (uint32_t)((int32_t)(x << (32 - bits)) >> (32 - bits)) : x;
}

/* x negated, or its magnitude, as a float with the row's number of bits. */
static uint32_t modified(uint32_t x, const struct instruction *i, int n)
{
    const uint32_t sign = i->opcode->float_bits == 16 ? 0x8000 : 0x80000000;
    if (i->magnitudes >> n & 1) x &= ~sign;
    if (i->negated >> n & 1) x ^= sign;
    return x;
}

/* Operand n: 64 lanes of a dword and, if it has two, 64 lanes of the next dword. */
static const uint32_t *operand(uint32_t *room, struct wave *w,
                               const struct instruction *i, int n)
{
    const unsigned o = i->s[n], dwords = (unsigned)i->opcode->s[n];
    const bool changed = i->parted || (i->magnitudes | i->negated) >> n & 1;
    if (!dwords) return nothing_here;
    if (o >= 256) {
        if (!vector_ready(w, i, o - 256, dwords)) return nothing_here;
        if (!changed) return w->v[o - 256];
        memcpy(room, w->v[o - 256], dwords * sizeof *w->v);
    } else {
        const uint64_t x = dwords == 2                    ? scalar_read_pair(w, i, o)
                           : i->opcode->float_bits == 16 ? scalar_read_half(w, i, o)
                                                         : scalar_read(w, i, o);
        FOR_LANES room[l] = (uint32_t)x;
        if (dwords == 2) FOR_LANES room[LANES + l] = (uint32_t)(x >> 32);
    }
    if (i->parted) FOR_LANES room[l] = part_of(room[l], i->part[n]);
    if (changed) FOR_LANES room[l] = modified(room[l], i, n);
    return room;
}

/* --- what is not set -------------------------------------------------------------- */

/* Whether an active lane of an operand has an uninitialised bit. */
static bool reads_unset(const struct wave *w, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    uint64_t lanes = 0;
    for (int n = 0; n < 3; n++)
        if (i->s[n] >= 256 && row->s[n])
            lanes |= vector_unset(w, i->s[n] - 256u, (unsigned)row->s[n]);
        else if (row->s[n] && scalar_unset(w, i->s[n], row->s[n])) return true;
    return lanes || (row->more & TAKES_CARRY && scalar_unset(w, i->s[2], 2));
}

/* The uninitialised bits of operand n. */
static void unset_bits(uint32_t *to, const struct wave *w, const struct instruction *i,
                       int n)
{
    const unsigned o = i->s[n];
    const uint32_t all = i->opcode->float_bits == 16 ? 0xffff : 0xffffffff;
    for (int d = 0; d < 2; d++) FOR_LANES
        {
            uint32_t x = 0;
            if (d < i->opcode->s[n] && o >= 256) {
                const uint64_t *lanes = w->unset[o - 256 + (unsigned)d];
                x = (lanes[0] >> l & 1 ? 0xffffu : 0) |
                    (lanes[1] >> l & 1 ? ~0xffffu : 0);
            } else if (d < i->opcode->s[n] && scalar_unset(w, o, i->opcode->s[n])) {
                x = ~0u;
            }
            to[LANES * d + l] = (i->parted ? part_of(x, i->part[n]) : x) & all;
        }
}

/* The uninitialised bits of the lanes of the result. */
static void spread(uint32_t *d, const struct wave *w, const struct instruction *i,
                   const struct lanes *x)
{
    uint32_t unset[3][2 * LANES];
    struct lanes y = *x;
    y.d = d;
    for (int n = 0; n < 3; n++) unset_bits(unset[n], w, i, n), y.unset[n] = unset[n];
    const bool carry = i->opcode->more & TAKES_CARRY && scalar_unset(w, i->s[2], 2);
    if (i->opcode->shadow && !carry) {
        i->opcode->shadow(&y);
        return;
    }
    FOR_LANES
    {
        uint32_t any = carry;
        for (int n = 0; n < 3; n++) any |= unset[n][l] | unset[n][LANES + l];
        d[l] = d[LANES + l] = any ? ~0u : 0;
    }
}

/* --- results ---------------------------------------------------------------------- */

/* Put x into a part of a register.  The remaining bits are 0, the sign of the part, or
   unchanged. */
static uint32_t into_part(uint32_t was, uint32_t x, const struct instruction *i)
{
    static const uint32_t masks[] = { 0xff,       0xff00, 0xff0000,
                                      0xff000000, 0xffff, 0xffff0000 };
    static const int shifts[] = { 0, 8, 16, 24, 0, 16 };
    if (i->result.select > 5) return x;
    const uint32_t mask = masks[i->result.select];
    const uint32_t placed = x << shifts[i->result.select] & mask;
    const bool negative = placed & mask & ~(mask >> 1);
    if (i->unused == 2) return (was & ~mask) | placed;
    return i->unused == 1 && negative ? placed | ~(mask | (mask - 1)) : placed;
}

static void write_register(struct wave *w, const struct instruction *i, unsigned r,
                           const uint32_t *from)
{
    uint32_t *to = w->v[r];
    if (i->parted && i->result.select < 6) {
        FOR_LANES if (w->exec >> l & 1) to[l] = into_part(to[l], from[l], i);
    } else if (w->exec == ~0ull) memcpy(to, from, sizeof *w->v);
    else FOR_LANES if (w->exec >> l & 1) to[l] = from[l];
}

/* Lanes in which a half is not completely initialised. */
static uint64_t lanes_of(const uint32_t *x, uint32_t half)
{
    uint64_t lanes = 0;
    FOR_LANES lanes |= (uint64_t)((x[l] & half) != 0) << l;
    return lanes;
}

static void write_unset(struct wave *w, const struct instruction *i, unsigned r,
                        const uint32_t *unset)
{
    uint32_t x[LANES];
    if (i->parted && i->result.select < 6) {
        FOR_LANES
        {
            const uint32_t was = (w->unset[r][0] >> l & 1 ? 0xffffu : 0) |
                                 (w->unset[r][1] >> l & 1 ? ~0xffffu : 0);
            x[l] = into_part(was, unset ? unset[l] : 0, i);
        }
    } else if (unset) memcpy(x, unset, sizeof x);
    else {
        vector_unset_write(w, r, 1, w->exec, 0, 0);
        return;
    }
    vector_unset_write(w, r, 1, w->exec, lanes_of(x, 0xffff), lanes_of(x, 0xffff0000));
}

/* Write one bit for each lane; inactive lanes have 0. */
static void write_mask(struct wave *w, const struct instruction *i, uint64_t mask,
                       bool unset)
{
    const unsigned to = i->opcode->more & COMPARES ? i->d : i->carry;
    scalar_write_pair(w, i, to, mask & w->exec);
    scalar_unset_write(w, to, 2, unset);
    if (!(i->opcode->more & SETS_EXEC)) return;
    if (unset) wave_fail(w, i, "the exec mask is not initialised");
    w->exec &= mask;
}

void act_vector(struct wave *w, const struct instruction *i)
{
    const struct opcode *row = i->opcode;
    struct room room;
    uint32_t bits[2 * LANES];
    struct lanes x = { .d = room.d, .exec = w->exec };
    w->group->counts.vector++;
    for (int n = 0; n < 3; n++) x.s[n] = operand(room.s[n], w, i, n);
    if (row->more & TAKES_CARRY) x.in = scalar_read_pair(w, i, i->s[2]);
    if (row->d && !vector_ready(w, i, i->d - 256u, (unsigned)row->d)) return;
    row->lanes(&x);
    const bool unset = reads_unset(w, i);
    if (unset) spread(bits, w, i, &x);
    for (int d = 0; d < row->d; d++) {
        write_unset(w, i, i->d - 256u + (unsigned)d, unset ? bits + LANES * d : NULL);
        write_register(w, i, i->d - 256u + (unsigned)d, room.d + LANES * d);
    }
    if (row->more & (GIVES_CARRY | COMPARES)) {
        uint64_t some = unset ? lanes_of(bits, ~0u) : 0;
        if (unset && row->d == 2) some |= lanes_of(bits + LANES, ~0u);
        write_mask(w, i, x.out, some & w->exec);
    }
}

/* --- lanes and scalar registers --------------------------------------------------- */

/* Copy lane `lane` of the first operand to a scalar register. */
static void move_lane(struct wave *w, const struct instruction *i, int lane, unsigned to)
{
    const unsigned o = i->s[0];
    w->group->counts.vector++;
    if (o < 256) {
        scalar_write(w, i, to, scalar_read(w, i, o));
        scalar_unset_write(w, to, 1, scalar_unset(w, o, 1));
    } else if (vector_ready(w, i, o - 256, 1)) {
        const uint64_t *unset = w->unset[o - 256];
        scalar_write(w, i, to, w->v[o - 256][lane]);
        scalar_unset_write(w, to, 1, (unset[0] | unset[1]) >> lane & 1);
    }
}

void act_first_lane(struct wave *w, const struct instruction *i)
{
    move_lane(w, i, w->exec ? __builtin_ctzll(w->exec) : 0, i->d);
}

/* The lane that the second operand selects. */
static uint32_t lane_of(struct wave *w, const struct instruction *i)
{
    if (scalar_unset(w, i->s[1], 1)) wave_fail(w, i, "the lane index is not initialised");
    return scalar_read(w, i, i->s[1]) % LANES;
}

void act_read_lane(struct wave *w, const struct instruction *i)
{
    move_lane(w, i, (int)lane_of(w, i), i->d);
}

void act_write_lane(struct wave *w, const struct instruction *i)
{
    const unsigned to = i->d - 256u;
    const uint32_t lane = lane_of(w, i);
    const uint64_t unset = scalar_unset(w, i->s[0], 1) ? ~0ull : 0;
    w->group->counts.vector++;
    if (!vector_ready(w, i, to, 1)) return;
    w->v[to][lane] = scalar_read(w, i, i->s[0]);
    vector_unset_write(w, to, 1, 1ull << lane, unset, unset);
}
