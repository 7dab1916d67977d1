/* SPDX-License-Identifier: BSD-3-Clause */
/* Local memory (LDS) of a work-group: ordering of accesses, bank conflicts, and the
   instructions. */
#include "emu/gfx9/wave.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, GRAIN = 2 /* bytes that are tracked separately */ };

/* --- races ------------------------------------------------------------------------ */

/* Whether another wave's access may still be in progress: there was no barrier since, or
   the wave reached that barrier without having waited for the access. */
static bool unordered(const struct wave *w, uint32_t other, uint32_t access,
                      uint32_t epoch)
{
    const struct group *g = w->group;
    if (!access || other == w->number) return false;
    return epoch == g->epoch || access > g->waves[other].waited;
}

static void fail_benchmark(struct wave *w, const struct instruction *i, uint32_t at,
                           const char *what, uint32_t other, uint32_t epoch,
                           uint32_t offset)
{
    wave_fail(
        w, i, "a race: wave %u %s byte %u of LDS by the instruction at 0x%zx, and %s",
        other, what, at, offset - w->group->entry,
        epoch == w->group->epoch ? "no barrier separates the accesses"
                                 : "the barrier is not preceded by s_waitcnt lgkmcnt");
}

static void touch(struct wave *w, const struct instruction *i, uint32_t at,
                  uint32_t bytes, bool write)
{
    struct group *g = w->group;
    for (uint32_t b = at / GRAIN; b < (at + bytes + GRAIN - 1) / GRAIN; b++) {
        struct touched *t = &g->touched[b];
        if (unordered(w, t->writer, t->write, t->write_epoch))
            fail_benchmark(w, i, GRAIN * b, "wrote", t->writer, t->write_epoch,
                           t->write_offset);
        if (write && (unordered(w, t->reader, t->read, t->read_epoch) ||
                      (t->several && t->read_epoch == g->epoch)))
            fail_benchmark(w, i, GRAIN * b, "read", t->reader, t->read_epoch,
                           t->read_offset);
        if (write) {
            t->writer = w->number, t->write = w->accesses;
            t->write_epoch = g->epoch, t->write_offset = i->offset;
        } else {
            const bool same = t->read && t->read_epoch == g->epoch;
            t->several = same && (t->several || t->reader != w->number);
            t->reader = w->number, t->read = w->accesses;
            t->read_epoch = g->epoch, t->read_offset = i->offset;
        }
    }
}

/* --- bank conflicts --------------------------------------------------------------- */

/* Count cycles.  Lanes that access LDS together: 32 if each accesses a dword, fewer for
   more, so that all banks are used once.  Lanes that read the same dword of a bank share
   the access.  Two dwords take one cycle each ("CDNA3 ISA", local data share; AMD's notes
   on bank conflicts group lanes of ds_read_b128 in eights). */
static void count_cycles(struct wave *w, const uint32_t at[LANES], uint32_t bytes)
{
    const int dwords = bytes < 4 ? 1 : (int)(bytes / 4),
              together = 32 / (dwords == 3 ? 4 : dwords);
    for (int from = 0; from < LANES; from += together) {
        uint32_t seen[BANKS][LANES];
        int count[BANKS] = { 0 }, most = 0, active = 0;
        for (int l = from; l < from + together; l++) {
            if (!(w->exec >> l & 1)) continue;
            active = 1;
            for (int d = 0; d < dwords; d++) {
                const uint32_t dword = at[l] / BANK_BYTES + (uint32_t)d;
                const uint32_t bank = dword % BANKS;
                int s = 0;
                while (s < count[bank] && seen[bank][s] != dword) s++;
                if (s == count[bank]) seen[bank][count[bank]++] = dword;
                if (count[bank] > most) most = count[bank];
            }
        }
        w->group->counts.lds_cycles += (uint64_t)most;
        w->group->counts.lds_least += (uint64_t)active;
    }
}

/* --- access ----------------------------------------------------------------------- */

/* Whether `bytes` bytes at an offset in LDS can be accessed. */
static bool can_touch(struct wave *w, const struct instruction *i, uint32_t at,
                      uint32_t bytes)
{
    const uint32_t align = bytes > 4 ? 8 : bytes;
    if (at > w->group->lds_bytes || bytes > w->group->lds_bytes - at)
        wave_fail(w, i, "access to LDS bytes %u to %u; the group has %u bytes", at,
                  at + bytes - 1, w->group->lds_bytes);
    else if (at % align) wave_fail(w, i, "LDS byte %u is not aligned to %u", at, align);
    return !w->group->failed;
}

static bool addresses(uint32_t at[LANES], struct wave *w, const struct instruction *i,
                      uint32_t offset)
{
    const unsigned from = i->s[0] - 256u;
    if (!vector_ready(w, i, from, 1)) return false;
    if (vector_unset(w, from, 1)) {
        wave_fail(w, i, "the address in v%u is not initialised", from);
        return false;
    }
    FOR_LANES at[l] = w->v[from][l] + offset;
    return true;
}

static void load_lane(struct wave *w, int l, uint32_t at, unsigned to, uint32_t bytes)
{
    struct group *g = w->group;
    for (uint32_t b = 0; b < bytes; b += 4) {
        const uint32_t some = bytes - b < 4 ? bytes - b : 4;
        const uint64_t lane = 1ull << l;
        bool low = true, high = true;
        for (uint32_t j = 0; j < some; j++) {
            if (j < 2) low &= g->lds_set[at + b + j];
            else high &= g->lds_set[at + b + j];
        }
        w->v[to + b / 4][l] = 0;
        memcpy(&w->v[to + b / 4][l], g->lds + at + b, some);
        vector_unset_write(w, to + b / 4, 1, lane, low ? 0 : lane, high ? 0 : lane);
    }
}

static void store_lane(struct wave *w, int l, uint32_t at, unsigned from, uint32_t bytes,
                       int shift)
{
    struct group *g = w->group;
    for (uint32_t b = 0; b < bytes; b += 4) {
        const uint32_t some = bytes - b < 4 ? bytes - b : 4;
        const uint32_t x = w->v[from + b / 4][l] >> shift;
        const bool low = !(w->unset[from + b / 4][shift ? 1 : 0] >> l & 1);
        const bool high = !(w->unset[from + b / 4][1] >> l & 1);
        memcpy(g->lds + at + b, &x, some);
        for (uint32_t j = 0; j < some; j++) g->lds_set[at + b + j] = j < 2 ? low : high;
    }
}

/* Perform one access of all active lanes. */
static void access_lds(struct wave *w, const struct instruction *i,
                       const uint32_t at[LANES], unsigned registers, uint32_t bytes,
                       bool write, int shift)
{
    FOR_LANES
    {
        if (!(w->exec >> l & 1)) continue;
        if (!can_touch(w, i, at[l], bytes)) return;
        touch(w, i, at[l], bytes, write);
        if (write) store_lane(w, l, at[l], registers, bytes, shift);
        else load_lane(w, l, at[l], registers, bytes);
    }
    count_cycles(w, at, bytes);
    const uint64_t lanes = (uint64_t)__builtin_popcountll(w->exec);
    if (write) w->group->counts.lds_written += lanes * bytes;
    else w->group->counts.lds_read += lanes * bytes;
}

/* A row's `more`: bytes of an access, and the number of accesses, whose offsets count in
   a unit of bytes. */
enum {
    TWICE = 1 << 8,
    STRIDE64 = 1 << 9,
    SIGNED = 1 << 10,
    HIGH = 1 << 11,
    KEEPS = 1 << 12
};

static void pend(struct wave *w, const struct instruction *i, unsigned first,
                 unsigned count)
{
    wave_pend(w, i,
              (struct pending){ .counter = COUNT_LGKM,
                                .in_order = true,
                                .load = count != 0,
                                .first = (uint16_t)first,
                                .count = (uint16_t)count,
                                .lds = w->accesses });
}

/* The addresses of one access, or of both.  They may be in the registers that are
   loaded. */
static bool places(uint32_t at[2][LANES], struct wave *w, const struct instruction *i)
{
    const int more = i->opcode->more;
    const uint32_t unit = (uint32_t)(more & 255) * (more & STRIDE64 ? 64 : 1);
    if (!(more & TWICE)) return addresses(at[0], w, i, i->word[0] & 0xffff);
    return addresses(at[0], w, i, (i->word[0] & 255) * unit) &&
           addresses(at[1], w, i, (i->word[0] >> 8 & 255) * unit);
}

static void write_lds(struct wave *w, const struct instruction *i)
{
    const int more = i->opcode->more, shift = more & HIGH ? 16 : 0;
    const uint32_t bytes = more & 255;
    uint32_t at[2][LANES];
    w->group->counts.lds++, w->accesses++;
    if (!places(at, w, i)) return;
    for (int n = 0; n < (more & TWICE ? 2 : 1); n++) {
        const unsigned from = i->s[1 + n] - 256u;
        if (vector_ready(w, i, from, i->s_count[1]))
            access_lds(w, i, at[n], from, bytes, true, shift);
    }
    pend(w, i, 0, 0);
}

/* Store one or two bytes: extended, or into one half of a register whose other half is
   unchanged. */
static void narrow(struct wave *w, const struct instruction *i, unsigned to,
                   const uint32_t was[LANES], const uint64_t unset[2])
{
    const int more = i->opcode->more, bits = 8 * (more & 255);
    const uint32_t high = more & HIGH ? 16 : 0;
    const uint64_t low_unset = w->unset[to][0];
    FOR_LANES
    {
        uint32_t x = w->v[to][l];
        if (!(w->exec >> l & 1)) continue;
        if (more & SIGNED) x = (uint32_t)((int32_t)(x << (32 - bits)) >> (32 - bits));
        if (more & KEEPS)
            x = (was[l] & (high ? 0xffffu : ~0xffffu)) | (x & 0xffff) << high;
        w->v[to][l] = x;
    }
    if (!(more & KEEPS)) vector_unset_write(w, to, 1, w->exec, low_unset, low_unset);
    else if (high) vector_unset_write(w, to, 1, w->exec, unset[0], low_unset);
    else vector_unset_write(w, to, 1, w->exec, low_unset, unset[1]);
}

static void read_lds(struct wave *w, const struct instruction *i)
{
    const int more = i->opcode->more;
    const uint32_t bytes = more & 255;
    const unsigned to = i->d - 256u, count = i->d_count;
    uint32_t at[2][LANES], was[LANES];
    w->group->counts.lds++, w->accesses++;
    if (!vector_ready(w, i, to, count)) return;
    memcpy(was, w->v[to], sizeof was);
    const uint64_t unset[2] = { w->unset[to][0], w->unset[to][1] };
    if (!places(at, w, i)) return;
    access_lds(w, i, at[0], to, bytes, false, 0);
    if (more & TWICE) access_lds(w, i, at[1], to + count / 2, bytes, false, 0);
    if (bytes < 4) narrow(w, i, to, was, unset);
    pend(w, i, to, count);
}

/* Permute lanes: d of lane l is the data of lane address / 4, or is sent to that lane. */
static void permute_lds(struct wave *w, const struct instruction *i)
{
    const unsigned address = i->s[0] - 256u, from = i->s[1] - 256u, to = i->d - 256u;
    uint32_t d[LANES] = { 0 };
    uint64_t unset = 0;
    w->group->counts.lds++;
    if (!vector_ready(w, i, address, 1) || !vector_ready(w, i, from, 1) ||
        !vector_ready(w, i, to, 1))
        return;
    if (vector_unset(w, address, 1)) wave_fail(w, i, "the address is not initialised");
    FOR_LANES
    {
        const uint32_t other = (w->v[address][l] + (i->word[0] & 0xffff)) / 4 % LANES;
        const bool back = i->opcode->more;
        if (!(w->exec >> l & 1)) continue;
        if (!back) d[other] = w->v[from][l];
        else if (w->exec >> other & 1) {
            d[l] = w->v[from][other];
            unset |= ((w->unset[from][0] | w->unset[from][1]) >> other & 1) << l;
        }
    }
    if (!i->opcode->more) unset = vector_unset(w, from, 1) ? ~0ull : 0;
    FOR_LANES if (w->exec >> l & 1) w->v[to][l] = d[l];
    vector_unset_write(w, to, 1, w->exec, unset, unset);
    pend(w, i, to, 1);
}

/* --- the table -------------------------------------------------------------------- */

#define DWORDS(MORE) ((((MORE)&255) + 3) / 4)

/* A row: registers of the result, and of the operands after the address. */
#define ROW(NUMBER, NAME, ACT, MORE, D, FIRST, SECOND)                                   \
    {                                                                                    \
        .encoding = DS, .number = NUMBER, .name = "ds_" NAME, .act = ACT, .d = D,        \
        .s = { 1, FIRST, SECOND }, .more = MORE                                          \
    }
#define READ(NUMBER, NAME, MORE)                                                         \
    ROW(NUMBER, "read" NAME, read_lds, MORE, DWORDS(MORE) * ((MORE)&TWICE ? 2 : 1), 0, 0)
#define WRITE(NUMBER, NAME, MORE)                                                        \
    ROW(NUMBER, "write" NAME, write_lds, MORE, 0, DWORDS(MORE),                          \
        (MORE)&TWICE ? DWORDS(MORE) : 0)

const struct opcode gfx9_lds[] = {
    /* clang-format off */
    WRITE(13,  "_b32",          4),
    WRITE(14,  "2_b32",         4 | TWICE),
    WRITE(15,  "2st64_b32",     4 | TWICE | STRIDE64),
    WRITE(30,  "_b8",           1),
    WRITE(31,  "_b16",          2),
    READ(54,   "_b32",          4),
    READ(55,   "2_b32",         4 | TWICE),
    READ(56,   "2st64_b32",     4 | TWICE | STRIDE64),
    READ(57,   "_i8",           1 | SIGNED),
    READ(58,   "_u8",           1),
    READ(59,   "_i16",          2 | SIGNED),
    READ(60,   "_u16",          2),
    ROW(62, "permute_b32", permute_lds, 0, 1, 1, 0),
    ROW(63, "bpermute_b32", permute_lds, 1, 1, 1, 0),
    WRITE(77,  "_b64",          8),
    WRITE(78,  "2_b64",         8 | TWICE),
    WRITE(79,  "2st64_b64",     8 | TWICE | STRIDE64),
    WRITE(84,  "_b8_d16_hi",    1 | HIGH),
    WRITE(85,  "_b16_d16_hi",   2 | HIGH),
    READ(90,   "_u16_d16",      2 | KEEPS),
    READ(91,   "_u16_d16_hi",   2 | KEEPS | HIGH),
    READ(118,  "_b64",          8),
    READ(119,  "2_b64",         8 | TWICE),
    READ(120,  "2st64_b64",     8 | TWICE | STRIDE64),
    WRITE(222, "_b96",          12),
    WRITE(223, "_b128",         16),
    READ(254,  "_b96",          12),
    READ(255,  "_b128",         16),
    { 0 }
    /* clang-format on */
};
